// The current anti-diagonal, and both sequences in the order in which it reads them.
#pragma once

#include "kernels/difference/difference.hpp"
#include "kernels/difference/difference_costs.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Readable and writable slots before and after a text or a row: a window's cells plus one vector.
constexpr std::int32_t kMargin = 384;
static_assert(kMargin >= Scheme<1, std::int8_t, false>::kWindowCells + 128);

template <class T>
WFACLI_INLINE T smaller(T a, T b) { return b < a ? b : a; }
template <class T>
WFACLI_INLINE T larger(T a, T b) { return a < b ? b : a; }

// Codes beside the sequences, which match nothing, not even each other.
struct Sentinels {
  std::uint8_t query, target;
};

// The query, and the target reversed, so that both are read in the same direction along an anti-diagonal.
struct Text {
  const std::uint8_t *query, *target;  // cell (i, j) reads query[i - 1] and target[target_len - j]
  std::int32_t target_len;

  Text(const KernelTask& task, const Sentinels& sentinels, Buffer<std::uint8_t>& memory) : target_len(task.target_len) {
    const std::size_t n = task.query_len, m = task.target_len;
    memory.resize(n + m + 4 * kMargin);
    std::uint8_t* q = memory.data() + kMargin;
    std::uint8_t* t = q + n + 2 * kMargin;
    std::memset(q - kMargin, sentinels.query, kMargin);
    std::memcpy(q, task.query, n);
    std::memset(q + n, sentinels.query, kMargin);
    std::memset(t - kMargin, sentinels.target, kMargin);
    for (std::size_t j = 0; j < m; ++j) t[j] = task.target[m - 1 - j];
    std::memset(t + m, sentinels.target, kMargin);
    query = q;
    target = t;
  }
};

// A cell whose absolute cost is known.
struct Tracked {
  std::int32_t slot = 0, cost = 0;
};

// One anti-diagonal: slot i holds cell (i, row - i).
template <class S>
struct Rows {
  using Lane = typename S::Lane;
  static constexpr int P = S::kPieces;
  enum { kU, kV, kA, kB = kA + P };

  // Returns the bytes of a pair's rows without margins: proportional to the query, however narrow the band.
  static std::size_t bytes(const KernelTask& task) {
    return static_cast<std::size_t>(task.query_len) * S::kArrays * sizeof(Lane);
  }

  Rows(const S& scheme, const KernelTask& task, Buffer<std::uint8_t>& memory) : s(scheme) {
    const std::size_t slots = (task.query_len + 2 * kMargin + 64) / 64 * 64;
    memory.resize(slots * S::kArrays * sizeof(Lane) + 64);
    auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    Lane* first = reinterpret_cast<Lane*>(memory.data() + (64 - start % 64) % 64) + kMargin;
    for (int x = 0; x < S::kArrays; ++x) array[x] = first + x * slots;
  }

  // Sets row 0, or row 1 if that makes the number of remaining rows even.
  Tracked begin(std::int32_t first) {
    row = first;
    lo = 0;
    hi = first;
    for (int g = 0; g < P; ++g) low_gap[g] = static_cast<Lane>(s.full[g]);
    if (!first) return {0, 0};
    top_edge();
    left_edge();
    return {0, s.top(1) + s.extend};
  }

  // Set cell (0, row) and cell (row, 0).
  WFACLI_INLINE void top_edge() {
    array[kV][0] = static_cast<Lane>(s.top(row));
    for (int g = 0; g < P; ++g) array[kA + g][0] = static_cast<Lane>(s.full[g]);
  }
  WFACLI_INLINE void left_edge() {
    array[kU][row] = static_cast<Lane>(s.left(row));
    for (int g = 0; g < P; ++g) array[kB + g][row] = static_cast<Lane>(s.full[g]);
  }

  // Set the values that row + 1 reads beside the band, below and above: a cell at the end of a new gap.
  WFACLI_INLINE void beside_low(std::int32_t i) {
    array[kV][i] = static_cast<Lane>(s.rise);
    for (int g = 0; g < P; ++g) array[kA + g][i] = static_cast<Lane>(s.full[g]);
  }
  WFACLI_INLINE void beside_high(std::int32_t i) {
    array[kU][i] = static_cast<Lane>(s.rise);
    for (int g = 0; g < P; ++g) array[kB + g][i] = static_cast<Lane>(s.full[g]);
  }

  // Keep what deletions cost behind cell (i, at), which is the last one on the diagonal of the lower border.
  WFACLI_INLINE void keep_low(std::int32_t i, std::int32_t at, const Lane* gaps) {
    for (int g = 0; g < P; ++g)
      low_gap[g] = i ? gaps[g] : static_cast<Lane>(s.free_target ? s.full[g] : s.open_gap(g, at));
  }

  // Gives cells from slot `from` to `to` (exclusive) that hold no cost the costs of gaps from the outermost cells that do:
  // deletions below, from cell (lo - 1, row - 1), and insertions above, from cell (hi, row). Where those have a gap open, it
  // goes on. So no path that leaves the band later is cheaper, and costs never fall along a diagonal (difference_costs.hpp).
  // Nothing inside the matrix reads slots outside it.
  void beside(std::int32_t from, std::int32_t to) {
    const std::int32_t first = larger(from, 0), last = smaller(to - 1, row);
    Lane gap[P + 1];
    if (first < lo) {
      std::memcpy(gap, low_gap, sizeof gap);
      for (std::int32_t i = lo - 1; i >= first; --i) end_of_gap(i, gap, kV, kU, kA, kB);
    }
    if (last > hi) {
      for (int g = 0; g < P; ++g) gap[g] = array[kA + g][hi];
      array[kV][hi] = before(longer(gap));  // the first symbol of the gap ends in the row before
      for (std::int32_t i = hi + 1; i <= last; ++i) end_of_gap(i, gap, kU, kV, kB, kA);
    }
  }
  // The same, and the row has these cells then.
  void widen(std::int32_t first, std::int32_t last) {
    beside(first, last + 1);
    lo = smaller(lo, larger(first, 0));
    hi = larger(hi, smaller(last, row));
  }

  // Returns the cost of cell i - 1 minus that of cell i.
  WFACLI_INLINE std::int32_t rise(std::int32_t i) const { return array[kV][i - 1] - array[kU][i]; }

  void move(Tracked& t, std::int32_t to) const {
    for (; t.slot > to; --t.slot) t.cost += rise(t.slot);
    for (; t.slot < to; ++t.slot) t.cost -= rise(t.slot + 1);
  }

  const S& s;
  Lane* array[S::kArrays];
  std::int32_t row = 0, lo = 0, hi = 0;  // lo, hi: slots of the row that hold costs
  Lane low_gap[P + 1] = {};              // see keep_low()

 private:
  // Sets cell i to the end of a gap, and adds two symbols to that: cells that follow each other in a row are two apart.
  void end_of_gap(std::int32_t i, Lane* gap, int there, int back, int others, int own) {
    array[there][i] = longer(gap);
    for (int g = 0; g < P; ++g) {
      array[others + g][i] = static_cast<Lane>(s.full[g]);
      array[own + g][i] = gap[g];
    }
    array[back][i] = before(longer(gap));
  }
  // Returns the cost of another symbol of the cheapest gap, as u and v store it, and adds the symbol to all.
  Lane longer(Lane* gap) const {
    std::int32_t least = s.rise;
    for (int g = 0; g < P; ++g) least = smaller<std::int32_t>(least, gap[g]);
    for (int g = 0; g < P; ++g) gap[g] = static_cast<Lane>(smaller(gap[g] - least + s.none[g], s.full[g]));
    return static_cast<Lane>(least);
  }
  // The same change the other way round.
  Lane before(Lane longer) const { return static_cast<Lane>(-longer - 2 * s.extend); }
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

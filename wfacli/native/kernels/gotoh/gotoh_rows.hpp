// Anti-diagonals of the full matrix, and the trace of each cell.
//
// H(i, j) is the minimum cost of aligning the first i bases of the (reversed) query with the first j of the target. E
// and F are the same for alignments that end in an insertion or a deletion (O. Gotoh, J. Mol. Biol. 1982):
//   E(i, j) = extend + min(E(i-1, j), open + H(i-1, j))      F(i, j) = extend + min(F(i, j-1), open + H(i, j-1))
//   H(i, j) = min(H(i-1, j-1) + (bases match ? 0 : mismatch), E(i, j), F(i, j))
// with E and F for each gap piece. Cells of anti-diagonal d = i + j are in slot i. They depend on slots i - 1 and i of
// the two previous anti-diagonals, so they can be computed in place with descending i.
//
// Cells have 32 bits, or 64 if costs may be greater; 16 to find the end of an extension, if they suffice. No cell
// exceeds kCeiling, which means that there is no path.
//
// The slots may lie along either sequence. If `transposed`, the task's query is the user's target: E is then a deletion
// and F an insertion, which takes precedence of equal sources all the same.
//
// A traced cell stores one byte. Its lowest three bits are 0 if H comes from the diagonal, and otherwise 1 + the index
// of the gap that it comes from (those of E first). Bit 3 + x is set if gap x, ending here, was already open before
// its last base.
#pragma once

#include <limits>

#include "kernels/extension_rule.hpp"
#include "kernels/gotoh/gotoh.hpp"
#include "base/vector_width.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int Pieces, bool ByBits, class Cell_>
class GotohRows {
 public:
  using Cell = Cell_;
  typedef Cell Vector __attribute__((vector_size(kVectorBytes)));
  static constexpr int P = Pieces, kLanes = kVectorBytes / sizeof(Cell), kArrays = 2 + 2 * P;
  static constexpr Cell kCeiling = sizeof(Cell) == 2 ? 30'000 : Cell(Cell{1} << (8 * sizeof(Cell) - 2));

  GotohRows(const KernelTask& task, bool transposed, GotohMemory& memory)
      : t_(task), transposed_(transposed), n_(task.query_len), m_(task.target_len) {
    lay_out_text(memory.text);
    slots_ = static_cast<std::size_t>(n_) + 1 + 2 * kLanes;
    memory.rows.resize(slots_ * kArrays * sizeof(Cell));
    Cell* rows = reinterpret_cast<Cell*>(memory.rows.data());
    for (std::size_t x = 0; x < slots_ * kArrays; ++x) rows[x] = kCeiling;  // slots beside cells are never negative
    for (int x = 0; x < kArrays; ++x) array_[x] = rows + x * slots_ + kLanes;
    free_query_ = t_.free.query_end < n_ ? t_.free.query_end : n_;
    free_target_ = t_.free.target_end < m_ ? t_.free.target_end : m_;
  }

  // Returns the bytes of a pair's anti-diagonals.
  static std::size_t bytes(const KernelTask& task) {
    return (static_cast<std::size_t>(task.query_len) + 1) * kArrays * sizeof(Cell);
  }

  // Returns true if all costs of a pair stay below the ceiling: no cell costs more than all bases in gaps.
  static bool holds(const KernelTask& task) {
    return gap(task.costs, task.query_len) + gap(task.costs, task.target_len) < kCeiling;
  }

  // Returns true if the end of an extension can be found: higher costs cannot improve it, and no sum overflows.
  static bool holds_extension(const KernelTask& task) {
    const Costs& c = task.costs;
    std::int64_t step = c.mismatch;
    for (int g = 0; g < P; ++g) {
      const std::int64_t opened = std::int64_t{c.gap[g].open} + c.gap[g].extend;
      step = opened > step ? opened : step;
    }
    constexpr std::int64_t most = std::numeric_limits<Cell>::max() - kCeiling;
    return step <= most && (holds(task) || ExtensionRule(task).max_value(kCeiling) <= 0);
  }

  // Values of the last anti-diagonal, and of the one before: slot i is cell (i, step - i), or (i, step - 1 - i).
  const Cell* costs() const { return array_[0]; }
  const Cell* costs_before() const { return array_[1]; }
  std::int32_t step() const { return step_; }

  void begin() {
    step_ = 0;
    edges(n_, m_);
  }

  // Computes the cells (i, j) of the next anti-diagonal with first <= i <= query_len and j <= target_len. The byte of
  // slot i goes to trace[i]; up to kLanes - 1 bytes before the first one are overwritten.
  template <bool Trace>
  void advance(std::int32_t first, std::int32_t query_len, std::int32_t target_len, std::uint8_t* trace) {
    ++step_;
    std::swap(array_[0], array_[1]);
    std::int32_t lo = step_ - target_len > 1 ? step_ - target_len : 1;
    if (first > lo) lo = first;
    const std::int32_t hi = query_len < step_ - 1 ? query_len : step_ - 1;
    if (lo <= hi) Trace && transposed_ ? cells<true, true>(lo, hi, trace) : cells<Trace, false>(lo, hi, trace);
    edges(query_len, target_len);
  }

  // Returns the operation that aligns the bases before (i, j).
  Op operation(std::int32_t i, std::int32_t j) const {
    return operation_of(static_cast<std::uint8_t>(query_[i - 1]), static_cast<std::uint8_t>(target_[m_ - j]), ByBits);
  }

  // Return how many of the first i query bases, or j target bases, stay unaligned if the path begins after them.
  std::int32_t query_left(std::int32_t i) const { return i < free_query_ ? i : free_query_; }
  std::int32_t target_left(std::int32_t j) const { return j < free_target_ ? j : free_target_; }

  void save(GotohMemory& memory, std::int32_t first, std::int32_t query_len, std::int32_t target_len) const {
    const std::int32_t first_cell = step_ - 1 - target_len > first ? step_ - 1 - target_len : first;
    const std::int32_t lo = first_cell > 0 ? first_cell : 0, hi = query_len < step_ ? query_len : step_;
    memory.checkpoints.push({step_, lo, hi, memory.saved.size()});
    const std::size_t bytes = static_cast<std::size_t>(hi - lo + 1) * sizeof(Cell);
    for (const Cell* values : array_) memory.saved.append(reinterpret_cast<const std::uint8_t*>(values + lo), bytes);
  }
  void restore(const GotohMemory& memory, const GotohMemory::Checkpoint& from) {
    step_ = from.step;
    const std::size_t bytes = static_cast<std::size_t>(from.hi - from.lo + 1) * sizeof(Cell);
    const std::uint8_t* values = memory.saved.data() + from.at;
    for (Cell* to : array_) {
      std::memcpy(to + from.lo, values, bytes);
      values += bytes;
    }
  }

 private:
  static WFACLI_INLINE Vector load(const Cell* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static WFACLI_INLINE void store(Cell* to, Vector v) { std::memcpy(to, &v, sizeof v); }
  static WFACLI_INLINE Vector min(Vector a, Vector b) { return a < b ? a : b; }
  static WFACLI_INLINE Vector all(Cell value) { return Vector{} + value; }

  // Returns the cost of a gap of the given length.
  static std::int64_t gap(const Costs& c, std::int64_t bases) {
    if (!bases) return 0;
    const std::int64_t one = c.gap[0].open + bases * c.gap[0].extend;
    if constexpr (P == 1) return one;
    const std::int64_t two = c.gap[1].open + bases * c.gap[1].extend;
    return two < one ? two : one;
  }

  // Stores bases as codes as wide as a cell, with room for a vector on both sides. The target is reversed, so that
  // both sequences are read in the same direction along an anti-diagonal.
  void lay_out_text(Buffer<std::uint8_t>& memory) {
    const std::size_t n = static_cast<std::size_t>(n_), m = static_cast<std::size_t>(m_);
    const std::size_t bytes = (n + m + 4 * kLanes) * sizeof(Cell);
    memory.resize(bytes);
    std::memset(memory.data(), 0, bytes);
    Cell* q = reinterpret_cast<Cell*>(memory.data()) + kLanes;
    Cell* t = q + n + 2 * kLanes;
    for (std::size_t i = 0; i < n; ++i) q[i] = t_.query[i];
    for (std::size_t j = 0; j < m; ++j) t[j] = t_.target[m - 1 - j];
    query_ = q;
    target_ = t;
  }

  // Sets cells (0, step) and (step, 0): unaligned bases, then one gap.
  void edges(std::int32_t query_len, std::int32_t target_len) {
    if (step_ <= target_len) {
      array_[0][0] = along(step_, free_target_);
      for (int g = 0; g < P; ++g) array_[2 + g][0] = kCeiling;
    }
    if (step_ <= query_len) {
      array_[0][step_] = along(step_, free_query_);
      for (int g = 0; g < P; ++g) array_[2 + P + g][step_] = kCeiling;
    }
  }
  Cell along(std::int32_t bases, std::int32_t free) const {
    const std::int64_t left = bases < free ? bases : free, cost = left * t_.costs.skip + gap(t_.costs, bases - left);
    return cost < kCeiling ? static_cast<Cell>(cost) : kCeiling;
  }

  // Makes `h` the minimum of itself and gaps; `from` is the index of the source, after `before` other gaps.
  template <bool Trace>
  static WFACLI_INLINE void take_gaps(const Vector (&gaps)[P], int before, Vector& h, Vector& from) {
    for (int g = P - 1; g >= 0; --g) {  // the source that wins ties is tested last
      if constexpr (Trace) from = gaps[g] <= h ? all(static_cast<Cell>(1 + before + g)) : from;
      h = min(h, gaps[g]);
    }
  }

  // Returns the costs of codes that match if they share a bit.
  static WFACLI_INLINE Vector by_shared_bits(Vector a, Vector b, Vector mismatch, Vector ambiguous) {
    const Vector others = ((a | b) & all(kAmbiguousCodes)) != 0 ? ambiguous : mismatch;
    return (a & b) != 0 ? Vector{} : others;
  }

  template <bool Trace, bool Transposed>
  void cells(std::int32_t lo, std::int32_t hi, std::uint8_t* trace) {
    const Costs& c = t_.costs;
    const Vector mismatch = all(c.mismatch), ambiguous = all(c.ambiguous), ceiling = all(kCeiling);
    const Cell *q = query_ - 1, *t = target_ + (m_ - step_);
    Cell *now = array_[0], *before = array_[1];  // `now` still holds the anti-diagonal before `before`
    for (std::int32_t i = hi - kLanes + 1; i > lo - kLanes; i -= kLanes) {
      const Vector above = load(before + i - 1), beside = load(before + i);
      const Vector a = load(q + i), b = load(t + i);
      Vector h = load(now + i - 1) + (ByBits ? by_shared_bits(a, b, mismatch, ambiguous) : a == b ? Vector{} : mismatch);
      Vector from{}, open{};
      Vector e[P], f[P];
      for (int g = 0; g < P; ++g) {
        const Vector opening = all(c.gap[g].open), extend = all(c.gap[g].extend);
        const Vector e_before = load(array_[2 + g] + i - 1), e_opened = above + opening;
        const Vector f_before = load(array_[2 + P + g] + i), f_opened = beside + opening;
        e[g] = min(e_before, e_opened) + extend;
        f[g] = min(f_before, f_opened) + extend;
        if constexpr (Trace) {
          open |= (e_before < e_opened) & all(8 << g);
          open |= (f_before < f_opened) & all(8 << (P + g));
        }
        store(array_[2 + g] + i, e[g]);
        store(array_[2 + P + g] + i, f[g]);
      }
      take_gaps<Trace>(Transposed ? e : f, Transposed ? 0 : P, h, from);
      take_gaps<Trace>(Transposed ? f : e, Transposed ? P : 0, h, from);
      store(now + i, min(h, ceiling));
      if constexpr (Trace) {
        typedef std::uint8_t Bytes __attribute__((vector_size(kLanes)));
        const Bytes bytes = __builtin_convertvector(from | open, Bytes);
        std::memcpy(trace + i, &bytes, sizeof bytes);
      }
    }
  }

  const KernelTask& t_;
  const bool transposed_;
  const std::int32_t n_, m_;
  std::int32_t free_query_, free_target_, step_ = 0;
  std::size_t slots_;
  Cell* array_[kArrays];  // H of the last anti-diagonal and the one before; then E and F of each piece
  const Cell *query_ = nullptr, *target_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Short pairs, one per lane: all lanes compute the same cell of their own band in a step.
//
// Columns j (symbols of the reversed target) are computed one at a time, and in each column its slots k, which are
// diagonals: row i = j + k - origin. The origin differs per lane, so that the diagonal of each lane's last cell has
// the same slot. Cells outside the band count as one gap from their neighbour inside (difference_costs.hpp), so all
// values are costs of real paths and never too low. A path that leaves the band has gaps of at least room + 1 symbols,
// and of as many more as the lengths differ by. A cost below theirs is exact, as are all cells of all paths of that
// cost, which makes the path canonical as well.
#pragma once

#include "kernels/difference/difference_trace.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int P>
class Group {
  using T = Trace<P>;
  using S = typename T::S;
  using L = typename T::L;
  using Lane = typename T::Lane;
  using Vector = typename T::Vector;
  using Read = DifferenceMemory::Read;

 public:
  static constexpr int kLanes = L::kCount;

  Group(const ReadsTask& task, DifferenceMemory& memory) : task_(task), memory_(memory), s_(task.costs, false), step_(s_) {
    const std::int32_t difference = s_.different - s_.same;
    spill_ = 255 / (difference > 0 ? difference : 1);
  }

  // Aligns `count` <= kLanes reads with non-empty sequences. Returns false if the trace exceeds table_bytes.
  bool run(const Read* reads, std::int32_t count) {
    admit(reads, count);
    if (task_.path && cells() * kLanes > task_.table_bytes) return false;
    text_.fill(task_, {reads, count, columns_ + width_, columns_, origin_}, memory_.text);
    lay_out_state();
    if (task_.path)
      sweep<true>();
    else
      sweep<false>();
    return true;
  }

  std::int32_t cost(int lane) const { return score_[lane]; }
  // Returns the number of diagonals in the band beyond those of both ends.
  std::int32_t room(int lane) const {
    const std::int32_t begin = origin_[lane], low = smaller(begin, end_), high = larger(begin, end_);
    return smaller(low, width_ - 1 - high);
  }

  // Writes the lane's CIGAR.
  void trace_path(int lane, RunWriter& runs) const {
    const auto cell = [&](std::int32_t i, std::int32_t j) __attribute__((always_inline)) { return at(lane, i, j); };
    const typename T::Edge edge = T::trace_path(n_[lane], m_[lane], cell, runs);
    if (edge.i > 0) runs.add(kInsertion, edge.i);
    if (edge.j > 0) runs.add(kDeletion, edge.j);
  }

 private:
  std::size_t cells() const { return static_cast<std::size_t>(columns_) * width_; }
  WFACLI_INLINE unsigned at(int lane, std::int32_t i, std::int32_t j) const {
    const std::size_t cell = static_cast<std::size_t>(j - 1) * width_ + (i - j + origin_[lane]);
    return table_[cell * kLanes + lane];
  }
  // Sets the lengths, and a band that is wide enough for every read's room.
  void admit(const Read* reads, std::int32_t count) {
    std::int32_t below = 0, above = 0;
    columns_ = 0;
    for (int l = 0; l < kLanes; ++l) {
      const Read& r = reads[l < count ? l : 0];  // unused lanes repeat the first read
      n_[l] = r.query_len;
      m_[l] = r.target_len;
      columns_ = larger(columns_, m_[l]);
      below = larger(below, r.room + larger(n_[l] - m_[l], 0));
      above = larger(above, r.room + larger(m_[l] - n_[l], 0));
    }
    end_ = below;
    width_ = below + above + 1;
    last_origin_ = 0;
    for (int l = 0; l < kLanes; ++l) {
      origin_[l] = end_ - (n_[l] - m_[l]);
      last_origin_ = larger(last_origin_, origin_[l]);
    }
  }

  // Initializes column 0 and the values beside the band.
  void lay_out_state() {
    const std::size_t row = static_cast<std::size_t>(width_ + 1) * kLanes;
    state_ = reinterpret_cast<Lane*>(aligned_bytes(memory_.rows, row * (2 + P)));
    for (int l = 0; l < kLanes; ++l) {
      origins_[l] = static_cast<std::uint8_t>(origin_[l]);
      score_[l] = static_cast<std::int32_t>(gap_cost(task_.costs, n_[l] > m_[l] ? n_[l] - m_[l] : m_[l] - n_[l]));
      sums_[l] = 0;
    }
    for (std::int32_t k = 0; k <= width_; ++k) {
      Vector u = step_.rise;
      for (std::int32_t i = 1; i <= k && k < width_; ++i)
        u = origins_ == L::all(k - i) ? L::all(s_.edge(i)) : u;
      L::store(slot(kU, k), u);
      L::store(slot(kRun, k), L::all(T::kNoRun));
      for (int g = 0; g < P; ++g) L::store(slot(kB + g, k), step_.full[g]);
    }
    if (task_.path) table_ = aligned_bytes(memory_.table, cells() * kLanes);
  }

  enum { kU, kRun, kB };
  WFACLI_INLINE Lane* slot(int array, std::int32_t k) const {
    return state_ + (static_cast<std::size_t>(array) * (width_ + 1) + k) * kLanes;
  }

  // Computes all columns. A lane's cost is read when its last column is done.
  template <bool Path>
  void sweep() {
    for (std::int32_t j = 0; j < columns_;) {
      std::int32_t stop = smaller(columns_, j + spill_);
      for (int l = 0; l < kLanes; ++l)
        if (m_[l] > j) stop = smaller(stop, m_[l]);
      columns<Path>(j, stop);
      j = stop;
      for (int l = 0; l < kLanes; ++l)
        if (m_[l] == j) score_[l] += sums_[l];
    }
  }

  // Computes columns from + 1 to `to`, in which the cost increase along the last diagonal fits a byte.
  template <bool Path>
  void columns(std::int32_t from, std::int32_t to) {
    Vector rises{};
    std::int32_t j = from + 1;
    for (; j <= to && j <= last_origin_; ++j) {
      const Vector rise = column<Path, true>(j);
      rises += end_ + j < 256 ? (origins_ >= L::all(end_ + j) ? Vector{} : rise) : rise;
    }
    for (; j <= to; ++j) rises += column<Path, false>(j);
    for (int l = 0; l < kLanes; ++l) sums_[l] += rises[l];
  }

  // Computes column j. Returns the cost increase along the last diagonal.
  template <bool Path, bool Corner>
  WFACLI_INLINE Vector column(std::int32_t j) {
    // Local copies: as far as the compiler knows, a byte store might change the members.
    const Step<S> step = step_;
    const std::uint8_t* q = text_.query + static_cast<std::size_t>(j - 1) * kLanes;
    const std::uint8_t* const t = text_.target + static_cast<std::size_t>(j - 1) * kLanes;
    std::uint8_t* table = Path ? table_ + static_cast<std::size_t>(j - 1) * width_ * kLanes : nullptr;
    Lane *us = slot(kU, 0), *runs = slot(kRun, 0), *bs[P + 1];
    for (int g = 0; g < P; ++g) bs[g] = slot(kB + g, 0);
    Vector v = step.rise, a[P + 1];
    for (int g = 0; g < P; ++g) a[g] = step.full[g];
    std::int32_t row = j;  // minus the origin
    const auto cells = [&](std::int32_t count) __attribute__((always_inline)) {
      Vector z{};
      for (; count > 0; --count, ++row) {
        Vector u = L::load(us + kLanes), b[P + 1];
        for (int g = 0; g < P; ++g) b[g] = L::load(bs[g] + kLanes);
        z = step(q, t, u, v, a, b);
        Vector run{};
        if constexpr (Path) run = T::source(step, q, t, L::load(runs), u, v, a, b, table);
        if (Corner && row <= last_origin_) first_row<Path>(step, j, row, v, a, run);
        L::store(us, u);
        us += kLanes;
        for (int g = 0; g < P; ++g) {
          L::store(bs[g], b[g]);
          bs[g] += kLanes;
        }
        if constexpr (Path) {
          L::store(runs, run);
          runs += kLanes;
          table += kLanes;
        }
        q += kLanes;
      }
      return z;
    };
    const Vector z = cells(end_ + 1);
    cells(width_ - end_ - 1);
    return z - step.same;
  }

  // Sets cells (0, j) in the lanes that have them in this slot.
  template <bool Path>
  WFACLI_INLINE void first_row(const Step<S>& step, std::int32_t j, std::int32_t row, Vector& v, Vector* a,
                               Vector& run) const {
    const Vector edge = (Vector)(origins_ == L::all(row));
    v = edge != 0 ? L::all(s_.edge(j)) : v;
    for (int g = 0; g < P; ++g) a[g] = edge != 0 ? step.full[g] : a[g];
    if constexpr (Path) run = edge != 0 ? L::all(T::kNoRun) : run;
  }

  const ReadsTask& task_;
  DifferenceMemory& memory_;
  const S s_;
  const Step<S> step_;
  Vector origins_;
  std::int32_t spill_;  // maximum number of columns whose cost increase fits a byte
  std::int32_t n_[kLanes], m_[kLanes];
  std::int32_t origin_[kLanes];  // slot of the diagonal that begins in (0, 0)
  std::int32_t score_[kLanes], sums_[kLanes];
  std::int32_t columns_, width_, end_, last_origin_;  // end_: slot of the diagonal that ends in a lane's last cell
  LanesText text_;
  std::uint8_t* table_ = nullptr;
  Lane* state_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

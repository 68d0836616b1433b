// Heuristics: rows that leave out diagonals, by a band or by a drop in score.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/wavefront/wavefront_front.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Decides which diagonals each row has. Ranges are stored, so that rows can be recomputed identically.
template <class F>
class Narrow {
 public:
  Narrow(const KernelTask& task, const F& front, Buffer<RowSpan>& ranges)
      : t_(task), h_(task.heuristics), front_(front), ranges_(ranges), any_(h_.any()) {}

  WFACLI_INLINE bool any() const { return any_; }
  bool heuristic_applied() const { return heuristic_applied_; }
  Range range(std::int32_t s) const { return {ranges_[s].lo, ranges_[s].hi}; }
  bool blank(std::int32_t s) const { return ranges_[s].blank; }

  void begin() {
    if (!any_) return;
    ranges_.clear();
    ranges_.push({front_.reached(0).lo, front_.reached(0).hi, false});
    best_ = INT64_MIN;
    dead_ = 0;
    const Range s = front_.starts(), e = front_.ends();
    band_ = {smaller(s.lo, e.lo) - h_.band, larger(s.hi, e.hi) + h_.band};
  }

  // Returns the part of `reached` that row s will have, given the previous rows.
  Range before(const Rows& rows, std::int32_t s, Range reached) {
    Range at = common(reached, from_rows(rows, s));
    if (h_.band > 0) at = common(at, band_);
    heuristic_applied_ |= at.lo > reached.lo || at.hi < reached.hi;
    return at;
  }

  // Trims the computed row s, and moves the band. Returns an empty range if nothing is left to continue from.
  Range after(Rows& rows, std::int32_t s, Range at) {
    const Range live = not_dropped(rows, s, at);
    dead_ = live.empty() ? dead_ + 1 : 0;
    if (h_.drop > 0 && live.empty()) {
      rows.blank(s);
    } else if (h_.drop > 0) {
      rows.shrink(s, live.lo, live.hi);
      at = live;
    }
    ranges_.push({at.lo, at.hi, h_.drop > 0 && live.empty()});
    if (h_.band_step > 0 && s % h_.band_step == 0) centre(rows, s, at);
    return dead_ > front_.depth() ? live : at;
  }

 private:
  // Returns a range one diagonal wider than every row that row s reads, but no wider than those rows can be read.
  Range from_rows(const Rows& rows, std::int32_t s) const {
    const std::int32_t pad = front_.pad();
    Range wide{INT32_MAX, INT32_MIN}, readable{INT32_MIN, INT32_MAX};
    for (std::int32_t r = 1; r <= front_.depth(); ++r) {
      const RowRef& row = rows.ref(s - r);
      wide = {smaller(wide.lo, row.lo - 1), larger(wide.hi, row.hi + 1)};
      readable = common(readable, {row.lo - pad + 1, row.hi + pad - 1});
    }
    return common(wide, readable);
  }

  // Returns the first to last diagonal that a path has reached and that is within the drop.
  Range not_dropped(Rows& rows, std::int32_t s, Range at) {
    const Offset* m = rows.component(s, 0);
    const auto value = [&](std::int32_t k) {
      return m[k] < 0 ? INT64_MIN / 2 : std::int64_t{t_.costs.skip} * (2 * m[k] - k) - s;
    };
    for (std::int32_t k = at.lo; k <= at.hi; ++k)
      if (m[k] >= 0 && value(k) > best_) best_ = value(k);
    Range live{INT32_MAX, INT32_MIN}, known{INT32_MAX, INT32_MIN};
    for (std::int32_t k = at.lo; k <= at.hi; ++k) {
      if (m[k] < 0) continue;
      known = {smaller(known.lo, k), larger(known.hi, k)};
      if (h_.drop == 0 || value(k) >= best_ - h_.drop) live = {smaller(live.lo, k), larger(live.hi, k)};
    }
    heuristic_applied_ |= live.lo != known.lo || live.hi != known.hi;
    // If nothing was dropped, unreached diagonals remain, because later rows read them.
    if (!live.empty()) live = {live.lo == known.lo ? at.lo : live.lo, live.hi == known.hi ? at.hi : live.hi};
    return live;
  }

  // Centres the band on the diagonal with the least left to the ends of the sequences.
  void centre(Rows& rows, std::int32_t s, Range at) {
    const Offset* m = rows.component(s, 0);
    std::int32_t min_distance = INT32_MAX, diagonal = 0;
    for (std::int32_t k = at.lo; k <= at.hi; ++k) {
      if (m[k] < 0) continue;
      const std::int32_t left = larger(t_.target_len - m[k], t_.query_len - (m[k] - k));
      if (left < min_distance) {
        min_distance = left;
        diagonal = k;
      }
    }
    if (min_distance != INT32_MAX) band_ = {diagonal - h_.band, diagonal + h_.band};
  }

  const KernelTask& t_;
  const Heuristics& h_;
  const F& front_;
  Buffer<RowSpan>& ranges_;
  const bool any_;
  bool heuristic_applied_ = false;
  std::int32_t dead_ = 0;  // consecutive rows without a live cell
  std::int64_t best_ = INT64_MIN;
  Range band_{0, 0};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

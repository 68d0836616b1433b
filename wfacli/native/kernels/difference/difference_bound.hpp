// Search for a bound: which costs to try, in growing order, until the band of one contains a path that cheap.
//
// Without seeds the first bound is what a window in registers proves, and each further bound is several times as high.
// Seeds (difference_seeds.hpp) give a lower bound of the cost: the band of a slightly higher bound is narrow, and the row
// where it ends indicates which bound the path needs. Two or three such probes cost less than the band of the first upper
// bound, which may be far too high.
#pragma once

#include "kernels/difference/difference_band.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Returns the number of cells of the narrowest window that covers `cells` cells.
inline std::int32_t window_cells(std::int32_t cells) { return cells <= 32 ? 32 : (cells + 63) / 64 * 64; }

template <class S>
class BoundSearch {
 public:
  BoundSearch(const KernelTask& task, const Bounds& bounds, DifferenceMemory& memory)
      : t_(task), bounds_(bounds), m_(memory), free_(task.free.any()),
        free_query_(task.free.query_begin || task.free.query_end), total_(task.query_len + task.target_len) {}

  // Returns true if the pair is expected to cost far more than windows prove. A sample of the pair may be believed sooner
  // than the cost of some path.
  bool is_far() const {
    if (free_ || t_.estimate < 0) return false;
    if (t_.estimate >= t_.max_score) return t_.estimate > kTooHigh * bounds_.provable(64);
    return bounds_.band(t_.estimate).cells(0) > kFar;
  }

  // Sets the first bound: the highest cost of interest if that is known to be enough.
  void start(bool enough) {
    upper_bound_ = bound_ = t_.max_score;
    if (enough) return;
    narrows_ = free_;
    bound_ = free_ ? first_free_bound() : first_bound();
    if (bound_ < 0) {
      narrows_ = seeds() != nullptr;
      bound_ = t_.estimate >= t_.max_score ? upper_bound_ : narrows_ ? worth_trying(first_probe()) : cost_without_seeds();
    }
    if (free_)
      upper_bound_ = smaller(upper_bound_, gap_cost(t_.costs, t_.query_len) + gap_cost(t_.costs, t_.target_len));
    if (free_query_ && bounds_.whole(bounds_.band(bound_))) bound_ = upper_bound_;
    bound_ = smaller(bound_, upper_bound_);
  }

  // Sets the next bound. `cost` is the cost of the path found in the band of the last bound, which ended at row `row`.
  // Returns false if the last bound was the highest cost of interest.
  bool raise(std::int64_t cost, std::int32_t row) {
    if (bound_ >= t_.max_score) return false;
    if (cost < upper_bound_) upper_bound_ = cost;
    // If a narrow band lost the path, a wider one lowers the cost before a full-width band is computed.
    if (free_) {
      bound_ = upper_bound_ <= 2 * bound_ ? upper_bound_ : bound_ + bound_ / 2 + 1;
    } else if (narrows_) {
      bound_ = worth_trying(next_probe(row));
    } else if (bounds_.band(upper_bound_).cells(0) > S::kWindowCells && seeds()) {
      narrows_ = upper_bound_ > 4 * min_cost();  // else the upper bound is close to what the path costs
      bound_ = narrows_ ? worth_trying(first_probe()) : upper_bound_;
    } else {
      bound_ = cost <= likely() ? upper_bound_ : 4 * bound_ + 1;
    }
    bound_ = smaller(bound_, upper_bound_);
    return true;
  }

  std::int64_t bound() const { return bound_; }
  // Returns true if the band of the bound should narrow along the way: some path costs no more than the bound, or seeds
  // or free ends make a narrow band that fails cheaper than a wide one. Most diagonals of a wide band that never narrows
  // match nothing.
  bool narrows() const { return !free_query_ && (narrows_ || bound_ >= upper_bound_); }

  // Returns the bound by the seeds of the query, counted on the first call, or null if there is none.
  const SeedBound* seeds() {
    if (!seeds_tried_) has_seeds_ = seeds_.count(t_, m_);
    seeds_tried_ = true;
    return has_seeds_ ? &seeds_ : nullptr;
  }

 private:
  static constexpr double kHardlyWider = 2;  // times the cells
  static constexpr std::int64_t kTooHigh = 16;  // times the bound that the narrowest window proves
  static constexpr std::int32_t kFar = 576;     // cells of a band
  static constexpr std::int32_t kShort = 200;  // symbols; few pairs this short need more than the narrowest window

  // Returns the smallest bound that is worth trying, or a negative value if no window covers its band.
  std::int64_t first_bound() const {
    std::int32_t cells = t_.estimate < 0 && total_ > 2 * kShort ? 64 : 32;
    if (t_.estimate >= 0) {
      const Band b = bounds_.band(t_.estimate + t_.estimate / 4);
      cells = window_cells(b.cells(0));
      if (cells > S::kWindowCells) {
        if (is_far()) return -1;
        cells = 64;
      }
    }
    for (; cells <= S::kWindowCells; cells = window_cells(cells + 1))
      if (const std::int64_t bound = bounds_.provable(cells); bound >= 0) return bound;
    return -1;
  }
  // Returns the first bound with free ends: enough for most pairs, judging by the estimate.
  std::int64_t first_free_bound() const {
    const std::int64_t cost = t_.estimate >= 0 ? t_.estimate : std::int64_t{t_.costs.mismatch} * t_.query_len / 16;
    return bounds_.min_cost() + cost + cost / 4 + 4 * gap_cost(t_.costs, 1);
  }
  // Returns a bound for sequences that are no more than about 5% different, apart from their lengths.
  std::int64_t cost_without_seeds() const {
    const std::int64_t shorter = smaller(t_.query_len, t_.target_len);
    return gap_cost(t_.costs, total_ - 2 * shorter) + t_.costs.mismatch * shorter / 16;
  }
  // Returns the highest cost of sequences that are still similar.
  std::int64_t likely() const { return static_cast<std::int64_t>(t_.costs.mismatch) * total_ / 8; }

  std::int64_t min_cost() const { return seeds_.min_cost(t_.target_len - t_.query_len); }
  std::int64_t first_probe() const {
    const std::int64_t by_upper_bound = (upper_bound_ - min_cost()) / 4;
    const std::int64_t typical = min_cost() / 8 + 16 * std::int64_t{t_.costs.mismatch};
    return min_cost() + larger<std::int64_t>(0, smaller(by_upper_bound, typical));
  }
  // Returns a bound, or the upper bound if its band is hardly wider.
  std::int64_t worth_trying(std::int64_t bound) const {
    const std::int64_t cells = bounds_.band(smaller(bound, upper_bound_)).cells(0);
    return kHardlyWider * cells > bounds_.band(upper_bound_).cells(0) ? upper_bound_ : bound;
  }
  // Returns the bound to try after a band that ended at row `row`. Errors are mostly spread evenly, so each row uses up
  // the same share of what exceeds the minimum cost.
  std::int64_t next_probe(std::int32_t row) const {
    const std::int64_t before = larger<std::int64_t>(bound_ - min_cost(), 1), rows = larger(1, row - (total_ & 1));
    const std::int64_t needed = before * total_ / rows * 9 / 8;
    const std::int64_t next = larger(smaller(needed, 3 * before), before + before / 4 + 1);
    return min_cost() + next > upper_bound_ - next / 8 ? upper_bound_ : min_cost() + next;
  }

  const KernelTask& t_;
  const Bounds& bounds_;
  DifferenceMemory& m_;
  const bool free_, free_query_;  // any end is free; an end of the query is free
  const std::int32_t total_;
  std::int64_t upper_bound_ = 0;  // cost of some path, or the highest cost of interest
  std::int64_t bound_ = 0;
  bool narrows_ = false;  // the band narrows although no path is known to cost as little as the bound
  SeedBound seeds_;
  bool seeds_tried_ = false, has_seeds_ = false;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

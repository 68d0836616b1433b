// Where an extension ends, for every kernel that finds its end.
//
// The value of a path is twice its score in units of costs: `skip` for each base of both sequences, minus the cost. A
// path's place is the number of bases that it has aligned, i + j. For each place d, let
//   reach(d) be the least cost of a path whose place is at least d, and
//   best(d) the best value of paths whose place is at most d: of equal values the one with the first place, then the
//     fewest query bases.
// An extension stops at the first place d where either
//   no path that costs reach(d) or more can have a better value than best(d), or
//   Z-drop (H. Li, "Minimap2", Bioinformatics 2018, section 2.2.3): the value at d, skip * d - reach(d), is below
//     best(d) by more than the Z-drop, plus a gap extension for each diagonal between best(d) and the nearest path
//     that costs reach(d) and whose place is at least d.
// It ends at best(d).
//
// Kernels that visit paths by cost and kernels that visit them by place find the same values:
// - Every path to a place above d + 1 passes d or d + 1, so reach(d) is the least cost of the cells on these two
//   anti-diagonals. From such a cell a path of the same cost goes on along its own diagonal only.
// - Let s be the least cost of a path that goes beyond all cheaper ones, and d the first place that these do not
//   reach. Then reach(d') = s from d up to the furthest place that s reaches. The value rises with d' while best(d')
//   rises only to values of that path, and fewer diagonals are left: a Z-drop that is not at d is not at d' either.
#pragma once

#include "kernels/gap_cost.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {

class ExtensionRule {
 public:
  explicit ExtensionRule(const KernelTask& task)
      : c_(task.costs),
        shorter_(task.query_len < task.target_len ? task.query_len : task.target_len),
        longest_gap_(std::int64_t{task.query_len} + task.target_len - 2 * std::int64_t{shorter_}),
        zdrop_(task.heuristics.zdrop) {}

  // Returns the value of a path of cost s at place d.
  WFACLI_INLINE std::int64_t value(std::int64_t d, std::int64_t s) const { return c_.skip * d - s; }

  // Returns the maximum value of paths that cost at least s.
  WFACLI_INLINE std::int64_t max_value(std::int64_t s) const {
    const std::int64_t skip = c_.skip, longest = gap_length(s), gap = longest < longest_gap_ ? longest : longest_gap_;
    const std::int64_t value = skip * (2 * std::int64_t{shorter_} + gap) - s;
    if (gap == longest_gap_) return value;
    // A gap of one more base costs more than s; each further base costs more than it adds.
    const std::int64_t longer = skip * (2 * std::int64_t{shorter_} + gap + 1) - gap_cost(c_, gap + 1);
    return longer > value ? longer : value;
  }

  // Returns the number of cells up to place d, at most all.
  WFACLI_INLINE double cells(std::int64_t d) const {
    const double shorter = shorter_, longer = shorter + static_cast<double>(longest_gap_), place = static_cast<double>(d);
    if (place < shorter) return place * place / 2;
    return shorter * ((place < longer ? place : longer) - shorter / 2);
  }

  // Returns the maximum distance between diagonals at which such a value has dropped below the best one; -1 if none.
  WFACLI_INLINE std::int64_t drop_radius(std::int64_t best, std::int64_t value) const {
    const std::int64_t excess = best - value - zdrop_, gap = c_.gap[0].extend - c_.skip;
    if (zdrop_ <= 0 || excess < 0) return -1;
    return gap > 0 ? excess / gap : INT32_MAX;
  }

 private:
  // Returns the maximum length of a gap that costs at most s.
  WFACLI_INLINE std::int64_t gap_length(std::int64_t s) const {
    const auto by = [&](const GapPiece& gap) {
      return s < gap.open + gap.extend ? std::int64_t{0} : (s - gap.open) / gap.extend;
    };
    const std::int64_t one = by(c_.gap[0]), two = c_.pieces == 2 ? by(c_.gap[1]) : 0;
    return one > two ? one : two;
  }

  const Costs c_;
  const std::int32_t shorter_;
  const std::int64_t longest_gap_;  // of gaps that leave all bases of the shorter sequence aligned to others
  const std::int32_t zdrop_;  // least drop on one diagonal; 0: off
};

}  // namespace wfacli

// What a path costs at least for each seed that it does not match.
//
// Seeds are k symbols of the query, one seed every k + g symbols. A path that does not match a seed as a whole has a
// mismatch (which may cost less at an ambiguous symbol), an inserted symbol, or a deletion inside the seed. A mismatch and a deletion lie in at most one seed; an
// insertion of l symbols touches at most 1 + (l + k - 2) / (k + g) seeds, so that a short one touches two only without the
// distance g. For a charge p <= mismatch, and slopes such that for all l
//   gap_cost(l) >= p + deletion * l     gap_cost(l) >= p * (1 + (l + k - 2) / (k + g)) + insertion * l,
// a path costs at least p * unmatched seeds + deletion * deleted symbols + insertion * inserted symbols. The bound without
// slopes is the seed heuristic of A*PA (R. Groot Koerkamp, P. Ivanov, Bioinformatics 2024), there for edit distance; the
// slopes are what remains for leaving the diagonal and returning to it.
#pragma once

#include "kernels/gap_cost.hpp"

namespace wfacli {

struct SeedCharge {
  static constexpr std::int64_t kScale = 64;  // charge and slopes are multiples of 1 / kScale

  std::int32_t k = 0, period = 0;  // length of a seed, and of a seed with the distance to the next one
  std::int64_t charge = 0, deletion = 0, insertion = 0;

  // Sets charge, slopes and distance for seeds of length k. Returns false if there are none: for costs under which gaps
  // cost too little.
  WFACLI_INLINE bool set(const Costs& c, std::int32_t length) {
    // A charge above the cost of opening a gap leaves no slope for gaps of length 1.
    return set(c, length, gap_cost(c, 1) - least_extend(c), 3);
  }
  // The same with a charge as high as slopes above 0 allow.
  WFACLI_INLINE bool set_high(const Costs& c, std::int32_t length) { return set(c, length, gap_cost(c, 1) - 1, 0); }

  // Returns the least cost of another symbol of a gap.
  static WFACLI_INLINE std::int64_t least_extend(const Costs& c) {
    return c.pieces == 2 && c.gap[1].extend < c.gap[0].extend ? c.gap[1].extend : c.gap[0].extend;
  }

  // Returns a / b rounded up.
  static WFACLI_INLINE std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0); }

 private:
  static constexpr std::int32_t kMaxDistance = 4;
  static constexpr std::int32_t kGapLengths = 256;  // gap lengths whose costs are compared one by one
  static constexpr std::int64_t kLeastSlope = kScale / 8;

  // `most`: maximum charge. `quarters`: the distance grows until the slope of insertions is this share of its limit.
  WFACLI_INLINE bool set(const Costs& c, std::int32_t length, std::int64_t most, std::int64_t quarters) {
    k = length;
    const std::int64_t extend = least_extend(c), p = c.ambiguous < most ? c.ambiguous : most;
    const std::int64_t open = c.pieces == 2 && c.gap[1].open < c.gap[0].open ? c.gap[1].open : c.gap[0].open;
    if (p <= 0) return false;
    charge = kScale * p;
    // Longer gaps than kGapLengths cost at least open + extend * l.
    deletion = kScale * extend - rounded_up(p > open ? kScale * (p - open) : 0, kGapLengths);
    for (std::int64_t l = 1; l <= kGapLengths; ++l) lower(deletion, -rounded_up(kScale * (p - gap_cost(c, l)), l));
    for (std::int32_t distance = 0; distance <= kMaxDistance; ++distance) {
      period = k + distance;
      // Longer insertions touch at most 2 + l / period seeds.
      const std::int64_t longest = kScale * extend - rounded_up(kScale * p, period);
      insertion = longest - rounded_up(2 * p > open ? kScale * (2 * p - open) : 0, kGapLengths);
      for (std::int64_t l = 1; l <= kGapLengths; ++l) {
        const std::int64_t touched = 1 + (l + k - 2) / period;
        lower(insertion, -rounded_up(kScale * (p * touched - gap_cost(c, l)), l));
      }
      if (4 * insertion >= quarters * longest && insertion >= kLeastSlope) break;
    }
    return deletion > 0 && insertion > 0;
  }

  static WFACLI_INLINE void lower(std::int64_t& a, std::int64_t b) { a = b < a ? b : a; }
};

}  // namespace wfacli

// A band of diagonals in a pair's matrix, and the costs that it proves.
#pragma once

#include "common/task.cuh"

namespace wfacli::dp {

constexpr std::int32_t kNever = 0x7fffffff;  // higher than any cost

// Return the cost of a gap of `length` symbols; at most kNever.
WFACLI_DEVICE std::int32_t gap_cost(const Costs& costs, std::int32_t length) {
  if (length == 0) return 0;
  std::int64_t minimum = kNever;
  for (std::int32_t g = 0; g < costs.pieces; ++g)
    minimum = min(minimum, costs.open[g] + static_cast<std::int64_t>(costs.extend[g]) * length);
  return static_cast<std::int32_t>(minimum);
}

WFACLI_DEVICE std::int32_t sum_of_costs(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(min(static_cast<std::int64_t>(a) + b, static_cast<std::int64_t>(kNever)));
}

// `width` diagonals from `low` on; diagonal k has the cells (i, i + k). A path leads from diagonal 0 to `last`.
struct Band {
  std::int32_t low, last;
  bool holds;             // diagonals 0 and `last` are in the band
  std::int32_t unproven;  // minimum cost of a path that leaves the band: lower costs are optimal

  // Centre the band between both diagonals, so that leaving it above or below costs about the same. `odd`: the first
  // diagonal has an odd number.
  WFACLI_DEVICE static Band of(const Costs& costs, std::int32_t query_len, std::int32_t target_len,
                               std::int32_t width, bool odd = false) {
    Band band;
    band.last = target_len - query_len;
    band.low = (band.last - (width - 1)) >> 1;
    if (odd && !(band.low & 1)) --band.low;
    const std::int32_t above = band.low + width, below = band.low - 1;
    band.holds = band.low <= min(0, band.last) && above > max(0, band.last);
    band.unproven = kNever;
    if (!band.holds) {
      band.low = odd;
      return band;
    }
    // Several gaps never cost less than one of their total length. The matrix only has diagonals -query_len to
    // target_len, so no path leaves the band beyond them.
    if (above <= target_len)
      band.unproven = sum_of_costs(gap_cost(costs, above), gap_cost(costs, above - band.last));
    if (below >= -query_len)
      band.unproven =
          min(band.unproven, sum_of_costs(gap_cost(costs, -below), gap_cost(costs, band.last - below)));
    return band;
  }
};

}  // namespace wfacli::dp

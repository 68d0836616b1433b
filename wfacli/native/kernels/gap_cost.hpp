// Cost of a gap.
#pragma once

#include "base/types.hpp"

namespace wfacli {

// Returns the cost of a gap of length l.
WFACLI_INLINE std::int64_t gap_cost(const Costs& c, std::int64_t l) {
  if (l <= 0) return 0;
  const std::int64_t one = c.gap[0].open + l * c.gap[0].extend;
  if (c.pieces < 2) return one;
  const std::int64_t two = c.gap[1].open + l * c.gap[1].extend;
  return two < one ? two : one;
}

}  // namespace wfacli

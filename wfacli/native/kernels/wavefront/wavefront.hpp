// The wavefront kernels: any costs, free ends, heuristics; global or ends-free alignment, and where an extension ends.
#pragma once

#include "kernels/kernel.hpp"

namespace wfacli {

// Where one score's row lies: diagonals lo..hi, one run of `stride` offsets a component from `at` on.
struct RowRef {
  std::int64_t at;
  std::int32_t lo, hi, stride;
};

// Diagonals that a row has; blank where no path leads to any of them.
struct RowSpan {
  std::int32_t lo, hi;
  bool blank;
};

// Rows of one wavefront.
struct RowMemory {
  Buffer<std::int32_t> offsets;
  Buffer<RowRef> rows;
};

// Memory that a thread keeps between pairs, so that none is allocated for a pair.
struct WavefrontMemory {
  RowMemory table, ring, behind;
  Buffer<RowSpan> ranges;
};

}  // namespace wfacli

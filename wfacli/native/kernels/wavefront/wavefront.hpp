// Interface of the wavefront kernels: any costs, free ends, heuristics; global or ends-free alignment, and ends of
// extensions.
#pragma once

#include "kernels/kernel.hpp"

namespace wfacli {

// Storage of one score's row: diagonals lo to hi, and `stride` offsets per component from `at` on.
struct RowRef {
  std::int64_t at;
  std::int32_t lo, hi, stride;
};

// Diagonals of a row; blank if no path leads to any of them.
struct RowSpan {
  std::int32_t lo, hi;
  bool blank;
};

// Rows of one wavefront.
struct RowMemory {
  Buffer<std::int32_t> offsets;
  Buffer<RowRef> rows;
};

// Buffers of one thread, reused between pairs so that no pair allocates memory.
struct WavefrontMemory {
  RowMemory table, ring, behind;
  Buffer<RowSpan> ranges;
};

}  // namespace wfacli

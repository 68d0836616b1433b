// Merging of partial results into the results of a batch.
#pragma once

#include <vector>

#include "base/buffer.hpp"
#include "base/types.hpp"

namespace wfacli {

// Columns of a PartialResult, and the number of the kernel that made it.
struct PartView {
  std::int64_t rows;
  const std::int32_t* row;
  const std::uint8_t *status, *cut;
  const std::int32_t *score, *span;  // span: [rows][4]
  const std::uint32_t* cigar;
  const std::int64_t* cigar_start;
  std::uint8_t origin;
};

// Columns of an AlignmentBatch.
struct GatheredRows {
  Buffer<std::uint8_t> status, cut, origin;
  Buffer<std::int32_t> score, span;
  Buffer<std::uint32_t> cigar;
  Buffer<std::int64_t> cigar_start;
};

// Merge parts into rows 0 .. n - 1. The last part that has a row wins; a row in no part is all zeros.
GatheredRows gather(const std::vector<PartView>& parts, std::int64_t n);

}  // namespace wfacli

// Answers for parts of a batch, put together.
#pragma once

#include <vector>

#include "base/buffer.hpp"
#include "base/types.hpp"

namespace wfacli {

// Columns of a PartialResult, and which kernel it is from.
struct PartView {
  std::int64_t rows;
  const std::int32_t* row;
  const std::uint8_t *status, *cut;
  const std::int32_t *score, *span;  // span: four a row
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

// Rows 0 to n - 1; where a row is in several parts the last one counts, and one that is in none has zeros.
GatheredRows gather(const std::vector<PartView>& parts, std::int64_t n);

}  // namespace wfacli

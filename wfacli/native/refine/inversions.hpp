// Pairs and texts for inverted parts of mapped reads.
#pragma once

#include "engine/engine.hpp"

namespace wfacli {

// Pairs of the reverse complement of a part of a query and a part of its target.
struct InvertedPairs {
  Buffer<std::uint8_t> bases, flags;
  Buffer<std::int64_t> q_start, t_start;
  Buffer<std::int32_t> q_len, t_len;
};

// Returns the pairs of n parts: rows of the batch, and spans (i32[n, 4]) inside their sequences.
InvertedPairs inverted_pairs(const BatchView& batch, const std::int32_t* rows, const std::int32_t* spans, std::int64_t n);

// Whole reads on the strand opposite to that of their rows.
struct OppositeReads {
  Buffer<std::uint8_t> text;               // sequences and quality strings
  Buffer<std::int64_t> read_start, qual;  // offsets in text; -1 for rows that have none
};

// Returns the reverse complements of the reads of n rows, and their reversed quality strings.
OppositeReads opposite_reads(const BatchView& batch, const std::int32_t* rows, std::int64_t n);

}  // namespace wfacli

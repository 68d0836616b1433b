// Dot plot of two sequences: shared k-mers, counted per pixel.
#pragma once

#include <cstdint>
#include <functional>

#include "base/buffer.hpp"

namespace wfacli {

// Concatenated records: record i is [starts[i], starts[i + 1]) of `symbols`.
template <class Symbol>
struct DotSequence {
  const Symbol* symbols;
  const std::int64_t* starts;  // i64[records + 1]
  std::int64_t records;

  std::int64_t length() const { return records ? starts[records] : 0; }
};

struct DotOptions {
  std::int32_t k = 15;        // 1 to 32 for nucleotides, 1 to 64 if `literal`
  bool literal = false;       // every symbol matches itself; otherwise nucleotides, on both strands
  std::int32_t sampled = 0;   // use one in 2^sampled distinct k-mers, the same ones in both sequences
  std::int32_t columns = 1;   // pixels of the target, 1 to kMaxPixels
  std::int32_t rows = 1;      // pixels of the query, 1 to kMaxPixels
  std::int64_t max_pixels = 1;  // maximum pixels of a sequence per k-mer; of more, this many are sampled evenly
};

constexpr std::int32_t kMaxPixels = 1 << 14;

struct DotCounts {
  // u32[rows, columns], from the starts of the sequences: pairs of equal k-mers in a pixel of the query and a pixel of
  // the target, and pairs of which one is the reverse complement of the other. The position of a k-mer is its middle
  // symbol. Saturates at 2^32 - 1.
  Buffer<std::uint32_t> forward, reverse;
  std::int64_t query_kmers = 0, target_kmers = 0;  // k-mers used, after sampling
  std::int64_t shared = 0;                         // distinct k-mers in both sequences
  std::int64_t thinned = 0;                        // those of them that lie in more pixels than DotOptions::max_pixels
};

// Counts shared k-mers. Calls `poll` regularly; an exception from it cancels the work. u32 symbols are always literal.
template <class Symbol>
DotCounts dot_counts(const DotSequence<Symbol>& query, const DotSequence<Symbol>& target, const DotOptions& options,
                     const std::function<void()>& poll);

}  // namespace wfacli

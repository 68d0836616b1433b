// Which k letters two sequences have in common, counted in the pixels of a picture.
#pragma once

#include <cstdint>
#include <functional>

#include "base/buffer.hpp"

namespace wfacli {

// Records one after another: record i has the letters from starts[i] to starts[i + 1].
template <class Letter>
struct DotSequence {
  const Letter* letters;
  const std::int64_t* starts;  // records + 1
  std::int64_t records;

  std::int64_t length() const { return records ? starts[records] : 0; }
};

struct DotOptions {
  std::int32_t k = 15;        // 1 to 32 nucleotides, to 64 other letters
  bool literal = false;       // every letter matches itself; else k nucleotides, and those of the other strand
  std::int32_t sampled = 0;   // of 2^sampled different k-mers one is looked at, the same ones in both sequences
  std::int32_t columns = 1;   // of the target; 1 to kMostPixels
  std::int32_t rows = 1;      // of the query
  std::int64_t most = 1;      // pixels of either sequence that a k-mer counts in; of more, so many are taken, evenly
};

constexpr std::int32_t kMostPixels = 1 << 14;

struct DotCounts {
  // rows x columns, from the sequences' beginnings: k-mers of the target's pixel that equal ones of the query's, and
  // those whose reverse complement does; a k-mer lies where its middle letter is. Held at 2^32 - 1.
  Buffer<std::uint32_t> forward, reverse;
  std::int64_t query_kmers = 0, target_kmers = 0;  // that were looked at, wherever they lie
  std::int64_t shared = 0;                         // different ones that both have
  std::int64_t thinned = 0;                        // of these, the ones that lie in more pixels than count
};

// `poll` is called now and then; what it throws ends the work. u32 letters are always literal.
template <class Letter>
DotCounts dot_counts(const DotSequence<Letter>& query, const DotSequence<Letter>& target, const DotOptions& options,
                     const std::function<void()>& poll);

}  // namespace wfacli

// Reduction of a long alignment path to windows for plotting: position and identity of each window.
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// Sequences that a path aligns, from its start on, in their original orientation.
template <class Symbol>
struct PathSequences {
  const Symbol *query, *target;
  std::int64_t query_len, target_len;
  bool reverse;  // the path aligns the reverse complement of the query
  bool literal;  // every symbol matches itself; otherwise nucleotides, in either case
};

struct PathWindows {
  Buffer<std::int64_t> query, target;     // i64[windows + 1]: positions at the window boundaries
  Buffer<std::int64_t> matches, columns;  // i64[windows]: matches and columns of the alignment
};

// Splits a CIGAR of `count` elements into windows with equal numbers of symbols, query and target together. M is
// resolved into matches and mismatches; clips are ignored. Throws std::invalid_argument if the CIGAR does not consume
// the sequences exactly.
template <class Symbol>
PathWindows path_windows(const PathSequences<Symbol>& sequences, const std::uint32_t* runs, std::int64_t count,
                         std::int64_t windows);

}  // namespace wfacli

// A long path in windows, to be drawn: where each begins, and how alike the sequences are in it.
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// The letters that a path aligns, from its beginning on, as they stand in the sequences.
template <class Letter>
struct PathLetters {
  const Letter *query, *target;
  std::int64_t query_len, target_len;
  bool reverse;  // the path goes through the reverse complement of the query's letters
  bool literal;  // every letter matches itself; else nucleotides in either case
};

struct PathWindows {
  Buffer<std::int64_t> query, target;     // windows + 1: letters of each that are behind, at the windows' borders
  Buffer<std::int64_t> matches, columns;  // windows: of the alignment
};

// Windows of equal progress, the letters of both sequences together; M is told into matches and mismatches by the
// letters. Clips count for nothing. Throws std::invalid_argument where the runs do not consume the letters exactly.
template <class Letter>
PathWindows path_windows(const PathLetters<Letter>& letters, const std::uint32_t* runs, std::int64_t count,
                         std::int64_t windows);

}  // namespace wfacli

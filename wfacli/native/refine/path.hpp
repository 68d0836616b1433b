// Paths of alignments that are cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// CIGAR and span of a row that is being trimmed.
struct Path {
  std::vector<std::uint32_t> runs;
  std::int32_t span[4];
  std::int32_t bound[2];  // where the query may begin and end

  // Removes `bases` bases of the query from the front or the back, and gaps that are then at that end.
  void drop(std::int64_t bases, bool front);
  // Removes all but the part that scores most, and all if there is no match, unless a part before or behind that one scores
  // `least` or more: then a long gap is between the two.
  void keep_best_part(const AlignOptions& scores, std::int64_t least);
};

// Bases of the query at an end of a CIGAR that lose, and how much.
struct PoorEnd {
  std::int64_t bases = 0, loss = 0;
};
// Returns what to drop from an end of a CIGAR so that what remains begins with no loss, as long as no part of it scores `least`.
PoorEnd poor_end(std::span<const std::uint32_t> runs, bool front, const AlignOptions& scores, std::int64_t least = INT64_MAX);

// Returns the score of the operations of a CIGAR.
std::int64_t score_of_runs(std::span<const std::uint32_t> runs, const AlignOptions& scores);

// Returns, for each cut position from `low` to `high` in the query, the score of the path before (or after) the cut.
// Gaps next to the cut are removed and do not count.
std::vector<std::int64_t> scores_after_cut(const Path& path, bool before, std::int64_t low, std::int64_t high,
                                           const AlignOptions& scores);

}  // namespace wfacli

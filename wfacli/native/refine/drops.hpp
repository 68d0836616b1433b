// Drops of the score along alignments of mapped reads, and splitting of alignments there.
#pragma once

#include "engine/engine.hpp"

namespace wfacli {

// Thresholds of drops. A drop is reduced by `extend` for each diagonal of difference.
struct DropThresholds {
  std::int64_t zdrop = 0;      // drops above it are deep; 0: find no drops
  std::int64_t inversion = 0;  // drops above it may be inversions; 0: find deep ones only
  std::int64_t extend = 0;
};

// Drops of scores: from a peak to the lowest score before the path is good again.
struct Drops {
  Buffer<std::int32_t> rows;     // row of the batch, in order
  Buffer<std::int32_t> run;      // i32[m, 2]: numbers of CIGAR elements before the peak, and before the lowest score
  Buffer<std::int32_t> span;     // i32[m, 4]: the part between both
  Buffer<std::uint8_t> is_deep;  // 1 if it exceeds the Z-drop
};
Drops find_drops(const AlignmentView& alignments, const DropThresholds& thresholds, const AlignOptions& scores);

// Drops at which alignments are split: columns of Drops, and what the rows of the batch may be extended into.
struct ChosenDrops {
  std::int64_t n;
  const std::int32_t *rows, *run;
  const std::int32_t* room;
  std::int64_t min_score;  // minimum score of pieces other than the best one
};

// Pieces of alignments, one per row; alignments that are not split are one piece.
struct Pieces {
  Buffer<std::int32_t> rows;       // row of the batch that the piece belongs to
  Buffer<std::uint8_t> is_minor;   // 0 for the best piece of a row, which comes first; 1 for the others
  Buffer<std::uint8_t> is_split;   // 1 for pieces of split rows
  Buffer<std::int32_t> score, span;
  Buffer<std::int32_t> outer;      // split rows: span between the neighbouring pieces, or the ends of the room
  Cigar cigar;
  Buffer<std::int64_t> cigar_start;
};

// Splits alignments at drops. A piece ends at the peak; the next piece begins at the lowest score that follows.
// Secondary rows keep only their best piece. `scores` determines the best piece, `options` the scores that are
// returned.
Pieces split_at_drops(const BatchView& batch, const AlignmentView& alignments, const ChosenDrops& drops,
                      const AlignOptions& scores, const AlignOptions& options);

}  // namespace wfacli

// Splitting of alignments where the score drops by more than a Z-drop.
#pragma once

#include "engine/engine.hpp"

namespace wfacli {

// Thresholds for splitting.
struct SplitThresholds {
  std::int64_t zdrop = 0;  // maximum drop of the score, plus `extend` per diagonal of difference; 0: never split
  std::int64_t extend = 0;
  std::int64_t min_score = 0;  // minimum score of pieces other than the best one
};

// Pieces of alignments, one per row; alignments that are not split are one piece.
struct Pieces {
  bool any = false;                // false: no alignment was split
  Buffer<std::int32_t> rows;       // row of the batch that the piece belongs to
  Buffer<std::uint8_t> is_minor;   // 0 for the best piece of a row, which comes first; 1 for the others
  Buffer<std::uint8_t> is_split;   // 1 for pieces of split rows
  Buffer<std::int32_t> score, span;
  Buffer<std::int32_t> outer;      // split rows: span between the neighbouring pieces, or the ends of the row
  Cigar cigar;
  Buffer<std::int64_t> cigar_start;
};

// Splits alignments where the score drops by more than the Z-drop below the last peak. A piece ends at that peak; the
// next piece begins at the minimum that follows. Secondary rows keep only their best piece. `scores` determines the
// pieces, `options` the scores that are returned.
Pieces split_at_zdrops(const BatchView& batch, const AlignmentView& alignments, const SplitThresholds& breaks,
                       const AlignOptions& scores, const AlignOptions& options);

}  // namespace wfacli

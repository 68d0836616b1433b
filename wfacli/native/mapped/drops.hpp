// Alignments broken where their score falls by more than a Z-drop.
#pragma once

#include "engine/engine.hpp"

namespace wfacli {

// When a path is broken.
struct Breaks {
  std::int64_t zdrop = 0;  // the score may fall by so much, and `extend` for each diagonal between; 0: a path is never broken
  std::int64_t extend = 0;
  std::int64_t least = 0;  // pieces that score less are left out, but for the best one
};

// Pieces of alignments, each in a row of its own.
struct Pieces {
  bool any = false;                // else no alignment is broken, and there is nothing else here
  Buffer<std::int32_t> rows;       // of which each is a piece
  Buffer<std::uint8_t> lesser;     // 1 for all pieces of a row but the one that scores most, which comes first
  Buffer<std::uint8_t> broken;     // 1 for pieces of broken rows
  Buffer<std::int32_t> score, span;
  Buffer<std::int32_t> outer;      // of broken rows, spans of what lies between the pieces before and behind, or to the row's ends
  Cigar cigar;
  Buffer<std::int64_t> cigar_start;
};

// Breaks alignments as the Z-drop of an extension would. A piece ends where its score was best before it fell; the next one
// begins where the score is least until then. Of secondary rows the best piece alone is left. `scores` finds the pieces,
// `options` has the scores of the alignments.
Pieces broken_at_drops(const BatchView& batch, const AlignmentView& alignments, const Breaks& breaks, const AlignOptions& scores,
                       const AlignOptions& options);

}  // namespace wfacli

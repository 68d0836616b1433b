// Alignment of one pair where cells are left out on purpose: within a band, or as far as an extension keeps its score.
// In 32 bits, one cell after another; plain code for the baseline instruction set.
#pragma once

#include "sw.hpp"

namespace wfacli {

// Ways to leave cells out; 0 is off.
struct SwCuts {
  std::int32_t band = 0;   // diagonals on either side
  std::int32_t xdrop = 0;  // extensions: cells that score so much less than the best of earlier anti-diagonals go
  std::int32_t zdrop = 0;  // extensions: they end once an anti-diagonal's best has fallen so far
  bool any() const { return band > 0 || xdrop > 0 || zdrop > 0; }
};

// Cells (i, j) with low <= j - i <= high.
struct SwBand {
  std::int64_t low, high;
  // Whether all cells of a matrix are in it.
  bool covers(std::int32_t n, std::int32_t m) const { return low <= -std::int64_t{n} && high >= m; }
};

struct SwExtent {
  Status status = Status::Ok;
  std::int32_t score = 0, i = 0, j = 0;
  bool cut = false;  // something was left out
};

// How far a pair extends from both beginnings, anti-diagonal by anti-diagonal: the best cell, of several the one with
// the fewest letters, then the fewest query letters.
//
// Let best be the best cell of the anti-diagonals before. With X-drop, cells whose score is more than xdrop below its
// are given up. With Z-drop (as in minimap2: Li 2018, section 2.2.3) it ends after an anti-diagonal whose best cell
// lies behind best in neither sequence, and scores less than it by more than zdrop and `extend` for each diagonal
// between.
SwExtent sw_extent(const SwScheme& scheme, const SwPair& pair, const SwCuts& cuts, SwMemory& memory,
                   const CancelFlag& cancelled);

// The canonical global alignment inside a band, which has both corners. With task.path its way back is in
// SwMemory::cigars; MemoryLimit where its flags take more than task.memory_bytes.
SwAnswer sw_banded(const SwTask& task, const SwPair& pair, const SwBand& band, SwMemory& memory);

}  // namespace wfacli

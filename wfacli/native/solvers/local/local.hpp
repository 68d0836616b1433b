// Interfaces of the kernels of `wfacli local`: a strip of rows of the matrix of local alignment, some columns at a
// time. The kernel (local_tile.hpp) is compiled once per instruction set by local_isa.cpp.
//
// Both sequences are reversed, so that the score of a cell is that of the best alignment which begins there and ends
// anywhere, or 0. H is the score of a cell; E and F are the scores of alignments that begin there with a gap along the
// row or the column:
//   H(i, j) = max(0, H(i-1, j-1) + score of both symbols, E(i, j), F(i, j))
//   E(i, j) = max(H(i, j-1) - open, E(i, j-1)) - extend
//   F(i, j) = max(H(i-1, j) - open, F(i-1, j)) - extend
// (O. Gotoh, "An improved algorithm for matching biological sequences", J. Mol. Biol. 1982).
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// Bytes before and after a target that a strip may read, and the codes of rows and columns outside the sequences.
constexpr std::int64_t kLocalPad = 128;
constexpr std::uint8_t kNoRow = 0xfe, kNoColumn = 0xff;
// Maximum steps of a tile, a multiple of kLocalBlock.
constexpr std::int64_t kTileSteps = 512, kLocalBlock = 16;
constexpr int kLocalVectors = 8;  // rows per lane
// A search stops only after a multiple of kLocalStateRows rows, so that any instruction set, and a GPU
// (wfacli/gpu/kernels/local.py), can continue from its state. A multiple of the rows of every strip.
constexpr std::int64_t kLocalStateRows = 1536;

// A cell whose symbols may not be aligned with one another.
struct ExcludedCell {
  std::int64_t row, column;
};

// The inputs of a strip that do not depend on other cells.
struct LocalStrip {
  const std::uint8_t* row_classes;     // class of each row; two symbols of equal classes score `match`
  const std::uint8_t* column_classes;  // class of each column
  const std::uint8_t* row_codes;       // code of each row
  const std::uint8_t* profile_rows;    // profile of each code
  const std::int8_t* profile;          // [profile][stride], score with each column; null: use the classes
  std::int64_t stride;
  std::int32_t match, mismatch, first_gap, extend;  // first_gap = open + extend, the cost of a gap of length 1
  const ExcludedCell* excluded;                     // sorted by column; rows are relative to the strip
  std::int64_t num_excluded;
  std::int64_t column;  // column 0 of the strip, in the coordinates of `excluded`
};

// A tile: some steps of a strip. In step s the topmost lane computes column s; each other lane computes the column
// that the lane above computed in the step before. Columns below 0 and from `columns` on do not exist; the scores
// computed there never exceed those of real cells.
struct LocalTile {
  std::int64_t first, steps, columns;
  std::int32_t base;  // minimum score of a cell in 16 bits: lower scores count as `base`; see local_sweep.hpp
  // Rows of scores, from column `first` on.
  const std::int32_t* top_h;  // H of the row above
  const std::int32_t* top_f;  // F of the strip's first row
  std::int32_t* bottom_h;     // H of the last row, where it is complete; may be the same memory as top_h; null: none
  std::int32_t* bottom_f;     // F of the row below
  std::uint8_t* trace;        // [steps][rows per lane][lanes], bits of LocalTrace; for LocalKernel::trace only
  std::int32_t wanted;        // the score whose first cell LocalKernel::seek finds
};

// Traceback bits of a cell.
enum LocalTrace : std::uint8_t {
  kTraceGapDown = 1,     // H is F
  kTraceGapAlong = 2,    // H is E
  kTraceOpensDown = 4,   // F comes from H of the row above, else from its F
  kTraceOpensAlong = 8,  // E comes from H of the column before, else from its E
};

// State of a strip between two tiles.
struct LocalState {
  alignas(64) unsigned char h[kLocalVectors * 64];
  alignas(64) unsigned char e[kLocalVectors * 64];
  alignas(64) unsigned char below_h[64], below_f[64], before_h[64];
  std::int32_t base;
};

// The best score of a tile, and the first cell with the wanted score, in the order of rows, then columns.
struct LocalFound {
  std::int32_t best;
  std::int64_t row, column;  // row -1: no such cell
};

struct LocalKernel {
  int lanes, rows;    // of a strip; `rows` is a multiple of `lanes`
  std::int32_t max_difference;  // bound on the difference between scores of a tile
  // Reset the state, before the first column and after a tile that is left out.
  void (*begin)(LocalState&);
  // Return the maximum score among the inputs of a tile.
  std::int32_t (*highest)(const LocalState&, const LocalTile&);
  // Compute a tile: scores only; also the first cell with the wanted score; also the traceback bits.
  LocalFound (*score)(const LocalStrip&, const LocalTile&, LocalState&);
  LocalFound (*seek)(const LocalStrip&, const LocalTile&, LocalState&);
  LocalFound (*trace)(const LocalStrip&, const LocalTile&, LocalState&);
};

// Kernels with 16-bit scores relative to a tile's base, and with 32-bit scores.
struct LocalKernels {
  LocalKernel narrow, wide;
};

#define WFACLI_DECLARE_LOCAL(isa) \
  namespace isa {                 \
  LocalKernels local_kernels();   \
  }

#if defined(__x86_64__)
WFACLI_DECLARE_LOCAL(x86_64_v2)
WFACLI_DECLARE_LOCAL(x86_64_v3)
WFACLI_DECLARE_LOCAL(x86_64_v4)
#else
WFACLI_DECLARE_LOCAL(baseline)
#endif

}  // namespace wfacli

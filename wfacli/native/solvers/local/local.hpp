// The kernels behind `wfacli local`: one strip of rows of the matrix of local alignments, some columns at a time.
// Their contracts; each is one body (local_tile.hpp) that is compiled once per instruction set by local_isa.cpp.
//
// Both sequences are reversed, so that a cell's score is that of the best alignment which begins there and ends
// anywhere, or 0. With H a cell's score, E and F that of what begins there with a gap along its row or column:
//   H(i, j) = max(0, H(i-1, j-1) + score of both letters, E(i, j), F(i, j))
//   E(i, j) = max(H(i, j-1) - open, E(i, j-1)) - extend, and F likewise from the row above
// (O. Gotoh, "An improved algorithm for matching biological sequences", J. Mol. Biol. 1982).
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// Bytes before and behind a target that a strip may look at, and the codes that are found there.
constexpr std::int64_t kLocalPad = 128;
constexpr std::uint8_t kNoRow = 0xfe, kNoColumn = 0xff;
// Columns that a tile takes at once; more steps than that are never asked for. A multiple of kLocalBlock.
constexpr std::int64_t kTileSteps = 512, kLocalBlock = 16;
constexpr int kLocalVectors = 8;  // rows that a lane has
// Searches stop between two strips where a multiple of so many rows is done, so that any instruction set, and a GPU
// (wfacli/gpu/kernels/local.py), can go on from there. A multiple of all strips' rows.
constexpr std::int64_t kLocalStateRows = 1536;

// A cell whose letters may not be aligned with one another.
struct LocalBarred {
  std::int64_t row, column;
};

// What a strip's cells are computed from.
struct LocalStrip {
  const std::uint8_t* row_classes;     // of each row: letters score `match` where classes are equal
  const std::uint8_t* column_classes;  // of each column
  const std::uint8_t* row_codes;       // of each row ...
  const std::uint8_t* profile_rows;    // ... and of each code: its profile
  const std::int8_t* profile;          // [profile][stride]: scores with each column's letter; null: classes say all
  std::int64_t stride;
  std::int32_t match, mismatch, first_gap, extend;  // a gap's first letter costs open + extend = first_gap
  const LocalBarred* barred;                        // by column; rows are counted from the strip's first
  std::int64_t barred_count;
  std::int64_t column;  // what barred cells call the strip's column 0
};

// Steps of a strip: in step s the topmost lane takes column s, each lane below the column that the one above took
// before. Columns below 0 and from `columns` on do not exist; what is computed there is no more than other cells have.
struct LocalTile {
  std::int64_t first, steps, columns;
  std::int32_t base;  // cells of less count as if they had so much; see local_sweep.hpp
  // Rows of scores, from column `first` on.
  const std::int32_t* top_h;  // of the row above
  const std::int32_t* top_f;  // F of the strip's first row
  std::int32_t* bottom_h;     // of the last row, where it has become complete; may be where the top is; null: none
  std::int32_t* bottom_f;     // F of the row below
  std::uint8_t* trace;        // [steps][rows a lane][lanes]: kTrace..., where asked for
  std::int32_t wanted;        // a score whose first cell is asked for
};

enum LocalTrace : std::uint8_t {
  kTraceGapDown = 1,     // H is F
  kTraceGapAlong = 2,    // H is E
  kTraceOpensDown = 4,   // F comes from H of the row above, else from its F
  kTraceOpensAlong = 8,  // E comes from H of the column before, else from its E
};

// What a strip hands from one tile to the next.
struct LocalState {
  alignas(64) unsigned char h[kLocalVectors * 64];
  alignas(64) unsigned char e[kLocalVectors * 64];
  alignas(64) unsigned char below_h[64], below_f[64], before_h[64];
  std::int32_t base;
};

// The best score of a tile's cells; and the first of those with the wanted score, in the order of rows, then columns.
struct LocalFound {
  std::int32_t best;
  std::int64_t row, column;  // row -1: none
};

struct LocalKernel {
  int lanes, rows;    // of a strip: rows is a multiple of lanes
  std::int32_t most;  // by which scores in a tile may differ at most
  // Before the first column, and behind what is left out.
  void (*begin)(LocalState&);
  // The best score that a tile begins with.
  std::int32_t (*highest)(const LocalState&, const LocalTile&);
  LocalFound (*score)(const LocalStrip&, const LocalTile&, LocalState&);
  LocalFound (*seek)(const LocalStrip&, const LocalTile&, LocalState&);
  LocalFound (*trace)(const LocalStrip&, const LocalTile&, LocalState&);
};

// Scores of 16 bits relative to a tile's base, and of 32.
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

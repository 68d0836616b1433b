// Interface of the kernels for alignment under any substitution scores and affine gaps, by dynamic programming over
// all cells (Smith and Waterman 1981, Gotoh 1982).
//
//   sw_lanes   many pairs, one per lane (sw_lanes.hpp)
//   sw_strips  one pair over all lanes, in strips of rows (sw_strips.hpp)
//   sw_extent, sw_banded  one pair by anti-diagonals, with cells left out (sw_diagonals.hpp)
//
// Rows i are symbols of the query, columns j symbols of the target. H(i, j) is the best score up to (i, j); I and D
// are the best scores of alignments that end in an insertion (query symbols only) or a deletion. If paths are
// requested, sequences are stored reversed, so H(i, j) belongs to suffixes, and the traceback from the best cell
// yields the canonical path in forward order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace wfacli {

enum class SwRule : std::uint8_t {
  Local,       // a path begins and ends anywhere; of equal cells the first row, then the first column
  Semiglobal,  // it covers the query; of equal ends the first column
  Global,      // it covers both
  Extension,   // it begins at (0, 0) and ends anywhere: fewest symbols, then fewest of the query; no traceback
};

constexpr int kSwCodes = 32;
// Codes for positions beyond a sequence. They score below 0 and below all symbols.
constexpr std::uint8_t kQueryPad = 30, kTargetPad = 31;
// Number of readable pad codes before and after each sequence.
constexpr std::int32_t kSwMargin = 96;
constexpr std::int32_t kSwMaxGap = 10'000;  // maximum of open and of extend

struct SwScheme {
  alignas(64) std::int8_t matrix[kSwCodes][kSwCodes];  // score of a query code (row) and a target code (column)
  std::int32_t open = 0, extend = 0;                   // a gap of length l costs open + l * extend
  std::int32_t max_score = 0, min_score = 0;           // maximum and minimum of all scores, without pads
  std::uint8_t same[kSwCodes];                         // whether a code aligned to itself is written as =
  std::int32_t plain_codes = 0;  // of codes below this, equal ones score matrix[0][0], others matrix[0][1] < 0
};

// A pair as codes, with kSwMargin pads on both sides of each sequence. Neither sequence is empty.
struct SwPair {
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;
};

// Result of a pair. ScoreLimit: the score exceeds the lanes. MemoryLimit and Dropped are as in Status.
struct SwAnswer {
  Status status = Status::Ok;
  std::int32_t score = 0;
  std::int32_t query_at = 0, target_at = 0;      // best cell (row, column), unless only the score is wanted
  std::int32_t query_left = 0, target_left = 0;  // cell where the traceback ended
  std::int64_t cigar = 0, runs = 0;              // start in SwMemory::cigars, and number of runs
};

// Buffers of one thread, reused between calls.
struct SwMemory {
  Buffer<std::uint8_t> symbols, rows, table, saved;
  Buffer<std::int32_t> bases;
  Cigar cigars;  // of all pairs since it was last cleared
};

struct SwTask {
  const SwScheme* scheme;
  SwRule rule;
  bool path;                 // whether to trace the path; not with Extension
  bool plain;                // all codes are below scheme->plain_codes
  std::size_t memory_bytes;  // limit on the memory for tracing a path
  const CancelFlag* cancelled;
};

// Heuristics that leave cells out; 0 turns one off.
struct SwHeuristics {
  std::int32_t band = 0;   // diagonals on either side
  std::int32_t xdrop = 0;  // extensions: drop cells that score this much below the best of earlier anti-diagonals
  std::int32_t zdrop = 0;  // extensions: stop after an anti-diagonal whose best cell scores this much lower
  bool any() const { return band > 0 || xdrop > 0 || zdrop > 0; }
};

// Cells (i, j) with low <= j - i <= high.
struct SwBand {
  std::int64_t low, high;
  // Returns true if the band contains all cells of an n by m matrix.
  WFACLI_INLINE bool covers(std::int32_t n, std::int32_t m) const { return low <= -std::int64_t{n} && high >= m; }
};

// End of an extension: the best cell; of equal cells the one with the fewest symbols, then the fewest query symbols.
struct SwExtent {
  Status status = Status::Ok;
  std::int32_t score = 0, i = 0, j = 0;
  bool heuristic_applied = false;  // a heuristic left cells out
};

// 8-bit lanes support local scores only.
struct SwKernels {
  std::int32_t lanes8 = 0, lanes16 = 0;  // pairs per call of sw_lanes
  // Aligns up to one pair per lane, in lanes of `bits` bits: 8 or 16.
  void (*lanes)(const SwTask&, int bits, const SwPair*, std::int32_t count, SwMemory&, SwAnswer*) = nullptr;
  // Aligns one pair in 16- or 32-bit lanes.
  SwAnswer (*strips)(const SwTask&, int bits, const SwPair&, SwMemory&) = nullptr;
  // Extends a pair from the beginning of both sequences by anti-diagonals, in 16- or 32-bit lanes.
  //
  // Let best be the best cell of the previous anti-diagonals. X-drop drops cells that score more than xdrop below
  // best. Z-drop (as in minimap2: Li 2018, section 2.2.3) stops after an anti-diagonal whose best cell is before best
  // in neither sequence, and scores less than best by more than zdrop plus `extend` per diagonal between them.
  SwExtent (*extent)(const SwTask&, int bits, const SwPair&, const SwHeuristics&, SwMemory&) = nullptr;
  // Computes the canonical global alignment inside a band of at least two diagonals that contains both corners, in 16-
  // or 32-bit lanes.
  SwAnswer (*banded)(const SwTask&, int bits, const SwPair&, const SwBand&, SwMemory&) = nullptr;
};

// Return the value that stands for a score of 0 in 8-bit lanes, and the maximum local score that is certain to fit;
// the latter is less than 1 if gaps leave no room.
WFACLI_INLINE std::int32_t sw_zero8(const SwScheme& s) {
  const std::int32_t gap = s.open + 2 * s.extend, down = gap > -s.min_score + 1 ? gap : -s.min_score + 1;
  return -128 + down;
}
WFACLI_INLINE std::int32_t sw_room8(const SwScheme& s) { return 127 - s.max_score - sw_zero8(s); }
// Returns true if 16 bits hold all non-local scores of pairs with these maximum lengths.
WFACLI_INLINE bool sw_fits16(const SwScheme& s, std::int64_t n, std::int64_t m) {
  const std::int64_t gaps = 3 * std::int64_t{s.open} + (n + m + 64) * s.extend - 2 * s.min_score;
  return gaps < 28'000 && (n < m ? n : m) * s.max_score < 32'000 - 128;
}

// sw_strips16 returns true if a strip of rows changes scores by less than kSwMoves16.
constexpr std::int32_t kSwMoves16 = 6'000;
WFACLI_INLINE bool sw_strips16(const SwScheme& s) { return 35 * s.max_score - s.min_score < kSwMoves16; }

// Defined for each instruction set.
#define WFACLI_DECLARE(isa)                                                                   \
  namespace isa {                                                                             \
  SwKernels sw_kernels();                                                                     \
  SwExtent sw_extent(const SwTask&, int bits, const SwPair&, const SwHeuristics&, SwMemory&); \
  SwAnswer sw_banded(const SwTask&, int bits, const SwPair&, const SwBand&, SwMemory&);       \
  }
WFACLI_DECLARE(x86_64_v2)
WFACLI_DECLARE(x86_64_v3)
WFACLI_DECLARE(x86_64_v4)
WFACLI_DECLARE(baseline)
#undef WFACLI_DECLARE

}  // namespace wfacli

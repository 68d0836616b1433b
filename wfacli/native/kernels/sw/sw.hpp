// Alignment under any scores of letters and affine gaps by dynamic programming over all cells (Smith and Waterman
// 1981, Gotoh 1982): the contract of its kernels.
//
//   sw_lanes   many pairs, one in each lane of a vector (sw_lanes.hpp)
//   sw_strips  one pair over all lanes, in strips of rows (sw_strips.hpp)
//   sw_extent, sw_banded  one pair, anti-diagonal by anti-diagonal, where cells are left out (sw_diagonals.hpp)
//
// Rows i are letters of the query, columns j of the target. H(i, j) is the best score of what precedes, I and D that
// of an alignment which ends in an insertion (query letters alone) or a deletion. Where paths are wanted sequences
// come reversed, so that H(i, j) belongs to suffixes, and the way back from the best cell is the canonical path,
// forward.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace wfacli {

enum class SwRule : std::uint8_t {
  Local,       // a path begins and ends anywhere; of equally good cells the first row, then the first column
  Semiglobal,  // it covers the query; of equally good ends of it the first column
  Global,      // it covers both
  Extension,   // it begins at (0, 0) and ends anywhere: the fewest letters of both, then of the query; no way back
};

constexpr int kSwCodes = 32;
// Codes beside those of letters, for what is beyond a sequence: they score less than 0 and less than letters do.
constexpr std::uint8_t kQueryPad = 30, kTargetPad = 31;
// Pad codes that stand before and after a sequence, and may be read.
constexpr std::int32_t kSwMargin = 96;
constexpr std::int32_t kSwMostGap = 10'000;  // of open and of extend

struct SwScheme {
  alignas(64) std::int8_t matrix[kSwCodes][kSwCodes];  // of a query's code (row) and a target's
  std::int32_t open = 0, extend = 0;                   // a gap of l letters costs open + l * extend
  std::int32_t most = 0, least = 0;                    // of all scores, pads left aside
  std::uint8_t same[kSwCodes];                         // whether a code beside itself is written =
  std::int32_t plain_codes = 0;  // among the first so many, equal codes score matrix[0][0] and others matrix[0][1] < 0
};

// A pair as codes, with kSwMargin pads around each sequence; neither is empty.
struct SwPair {
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;
};

// What became of a pair. ScoreLimit: its score outgrows the lanes; MemoryLimit and Dropped as in Status.
struct SwAnswer {
  Status status = Status::Ok;
  std::int32_t score = 0;
  std::int32_t query_at = 0, target_at = 0;      // the best cell (rows, columns), unless a score alone was asked
  std::int32_t query_left = 0, target_left = 0;  // the cell where the way back ended
  std::int64_t cigar = 0, runs = 0;              // in SwMemory::cigars
};

// What a thread's kernels keep from call to call.
struct SwMemory {
  Buffer<std::uint8_t> letters, rows, table, saved;
  Buffer<std::int32_t> bases;
  Cigar cigars;  // of the pairs solved since they were cleared
};

struct SwTask {
  const SwScheme* scheme;
  SwRule rule;
  bool path;                 // whether the way back is wanted; not with Extension
  bool plain;                // all codes are below scheme->plain_codes
  std::size_t memory_bytes;  // bound on what is kept to find a path
  const CancelFlag* cancelled;
};

// Ways to leave cells out on purpose; 0 is off.
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
  WFACLI_INLINE bool covers(std::int32_t n, std::int32_t m) const { return low <= -std::int64_t{n} && high >= m; }
};

// How far a pair extends: the best cell, of several the one with the fewest letters, then the fewest query letters.
struct SwExtent {
  Status status = Status::Ok;
  std::int32_t score = 0, i = 0, j = 0;
  bool cut = false;  // something was left out
};

// Lanes of 8 bits take local scores alone.
struct SwKernels {
  std::int32_t lanes8 = 0, lanes16 = 0;  // pairs that sw_lanes takes at a time
  // Aligns `count` pairs (lanes at most) in lanes of so many bits, 8 or 16.
  void (*lanes)(const SwTask&, int bits, const SwPair*, std::int32_t count, SwMemory&, SwAnswer*) = nullptr;
  // Aligns one pair in lanes of 16 or 32 bits.
  SwAnswer (*strips)(const SwTask&, int bits, const SwPair&, SwMemory&) = nullptr;
  // Extends a pair from both beginnings, anti-diagonal by anti-diagonal, in lanes of 16 or 32 bits.
  //
  // Let best be the best cell of the anti-diagonals before. With X-drop, cells whose score is more than xdrop below its
  // are given up. With Z-drop (as in minimap2: Li 2018, section 2.2.3) it ends after an anti-diagonal whose best cell
  // lies behind best in neither sequence, and scores less than it by more than zdrop and `extend` for each diagonal
  // between.
  SwExtent (*extent)(const SwTask&, int bits, const SwPair&, const SwCuts&, SwMemory&) = nullptr;
  // The canonical global alignment inside a band of two diagonals or more, which has both corners, in lanes of 16 or 32 bits.
  SwAnswer (*banded)(const SwTask&, int bits, const SwPair&, const SwBand&, SwMemory&) = nullptr;
};

// What stands for a score of 0 in lanes of 8 bits, and the greatest local score that they surely hold; less than 1 where
// gaps leave no room.
WFACLI_INLINE std::int32_t sw_zero8(const SwScheme& s) {
  const std::int32_t gap = s.open + 2 * s.extend, down = gap > -s.least + 1 ? gap : -s.least + 1;
  return -128 + down;
}
WFACLI_INLINE std::int32_t sw_room8(const SwScheme& s) { return 127 - s.most - sw_zero8(s); }
// Whether 16 bits hold all scores of pairs of up to such lengths, when they are not local.
WFACLI_INLINE bool sw_fits16(const SwScheme& s, std::int64_t n, std::int64_t m) {
  const std::int64_t gaps = 3 * std::int64_t{s.open} + (n + m + 64) * s.extend - 2 * s.least;
  return gaps < 28'000 && (n < m ? n : m) * s.most < 32'000 - 128;
}

// Whether a strip of rows changes scores by no more than kSwMoves16.
constexpr std::int32_t kSwMoves16 = 6'000;
WFACLI_INLINE bool sw_strips16(const SwScheme& s) { return 35 * s.most - s.least < kSwMoves16; }

// Defined for each instruction set.
#define WFACLI_DECLARE(isa)                                                                         \
  namespace isa {                                                                                   \
  SwKernels sw_kernels();                                                                           \
  SwExtent sw_extent(const SwTask&, int bits, const SwPair&, const SwCuts&, SwMemory&);             \
  SwAnswer sw_banded(const SwTask&, int bits, const SwPair&, const SwBand&, SwMemory&);             \
  }
WFACLI_DECLARE(x86_64_v2)
WFACLI_DECLARE(x86_64_v3)
WFACLI_DECLARE(x86_64_v4)
WFACLI_DECLARE(baseline)
#undef WFACLI_DECLARE

}  // namespace wfacli

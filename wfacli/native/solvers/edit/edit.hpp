// Interfaces of the kernels for the edit distance of one pair of any length. A kernel does some steps and returns, so
// that its driver (edit_wavefront.hpp, edit_bits.hpp) can check the time, save and stop. Each kernel is compiled once
// per instruction set by edit_isa.cpp.
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// Two sequences of symbols, which match if their values are equal.
struct EditPair {
  const void* query;
  const void* target;
  std::int64_t query_len, target_len;
  int symbol_bytes;  // bytes per symbol: 1 or 4

  // Diagonal (column - row) of the last cell.
  std::int64_t last_diagonal() const { return target_len - query_len; }
  // Minimum and maximum of the distance, by the lengths alone.
  std::int64_t min_distance() const { return last_diagonal() < 0 ? -last_diagonal() : last_diagonal(); }
  std::int64_t max_distance() const { return query_len > target_len ? query_len : target_len; }
};

// The diagonals of row s of the furthest-reaching points: those within the matrix that s edits reach, and from which a
// path of at most `max_edits` edits in total can still reach the last cell.
struct FrontReach {
  std::int64_t query_len, target_len, max_edits;

  std::int64_t first(std::int64_t s) const {
    const std::int64_t needed = target_len - query_len - (max_edits - s), lowest = s < query_len ? -s : -query_len;
    return needed > lowest ? needed : lowest;
  }
  std::int64_t last(std::int64_t s) const {
    const std::int64_t needed = target_len - query_len + (max_edits - s), highest = widest(s);
    return needed < highest ? needed : highest;
  }
  // Upper bound of last() over rows 0 .. s.
  std::int64_t widest(std::int64_t s) const { return s < target_len ? s : target_len; }
};

// One of two fronts. Row s has for each diagonal the furthest column that at most s edits reach.
template <class Offset>
struct FrontTask {
  EditPair pair;
  FrontReach reach;
  bool from_end;    // the front of the reversed sequences
  Offset* rows[2];  // by diagonal; unreached points, and kFrontMargin points on either side, hold kUnreached
};

template <class Offset>
constexpr Offset kUnreached = -(Offset{1} << (8 * sizeof(Offset) - 2));
constexpr std::int64_t kFrontMargin = 80;
// Sequences below this length fit 32-bit offsets.
constexpr std::int64_t kNarrowFront = std::int64_t{1} << 29;

template <class Offset>
struct FrontKernel {
  // Write row 0 to rows[0].
  void (*begin)(const FrontTask<Offset>&);
  // Compute rows score + 1 .. score + count from row `score` in rows[0]; return the index in `rows` of the last one.
  int (*advance)(const FrontTask<Offset>&, std::int64_t score, std::int64_t count);
  // Return true if a row from the beginning (`ahead`) and one from the end (`behind`) meet on a diagonal first .. last
  // of `ahead`.
  bool (*meet)(const EditPair&, const Offset* ahead, const Offset* behind, std::int64_t first, std::int64_t last);
};

// Dense codes of a pair as bit planes. Rows are padded to a multiple of kSlabRows, columns by a word on either side.
struct EditPlanes {
  Buffer<std::uint64_t> rows;     // [rows / 64][plane], the first row in bit 0
  Buffer<std::uint64_t> columns;  // [columns / 64 + 2][plane], the first column in bit 63; word 0 is padding
  int planes = 0;
};
constexpr std::int64_t kSlabRows = 1024;

// A slab: a block of rows over some columns. The horizontal deltas of a row are two strings of bits that begin in the
// highest bit: deltas of +1 in the even words, of -1 in the odd words.
struct SlabTask {
  const std::uint64_t* query;   // planes of the first row
  const std::uint64_t* target;  // planes of column 1
  std::uint64_t* row;           // in: deltas of the row above; out: deltas of the last row
  std::int64_t first;           // word of the first column; at its left border the vertical deltas are -1 or +1
  std::int64_t falling;         // number of rows at the top with delta -1 there; the others have +1
  int planes;
  std::int32_t last = 0;        // row whose deltas are written, counted from 1; 0: the last row of the slab
};
// State of a slab between two calls of advance().
struct SlabState {
  alignas(64) std::uint64_t plus[16], minus[16], down[2][16], fall[2][16];
  std::uint64_t below[2];
};

struct SlabKernel {
  std::int64_t rows;  // rows of a slab, a divisor of kSlabRows
  // Write the planes of a pair. The padding rows are above the sequence if `padded`, else below it.
  void (*pack)(const EditPair&, EditPlanes&, bool padded);
  void (*begin)(const SlabTask&, SlabState&);
  // Compute the columns of words from .. to - 1. The last row is then complete up to word to - 2, or with `finish` to
  // the end.
  void (*advance)(const SlabTask&, SlabState&, std::int64_t from, std::int64_t to, bool finish);
};

struct EditKernels {
  FrontKernel<std::int32_t> narrow;
  FrontKernel<std::int64_t> wide;
  SlabKernel slab;
  SlabKernel low_slab;  // 512 rows; supports any SlabTask::last
};

#define WFACLI_DECLARE_EDIT(isa) \
  namespace isa {                \
  EditKernels edit_kernels();    \
  }

#if defined(__x86_64__)
WFACLI_DECLARE_EDIT(x86_64_v2)
WFACLI_DECLARE_EDIT(x86_64_v3)
WFACLI_DECLARE_EDIT(x86_64_v4)
#else
WFACLI_DECLARE_EDIT(baseline)
#endif

}  // namespace wfacli

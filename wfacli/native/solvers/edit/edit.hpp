// The kernels behind the edit distance of one pair of any length: their contracts. They do some steps and return, so
// that whoever drives them (edit_wavefront.hpp, edit_bits.hpp) can look, save and stop; each is one body that is
// compiled once per instruction set by edit_isa.cpp.
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// Letters are equal where their values are.
struct EditPair {
  const void* query;
  const void* target;
  std::int64_t query_len, target_len;
  int letter_bytes;  // 1 or 4

  std::int64_t apart() const { return target_len - query_len; }  // the diagonal (column - row) of the last cell
  std::int64_t least() const { return apart() < 0 ? -apart() : apart(); }
  std::int64_t most() const { return query_len > target_len ? query_len : target_len; }
};

// The diagonals that row s of the furthest-reaching points has: those that s edits lead to, within the matrix, and
// from which `most` edits in all can still end in the last cell.
struct FrontReach {
  std::int64_t query_len, target_len, most;

  std::int64_t first(std::int64_t s) const {
    const std::int64_t needed = target_len - query_len - (most - s), least = s < query_len ? -s : -query_len;
    return needed > least ? needed : least;
  }
  std::int64_t last(std::int64_t s) const {
    const std::int64_t needed = target_len - query_len + (most - s), greatest = widest(s);
    return needed < greatest ? needed : greatest;
  }
  // Up to row s none goes further right.
  std::int64_t widest(std::int64_t s) const { return s < target_len ? s : target_len; }
};

// One of two fronts. Its point on a diagonal is the furthest column to which so many edits lead, or fewer.
template <class Offset>
struct FrontTask {
  EditPair pair;
  FrontReach reach;
  bool from_end;    // of the reversed sequences
  Offset* rows[2];  // by diagonal; points that none has reached hold kUnreached, on either side to kFrontMargin
};

template <class Offset>
constexpr Offset kUnreached = -(Offset{1} << (8 * sizeof(Offset) - 2));
constexpr std::int64_t kFrontMargin = 80;
// Sequences up to here fit fronts of 32 bits.
constexpr std::int64_t kNarrowFront = std::int64_t{1} << 29;

template <class Offset>
struct FrontKernel {
  // Row 0 into rows[0].
  void (*begin)(const FrontTask<Offset>&);
  // Rows score + 1 .. score + count from row `score` in rows[0]; returns which of the two then has the last one.
  int (*advance)(const FrontTask<Offset>&, std::int64_t score, std::int64_t count);
  // Whether a row from the beginning and one from the end meet on one of the diagonals first .. last of the former.
  bool (*meet)(const EditPair&, const Offset* ahead, const Offset* behind, std::int64_t first, std::int64_t last);
};

// A pair's letters as bit planes, from dense codes. Rows are padded at the top to a multiple of kSlabRows; columns
// by a word on either side.
struct EditPlanes {
  Buffer<std::uint64_t> rows;     // [64 rows][plane], the first row in bit 0
  Buffer<std::uint64_t> columns;  // [64 columns][plane], the first column in bit 63; word 0 is that before the first
  int planes = 0;
};
constexpr std::int64_t kSlabRows = 1024;

// Some rows over some columns. Horizontal deltas of a row come as strings of bits that begin in the highest bit of
// word 0: those of +1 in even words, of -1 in odd ones.
struct SlabTask {
  const std::uint64_t* query;   // planes of the first row
  const std::uint64_t* target;  // planes of column 1
  std::uint64_t* row;           // deltas of the row above; becomes those of the last row
  std::int64_t first;           // the word of the first column; to the left of it rows are one edit from one another
  std::int64_t falling;         // of the rows so many at the top fall there by one, the others rise
  int planes;
  std::int32_t last = 0;        // the row of the slab whose deltas are wanted, counted from 1; 0 for the last of all
};
// Where a slab is in between.
struct SlabState {
  alignas(64) std::uint64_t plus[16], minus[16], down[2][16], fall[2][16];
  std::uint64_t below[2];
};

struct SlabKernel {
  std::int64_t rows;  // of a slab, a divisor of kSlabRows
  // Without `padded` the rows come first, and what fills their number up is behind them.
  void (*pack)(const EditPair&, EditPlanes&, bool padded);
  void (*begin)(const SlabTask&, SlabState&);
  // The columns of words from .. to - 1. The row below is then there to word to - 2; with `finish` to the end.
  void (*advance)(const SlabTask&, SlabState&, std::int64_t from, std::int64_t to, bool finish);
};

struct EditKernels {
  FrontKernel<std::int32_t> narrow;
  FrontKernel<std::int64_t> wide;
  SlabKernel slab;
  SlabKernel low_slab;  // of 512 rows, of which any may be wanted
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

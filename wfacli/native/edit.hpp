// The kernels behind the edit distance of one pair of any length: their contracts. They do some steps and return, so
// that whoever drives them (edit_wavefront.hpp, edit_bits.hpp) can look, save and stop; each is one body that is
// compiled once per instruction set by edit_isa.cpp.
#pragma once

#include <cstdint>

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

// The diagonals that row s of the furthest-reaching points has: those that s edits lead to, within the matrix, and from
// which `most` edits in all can still end in the last cell.
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

struct EditKernels {
  FrontKernel<std::int32_t> narrow;
  FrontKernel<std::int64_t> wide;
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

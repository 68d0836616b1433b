// Branch-free CIGAR writer. The next operation is unpredictable, so a branch per operation would cost more than all
// other work. Everything here exists once per instruction set.
#pragma once

#include "base/types.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class RunWriter {
 public:
  // Reserves room for `max_runs` runs at the end of `runs`. Runs longer than BAM's 28-bit limit are split.
  RunWriter(Buffer<std::uint32_t>& runs, std::size_t max_runs) : runs_(runs) {
    at_ = runs_.extend(max_runs + 1 + kMaxExtraRuns);
  }
  // Appends `length` matches; zero appends nothing. The next call must append another operation.
  WFACLI_INLINE void matches(std::int32_t length) {
    if (__builtin_expect(length > kMaxRunLength, 0)) return add_pieces(kEqual, length);
    *at_ = last_;
    at_ += (length != 0) & (last_ != 0);
    const std::uint32_t run = static_cast<std::uint32_t>(length) << 4 | kEqual;
    last_ = length ? run : last_;
  }
  // Appends a run of `op`; `length` > 0.
  WFACLI_INLINE void add(std::uint32_t op, std::int32_t length) {
    if (__builtin_expect(length > kMaxRunLength, 0)) return add_pieces(op, length);
    const std::uint32_t run = static_cast<std::uint32_t>(length) << 4;
    const bool same = ((last_ & 15) == op) & (last_ + run >= run);  // and the merged run fits 28 bits
    *at_ = last_;
    at_ += !same & (last_ != 0);
    last_ = run + (same ? last_ : op);
  }
  WFACLI_INLINE void finish() {
    *at_ = last_;
    at_ += last_ != 0;
    runs_.resize(static_cast<std::size_t>(at_ - runs_.data()));
  }

 private:
  static constexpr std::int32_t kMaxRunLength = (1 << 28) - 1;
  // Extra runs from splitting. Each sequence has fewer than 2^31 bases, so splitting one run adds at most 8 pieces, and
  // each sum of adjacent runs that does not fit adds one.
  static constexpr std::size_t kMaxExtraRuns = 40;

  __attribute__((noinline)) void add_pieces(std::uint32_t op, std::int32_t length) {
    for (; length > 0; length -= kMaxRunLength) {
      *at_ = last_;
      at_ += last_ != 0;
      last_ = static_cast<std::uint32_t>(length < kMaxRunLength ? length : kMaxRunLength) << 4 | op;
    }
  }

  Buffer<std::uint32_t>& runs_;
  std::uint32_t* at_;
  std::uint32_t last_ = 0;
};

// How an optimal path may reach a cell: two bits stored per cell, and whether the symbols are equal.
struct BitsSource {
  bool insertion, deletion, same;
};

// Writes the path from its last cell (i, j) until row or column 0, including the insertions of column 0. The caller
// writes the j deletions that remain. `source(i, j)` returns the BitsSource of a cell.
template <class Source>
WFACLI_INLINE void trace_bits(std::int64_t i, std::int64_t& j, RunWriter& runs, const Source& source) {
  std::int32_t matched = 0;
  while (i > 0 && j > 0) {
    const BitsSource by = source(i, j);
    if (!by.insertion && !by.deletion && by.same) {
      ++matched;
      --i;
      --j;
      continue;
    }
    runs.matches(matched);
    matched = 0;
    runs.add(by.insertion ? kInsertion : by.deletion ? kDeletion : kDifferent, 1);
    i -= by.insertion || !by.deletion;
    j -= !by.insertion;
  }
  runs.matches(matched);
  if (i > 0) runs.add(kInsertion, static_cast<std::int32_t>(i));
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

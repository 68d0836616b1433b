// A CIGAR written run by run without branches: which operation comes next is not predictable, so a branch
// for each would cost more than all the rest. Everything here exists once per instruction set.
#pragma once

#include "base/types.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class RunWriter {
 public:
  // Room for `most` runs at the end of `runs`; those that BAM's 28 bits do not hold are split.
  RunWriter(Buffer<std::uint32_t>& runs, std::size_t most) : runs_(runs) {
    at_ = runs_.extend(most + 1 + kMostPieces);
  }
  // Adds `length` matches; none changes nothing. What is added next is no match.
  WFACLI_INLINE void matches(std::int32_t length) {
    if (__builtin_expect(length > kLongest, 0)) return add_pieces(kEqual, length);
    *at_ = last_;
    at_ += (length != 0) & (last_ != 0);
    const std::uint32_t run = static_cast<std::uint32_t>(length) << 4 | kEqual;
    last_ = length ? run : last_;
  }
  // Adds `length` > 0 of an operation.
  WFACLI_INLINE void add(std::uint32_t op, std::int32_t length) {
    if (__builtin_expect(length > kLongest, 0)) return add_pieces(op, length);
    const std::uint32_t run = static_cast<std::uint32_t>(length) << 4;
    const bool same = ((last_ & 15) == op) & (last_ + run >= run);  // and both together fit
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
  static constexpr std::int32_t kLongest = (1 << 28) - 1;
  // Of both sequences, each of less than 2^31 letters: eight at most of one run, and one for each time that a sum of
  // neighbours does not fit.
  static constexpr std::size_t kMostPieces = 40;

  __attribute__((noinline)) void add_pieces(std::uint32_t op, std::int32_t length) {
    for (; length > 0; length -= kLongest) {
      *at_ = last_;
      at_ += last_ != 0;
      last_ = static_cast<std::uint32_t>(length < kLongest ? length : kLongest) << 4 | op;
    }
  }

  Buffer<std::uint32_t>& runs_;
  std::uint32_t* at_;
  std::uint32_t last_ = 0;
};

// How a cheapest path may come to a cell, by two bits that are kept of it, and whether the cell's letters are the same.
struct BitsWays {
  bool insertion, deletion, same;
};

// Writes a path from its last cell (i, j) on until a row or a column is 0, and the insertions of a column 0: what is
// left of j is the caller's. `ways(i, j)` are a cell's.
template <class Ways>
WFACLI_INLINE void walk_bits(std::int64_t i, std::int64_t& j, RunWriter& runs, const Ways& ways) {
  std::int32_t matched = 0;
  while (i > 0 && j > 0) {
    const BitsWays by = ways(i, j);
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

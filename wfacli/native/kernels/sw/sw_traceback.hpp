// Traceback from the best cell, which yields the canonical path in forward order. Everything is inlined, because it is
// part of units for different instruction sets.
#pragma once

#include "kernels/sw/sw.hpp"

namespace wfacli {
// Bits stored per cell for the traceback: where H comes from (neither bit: the diagonal), and whether the gap that
// continues from this cell into the next row or column begins here. On a tie it begins here.
enum SwFlag : unsigned { kFromInsertion = 1, kFromDeletion = 2, kInsertionBegins = 4, kDeletionBegins = 8 };

class SwTraceback {
 public:
  WFACLI_INLINE SwTraceback(const SwTask& task, const SwPair& pair, const SwAnswer& best)
      : scheme_(*task.scheme),
        pair_(pair),
        rule_(task.rule),
        left_(best.score),
        i_(best.query_at),
        j_(best.target_at) {}
  WFACLI_INLINE std::int32_t row() const { return i_; }
  WFACLI_INLINE std::int32_t column() const { return j_; }
  WFACLI_INLINE bool ended() const { return ended_; }

  // Continues while `has(i, j)` is true; `flags(i, j)` returns the SwFlag bits of a cell.
  template <class Has, class Flags>
  WFACLI_INLINE void go(Cigar& cigar, Has&& has, Flags&& flags) {
    while (!ended_) {
      if (i_ == 0 || j_ == 0) return finish(cigar);
      if (!has(i_, j_)) return;
      const unsigned f = flags(i_, j_);
      if ((gap_ == kFromInsertion && (f & kInsertionBegins)) || (gap_ == kFromDeletion && (f & kDeletionBegins)))
        gap_ = 0;
      if (gap_ == 0) {
        if (rule_ == SwRule::Local && left_ == 0) {
          ended_ = true;
          return;
        }
        gap_ = (f & kFromInsertion) ? kFromInsertion : f & kFromDeletion;
        if (gap_) left_ += scheme_.open;
      }
      if (gap_ == 0) {
        aligned(cigar);
      } else {
        left_ += scheme_.extend;
        cigar.add(gap_ == kFromInsertion ? kInsertion : kDeletion, 1);
        (gap_ == kFromInsertion ? i_ : j_) -= 1;
      }
    }
  }

 private:
  WFACLI_INLINE void aligned(Cigar& cigar) {
    const std::uint8_t q = pair_.query[--i_], t = pair_.target[--j_];
    left_ -= scheme_.matrix[q][t];
    cigar.add(q == t && scheme_.same[q] ? kEqual : kDifferent, 1);
  }
  // Writes what remains of one sequence.
  WFACLI_INLINE void finish(Cigar& cigar) {
    ended_ = true;
    if (rule_ == SwRule::Local) return;
    cigar.add(kInsertion, i_);
    i_ = 0;
    if (rule_ != SwRule::Global) return;
    cigar.add(kDeletion, j_);
    j_ = 0;
  }

  const SwScheme& scheme_;
  const SwPair& pair_;
  const SwRule rule_;
  std::int32_t left_;  // score of the rest of the path
  std::int32_t i_, j_;
  unsigned gap_ = 0;  // kFromInsertion or kFromDeletion inside a gap
  bool ended_ = false;
};

}  // namespace wfacli

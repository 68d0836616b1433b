// The way back through the rows of a wavefront: the canonical one of the equally cheap paths.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/wavefront/wavefront_front.hpp"

namespace wfacli {
namespace WFACLI_ISA {

struct Cell {
  std::int32_t score, diagonal;
  Offset offset;
  int component;  // of Rows
};

template <int Pieces, class Match>
class Back {
  using F = Front<Pieces, Match>;

 public:
  Back(const F& front, Rows& rows, Cigar& cigar) : front_(front), c_(front.costs()), rows_(rows), cigar_(cigar) {}

  // Walks back from `cell` until its score is `stop` or less, adding operations in forward order. True when the
  // walk is over: where the alignment ends.
  bool walk(Cell& cell, std::int32_t stop) {
    for (;;) {
      if (cell.component == 0 && is_start(cell)) {
        cigar_.add(kEqual, cell.offset - larger(cell.diagonal, 0));
        return true;
      }
      if (cell.score <= stop) return false;
      if (cell.component == 0)
        leave_matches(cell);
      else
        leave_gap(cell);
    }
  }

 private:
  // Nothing but matches is left. At the score of its skipped letters a diagonal has no other source.
  WFACLI_INLINE bool is_start(const Cell& cell) const {
    const std::int32_t k = cell.diagonal;
    if (c_.skip == 0) return cell.score == 0;
    return k >= front_.starts().lo && k <= front_.starts().hi && cell.score == c_.skip * (k < 0 ? -k : k);
  }

  // From the end of a run of matches back to what came before it: of the sources that reach furthest the first of
  // insertion, deletion, mismatch.
  void leave_matches(Cell& cell) {
    const std::int32_t s = cell.score, k = cell.diagonal;
    Offset far = kNone;
    int component = 0;
    constexpr int kGaps = Pieces == 2 ? 4 : 2;
    constexpr int kOrder[] = {1, Pieces == 2 ? 3 : 2, 2, 4};
    for (int g = 0; g < kGaps; ++g) {
      const Offset off = front_.arrives(rows_, s, k, kOrder[g]);
      if (off > far) {
        far = off;
        component = kOrder[g];
      }
    }
    const Offset mis = front_.arrives_by_mismatch(rows_, s, k);
    if (mis > far) {
      far = mis;
      component = 0;
    }
    cigar_.add(kEqual, cell.offset - far);
    cell.offset = far;
    cell.component = component;
    if (component == 0) {
      cigar_.add(kDifferent, 1);
      cell.offset -= 1;
      cell.score -= c_.mismatch;
    } else if (Pieces == 0) {
      leave_gap(cell);
    }
  }

  // One letter of a gap back; its opening is preferred to a longer gap.
  void leave_gap(Cell& cell) {
    const bool insertion = cell.component & 1;
    const int g = (cell.component - 1) >> 1;
    cigar_.add(insertion ? kInsertion : kDeletion, 1);
    cell.diagonal += insertion ? 1 : -1;
    cell.offset -= insertion ? 0 : 1;
    const std::int32_t opened = cell.score - front_.open_cost(g);
    if (Pieces == 0 || rows_.component(opened, 0)[cell.diagonal] == cell.offset) {
      cell.score = opened;
      cell.component = 0;
    } else {
      cell.score -= c_.gap[g].extend;
    }
  }

  const F& front_;
  const Costs& c_;
  Rows& rows_;
  Cigar& cigar_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

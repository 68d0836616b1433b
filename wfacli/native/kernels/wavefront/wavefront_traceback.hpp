// Traceback through the rows of a wavefront. Of several optimal paths it yields the canonical one.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/wavefront/wavefront_front.hpp"

namespace wfacli {
namespace WFACLI_ISA {

struct Cell {
  std::int32_t score, diagonal;
  Offset offset;
  int component;  // index into the components of Rows
};

template <int Pieces, class Match>
class WavefrontTraceback {
  using F = Front<Pieces, Match>;

 public:
  WavefrontTraceback(const F& front, Rows& rows, Cigar& cigar)
      : front_(front), c_(front.costs()), rows_(rows), cigar_(cigar) {}

  // Traces from `cell` until its score is at most `stop`, and appends operations in forward order. Returns true if the
  // traceback has reached the end of the alignment.
  bool trace_path(Cell& cell, std::int32_t stop) {
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
  // Returns true if only matches remain. At the score of its skipped bases, a diagonal has no other source.
  WFACLI_INLINE bool is_start(const Cell& cell) const {
    const std::int32_t k = cell.diagonal;
    if (c_.skip == 0) return cell.score == 0;
    return k >= front_.starts().lo && k <= front_.starts().hi && cell.score == c_.skip * (k < 0 ? -k : k);
  }

  // Steps from the end of a run of matches to what precedes it. Of the sources that reach furthest, takes the first of
  // insertion, deletion and mismatch.
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

  // Steps back by one base of a gap. Prefers opening the gap to extending it.
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

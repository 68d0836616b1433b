// Traceback through the planes that a window stored.
#pragma once

#include "kernels/difference/difference_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Position of the traceback: cells (0, 0) to (i, j) remain. `gap` is the plane of the gap that the path is inside
// (insertions first), or -1.
struct TracePosition {
  std::int32_t i, j;
  int gap;
  WFACLI_INLINE std::int32_t row() const { return i + j; }
};

template <class S>
class WindowTraceback {
  using Lane = typename S::Lane;
  static constexpr int P = S::kPieces, kHalf = S::kPlanes / 2;

 public:
  WindowTraceback(const S& scheme, const Text& text, Cigar& cigar) : s_(scheme), text_(text), cigar_(cigar) {}

  // Traces from `place` to row piece.row or beyond, or to an edge of the matrix.
  void trace_piece(const DifferenceMemory::Piece& piece, const Lane* table, TracePosition& place) {
    const std::ptrdiff_t cells = piece.cells, stride = cells * S::kPlanes;
    while (place.row() > piece.row && place.i > 0 && place.j > 0) {
      const std::int32_t past = place.row() - piece.row;
      const Lane* at = table + (past - 1) * stride + (place.i - piece.slot - (past >> 1));
      if (place.gap < 0)
        diagonal(at, cells, past, place);
      else
        leave_gap(at, cells, place);
    }
  }

  // Writes the rest of a path on an edge of the matrix, and sets the numbers of unaligned symbols.
  void finish(const TracePosition& place, KernelAnswer& answer) {
    answer.query_skip_end = smaller(place.i, s_.free_query);
    answer.target_skip_end = smaller(place.j, s_.free_target);
    cigar_.add(kInsertion, place.i - answer.query_skip_end);
    cigar_.add(kDeletion, place.j - answer.target_skip_end);
  }

 private:
  static constexpr WFACLI_INLINE int side(int plane) { return plane % kHalf; }

  // Returns the first gap that achieves the cell's cost, or -1.
  WFACLI_INLINE int arriving(const Lane* at, std::ptrdiff_t cells) const {
    for (int x = 0; x < S::kPlanes; ++x)
      if (at[x * cells] == (P ? s_.none[side(x)] : 0)) return x;
    return -1;
  }

  // Writes matches and mismatches until a gap arrives. Cells on the same diagonal have the same lane.
  void diagonal(const Lane* at, std::ptrdiff_t cells, std::int32_t past, TracePosition& place) {
    const std::ptrdiff_t two_rows = 2 * S::kPlanes * cells;
    const std::uint8_t* q = text_.query + place.i - 1;
    const std::uint8_t* t = text_.target + text_.target_len - place.j;
    const std::int32_t max_length = smaller(smaller(place.i, place.j), (past + 1) / 2);
    std::int32_t done = 0, equal = 0;
    int gap = -1;
    for (; done < max_length; ++done, at -= two_rows) {
      gap = arriving(at, cells);
      if (gap >= 0) break;
      const Op op = operation_of(q[-done], t[done], s_.by_bits);
      if (op == kEqual) {
        ++equal;
        continue;
      }
      cigar_.add(kEqual, equal);
      cigar_.add(op, 1);
      equal = 0;
    }
    cigar_.add(kEqual, equal);
    place.i -= done;
    place.j -= done;
    if (gap >= 0) enter(gap, place);
  }

  // Writes one symbol of a gap. Without opening costs the gap ends here.
  WFACLI_INLINE void enter(int gap, TracePosition& place) {
    const bool insertion = gap < kHalf;
    cigar_.add(insertion ? kInsertion : kDeletion, 1);
    (insertion ? place.i : place.j) -= 1;
    place.gap = P && !s_.opens_freely(side(gap)) ? gap : -1;
  }

  // Inside a gap: ends it if it may have been opened here, and extends it otherwise.
  WFACLI_INLINE void leave_gap(const Lane* at, std::ptrdiff_t cells, TracePosition& place) {
    if (at[place.gap * cells] < s_.full[side(place.gap)])
      enter(place.gap, place);
    else
      place.gap = -1;
  }

  const S& s_;
  const Text& text_;
  Cigar& cigar_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

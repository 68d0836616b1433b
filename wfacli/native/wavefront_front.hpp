// One step of the wavefront, and the way back: the recurrences, the extension, the canonical choice.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
//
// Recurrences: S. Marco-Sola et al., "Fast gap-affine pairwise alignment using the wavefront algorithm",
// Bioinformatics 2021. The sequences come in reversed, so that the way back meets the operations in
// forward order and the ties below put gaps left-most.
#pragma once

#include "wavefront_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Letters that are equal have equal codes.
struct EqualCodes {
  // Non-zero where bytes of a and b do not match; the lowest non-zero byte is the first that does not.
  static WFACLI_INLINE std::uint64_t differ(std::uint64_t a, std::uint64_t b) { return a ^ b; }
};

// Letters match when their codes (masks of at most four bits) share a bit.
struct SharedBits {
  static WFACLI_INLINE std::uint64_t differ(std::uint64_t a, std::uint64_t b) {
    return ~((a & b) + 0x7f7f7f7f7f7f7f7full) & 0x8080808080808080ull;
  }
};

struct Cell {
  std::int32_t score, diagonal;
  Offset offset;
  int component;  // of Rows
};

// Pieces: how many (open, extend) pairs price a gap; 0 is a gap cost without opening, kept in M alone.
template <int Pieces, class Match>
class Front {
 public:
  static constexpr int kComponents = 1 + 2 * Pieces;

  explicit Front(const WavefrontTask& task) : t_(task), c_(task.costs) {}

  WFACLI_INLINE std::int32_t open_cost() const { return c_.open + c_.extend; }
  // How many scores back the recurrences look, for M and for the gap components.
  WFACLI_INLINE std::int32_t depth() const { return c_.mismatch > open_cost() ? c_.mismatch : open_cost(); }
  std::int32_t gap_depth() const { return Pieces ? c_.extend : 0; }
  // How many diagonals a row may lack that a later row reads: what gaps gain in `depth` scores, and no more
  // than the matrix has.
  std::int32_t pad() const {
    const std::int32_t gained = depth() / c_.extend, most = larger(t_.query_len, t_.target_len);
    return (gained < most ? gained : most) + 3;
  }
  std::int32_t last_diagonal() const { return t_.target_len - t_.query_len; }

  // Makes the rows at and before score 0.
  void begin(Rows& rows, std::int32_t ring_depth) const {
    const std::int32_t first = 1 - depth();
    rows.reset(first, ring_depth);
    for (std::int32_t s = first; s <= 0; ++s) {
      rows.open(s, 0, 0);
      for (int c = 0; c < kComponents; ++c) rows.component(s, c)[0] = kNone;
    }
    rows.component(0, 0)[0] = matched(0, 0);
  }

  // Computes the row of score s; with a cone, only the part inside it.
  void step(Rows& rows, std::int32_t s, const Cone* cone) const {
    std::int32_t lo = -reach(s, t_.query_len), hi = reach(s, t_.target_len);
    if (cone) {
      const std::int32_t from = cone->lo(s), to = cone->hi(s);
      if (from > hi || to < lo) {
        lo = hi = from > hi ? hi : lo;
      } else {
        lo = from > lo ? from : lo;
        hi = to < hi ? to : hi;
      }
    }
    rows.open(s, lo, hi);
    if constexpr (Pieces == 0) {
      step_linear(rows.component(s, 0), rows.component(s - c_.extend, 0), rows.component(s - c_.mismatch, 0), lo, hi);
    } else {
      step_affine(rows, s, lo, hi);
    }
    Offset* m = rows.component(s, 0);
    for (std::int32_t k = lo; k <= hi; ++k)
      if (m[k] >= 0) m[k] = matched(k, m[k]);
  }

  bool reached_end(Rows& rows, std::int32_t s) const {
    const RowRef& r = rows.ref(s);
    const std::int32_t k = last_diagonal();
    return k >= r.lo && k <= r.hi && rows.component(s, 0)[k] == t_.target_len;
  }

  // Walks back from `cell` until its score is `stop` or less, adding operations in forward order.
  void walk_back(Rows& rows, Cell& cell, std::int32_t stop, Cigar& cigar) const {
    while (cell.score > stop) {
      if (cell.component == 0)
        leave_matches(rows, cell, cigar);
      else
        leave_gap(rows, cell, cigar);
    }
  }

 private:
  // Diagonals that gaps of total cost s can reach, at most `most`.
  WFACLI_INLINE std::int32_t reach(std::int32_t s, std::int32_t most) const {
    const std::int32_t letters = s < open_cost() ? 0 : (s - c_.open) / c_.extend;
    return letters < most ? letters : most;
  }

  // The furthest offset inside the matrix on diagonal k.
  WFACLI_INLINE Offset limit(std::int32_t k) const {
    const Offset last = t_.query_len + k;
    return last < t_.target_len ? last : t_.target_len;
  }
  static WFACLI_INLINE Offset bounded(Offset v, Offset limit) { return v > limit ? kNone : v; }
  static WFACLI_INLINE Offset larger(Offset a, Offset b) { return a > b ? a : b; }

  // Offset after the run of matches from `off` on; the sentinels end it at the sequences' ends.
  WFACLI_INLINE Offset matched(std::int32_t k, Offset off) const {
    const std::uint8_t* q = t_.query + (off - k);
    const std::uint8_t* t = t_.target + off;
    for (;;) {
      std::uint64_t a, b;
      std::memcpy(&a, q, 8);
      std::memcpy(&b, t, 8);
      const std::uint64_t d = Match::differ(a, b);
      if (d) return off + (__builtin_ctzll(d) >> 3);
      q += 8;
      t += 8;
      off += 8;
    }
  }

  void step_linear(Offset* __restrict m, const Offset* gap, const Offset* mis, std::int32_t lo,
                                 std::int32_t hi) const {
    const std::int32_t n = t_.query_len, last = t_.target_len;
    for (std::int32_t k = lo; k <= hi; ++k) {
      const Offset lim = n + k < last ? n + k : last;
      const Offset ins = bounded(gap[k + 1], lim), del = bounded(gap[k - 1] + 1, lim);
      m[k] = larger(larger(ins, del), bounded(mis[k] + 1, lim));
    }
  }

  void step_affine(Rows& rows, std::int32_t s, std::int32_t lo, std::int32_t hi) const {
    const std::int32_t n = t_.query_len, last = t_.target_len;
    Offset* __restrict m = rows.component(s, 0);
    Offset* __restrict i = rows.component(s, 1);
    Offset* __restrict d = rows.component(s, 2);
    const Offset* from = rows.component(s - open_cost(), 0);
    const Offset* longer_i = rows.component(s - c_.extend, 1);
    const Offset* longer_d = rows.component(s - c_.extend, 2);
    const Offset* mis = rows.component(s - c_.mismatch, 0);
    for (std::int32_t k = lo; k <= hi; ++k) {
      const Offset lim = n + k < last ? n + k : last;
      const Offset ins = bounded(larger(from[k + 1], longer_i[k + 1]), lim);
      const Offset del = bounded(larger(from[k - 1], longer_d[k - 1]) + 1, lim);
      i[k] = ins;
      d[k] = del;
      m[k] = larger(larger(ins, del), bounded(mis[k] + 1, lim));
    }
  }

  // The offset with which insertion or deletion arrives in M at (s, k).
  Offset arrives(Rows& rows, std::int32_t s, std::int32_t k, int component) const {
    if constexpr (Pieces > 0) return rows.component(s, component)[k];
    const Offset* from = rows.component(s - c_.extend, 0);
    return bounded(component == 1 ? from[k + 1] : from[k - 1] + 1, limit(k));
  }

  // From the end of a run of matches back to what came before it: of the sources that reach furthest
  // the first of insertion, deletion, mismatch.
  void leave_matches(Rows& rows, Cell& cell, Cigar& cigar) const {
    const std::int32_t s = cell.score, k = cell.diagonal;
    const Offset ins = arrives(rows, s, k, 1), del = arrives(rows, s, k, 2);
    const Offset mis = bounded(rows.component(s - c_.mismatch, 0)[k] + 1, limit(k));
    const Offset far = larger(larger(ins, del), mis);
    cigar.add(kEqual, cell.offset - far);
    cell.offset = far;
    if (far == ins || far == del) {
      cell.component = far == ins ? 1 : 2;
      if constexpr (Pieces == 0) leave_gap(rows, cell, cigar);
    } else {
      cigar.add(kDifferent, 1);
      cell.offset -= 1;
      cell.score -= c_.mismatch;
    }
  }

  // One letter of a gap back; its opening is preferred to a longer gap.
  void leave_gap(Rows& rows, Cell& cell, Cigar& cigar) const {
    const bool insertion = cell.component == 1;
    cigar.add(insertion ? kInsertion : kDeletion, 1);
    cell.diagonal += insertion ? 1 : -1;
    cell.offset -= insertion ? 0 : 1;
    const std::int32_t opened = cell.score - open_cost();
    if (Pieces == 0 || rows.component(opened, 0)[cell.diagonal] == cell.offset) {
      cell.score = opened;
      cell.component = 0;
    } else {
      cell.score -= c_.extend;
    }
  }

  const WavefrontTask& t_;
  const Costs c_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

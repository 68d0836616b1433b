// Recurrences in differences, and their range.
//
// H(i, j) is the minimum cost of aligning the first i symbols of the (reversed) query with the first j of the target.
// E and F are the same for alignments that end in an insertion or a deletion. Cells store differences, which are small
// at any length (H. Suzuki, M. Kasahara, BMC Bioinformatics 2018; H. Li, Bioinformatics 2018), minus the extension
// cost e:
//   u = H(i, j) - H(i-1, j) - e     v = H(i, j) - H(i, j-1) - e     a = min(E - H, o)     b = min(F - H, o)
// From v, a of (i-1, j) and u, b of (i, j-1), with s the cost of the two symbols minus 2e:
//   z = min(s, a + v, b + u)   u' = z - v   v' = z - u   a' = min(o, a + v - z)   b' = min(o, b + u - z)
// A second piece has its own a and b, stored with e2 - e added. Without opening costs there is no a or b.
//
// Traceback. It needs only a and b: an insertion achieves H where a = 0, and must be extended where a < o. Without
// opening costs a carries no information, since every gap base is a gap of its own. Then an insertion achieves H where
// u = 0, and a deletion where v = 0. With two pieces, of which one may have no opening cost, they do where u or v is
// that piece's e minus e.
//
// Range. Let c be the cost of a gap of length 1. u' = z - v <= a <= o, and the same holds for v', so H rises by at
// most c from cell to cell. Along a diagonal H never falls, since the last symbol of both sequences can be removed: an
// alignment that ends in a gap moves back along the diagonal as a whole. That also holds inside a band if its borders
// only move inwards, as those of windows do, or if a row gets cells beside it that are at the ends of gaps which its
// outermost cells have open (Rows::beside): a path that leaves the band later pays at least as much. So z + 2e >= 0, H
// falls by at most c, and
//   -c - e <= u, v <= c - e     0 <= z + 2e <= mismatch     a + v - z <= o + e + c.
// A mismatch that costs more than 2c is never used and is stored as 2c + 1; ambiguous symbols cost no more than a mismatch.
// Lanes outside the matrix, or outside what
// can reach the requested cell, may wrap around: nothing reads them.
//
// Free ends. H(0, j) = j * skip while target symbols may stay unaligned, so v = skip - e there; the same holds for u
// on the other edge and the query. That is within the range above, since a gap symbol costs more than a skipped one.
// The argument about diagonals still holds: an alignment that moves back begins one symbol earlier, or has a shorter
// gap at its beginning.
#pragma once

#include "kernels/difference/difference_lanes.hpp"
#include "kernels/gap_cost.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Returns the largest magnitude that a lane must hold, plus a margin of c.
WFACLI_INLINE std::int64_t lane_need(const Costs& c) {
  std::int64_t first = 0, extend = 0;
  for (int g = 0; g < c.pieces; ++g) {
    const std::int64_t f = static_cast<std::int64_t>(c.gap[g].open) + c.gap[g].extend;
    first = f > first ? f : first;
    extend = c.gap[g].extend > extend ? c.gap[g].extend : extend;
  }
  return first + 2 * gap_cost(c, 1) + 2 * extend + 1;
}

// Constants of the recurrence. Pieces_ is the number of gap pieces, or 0 for linear gaps. 16-bit lanes, and codes compared
// by bits, are rare, so they get less specialised code.
template <int Pieces_, class Lane_, bool ByBits_>
struct Scheme {
  static constexpr int kPieces = Pieces_;
  static constexpr int kArrays = 2 + 2 * kPieces;      // u, v, a of each piece, b of each piece
  static constexpr int kPlanes = kPieces ? 2 * kPieces : 2;  // stored for the traceback
  static constexpr bool kByBits = ByBits_;  // for 8-bit lanes
  static constexpr bool k16BitLanes = sizeof(Lane_) > 1;
  static constexpr int kWindowCells = k16BitLanes ? 64 : kByBits ? 128 : 256;  // maximum width of a window
  using Lane = Lane_;

  // `free_target`, `free_query`: numbers of symbols that may stay unaligned before the first column and the first row.
  Scheme(const Costs& costs, bool shared_bits, std::int32_t free_target = 0, std::int32_t free_query = 0)
      : c(costs), by_bits(shared_bits), free_target(free_target), free_query(free_query) {
    const std::int64_t first = gap_cost(c, 1);
    extend = c.gap[0].extend;
    same = -2 * extend;
    const auto stored = [&](std::int32_t cost) {
      return static_cast<std::int32_t>(cost < 2 * first + 1 ? cost : 2 * first + 1) - 2 * extend;
    };
    different = stored(c.mismatch);
    ambiguous = stored(c.ambiguous);
    rise = static_cast<std::int32_t>(first) - extend;
    for (int g = 0; g < kPieces; ++g) {
      none[g] = c.gap[g].extend - extend;
      full[g] = none[g] + c.gap[g].open;
    }
  }

  // Returns the cost of the last of l symbols in a gap, minus e.
  std::int32_t edge(std::int64_t l) const {
    return static_cast<std::int32_t>(gap_cost(c, l) - gap_cost(c, l - 1)) - extend;
  }
  // Returns a or b of a cell at the end of a gap of length l: the least cost of a gap of piece g there, or a new one.
  std::int32_t open_gap(int g, std::int64_t l) const {
    const std::int64_t over = c.gap[g].open + c.gap[g].extend * l - gap_cost(c, l);
    return static_cast<std::int32_t>(none[g] + (over < c.gap[g].open ? over : c.gap[g].open));
  }
  // Returns true if each base in a gap of piece g may be a gap of its own.
  WFACLI_INLINE bool opens_freely(int g) const { return kPieces == 2 && full[g] == none[g]; }
  // v of (0, l) and u of (l, 0): skipped symbols, then one gap.
  std::int32_t top(std::int64_t l) const { return along(l, free_target); }
  std::int32_t left(std::int64_t l) const { return along(l, free_query); }

  const Costs c;
  const bool by_bits;
  const std::int32_t free_target, free_query;
  std::int32_t extend, same, different, ambiguous;
  // u or v of a cell beside the band: a gap of length 1 from a cell inside, minus e. So all values are costs of real
  // paths.
  std::int32_t rise;
  std::int32_t none[2] = {0, 0}, full[2] = {0, 0};  // stored values of a or b that stand for 0 and o

 private:
  std::int32_t along(std::int64_t l, std::int32_t free) const {
    return l <= free ? c.skip - extend : edge(l - free);
  }
};

// The scheme's constants broadcast to all lanes, and the update of one cell per lane.
template <class S, class L = Lanes<typename S::Lane>>
struct Step {
  using Vector = typename L::Vector;
  static constexpr int P = S::kPieces;

  explicit WFACLI_INLINE Step(const S& s)
      : same(L::all(s.same)), different(L::all(s.different)), ambiguous(L::all(s.ambiguous)), rise(L::all(s.rise)),
        between(L::all(s.none[1])), by_bits(s.by_bits) {
    for (int g = 0; g < P; ++g) {
      full[g] = L::all(s.full[g]);
      opens_freely[g] = s.opens_freely(g);
    }
  }

  // In: v, a of (i-1, j) and u, b of (i, j-1). Out: u, v, a, b of (i, j). Returns z.
  WFACLI_INLINE Vector operator()(const std::uint8_t* q, const std::uint8_t* t, Vector& u, Vector& v, Vector* a,
                                  Vector* b) const {
    Vector z = L::compared(q, t, same, different, ambiguous, S::k16BitLanes ? by_bits : S::kByBits);
    Vector ins[P + 1], del[P + 1];
    if constexpr (P == 0) {
      z = L::min(z, L::min(u, v));
    } else {
      for (int g = 0; g < P; ++g) {
        ins[g] = a[g] + v;
        del[g] = b[g] + u;
        z = L::min(z, L::min(ins[g], del[g]));
      }
    }
    const Vector new_u = z - v;
    v = z - u;
    u = new_u;
    for (int g = 0; g < P; ++g) {
      const Vector base = g ? z - between : z;
      a[g] = L::min(ins[g] - base, full[g]);
      b[g] = L::min(del[g] - base, full[g]);
    }
    return z;
  }

  Vector same, different, ambiguous, rise, between, full[P + 1];
  bool by_bits, opens_freely[P + 1] = {};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

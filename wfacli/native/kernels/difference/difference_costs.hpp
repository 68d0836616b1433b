// The recurrences in differences, and what gaps cost at least.
//
// H(i, j) is the least cost of aligning the first i letters of the (reversed) query with the first j of the target;
// E and F are the same with an insertion or a deletion arriving at (i, j). Cells keep differences, small whatever the
// length (H. Suzuki, M. Kasahara, BMC Bioinformatics 2018; H. Li, Bioinformatics 2018), less the extension cost e:
//   u = H(i, j) - H(i-1, j) - e     v = H(i, j) - H(i, j-1) - e     a = min(E - H, o)     b = min(F - H, o)
// From v, a of (i-1, j) and u, b of (i, j-1), with s the letters' cost - 2e:
//   z = min(s, a + v, b + u)   u' = z - v   v' = z - u   a' = min(o, a + v - z)   b' = min(o, b + u - z)
// A second piece has its own a and b, kept with e2 - e added. Without opening costs there is no a or b.
// The way back needs a and b alone: an insertion achieves H where a = 0, and must go on where a < o. Without opening
// costs there is nothing that a could tell: every gap base is a gap of its own, so an insertion achieves H where u = 0, a
// deletion where v = 0; of two pieces, of which one may have no opening cost, where they are that piece's e less e.
//
// Range. Let c be the cost of a gap of one letter. u' = z - v <= a <= o, likewise v', so H rises by c at most from
// cell to cell. Going along a diagonal it never falls, since the last letter of both sequences can be taken away: an
// alignment that ends in a gap is moved back along the diagonal as a whole. That holds inside a band too if its
// borders only close in, which bands and windows take care of. So z + 2e >= 0, H falls by c at most, and
//   -c - e <= u, v <= c - e     0 <= z + 2e <= mismatch     a + v - z <= o + e + c.
// A mismatch dearer than 2c is never taken and becomes 2c + 1. Lanes outside the matrix, or outside what can reach the
// cell that is asked for, may wrap around: nothing reads them.
//
// Free ends. H(0, j) = j * skip as long as letters of the target may be left out, so v = skip - e there, and likewise u on
// the other edge for those of the query; that is within the range above since a gap's letter costs more than a skipped
// one. What was said of diagonals holds: an alignment that is moved back begins one letter earlier, or has a shorter gap
// at its beginning.
#pragma once

#include "kernels/difference/difference_lanes.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// What a gap of l letters costs.
WFACLI_INLINE std::int64_t gap_cost(const Costs& c, std::int64_t l) {
  if (l <= 0) return 0;
  const std::int64_t one = c.gap[0].open + l * c.gap[0].extend;
  if (c.pieces < 2) return one;
  const std::int64_t two = c.gap[1].open + l * c.gap[1].extend;
  return two < one ? two : one;
}

// The largest magnitude that a lane must hold, and another c to spare.
WFACLI_INLINE std::int64_t lane_need(const Costs& c) {
  std::int64_t first = 0, extend = 0;
  for (int g = 0; g < c.pieces; ++g) {
    const std::int64_t f = static_cast<std::int64_t>(c.gap[g].open) + c.gap[g].extend;
    first = f > first ? f : first;
    extend = c.gap[g].extend > extend ? c.gap[g].extend : extend;
  }
  return first + 2 * gap_cost(c, 1) + 2 * extend + 1;
}

// Pieces: how many have an opening cost; 0 for linear gaps. Lanes of 16 bits and wildcards are rare and make do with
// less code.
template <int Pieces_, class Lane_, bool Wildcard_>
struct Scheme {
  static constexpr int kPieces = Pieces_;
  static constexpr int kArrays = 2 + 2 * kPieces;      // u, v, a of each piece, b of each piece
  static constexpr int kPlanes = kPieces ? 2 * kPieces : 2;  // kept for the way back
  static constexpr bool kWildcard = Wildcard_;  // for lanes of 8 bits
  static constexpr bool kNarrow = sizeof(Lane_) > 1;
  static constexpr int kWindowCells = kNarrow ? 64 : kWildcard ? 128 : 256;  // the widest window
  using Lane = Lane_;

  // `free_target`, `free_query`: letters that may stay unaligned before the first column, and before the first row.
  Scheme(const Costs& costs, bool by_bits, std::int32_t free_target = 0, std::int32_t free_query = 0)
      : c(costs), wildcard(by_bits), free_target(free_target), free_query(free_query) {
    const std::int64_t first = gap_cost(c, 1);
    extend = c.gap[0].extend;
    same = -2 * extend;
    different = static_cast<std::int32_t>(c.mismatch < 2 * first + 1 ? c.mismatch : 2 * first + 1) - 2 * extend;
    rise = static_cast<std::int32_t>(first) - extend;
    for (int g = 0; g < kPieces; ++g) {
      none[g] = c.gap[g].extend - extend;
      full[g] = none[g] + c.gap[g].open;
    }
  }

  // Of the last of l letters in a gap, less e.
  std::int32_t edge(std::int64_t l) const {
    return static_cast<std::int32_t>(gap_cost(c, l) - gap_cost(c, l - 1)) - extend;
  }
  // Whether each base in a gap of piece g may be a gap of its own.
  WFACLI_INLINE bool opens_freely(int g) const { return kPieces == 2 && full[g] == none[g]; }
  // v of (0, l) and u of (l, 0): letters left out, then one gap.
  std::int32_t top(std::int64_t l) const { return along(l, free_target); }
  std::int32_t left(std::int64_t l) const { return along(l, free_query); }

  const Costs c;
  const bool wildcard;
  const std::int32_t free_target, free_query;
  std::int32_t extend, same, different;
  // Of a cell beside the band: what a gap of one letter from a cell inside costs, so that all values are costs of some
  // path.
  std::int32_t rise;
  std::int32_t none[2] = {0, 0}, full[2] = {0, 0};  // a or b of zero, and of o

 private:
  std::int32_t along(std::int64_t l, std::int32_t free) const {
    return l <= free ? c.skip - extend : edge(l - free);
  }
};

// The scheme's constants in all lanes, and the step.
template <class S, class L = Lanes<typename S::Lane>>
struct Step {
  using Vector = typename L::Vector;
  static constexpr int P = S::kPieces;

  explicit WFACLI_INLINE Step(const S& s)
      : same(L::all(s.same)), different(L::all(s.different)), rise(L::all(s.rise)), between(L::all(s.none[1])),
        wildcard(s.wildcard) {
    for (int g = 0; g < P; ++g) {
      full[g] = L::all(s.full[g]);
      opens_freely[g] = s.opens_freely(g);
    }
  }

  // In: v, a of (i-1, j) and u, b of (i, j-1); out: those of (i, j). Returns z.
  WFACLI_INLINE Vector operator()(const std::uint8_t* q, const std::uint8_t* t, Vector& u, Vector& v, Vector* a,
                                  Vector* b) const {
    Vector z = L::compared(q, t, same, different, S::kNarrow ? wildcard : S::kWildcard);
    Vector ins[P + 1], del[P + 1];
    if constexpr (P == 0) {
      z = L::least(z, L::least(u, v));
    } else {
      for (int g = 0; g < P; ++g) {
        ins[g] = a[g] + v;
        del[g] = b[g] + u;
        z = L::least(z, L::least(ins[g], del[g]));
      }
    }
    const Vector new_u = z - v;
    v = z - u;
    u = new_u;
    for (int g = 0; g < P; ++g) {
      const Vector base = g ? z - between : z;
      a[g] = L::least(ins[g] - base, full[g]);
      b[g] = L::least(del[g] - base, full[g]);
    }
    return z;
  }

  Vector same, different, rise, between, full[P + 1];
  bool wildcard, opens_freely[P + 1] = {};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Cells of banded matrices with gap costs, and rows of two matrices at a time, one in each 16-bit half of a word.
//
// Gotoh's recurrences (1982) by diagonals, so that no value moves from row to row: on diagonal k, a match or mismatch
// comes from k in the row before, an insertion from k + 1 in the row before, a deletion from k - 1 in the same row.
//
// A value is 16 * (cost - k * e) + tag, where e is the lowest extension cost: extending a deletion of that piece then
// costs nothing, an insertion 2e, and no step is negative. A candidate's tag is its rank among candidates of equal
// cost. So a plain minimum applies the canonical rule (outside a gap: insertion, deletion, diagonal; inside: closed
// before extended), and its tag records what the traceback needs.
#pragma once

#include "dp/dp_band.cuh"

namespace wfacli::dp {

constexpr std::int32_t kScale = 16;
constexpr std::int32_t kRows = 16;  // rows between two clamps of large values

// A word holds two values of 16 bits.
struct Halves {
  static constexpr std::uint32_t kOnes = 0x00010001u;  // 1 in each value
  static constexpr int kValues = 2;
  static constexpr std::int32_t kMax = 0x7fff;

  WFACLI_DEVICE static std::uint32_t all(std::int32_t value) { return (value & 0xffff) * kOnes; }
  WFACLI_DEVICE static std::uint32_t add(std::uint32_t a, std::uint32_t b) { return __vadd2(a, b); }
  WFACLI_DEVICE static std::uint32_t minimum(std::uint32_t a, std::uint32_t b) { return __vmins2(a, b); }
  WFACLI_DEVICE static std::uint32_t minimum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __vimin3_s16x2(a, b, c);
  }
  WFACLI_DEVICE static std::uint32_t min_with_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __viaddmin_s16x2(a, b, c);
  }
};

// A word holds one value.
struct Whole {
  static constexpr std::uint32_t kOnes = 1;
  static constexpr int kValues = 1;
  static constexpr std::int32_t kMax = 0x7fffffff;

  WFACLI_DEVICE static std::uint32_t all(std::int32_t value) { return static_cast<std::uint32_t>(value); }
  WFACLI_DEVICE static std::uint32_t add(std::uint32_t a, std::uint32_t b) { return a + b; }
  WFACLI_DEVICE static std::uint32_t minimum(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(min(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
  }
  WFACLI_DEVICE static std::uint32_t minimum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return static_cast<std::uint32_t>(
        __vimin3_s32(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), static_cast<std::int32_t>(c)));
  }
  WFACLI_DEVICE static std::uint32_t min_with_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return static_cast<std::uint32_t>(
        __viaddmin_s32(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), static_cast<std::int32_t>(c)));
  }
};

// The direction of a cell: the source of its cost, and for each kind of gap whether a gap that the traceback follows
// to this cell continues. Kinds are the insertions by piece, then the deletions.
enum Source : std::int32_t { kMatch = -1, kMismatch = -2 };  // any other value is the kind of gap

// Tags and layout of directions, by the number of gap pieces; 0 is one piece without opening cost, whose gaps never
// need to continue.
template <int kPieces>
struct Directions {
  static_assert(kPieces <= 1);
  static constexpr int kBits = 4;
  // Insertion 3, deletion 7, mismatch 11, match 15. The tag of a closed gap has the bit extend_flag(kind) clear.
  WFACLI_DEVICE static constexpr std::uint32_t tag(int kind) { return kind == 0 ? 3 : 7; }
  WFACLI_DEVICE static constexpr std::uint32_t extend_flag(int kind) { return kind == 0 ? 1 : 2; }
  WFACLI_DEVICE static std::int32_t source(std::uint32_t direction) {
    const std::uint32_t rank = direction >> 2 ^ (kPieces == 1);  // undoes the XOR in gotoh()
    return rank < 2 ? static_cast<std::int32_t>(rank) : rank == 2 ? kMismatch : kMatch;
  }
  WFACLI_DEVICE static bool is_extended(std::uint32_t direction, int kind) {
    return kPieces == 1 && (direction & extend_flag(kind));
  }
};
template <>
struct Directions<2> {
  static constexpr int kBits = 8;  // source in the upper four
  WFACLI_DEVICE static constexpr std::uint32_t tag(int kind) { return 0x9731u >> 4 * kind & 15; }
  WFACLI_DEVICE static constexpr std::uint32_t extend_flag(int kind) { return 1u << kind; }
  WFACLI_DEVICE static std::int32_t source(std::uint32_t direction) {
    switch (direction >> 4) {
      case 1: return 0;
      case 3: return 1;
      case 7: return 2;
      case 9: return 3;
      case 11: return kMismatch;
      default: return kMatch;
    }
  }
  // The XOR of the four minima leaves the flags, and the bits that are common to all their tags.
  WFACLI_DEVICE static bool is_extended(std::uint32_t direction, int kind) {
    return ((direction ^ 3) & extend_flag(kind)) != 0;
  }
};

// Costs in the form that cells use, the same for all rows. Without a path all tags are 0.
template <int kPieces, bool kPath, class ValueType = Halves>
struct Steps {
  using Value = ValueType;
  static constexpr int kGapPieces = kPieces;
  static constexpr bool kTagged = kPath;
  static constexpr int kGaps = kPieces ? kPieces : 1;
  static constexpr std::uint32_t kMatchTag = kPath ? 15 : 0;
  using D = Directions<kPieces>;

  std::uint32_t mismatch[3];        // by the position (0, 1, 2) of the difference bit that multiplies it
  std::uint32_t open[2 * kGaps];    // from a cell, tagged as a match, to a closed gap of each kind there; without
                                    // pieces, to the gap's first base
  std::uint32_t extend[2 * kGaps];  // from there to the gap's next base
  std::int32_t drift;               // e above
  std::int32_t exact_below;         // costs from here on are not exact; if 0 or less, no costs are

  WFACLI_DEVICE static Steps of(const Costs& costs) {
    Steps s;
    s.drift = costs.extend[0];
    for (int g = 1; g < kGaps; ++g) s.drift = min(s.drift, costs.extend[g]);
    std::int64_t growth = static_cast<std::int64_t>(kRows + 1) * costs.mismatch;
    for (int g = 0; g < kGaps; ++g) {
      for (int kind = g; kind < 2 * kGaps; kind += kGaps) {
        const std::int32_t extend = costs.extend[g] + (kind == g ? s.drift : -s.drift);
        s.open[kind] = Value::all(kScale * (costs.open[g] + (kPieces ? 0 : extend)) + rank_of_closed(kind));
        s.extend[kind] = Value::all(kScale * extend);
        growth = max(growth, static_cast<std::int64_t>(kRows + 1) * costs.mismatch + costs.open[g] + extend);
      }
    }
    for (int p = 0; p < 3; ++p)
      s.mismatch[p] = static_cast<std::uint32_t>(kScale * costs.mismatch - (kPath ? 4 : 0)) >> p;
    s.exact_below = static_cast<std::int32_t>(max(static_cast<std::int64_t>(0), Value::kMax / kScale - growth));
    return s;
  }
  WFACLI_DEVICE static constexpr std::uint32_t tag(int kind) { return kPath ? D::tag(kind) : 0; }
  // Bit extend_flag of a kind, in each value.
  WFACLI_DEVICE static constexpr std::uint32_t extend_flag(int kind) {
    return kPath ? D::extend_flag(kind) * Value::kOnes : 0;
  }
  // Difference between the tags of a closed gap and of a match.
  WFACLI_DEVICE static std::int32_t rank_of_closed(int kind) {
    return kPath ? static_cast<std::int32_t>(D::tag(kind) - (kPieces ? D::extend_flag(kind) : 0)) - 15 : 0;
  }
};

// Values of the gaps that reach a cell, or that leave it, by piece.
template <int kPieces>
struct Gaps {
  std::uint32_t insertion[kPieces], deletion[kPieces];
};

// Compute a cell from its diagonal source and the gaps that reach it: its value, tagged as a match, and the gaps that
// leave it. Return its direction in the low bits of each value, with arbitrary bits above.
template <class S>
WFACLI_DEVICE std::uint32_t gotoh(const S& steps, std::uint32_t diagonal, const Gaps<S::kGapPieces>& from,
                                  std::uint32_t& h, Gaps<S::kGapPieces>& to) {
  using V = typename S::Value;
  constexpr int kPieces = S::kGapPieces;
  std::uint32_t best = diagonal, left = 0;
#pragma unroll
  for (int g = 0; g < kPieces; ++g) best = V::minimum(best, from.insertion[g], from.deletion[g]);
  h = best | S::kMatchTag * V::kOnes;
#pragma unroll
  for (int g = 0; g < kPieces; ++g) {
    const std::uint32_t i = V::min_with_sum(h, steps.open[g], from.insertion[g]);
    const std::uint32_t d = V::min_with_sum(h, steps.open[kPieces + g], from.deletion[g]);
    to.insertion[g] = (i | S::extend_flag(g)) + steps.extend[g];
    to.deletion[g] = d | S::extend_flag(kPieces + g);
    if (kPieces == 2) to.deletion[g] += steps.extend[kPieces + g];
    left ^= i ^ d;
  }
  constexpr std::uint32_t kFour = 15 * V::kOnes;
  return kPieces == 1 ? best ^ left : (left & kFour) | (best << 4 & ~kFour);
}

// The last computed row, of kWidth diagonals.
template <int kPieces, int kWidth, bool kPath>
struct Cells {
  using D = Directions<kPieces>;
  using S = Steps<kPieces, kPath>;
  static constexpr int kGaps = S::kGaps;
  static constexpr std::uint32_t kMatchTag = S::kMatchTag * Halves::kOnes;
  static constexpr int kPerWord = 16 / D::kBits;         // directions of one matrix in half a word
  static constexpr int kPerStore = 4 * kPerWord;         // directions of one matrix in a uint4
  static constexpr int kStores = kWidth / kPerStore;     // uint4 per row

  std::uint32_t h[kWidth];                             // tagged as matches
  std::uint32_t insertion[kPieces ? kPieces : 1][kWidth];  // for the diagonal below, in the next row

  // Value of a cell of row 0, in one half.
  WFACLI_DEVICE static std::int32_t first(const Costs& costs, const S& steps, std::int32_t diagonal) {
    if (diagonal <= 0) return diagonal == 0 ? 0 : steps.exact_below;
    std::int32_t minimum = steps.exact_below;  // which is above 0: this rules out overflow
#pragma unroll
    for (int g = 0; g < kGaps; ++g) minimum = min(minimum, costs.open[g] + (costs.extend[g] - steps.drift) * diagonal);
    return minimum;
  }
  // Initialise row 0 of bands that begin at diagonals low[0] and low[1]; steps.exact_below > 0.
  WFACLI_DEVICE void begin(const Costs& costs, const S& steps, const std::int32_t (&low)[2]) {
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      const auto lower = static_cast<std::uint32_t>(first(costs, steps, low[0] + c));
      const auto upper = static_cast<std::uint32_t>(first(costs, steps, low[1] + c));
      h[c] = (upper << 16 | lower) * kScale + kMatchTag;
#pragma unroll
      for (int g = 0; g < kPieces; ++g)
        insertion[g][c] = (__vadd2(h[c], steps.open[g]) | S::extend_flag(g)) + steps.extend[g];
    }
  }
  // Clamp large values, which are not exact anyway, so that no value overflows in the next kRows rows.
  WFACLI_DEVICE void clamp(const S& steps) {
    const std::uint32_t limit = Halves::all(steps.exact_below * kScale) + kMatchTag;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) h[c] = __vmins2(h[c], limit);
  }
  // Compute the next row. Bit 15 - c of a half of masks[g]: whether the bases on diagonal 16 * g + c differ.
  // Directions are written to `out`: kStores elements, 32 apart.
  WFACLI_DEVICE void row(const S& steps, const std::uint32_t (&masks)[kWidth / 16], uint4* out) {
    const std::uint32_t outside = static_cast<std::uint32_t>(steps.exact_below * kScale) * Halves::kOnes;
    std::uint32_t deletion[kGaps];
#pragma unroll
    for (int g = 0; g < kGaps; ++g) deletion[g] = outside | S::tag(kGaps + g) * Halves::kOnes;
#pragma unroll
    for (int from = 0; from < kWidth; from += kPerStore) {
      std::uint32_t directions[kPerStore];
#pragma unroll
      for (int k = 0; k < kPerStore; ++k) {
        const int c = from + k, bit = 15 - c % 16;
        const std::uint32_t differing = masks[c / 16] >> 3 * (bit / 3) & Halves::kOnes << bit % 3;
        directions[k] = cell(steps, c, differing * steps.mismatch[bit % 3] + h[c], outside, deletion);
      }
      if (kPath) out[from / kPerStore * 32] = packed(directions);
    }
  }

 private:
  // Compute diagonal c of the new row. Return its direction in the low bits of each half, with arbitrary bits above.
  WFACLI_DEVICE std::uint32_t cell(const S& steps, int c, std::uint32_t diagonal, std::uint32_t outside,
                                   std::uint32_t (&deletion)[kGaps]) {
    const bool inside = c + 1 < kWidth;
    if constexpr (kPieces == 0) {
      // Tagged as a match, like h: subtracting a gap's rank must not turn it into the next lower cost.
      const std::uint32_t beside = outside | kMatchTag;
      const std::uint32_t next = inside ? h[c + 1] : beside, last = c > 0 ? h[c - 1] : beside;
      const std::uint32_t best =
          __viaddmin_s16x2(last, steps.open[1], __viaddmin_s16x2(next, steps.open[0], diagonal));
      h[c] = best | kMatchTag;
      return best;
    } else {
      Gaps<kPieces> from, to;
#pragma unroll
      for (int g = 0; g < kPieces; ++g) {
        from.insertion[g] = inside ? insertion[g][c + 1] : outside | S::tag(g) * Halves::kOnes;
        from.deletion[g] = deletion[g];
      }
      const std::uint32_t direction = gotoh(steps, diagonal, from, h[c], to);
#pragma unroll
      for (int g = 0; g < kPieces; ++g) {
        insertion[g][c] = to.insertion[g];
        deletion[g] = to.deletion[g];
      }
      return direction;
    }
  }
  // Pack directions: one matrix in the lower halves, the other in the upper halves, the first direction lowest.
  WFACLI_DEVICE static uint4 packed(const std::uint32_t (&directions)[kPerStore]) {
    std::uint32_t words[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const std::uint32_t* from = directions + w * kPerWord;
      std::uint32_t bytes[2];
#pragma unroll
      for (int b = 0; b < 2; ++b)
        bytes[b] = D::kBits == 8 ? from[b] : (from[2 * b] & 0x000f000fu) | (from[2 * b + 1] << 4 & ~0x000f000fu);
      words[w] = __byte_perm(bytes[0], bytes[1], 0x6240);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
  }
};

}  // namespace wfacli::dp

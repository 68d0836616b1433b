// Two anti-diagonals of a banded matrix over the lanes of a warp; each lane has kSpan even and kSpan odd diagonals.
//
// In step s the even diagonals advance from anti-diagonal 2 s - 2 to 2 s, then the odd ones from 2 s - 1 to 2 s + 1,
// counted from the band's first diagonal, so diagonals 2 x and 2 x + 1 reach row s - x. All cells of an anti-diagonal
// are independent, and need one value per gap piece from a neighbouring lane.
#pragma once

#include "dp/dp_cells.cuh"

namespace wfacli::dp {

// Registers of the values of diagonals 2 x + odd of a lane, and of their directions in a step.
template <int kPieces, class V, int kSpan>
struct FrontLayout {
  static constexpr int kRegs = kSpan / V::kValues;  // x is in value x / kRegs of word x % kRegs
  static constexpr int kBits = Directions<kPieces>::kBits;
  static constexpr int kPerValue = 32 / V::kValues / kBits;               // directions per value of a word
  static constexpr int kWords = (2 * kRegs + kPerValue - 1) / kPerValue;  // words of directions, per lane and step
  static_assert(kRegs >= 1 && kRegs * V::kValues == kSpan);

  WFACLI_DEVICE static std::int32_t word(std::int32_t x, std::int32_t odd) {
    return (2 * (x % kRegs) + odd) / kPerValue;
  }
  WFACLI_DEVICE static std::int32_t shift(std::int32_t x, std::int32_t odd) {
    return x / kRegs * 16 + (2 * (x % kRegs) + odd) % kPerValue * kBits;
  }
};

template <class S, int kSpan>
struct Front {
  static constexpr int kPieces = S::kGapPieces;
  using V = typename S::Value;
  using Layout = FrontLayout<kPieces, V, kSpan>;
  static constexpr int kRegs = Layout::kRegs;

  std::uint32_t h[2][kRegs];  // [odd]
  Gaps<kPieces> gaps[2][kRegs];
  std::uint32_t directions[Layout::kWords];

  WFACLI_DEVICE static std::uint32_t outside(const S& steps, std::uint32_t tag) {
    return V::all(steps.exact_below * kScale + static_cast<std::int32_t>(tag));
  }
  // Start with the cell (0, 0) alone, which is on the lane's diagonal 2 x + odd if 0 <= x < kSpan.
  WFACLI_DEVICE void begin(const S& steps, std::int32_t x, int odd) {
#pragma unroll
    for (int o = 0; o < 2; ++o)
#pragma unroll
      for (int y = 0; y < kRegs; ++y) {
        std::uint32_t here = 0;  // mask of the cell's value
        if (o == odd && x == y) here |= V::kValues == 2 ? 0xffffu : 0xffffffffu;
        if (o == odd && V::kValues == 2 && x == y + kRegs) here |= 0xffff0000u;
        const std::uint32_t zero = V::all(S::kMatchTag);
        h[o][y] = (zero & here) | (outside(steps, S::kMatchTag) & ~here);
#pragma unroll
        for (int g = 0; g < kPieces; ++g) {
          const std::uint32_t i = (V::add(zero, steps.open[g]) | S::extend_flag(g)) + steps.extend[g];
          const std::uint32_t d = (V::add(zero, steps.open[kPieces + g]) | S::extend_flag(kPieces + g)) +
                                  (kPieces == 2 ? steps.extend[kPieces + g] : 0);
          gaps[o][y].insertion[g] = (i & here) | (outside(steps, S::tag(g)) & ~here);
          gaps[o][y].deletion[g] = (d & here) | (outside(steps, S::tag(kPieces + g)) & ~here);
        }
      }
  }
  // Clamp as Cells::cut does, for the next kRows steps.
  WFACLI_DEVICE void clamp(const S& steps) {
#pragma unroll
    for (int o = 0; o < 2; ++o)
#pragma unroll
      for (int y = 0; y < kRegs; ++y) h[o][y] = V::minimum(h[o][y], outside(steps, S::kMatchTag));
  }
  // Compute the even or odd half of a step. Bit 31 - x of `differing`: whether the bases of diagonal 2 x + kOdd
  // differ.
  template <int kOdd>
  WFACLI_DEVICE void half_step(const S& steps, std::uint32_t differing, std::int32_t lane) {
    const Gaps<kPieces> edge = from_neighbour<kOdd>(steps, lane);
    constexpr int kTop = V::kValues == 2 ? 15 : 31;
    if (V::kValues == 2) differing = __byte_perm(differing, differing << kRegs, 0x7632);
    if (kOdd == 0)
#pragma unroll
      for (int w = 0; w < Layout::kWords; ++w) directions[w] = 0;
#pragma unroll
    for (int y = 0; y < kRegs; ++y) {
      Gaps<kPieces> from;
#pragma unroll
      for (int g = 0; g < kPieces; ++g) {
        from.insertion[g] = kOdd == 0 ? gaps[1][y].insertion[g]
                            : y + 1 < kRegs ? gaps[0][y + 1 < kRegs ? y + 1 : 0].insertion[g]
                                            : edge.insertion[g];
        from.deletion[g] = kOdd == 1 ? gaps[0][y].deletion[g]
                           : y > 0   ? gaps[1][y > 0 ? y - 1 : 0].deletion[g]
                                     : edge.deletion[g];
      }
      const int bit = kTop - y;
      const std::uint32_t mismatch = differing >> 3 * (bit / 3) & V::kOnes << bit % 3;
      const std::uint32_t direction =
          gotoh(steps, mismatch * steps.mismatch[bit % 3] + h[kOdd][y], from, h[kOdd][y], gaps[kOdd][y]);
      const int at = 2 * y + kOdd;
      constexpr std::uint32_t kMask = ((1u << Layout::kBits) - 1) * V::kOnes;
      if (S::kTagged)
        directions[at / Layout::kPerValue] += (direction & kMask) << at % Layout::kPerValue * Layout::kBits;
    }
  }
  // Return the value of the lane's diagonal 2 x + odd.
  WFACLI_DEVICE std::int32_t value(std::int32_t x, std::int32_t odd) const {
    std::uint32_t word = 0;
#pragma unroll
    for (int o = 0; o < 2; ++o)
#pragma unroll
      for (int y = 0; y < kRegs; ++y)
        word |= h[o][y] & (o == odd && y == x % kRegs ? 0xffffffffu : 0u);
    if (V::kValues == 2) word = word >> 16 * (x / kRegs) & 0xffff;
    return static_cast<std::int32_t>(word);
  }

 private:
  // Even half: deletions into word 0; the first comes from the previous lane. Odd half: insertions into the last word;
  // the last comes from the next lane.
  template <int kOdd>
  WFACLI_DEVICE Gaps<kPieces> from_neighbour(const S& steps, std::int32_t lane) const {
    constexpr std::uint32_t kAll = 0xffffffffu;
    Gaps<kPieces> edge{};
#pragma unroll
    for (int g = 0; g < kPieces; ++g) {
      if (kOdd == 0) {
        const std::uint32_t own = gaps[1][kRegs - 1].deletion[g];
        std::uint32_t other = __shfl_up_sync(kAll, own, 1);
        if (lane == 0) other = outside(steps, S::tag(kPieces + g));
        edge.deletion[g] = V::kValues == 2 ? __byte_perm(other, own, 0x5432) : other;
      } else {
        const std::uint32_t own = gaps[0][0].insertion[g];
        std::uint32_t other = __shfl_down_sync(kAll, own, 1);
        if (lane == 31) other = outside(steps, S::tag(g));
        edge.insertion[g] = V::kValues == 2 ? __byte_perm(own, other, 0x5432) : other;
      }
    }
    return edge;
  }
};

}  // namespace wfacli::dp

// Bit planes of a long sequence: 32 symbols of two sequences are compared in a few instructions, from any position, in
// either direction.
//
// A row holds 32 symbols: word p holds bit p of each, the first symbol in the top bit. With two planes (A C G T) a
// row repeats the words of the next row, so one 16-byte read gets any 32 symbols; otherwise rows are contiguous, and
// two of them are read. kPadRows rows before and after a sequence are readable; their content does not affect results.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

constexpr int kPadRows = 32;

template <int Planes>
constexpr int kRowWords = Planes == 2 ? 4 : Planes;

// Return 32 bits of a plane from bit `by` mod 32 of `first` on.
WFACLI_DEVICE std::uint32_t bits_from(std::uint32_t first, std::uint32_t next, std::uint32_t by) {
  return __funnelshift_l(next, first, by);
}

// Return a mask of which symbols differ from q in one sequence and t in the other on, the first in the top bit. Both
// positions may lie outside their sequences, within the padding.
template <int Planes, class Offset>
WFACLI_DEVICE std::uint32_t differing(const std::uint32_t* query, Offset q, const std::uint32_t* target, Offset t) {
  const auto by_q = static_cast<std::uint32_t>(q), by_t = static_cast<std::uint32_t>(t);
  if constexpr (Planes == 2) {
    const uint4 a = __ldg(reinterpret_cast<const uint4*>(query) + (q >> 5));
    const uint4 b = __ldg(reinterpret_cast<const uint4*>(target) + (t >> 5));
    return (bits_from(a.x, a.z, by_q) ^ bits_from(b.x, b.z, by_t)) |
           (bits_from(a.y, a.w, by_q) ^ bits_from(b.y, b.w, by_t));
  } else {
    constexpr int kVectors = Planes / 4;
    const uint4* a = reinterpret_cast<const uint4*>(query) + (q >> 5) * kVectors;
    const uint4* b = reinterpret_cast<const uint4*>(target) + (t >> 5) * kVectors;
    std::uint32_t differ = 0;
#pragma unroll 1
    for (int p = 0; p < kVectors; ++p) {
      const uint4 a0 = __ldg(a + p), a1 = __ldg(a + p + kVectors), b0 = __ldg(b + p), b1 = __ldg(b + p + kVectors);
      differ |= (bits_from(a0.x, a1.x, by_q) ^ bits_from(b0.x, b1.x, by_t)) |
                (bits_from(a0.y, a1.y, by_q) ^ bits_from(b0.y, b1.y, by_t)) |
                (bits_from(a0.z, a1.z, by_q) ^ bits_from(b0.z, b1.z, by_t)) |
                (bits_from(a0.w, a1.w, by_q) ^ bits_from(b0.w, b1.w, by_t));
    }
    return differ;
  }
}

}  // namespace wfacli

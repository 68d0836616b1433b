// Nucleotides as two bit planes. Bits 1 and 2 of the ASCII code distinguish A, C, G and T in either case.
// Included by bits_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/bits/bits_vector.hpp"

namespace wfacli {
namespace WFACLI_ISA {

struct Planes {
  Word low, high;
};

// Returns the planes of 16 bases, with the first base in bit 0.
#if defined(__SSE2__)
WFACLI_INLINE Planes planes_of_16(const std::uint8_t* bases) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bases));
  return {static_cast<Word>(_mm_movemask_epi8(_mm_slli_epi16(x, 6))),
          static_cast<Word>(_mm_movemask_epi8(_mm_slli_epi16(x, 5)))};
}
#else
// Gathers the lowest bit of each byte. The multiplication moves that of byte k to bit 56 + k, and no two partial
// products overlap.
WFACLI_INLINE Word lowest_bits(Word x) { return (x & 0x0101010101010101ull) * 0x0102040810204080ull >> 56; }

WFACLI_INLINE Planes planes_of_16(const std::uint8_t* bases) {
  Word x[2];
  std::memcpy(x, bases, 16);
  return {lowest_bits(x[0] >> 1) | lowest_bits(x[1] >> 1) << 8, lowest_bits(x[0] >> 2) | lowest_bits(x[1] >> 2) << 8};
}
#endif

// Returns the planes of 64 bases, with the first base in bit 0.
WFACLI_INLINE Planes planes_of_64(const std::uint8_t* bases) {
#if defined(__AVX512BW__)
  const __m512i x = _mm512_loadu_si512(bases);
  return {_mm512_movepi8_mask(_mm512_slli_epi16(x, 6)), _mm512_movepi8_mask(_mm512_slli_epi16(x, 5))};
#else
  Planes all = {0, 0};
  for (int k = 0; k < 4; ++k) {
    const Planes p = planes_of_16(bases + 16 * k);
    all.low |= p.low << 16 * k;
    all.high |= p.high << 16 * k;
  }
  return all;
#endif
}

// Returns the planes of `count` < 64 bases in the topmost bits. Reads no byte beyond them.
WFACLI_INLINE Planes planes_of_few(const std::uint8_t* bases, std::int32_t count) {
  if (count == 0) return {0, 0};
#if defined(__AVX512BW__)
  const __m512i x = _mm512_maskz_loadu_epi8(~Word{0} >> (64 - count), bases);
  const Planes all = {_mm512_movepi8_mask(_mm512_slli_epi16(x, 6)), _mm512_movepi8_mask(_mm512_slli_epi16(x, 5))};
#else
  Planes all = {0, 0};
  std::int32_t k = 0;
  for (; k + 16 <= count; k += 16) {
    const Planes p = planes_of_16(bases + k);
    all.low |= p.low << k;
    all.high |= p.high << k;
  }
  if (k < count) {
    std::uint8_t rest[16] = {};
    std::memcpy(rest, bases + k, static_cast<std::size_t>(count - k));
    const Planes p = planes_of_16(rest);
    all.low |= p.low << k;
    all.high |= p.high << k;
  }
#endif
  return {all.low << (64 - count), all.high << (64 - count)};
}

// Returns word k of the reversed sequence: bases 64 k, 64 k + 1, ... are in bits 63, 62, ...
WFACLI_INLINE Planes reversed_word(const std::uint8_t* bases, std::int32_t length, std::int32_t k) {
  const std::int32_t first = length - 64 * (k + 1);
  if (first >= 0) return planes_of_64(bases + first);
  return planes_of_few(bases, length - 64 * k);
}

// Reverses the order of the 64 bits.
WFACLI_INLINE Word mirrored(Word x) {
  x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
  x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
  return __builtin_bswap64(x);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

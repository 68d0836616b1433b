// Arranges the symbols of many pairs with one pair per lane, and finds the symbols of a pair that differ.
#pragma once

#include "base/bytes.hpp"
#include "kernels/difference/difference_lanes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

typedef std::uint8_t Symbols16 __attribute__((vector_size(16)));
typedef std::uint8_t SymbolsV __attribute__((vector_size(kVectorBytes)));

// Transposes rows and columns, separately in each 16 bytes of the vectors.
WFACLI_INLINE void transpose(SymbolsV (&x)[16]) {
  for (int round = 0; round < 4; ++round) {
    SymbolsV y[16];
    for (int r = 0; r < 8; ++r) {
#if defined(__AVX512BW__)
      y[2 * r] = (SymbolsV)_mm512_unpacklo_epi8((__m512i)x[r], (__m512i)x[r + 8]);
      y[2 * r + 1] = (SymbolsV)_mm512_unpackhi_epi8((__m512i)x[r], (__m512i)x[r + 8]);
#elif defined(__AVX2__)
      y[2 * r] = (SymbolsV)_mm256_unpacklo_epi8((__m256i)x[r], (__m256i)x[r + 8]);
      y[2 * r + 1] = (SymbolsV)_mm256_unpackhi_epi8((__m256i)x[r], (__m256i)x[r + 8]);
#else
      y[2 * r] = reordered(x[r], x[r + 8], [](int lane) { return lane / 2 + lane % 2 * 16; });
      y[2 * r + 1] = reordered(x[r], x[r + 8], [](int lane) { return 8 + lane / 2 + lane % 2 * 16; });
#endif
    }
    for (int r = 0; r < 16; ++r) x[r] = y[r];
  }
}

// A sequence that is read from its end.
struct ReversedSequence {
  const std::uint8_t* symbols;
  std::int32_t length, shift;  // reversed symbol x goes into vector x + shift
};

// Returns 16 symbols from `at` on; those outside the sequence are undefined.
WFACLI_INLINE Symbols16 symbols_at(const ReversedSequence& s, std::int32_t at) {
  constexpr Symbols16 numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const std::int32_t readable = s.length + 48, from = at < 0 ? 0 : at < readable ? at : readable;
  Symbols16 found;
  std::memcpy(&found, s.symbols + from, 16);
  if (at < 0) found = lookup16(found, (numbers + static_cast<std::uint8_t>(at)) & 15);
  return found;
}

// Returns, for strands 0, 16, 32, ... of `strands`, the 16 symbols of vectors first + 15 down to `first`.
WFACLI_INLINE SymbolsV symbols_of(const ReversedSequence* strands, std::int32_t first) {
  const auto of = [&](int l) { return symbols_at(strands[l], strands[l].length + strands[l].shift - first - 16); };
#if defined(__AVX512BW__)
  __m512i all = _mm512_castsi128_si512((__m128i)of(0));
  all = _mm512_inserti32x4(all, (__m128i)of(16), 1);
  all = _mm512_inserti32x4(all, (__m128i)of(32), 2);
  return (SymbolsV)_mm512_inserti32x4(all, (__m128i)of(48), 3);
#elif defined(__AVX2__)
  return (SymbolsV)_mm256_set_m128i((__m128i)of(16), (__m128i)of(0));
#else
  return of(0);
#endif
}

// Writes one reversed strand into each lane of vectors 0 to count - 1 (count is a multiple of 16), without the bits
// that the lane's mask lacks.
inline void lay_out(const ReversedSequence* strands, SymbolsV masks, std::int32_t count, std::uint8_t* vectors) {
  for (std::int32_t first = 0; first < count; first += 16) {
    SymbolsV x[16];
    for (int r = 0; r < 16; ++r) x[r] = symbols_of(strands + r, first);
    transpose(x);
    for (int c = 0; c < 16; ++c) {
      x[c] &= masks;
      std::memcpy(vectors + static_cast<std::size_t>(first + 15 - c) * kVectorBytes, &x[c], kVectorBytes);
    }
  }
}

// Returns a bit mask of the symbols that differ, of 16.
WFACLI_INLINE std::uint32_t differing_of_16(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t mask) {
  Symbols16 x, y;
  std::memcpy(&x, a, 16);
  std::memcpy(&y, b, 16);
  const Symbols16 same = (Symbols16)(((x ^ y) & (Symbols16{} + mask)) == 0);
#if defined(__SSE2__)
  return ~static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)same)) & 0xffff;
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<std::uint32_t>(!same[i]) << i;
  return bits;
#endif
}

// Returns a bit mask of the symbols that differ, of 64; the first is in the lowest bit.
WFACLI_INLINE std::uint64_t differing(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t mask) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; i += 16) bits |= static_cast<std::uint64_t>(differing_of_16(a + i, b + i, mask)) << i;
  return bits;
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Vectors of small integers at the instruction set's full width, for difference_*.hpp.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/buffer.hpp"
#include "base/shuffle.hpp"
#include "base/symbols.hpp"
#include "base/vector_width.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Lane is std::int8_t or std::int16_t. Arithmetic is unsigned, so that lanes without a cell may wrap around.
template <class Lane_, int Bytes_ = kVectorBytes>
struct Lanes {
  using Lane = Lane_;
  static constexpr int kBytes = Bytes_;
  static constexpr int kCount = kBytes / sizeof(Lane);
  typedef Lane Signed __attribute__((vector_size(kBytes)));
  typedef std::make_unsigned_t<Lane> Vector __attribute__((vector_size(kBytes)));
  typedef std::uint8_t Symbols __attribute__((vector_size(kCount)));

  static WFACLI_INLINE Vector all(std::int32_t value) {
    return Vector{} + static_cast<std::make_unsigned_t<Lane>>(value);
  }
  static WFACLI_INLINE Vector min(Vector a, Vector b) {
    const Signed x = (Signed)a, y = (Signed)b;
    return (Vector)(x < y ? x : y);
  }
  // Returns b's bits where `mask` has ones, and a's elsewhere.
  static WFACLI_INLINE Vector choose(Vector a, Vector b, Vector mask) {
#if defined(__AVX512BW__)
    if constexpr (kBytes == 64) return (Vector)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)mask, 0xd8);
#endif
    return a ^ ((a ^ b) & mask);
  }
  // Moves each lane's top bit down by `by` bits; the bits above it are undefined.
  static WFACLI_INLINE Vector shifted(Vector v, int by) {
    typedef std::uint64_t Words __attribute__((vector_size(kBytes)));
    return (Vector)((Words)v >> by);
  }
  // Returns v + 1, saturated at 255. Requires 8-bit lanes.
  static WFACLI_INLINE Vector one_more(Vector v) {
#if defined(__AVX512BW__)
    if constexpr (kBytes == 64) return (Vector)_mm512_adds_epu8((__m512i)v, (__m512i)all(1));
#endif
#if defined(__AVX2__)
    if constexpr (kBytes == 32) return (Vector)_mm256_adds_epu8((__m256i)v, (__m256i)all(1));
#endif
#if defined(__SSE2__)
    if constexpr (kBytes == 16) return (Vector)_mm_adds_epu8((__m128i)v, (__m128i)all(1));
#endif
    return v - (Vector)(v != all(255));
  }
  static WFACLI_INLINE Vector load(const Lane* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static WFACLI_INLINE void store(Lane* to, Vector v) { std::memcpy(to, &v, sizeof v); }
  // Returns the index of each lane.
  static WFACLI_INLINE Vector numbers() {
    Vector v{};
    for (int l = 0; l < kCount; ++l) v[l] = static_cast<std::make_unsigned_t<Lane>>(l);
    return v;
  }

  // Returns `same` in lanes whose symbols match, else `different`; `ambiguous` instead if codes are compared by bits, and
  // one is that of an ambiguous symbol with a cost of its own.
  static WFACLI_INLINE Vector compared(const std::uint8_t* q, const std::uint8_t* t, Vector same, Vector different,
                                       Vector ambiguous, bool by_bits) {
    Symbols a, b;
    std::memcpy(&a, q, sizeof a);
    std::memcpy(&b, t, sizeof b);
    if constexpr (sizeof(Lane) == 1) {
      if (by_bits) return by_shared_bits((Vector)a, (Vector)b, same, different, ambiguous);
      return (Vector)a == (Vector)b ? same : different;
    } else {
      const Vector x = __builtin_convertvector(a, Vector), y = __builtin_convertvector(b, Vector);
      if (by_bits) return by_shared_bits(x, y, same, different, ambiguous);
      return x == y ? same : different;
    }
  }

  static WFACLI_INLINE Vector by_shared_bits(Vector x, Vector y, Vector same, Vector different, Vector ambiguous) {
    const Vector others = ((x | y) & all(kAmbiguousCodes)) != 0 ? ambiguous : different;
    return (x & y) != 0 ? same : others;
  }

  // Shifts lanes up by one: each gets the value of the lane below, and the first one that of the last lane of
  // `before`.
  static WFACLI_INLINE Vector up(Vector v, Vector before) {
#if defined(__AVX512BW__)
    if constexpr (kBytes == 64) {
      const __m512i lower = _mm512_maskz_alignr_epi64(0xff, (__m512i)v, (__m512i)before, 6);
      return (Vector)_mm512_alignr_epi8((__m512i)v, lower, 16 - sizeof(Lane));
    }
#endif
#if defined(__AVX2__)
    if constexpr (kBytes == 32) {
      const __m256i lower = _mm256_permute2x128_si256((__m256i)before, (__m256i)v, 0x21);
      return (Vector)_mm256_alignr_epi8((__m256i)v, lower, 16 - sizeof(Lane));
    }
#endif
    return reordered(before, v, [](int lane) { return lane + kCount - 1; });
  }
  // Shifts lanes down by one: each gets the value of the lane above, and the last one that of the first lane of
  // `after`.
  static WFACLI_INLINE Vector down(Vector v, Vector after) {
#if defined(__AVX512BW__)
    if constexpr (kBytes == 64) {
      const __m512i upper = _mm512_maskz_alignr_epi64(0xff, (__m512i)after, (__m512i)v, 2);
      return (Vector)_mm512_alignr_epi8(upper, (__m512i)v, sizeof(Lane));
    }
#endif
#if defined(__AVX2__)
    if constexpr (kBytes == 32) {
      const __m256i upper = _mm256_permute2x128_si256((__m256i)v, (__m256i)after, 0x21);
      return (Vector)_mm256_alignr_epi8(upper, (__m256i)v, sizeof(Lane));
    }
#endif
    return reordered(v, after, [](int lane) { return lane + 1; });
  }
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

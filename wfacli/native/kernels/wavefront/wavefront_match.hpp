// Comparison of bases, and the length of a run of matches, computed over as many bases at once as a vector holds.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/kernel.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace wfacli {
namespace WFACLI_ISA {

// Bases match if their codes are equal.
struct EqualCodes {
  // Returns non-zero bytes where a and b do not match; the lowest non-zero byte is the first mismatch.
  static WFACLI_INLINE std::uint64_t differ(std::uint64_t a, std::uint64_t b) { return a ^ b; }
#if defined(__AVX512BW__)
  static WFACLI_INLINE std::uint64_t differ_mask(__m512i a, __m512i b) { return _mm512_cmpneq_epi8_mask(a, b); }
#elif defined(__AVX2__)
  static WFACLI_INLINE std::uint32_t differ_mask(__m256i a, __m256i b) {
    return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)));
  }
#endif
};

// Bases match if their codes (masks of at most four bits) share a bit.
struct SharedBits {
  static WFACLI_INLINE std::uint64_t differ(std::uint64_t a, std::uint64_t b) {
    return ~((a & b) + 0x7f7f7f7f7f7f7f7full) & 0x8080808080808080ull;
  }
#if defined(__AVX512BW__)
  static WFACLI_INLINE std::uint64_t differ_mask(__m512i a, __m512i b) { return _mm512_testn_epi8_mask(a, b); }
#elif defined(__AVX2__)
  static WFACLI_INLINE std::uint32_t differ_mask(__m256i a, __m256i b) {
    const __m256i shared = _mm256_and_si256(a, b);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(shared, _mm256_setzero_si256())));
  }
#endif
};

template <class T>
WFACLI_INLINE T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Loads bases from `run` bases after p; with FromEnd those that end `run` bases before p, with the next one last.
template <class T, bool FromEnd>
WFACLI_INLINE T symbols_at(const std::uint8_t* p, std::int32_t run) {
  return load<T>(FromEnd ? p - run - sizeof(T) : p + run);
}

// Returns the length of the run of matches from q and t on; sentinels end the run. Most runs on most diagonals are
// short and are decided by the first word.
template <class Match, bool FromEnd>
WFACLI_INLINE std::int32_t matching(const std::uint8_t* q, const std::uint8_t* t) {
  const auto word = [=](std::int32_t run) {
    return Match::differ(symbols_at<std::uint64_t, FromEnd>(q, run), symbols_at<std::uint64_t, FromEnd>(t, run));
  };
  const std::uint64_t first = word(0);
  if (first) return (FromEnd ? __builtin_clzll(first) : __builtin_ctzll(first)) >> 3;
  for (std::int32_t run = 8;;) {
#if defined(__AVX512BW__)
    const std::uint64_t d =
        Match::differ_mask(symbols_at<__m512i, FromEnd>(q, run), symbols_at<__m512i, FromEnd>(t, run));
    if (d) return run + (FromEnd ? __builtin_clzll(d) : __builtin_ctzll(d));
    run += 64;
#elif defined(__AVX2__)
    const std::uint32_t d =
        Match::differ_mask(symbols_at<__m256i, FromEnd>(q, run), symbols_at<__m256i, FromEnd>(t, run));
    if (d) return run + (FromEnd ? __builtin_clz(d) : __builtin_ctz(d));
    run += 32;
#else
    const std::uint64_t d = word(run);
    if (d) return run + ((FromEnd ? __builtin_clzll(d) : __builtin_ctzll(d)) >> 3);
    run += 8;
#endif
  }
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

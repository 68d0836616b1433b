// Letters of many pairs, a pair a lane, and which letters of a pair differ.
#pragma once

#include "difference_lanes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

typedef std::uint8_t Letters16 __attribute__((vector_size(16)));

// Rows become columns.
WFACLI_INLINE void transpose(Letters16 (&x)[16]) {
  constexpr Letters16 low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  constexpr Letters16 high = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  for (int round = 0; round < 4; ++round) {
    Letters16 y[16];
    for (int r = 0; r < 8; ++r) {
      y[2 * r] = __builtin_shuffle(x[r], x[r + 8], low);
      y[2 * r + 1] = __builtin_shuffle(x[r], x[r + 8], high);
    }
    for (int r = 0; r < 16; ++r) x[r] = y[r];
  }
}

// A sequence, to be read from its end.
struct Strand {
  const std::uint8_t* letters;
  std::int32_t length, shift;  // reversed letter x comes into vector x + shift
  std::uint8_t mask;
};

// The 16 letters from `at` on, of which some may lie outside the sequence: those are any.
WFACLI_INLINE Letters16 letters_at(const Strand& s, std::int32_t at) {
  Letters16 found{};
  if (at >= 0 && at + 16 <= s.length + 64) {
    std::memcpy(&found, s.letters + at, 16);
  } else {
    std::uint8_t some[16] = {};
    const std::int32_t from = at > 0 ? at : 0, to = at + 16 < s.length ? at + 16 : s.length;
    if (from < to) std::memcpy(some + (from - at), s.letters + from, static_cast<std::size_t>(to - from));
    std::memcpy(&found, some, 16);
  }
  return found & (Letters16{} + s.mask);
}

// Puts reversed letters of `lanes` strands (a multiple of 16) into vectors 0 .. count - 1 (count a multiple of 16).
inline void lay_out(const Strand* strands, int lanes, std::int32_t count, std::uint8_t* vectors) {
  for (int l = 0; l < lanes; l += 16) {
    for (std::int32_t first = 0; first < count; first += 16) {
      Letters16 x[16];
      for (int r = 0; r < 16; ++r) {
        const Strand& s = strands[l + r];
        x[r] = letters_at(s, s.length + s.shift - first - 16);
      }
      transpose(x);
      for (int c = 0; c < 16; ++c)
        std::memcpy(vectors + static_cast<std::size_t>(first + 15 - c) * lanes + l, &x[c], 16);
    }
  }
}

// Which of 16 letters differ.
WFACLI_INLINE std::uint32_t differing_of_16(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t mask) {
  Letters16 x, y;
  std::memcpy(&x, a, 16);
  std::memcpy(&y, b, 16);
  const Letters16 same = (Letters16)(((x ^ y) & (Letters16{} + mask)) == 0);
#if defined(__SSE2__)
  return ~static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)same)) & 0xffff;
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<std::uint32_t>(!same[i]) << i;
  return bits;
#endif
}

// Which of 64 letters differ; the first in the lowest bit.
WFACLI_INLINE std::uint64_t differing(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t mask) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; i += 16) bits |= static_cast<std::uint64_t>(differing_of_16(a + i, b + i, mask)) << i;
  return bits;
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Tests and table look-ups on 16 bytes at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/buffer.hpp"

#if defined(__clang__) && defined(__SSSE3__)
#include <tmmintrin.h>
#elif defined(__clang__) && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace wfacli {

using Bytes16 = std::uint8_t __attribute__((vector_size(16)));

// Looks up 16 bytes at once: the low 4 bits of each index select a byte of `table`; with two tables, the low 5 bits
// select a byte of low:high. GCC has a builtin for this; clang has none for variable indices.
#if !defined(__clang__)
WFACLI_INLINE Bytes16 lookup16(Bytes16 table, Bytes16 index) { return __builtin_shuffle(table, index); }
WFACLI_INLINE Bytes16 lookup16(Bytes16 low, Bytes16 high, Bytes16 index) {
  return __builtin_shuffle(low, high, index);
}
#else
WFACLI_INLINE Bytes16 lookup16(Bytes16 table, Bytes16 index) {
#if defined(__SSSE3__)
  return (Bytes16)_mm_shuffle_epi8((__m128i)table, (__m128i)(index & 15));
#elif defined(__aarch64__)
  return (Bytes16)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)(index & 15));
#else
  Bytes16 found;
  for (int i = 0; i < 16; ++i) found[i] = table[index[i] & 15];
  return found;
#endif
}
WFACLI_INLINE Bytes16 lookup16(Bytes16 low, Bytes16 high, Bytes16 index) {
  return (index & 16) != 0 ? lookup16(high, index) : lookup16(low, index);
}
#endif

// True if `odd` holds for none of the n bytes, n >= 16. `odd` maps 16 bytes to a vector that is nonzero where the
// predicate holds. The last 16 bytes are tested as one load, which may overlap the load before.
template <class Odd>
inline bool none_of_bytes(const std::uint8_t* p, std::size_t n, const Odd& odd) {
  const auto at = [&](const std::uint8_t* from) {
    Bytes16 c;
    std::memcpy(&c, from, sizeof c);
    return odd(c);
  };
  auto found = at(p + n - 16);
  for (std::size_t i = 0; i + 16 <= n; i += 16) found |= at(p + i);
  std::uint64_t halves[2];
  std::memcpy(halves, &found, sizeof halves);
  return (halves[0] | halves[1]) == 0;
}

// True if all bytes are printable ASCII other than a space ('!' to '~').
inline bool only_visible(const char* text, std::size_t n) {
  constexpr std::uint8_t kVisible = '~' - '!';
  const auto* p = reinterpret_cast<const std::uint8_t*>(text);
  if (n >= 16) return none_of_bytes(p, n, [](Bytes16 c) { return static_cast<Bytes16>(c - '!') > kVisible; });
  bool visible = true;
  for (std::size_t i = 0; i < n; ++i) visible &= p[i] >= '!' && p[i] <= '~';
  return visible;
}

}  // namespace wfacli

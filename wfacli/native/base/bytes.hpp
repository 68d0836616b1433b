// Questions about many bytes at once.
#pragma once

#include <cstdint>
#include <cstring>

namespace wfacli {

using Bytes16 = std::uint8_t __attribute__((vector_size(16)));

// Looks up 16 bytes at once: the last four bits of each index select a byte of the table, the last five a byte of two
// tables. GCC has a builtin for it; clang has none for indices that are not constant.
#if defined(__GNUC__) && !defined(__clang__)
inline Bytes16 looked_up(Bytes16 table, Bytes16 index) { return __builtin_shuffle(table, index); }
inline Bytes16 looked_up(Bytes16 low, Bytes16 high, Bytes16 index) { return __builtin_shuffle(low, high, index); }
#else
inline Bytes16 looked_up(Bytes16 table, Bytes16 index) {
  Bytes16 found;
  for (int i = 0; i < 16; ++i) found[i] = table[index[i] & 15];
  return found;
}
inline Bytes16 looked_up(Bytes16 low, Bytes16 high, Bytes16 index) {
  Bytes16 found;
  for (int i = 0; i < 16; ++i) found[i] = index[i] & 16 ? high[index[i] & 15] : low[index[i] & 15];
  return found;
}
#endif

// Whether `odd` (of 16 bytes, a vector of them that is not 0 where it holds) holds of none of at least 16; the last 16
// may be looked at twice.
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

// Whether all are visible ASCII, which '!' to '~' are.
inline bool only_visible(const char* text, std::size_t n) {
  constexpr std::uint8_t kVisible = '~' - '!';
  const auto* p = reinterpret_cast<const std::uint8_t*>(text);
  if (n >= 16) return none_of_bytes(p, n, [](Bytes16 c) { return static_cast<Bytes16>(c - '!') > kVisible; });
  bool visible = true;
  for (std::size_t i = 0; i < n; ++i) visible &= p[i] >= '!' && p[i] <= '~';
  return visible;
}

}  // namespace wfacli

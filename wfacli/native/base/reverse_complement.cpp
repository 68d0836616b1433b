#include "base/reverse_complement.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/symbols.hpp"

namespace wfacli {
namespace {

// kSymbols.complement for 16 printable bytes. From '@' on, the low five bits index the table, since the sixth bit of a
// letter is its case; smaller bytes are unchanged.
struct Complement {
  Bytes16 low{}, high{};
  Complement() {
    for (int i = 0; i < 32; ++i) {
      const std::uint8_t bits = kSymbols.complement[0x40 | i] & 31;
      if (i < 16)
        low[i] = bits;
      else
        high[i - 16] = bits;
    }
  }
  Bytes16 operator()(Bytes16 c) const {
    const Bytes16 changed = (c & 0xe0) | lookup16(low, high, c & 31);
    const Bytes16 symbols = reinterpret_cast<Bytes16>(c >= 0x40);
    return (changed & symbols) | (c & ~symbols);
  }
};

Bytes16 load(const std::uint8_t* p) {
  Bytes16 c;
  std::memcpy(&c, p, sizeof c);
  return c;
}

// Reverses n bytes and maps each: `many` maps 16 bytes at a time, `one` the remaining single bytes.
template <class Many, class One>
void reverse_with(std::uint8_t* p, std::size_t n, const Many& many, const One& one) {
  constexpr Bytes16 kBackwards = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  std::size_t i = 0, j = n;
  for (; j - i >= 32; i += 16, j -= 16) {
    const Bytes16 first = many(lookup16(load(p + i), kBackwards));
    const Bytes16 last = many(lookup16(load(p + j - 16), kBackwards));
    std::memcpy(p + i, &last, sizeof last);
    std::memcpy(p + j - 16, &first, sizeof first);
  }
  for (; i < j; ++i) {
    const std::uint8_t first = one(p[i]);
    p[i] = one(p[--j]);
    p[j] = first;
  }
}

}  // namespace

void reverse(std::uint8_t* text, std::size_t n) {
  const auto same = [](auto c) { return c; };
  reverse_with(text, n, same, same);
}

void reverse_complement(std::uint8_t* sequence, std::size_t n) {
  static const Complement complement;
  reverse_with(sequence, n, complement, [](std::uint8_t c) { return kSymbols.complement[c]; });
}

}  // namespace wfacli

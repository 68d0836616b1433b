// Text output: formatting of numbers and strings into buffers.
#pragma once

#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

// Decimal digits of the numbers 0 to 999.
struct ThreeDigits {
  static constexpr int kCount = 7;
  alignas(8) char first[1000][8]{};  // no leading zeros, then a tab; byte kCount is the number of digits
  char further[1000][4]{};           // three digits with leading zeros, and a byte of padding
  constexpr ThreeDigits() {
    for (int v = 0; v < 1000; ++v) {
      const char all[] = {static_cast<char>('0' + v / 100), static_cast<char>('0' + v / 10 % 10),
                          static_cast<char>('0' + v % 10)};
      const int count = v < 10 ? 1 : v < 100 ? 2 : 3;
      for (int i = 0; i < 3; ++i) {
        if (i < count) first[v][i] = all[3 - count + i];
        further[v][i] = all[i];
      }
      first[v][count] = '\t';
      first[v][kCount] = static_cast<char>(count);
      further[v][3] = '0';
    }
  }
};
inline constexpr ThreeDigits kThreeDigits{};

// Unchecked output cursor: the caller reserves the space. Pens are passed and returned by value, so that the position
// stays in a register; behind a reference it would be reloaded after every byte stored, since a char may alias it.
class Pen {
 public:
  static constexpr std::size_t kDigits = 20;  // most characters of a number

  explicit Pen(char* to) : to_(to) {}
  char* position() const { return to_; }

  WFACLI_INLINE void add(char c) { *to_++ = c; }
  WFACLI_INLINE void add(std::string_view s) {
    std::memcpy(to_, s.data(), s.size());
    to_ += s.size();
  }
  WFACLI_INLINE void add(const std::uint8_t* s, std::int64_t len) {
    if (len) std::memcpy(to_, s, static_cast<std::size_t>(len));
    to_ += len;
  }
  // Same as add(), without a call of memcpy for 4 to 16 bytes: faster where most strings are short.
  WFACLI_INLINE void add_short(const std::uint8_t* s, std::int64_t len) {
    if (len >= 8 && len <= 16)
      copy_ends<8>(s, len);
    else if (len >= 4 && len < 8)
      copy_ends<4>(s, len);
    else
      return add(s, len);
    to_ += len;
  }
  WFACLI_INLINE void number(std::int64_t value) {
    // Fast path: most numbers in a record are lengths of CIGAR operations.
    if (static_cast<std::uint64_t>(value) < 1000)
      first(static_cast<std::uint32_t>(value));
    else
      *this = long_number(*this, value);
  }
  // Writes a number and a tab.
  WFACLI_INLINE void field(std::int64_t value) {
    if (static_cast<std::uint64_t>(value) < 1000) {
      std::uint64_t digits;
      std::memcpy(&digits, kThreeDigits.first[value], sizeof digits);
      std::memcpy(to_, &digits, sizeof digits);
      to_ += kThreeDigits.first[value][ThreeDigits::kCount] + 1;
    } else {
      number(value);
      add('\t');
    }
  }
  // Writes a score. Scores are mostly <= 0, so the sign is split off to use the fast path of number().
  WFACLI_INLINE void score(std::int32_t value) {
    if (value < 0) add('-');
    number(value < 0 ? -std::int64_t{value} : value);
  }
  // Writes part / whole with 3, 4 or 6 decimals, rounded half up; requires 0 <= part <= 100 * whole, 0 < whole.
  WFACLI_INLINE void fraction(std::int64_t part, std::int64_t whole, int decimals) {
    std::uint32_t scale = 1;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    const std::int64_t above = 2 * part * scale + whole, below = 2 * whole;
    // 32-bit division is faster than 64-bit division.
    const auto scaled = static_cast<std::uint32_t>(
        above <= UINT32_MAX ? static_cast<std::uint32_t>(above) / static_cast<std::uint32_t>(below) : above / below);
    first(scaled / scale);
    add('.');
    const std::uint32_t rest = scaled % scale;
    if (decimals == 4) add(static_cast<char>('0' + rest / 1000));
    if (decimals == 6) further(rest / 1000);
    further(rest % 1000);
  }

 private:
  // first() and further() store more bytes than they advance; space for kDigits characters covers the excess.
  WFACLI_INLINE void first(std::uint32_t value) {
    std::memcpy(to_, kThreeDigits.first[value], 4);
    to_ += kThreeDigits.first[value][ThreeDigits::kCount];
  }
  WFACLI_INLINE void further(std::uint32_t value) {
    std::memcpy(to_, kThreeDigits.further[value], sizeof kThreeDigits.further[value]);
    to_ += 3;
  }
  static Pen long_number(Pen pen, std::int64_t value);
  // Copies kBytes from the start and kBytes from the end of s, which may overlap.
  template <std::size_t kBytes>
  WFACLI_INLINE void copy_ends(const std::uint8_t* s, std::int64_t len) {
    std::memcpy(to_, s, kBytes);
    std::memcpy(to_ + len - kBytes, s + len - kBytes, kBytes);
  }

  char* to_;
};

// Growable text that Pens write to.
class Text {
 public:
  // Returns a pen at the end of the text, with space for `bytes` more; the text grows only with done().
  Pen room(std::size_t bytes) {
    out_.reserve(out_.size() + bytes);
    return Pen(out_.data() + out_.size());
  }
  void done(Pen pen) { out_.resize(static_cast<std::size_t>(pen.position() - out_.data())); }
  Buffer<char>& buffer() { return out_; }

 private:
  Buffer<char> out_;
};

}  // namespace wfacli

// Text under construction.
#pragma once

#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

// Decimal digits of what is less than 1000.
struct ThreeDigits {
  static constexpr int kCount = 7;
  alignas(8) char first[1000][8]{};  // without zeros in front, and a tab; as the last, how many digits they are
  char further[1000][4]{};           // three digits, and one that is none
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

// Writes where there is room. It is handed on and returned by value: who keeps its place in a register need not look it up
// again after each byte, which might be its own.
class Pen {
 public:
  static constexpr std::size_t kDigits = 20;  // of any number

  explicit Pen(char* to) : to_(to) {}
  char* place() const { return to_; }

  WFACLI_INLINE void add(char c) { *to_++ = c; }
  WFACLI_INLINE void add(std::string_view s) {
    std::memcpy(to_, s.data(), s.size());
    to_ += s.size();
  }
  WFACLI_INLINE void add(const std::uint8_t* s, std::int64_t len) {
    if (len) std::memcpy(to_, s, static_cast<std::size_t>(len));
    to_ += len;
  }
  // The same for what is mostly shorter than a call takes.
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
    // Most numbers of a record are lengths of runs.
    if (static_cast<std::uint64_t>(value) < 1000)
      first(static_cast<std::uint32_t>(value));
    else
      *this = long_number(*this, value);
  }
  // A number and a tab.
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
  // A score, which mostly is no more than 0.
  WFACLI_INLINE void score(std::int32_t value) {
    if (value < 0) add('-');
    number(value < 0 ? -std::int64_t{value} : value);
  }
  // part / whole in 3, 4 or 6 decimals, rounded half up; 0 <= part <= 100 whole, 0 < whole.
  WFACLI_INLINE void fraction(std::int64_t part, std::int64_t whole, int decimals) {
    std::uint32_t scale = 1;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    const std::int64_t above = 2 * part * scale + whole, below = 2 * whole;
    // Short numbers are divided sooner.
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
  // Both write more bytes than count, into room that a number has anyway.
  WFACLI_INLINE void first(std::uint32_t value) {
    std::memcpy(to_, kThreeDigits.first[value], 4);
    to_ += kThreeDigits.first[value][ThreeDigits::kCount];
  }
  WFACLI_INLINE void further(std::uint32_t value) {
    std::memcpy(to_, kThreeDigits.further[value], sizeof kThreeDigits.further[value]);
    to_ += 3;
  }
  static Pen long_number(Pen pen, std::int64_t value);
  // So many bytes from either end, which may overlap.
  template <std::size_t kBytes>
  WFACLI_INLINE void copy_ends(const std::uint8_t* s, std::int64_t len) {
    std::memcpy(to_, s, kBytes);
    std::memcpy(to_ + len - kBytes, s + len - kBytes, kBytes);
  }

  char* to_;
};

// What a Pen has written.
class Text {
 public:
  // A pen behind what there is, with room for so many bytes; until done().
  Pen room(std::size_t bytes) {
    out_.reserve(out_.size() + bytes);
    return Pen(out_.data() + out_.size());
  }
  void done(Pen pen) { out_.resize(static_cast<std::size_t>(pen.place() - out_.data())); }
  Buffer<char>& buffer() { return out_; }

 private:
  Buffer<char> out_;
};

}  // namespace wfacli

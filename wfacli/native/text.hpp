// Text under construction.
#pragma once

#include <string_view>

#include "buffer.hpp"

namespace wfacli {

// Decimal digits of what is less than 1000.
struct ThreeDigits {
  char first[1000][4]{};    // without zeros in front; then, as the last, how many they are
  char further[1000][4]{};  // three digits, and one that is none
  constexpr ThreeDigits() {
    for (int v = 0; v < 1000; ++v) {
      const char all[] = {static_cast<char>('0' + v / 100), static_cast<char>('0' + v / 10 % 10),
                          static_cast<char>('0' + v % 10)};
      const int count = v < 10 ? 1 : v < 100 ? 2 : 3;
      for (int i = 0; i < 3; ++i) {
        first[v][i] = i < count ? all[3 - count + i] : '0';
        further[v][i] = all[i];
      }
      first[v][3] = static_cast<char>(count);
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
  WFACLI_INLINE void number(std::int64_t value) {
    // Most numbers of a record are lengths of runs.
    if (static_cast<std::uint64_t>(value) < 1000)
      first(static_cast<std::uint32_t>(value));
    else
      *this = long_number(*this, value);
  }
  // part / whole in decimals, rounded half up; 0 <= part <= whole, 0 < whole.
  WFACLI_INLINE void fraction(std::int64_t part, std::int64_t whole, int decimals) {
    std::int64_t scale = 1;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    const std::int64_t above = 2 * part * scale + whole, below = 2 * whole;
    // Short numbers are divided sooner.
    const std::int64_t scaled = above <= UINT32_MAX
                                    ? static_cast<std::uint32_t>(above) / static_cast<std::uint32_t>(below)
                                    : above / below;
    number(scaled / scale);
    add('.');
    auto rest = static_cast<std::uint32_t>(scaled % scale);
    for (int i = decimals; i-- > 0; rest /= 10) to_[i] = static_cast<char>('0' + rest % 10);
    to_ += decimals;
  }

 private:
  // Both write a byte more than counts, into room that a number has anyway.
  WFACLI_INLINE void first(std::uint32_t value) {
    std::memcpy(to_, kThreeDigits.first[value], sizeof kThreeDigits.first[value]);
    to_ += kThreeDigits.first[value][3];
  }
  WFACLI_INLINE void further(std::uint32_t value) {
    std::memcpy(to_, kThreeDigits.further[value], sizeof kThreeDigits.further[value]);
    to_ += 3;
  }
  static Pen long_number(Pen pen, std::int64_t value);

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

// Text under construction.
#pragma once

#include <charconv>
#include <string_view>

#include "buffer.hpp"

namespace wfacli {

// room() makes room for what is added until the next room(); add() and number() themselves do not look.
class Text {
 public:
  static constexpr std::size_t kDigits = 20;  // of any number

  void room(std::size_t bytes) {
    out_.reserve(out_.size() + bytes);
    to_ = out_.data() + out_.size();
  }
  // Ends what room() began.
  void done() { out_.resize(static_cast<std::size_t>(to_ - out_.data())); }

  void add(char c) { *to_++ = c; }
  void add(std::string_view s) {
    std::memcpy(to_, s.data(), s.size());
    to_ += s.size();
  }
  void add(const std::uint8_t* s, std::int64_t len) {
    if (len) std::memcpy(to_, s, static_cast<std::size_t>(len));
    to_ += len;
  }
  void number(std::int64_t value) {
    if (value < 0 || value >= 1000) {
      to_ = std::to_chars(to_, to_ + kDigits, value).ptr;
      return;
    }
    // Most numbers of a record are lengths of runs.
    const auto v = static_cast<std::uint32_t>(value);
    if (v >= 100) *to_++ = static_cast<char>('0' + v / 100);
    if (v >= 10) *to_++ = static_cast<char>('0' + v / 10 % 10);
    *to_++ = static_cast<char>('0' + v % 10);
  }
  // part / whole in decimals, rounded half up; 0 <= part <= whole, 0 < whole.
  void fraction(std::int64_t part, std::int64_t whole, int decimals) {
    std::int64_t scale = 1;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    const std::int64_t scaled = (2 * part * scale + whole) / (2 * whole);
    number(scaled / scale);
    add('.');
    for (std::int64_t rest = scaled % scale, i = decimals; i-- > 0; rest /= 10)
      to_[i] = static_cast<char>('0' + rest % 10);
    to_ += decimals;
  }
  Buffer<char>& buffer() { return out_; }

 private:
  Buffer<char> out_;
  char* to_ = nullptr;
};

}  // namespace wfacli

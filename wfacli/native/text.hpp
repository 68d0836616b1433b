// Text under construction.
#pragma once

#include <charconv>
#include <string_view>

#include "buffer.hpp"

namespace wfacli {

class Text {
 public:
  void add(char c) { out_.push(c); }
  void add(std::string_view s) { out_.append(s.data(), s.size()); }
  void add(const std::uint8_t* s, std::int64_t len) {
    out_.append(reinterpret_cast<const char*>(s), static_cast<std::size_t>(len));
  }
  void number(std::int64_t value) {
    char* to = out_.extend(kDigits);
    const std::size_t before = out_.size() - kDigits;
    const char* end = std::to_chars(to, to + kDigits, value).ptr;
    out_.resize(before + static_cast<std::size_t>(end - to));
  }
  // part / whole in decimals, rounded half up; 0 <= part <= whole, 0 < whole.
  void fraction(std::int64_t part, std::int64_t whole, int decimals) {
    std::int64_t scale = 1;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    const std::int64_t scaled = (2 * part * scale + whole) / (2 * whole);
    number(scaled / scale);
    add('.');
    char* to = out_.extend(static_cast<std::size_t>(decimals));
    for (std::int64_t rest = scaled % scale, i = decimals; i-- > 0; rest /= 10) to[i] = static_cast<char>('0' + rest % 10);
  }
  Buffer<char>& buffer() { return out_; }

 private:
  static constexpr std::size_t kDigits = 20;
  Buffer<char> out_;
};

}  // namespace wfacli

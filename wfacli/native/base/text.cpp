#include "base/text.hpp"

#include <charconv>

namespace wfacli {

Pen Pen::long_number(Pen pen, std::int64_t value) {
  if (value < 0 || value >= 1'000'000'000) {
    pen.to_ = std::to_chars(pen.to_, pen.to_ + kDigits, value).ptr;
    return pen;
  }
  const auto v = static_cast<std::uint32_t>(value);
  if (v < 1'000'000) {
    pen.first(v / 1000);
  } else {
    pen.first(v / 1'000'000);
    pen.further(v / 1000 % 1000);
  }
  pen.further(v % 1000);
  return pen;
}

}  // namespace wfacli

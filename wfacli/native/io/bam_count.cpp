#include "io/bam_count.hpp"

#include <algorithm>

#include "mapped/bam_bytes.hpp"

namespace wfacli {

void BamCount::take(const std::uint8_t* bytes, std::size_t count) {
  const std::uint8_t* end = bytes + count;
  while (bytes < end && next_ != Next::Broken) {
    if (left_ > 0) {
      const auto passed = std::min<std::uint64_t>(left_, static_cast<std::uint64_t>(end - bytes));
      bytes += passed, left_ -= passed;
      if (left_ == 0 && in_record_) ++records_, in_record_ = false;
      continue;
    }
    number_ |= static_cast<std::uint32_t>(*bytes++) << 8 * have_;
    if (++have_ < 4) continue;
    take_number(number_);
    number_ = 0, have_ = 0;
  }
}

void BamCount::take_number(std::uint32_t value) {
  switch (next_) {
    case Next::Magic:
      next_ = value == BamBytes(BamBytes::kMagic).u32(0) ? Next::Text : Next::Broken;
      return;
    case Next::Text:
      left_ = value, next_ = Next::Targets;
      return;
    case Next::Targets:
      targets_ = value, next_ = value ? Next::Name : Next::Record;
      return;
    case Next::Name:  // the name is followed by the target's length
      left_ = std::uint64_t{value} + 4, next_ = --targets_ ? Next::Name : Next::Record;
      return;
    case Next::Record:
      left_ = value, in_record_ = true;
      if (value < BamBytes::kFixed) next_ = Next::Broken;
      return;
    case Next::Broken: return;
  }
}

}  // namespace wfacli

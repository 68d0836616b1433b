// Length of a mapping's line without the SAM columns SEQ and QUAL.
#pragma once

#include <algorithm>

#include "io/lines.hpp"

namespace wfacli {

class MappingLength {
 public:
  // True if the buffered part of a line is longer than max_line_bytes without SEQ and QUAL, which are as long as the
  // read. Until clear(), each call must extend the previous line; only new bytes are scanned.
  bool exceeds(std::string_view line) {
    if (line.size() <= max_line_bytes) return false;
    while (at_ < line.size()) {
      const std::size_t tab = std::min(line.find('\t', at_), line.size());
      if (column_ != kSequence && column_ != kSequence + 1) counted_ += tab - at_;
      at_ = tab;
      if (tab == line.size()) break;
      ++at_, ++counted_, ++column_;
      if (column_ == kSequence && !is_sam(line)) column_ = kOther;
    }
    return counted_ > max_line_bytes;
  }
  void clear() { at_ = counted_ = 0, column_ = 0; }

 private:
  static constexpr int kSequence = 9, kOther = 1000;

  // Columns 2, 4 and 5 of SAM are numbers; column 5 of PAF is the strand.
  static bool is_sam(std::string_view line) {
    for (int column = 0; column < 5; ++column) {
      const std::size_t tab = line.find('\t');
      const std::string_view text = line.substr(0, tab);
      const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
      if ((column == 1 || column >= 3) && !number) return false;
      line.remove_prefix(tab + 1);
    }
    return true;
  }

  std::size_t at_ = 0, counted_ = 0;
  int column_ = 0;
};

}  // namespace wfacli

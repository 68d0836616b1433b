// How long a mapping's line is, beside the sequence and the quality that SAM has in it.
#pragma once

#include <algorithm>

#include "io/lines.hpp"

namespace wfacli {

class MappingLength {
 public:
  // Whether a line, as far as it has come, is longer than longest_line; SEQ and QUAL, which are as long as a read, do not
  // count. The line begins with what was given before, until clear(); no byte is looked at twice.
  bool exceeds(std::string_view line) {
    if (line.size() <= longest_line) return false;
    while (at_ < line.size()) {
      const std::size_t tab = std::min(line.find('\t', at_), line.size());
      if (column_ != kSequence && column_ != kSequence + 1) counted_ += tab - at_;
      at_ = tab;
      if (tab == line.size()) break;
      ++at_, ++counted_, ++column_;
      if (column_ == kSequence && !is_sam(line)) column_ = kOther;
    }
    return counted_ > longest_line;
  }
  void clear() { at_ = counted_ = 0, column_ = 0; }

 private:
  static constexpr int kSequence = 9, kOther = 1000;

  // Columns 2, 4 and 5 of SAM are numbers; in PAF the fifth is a strand.
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

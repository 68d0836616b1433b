// Tags of mappings in SAM, BAM and PAF that are copied to records, and whether there are introns.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace wfacli {

// Tab-separated SAM fields. Short text needs no memory of its own, which one thread would get and another give back.
class TagFields {
 public:
  void add(std::string_view field) {
    if (!empty()) append("\t");
    append(field);
  }
  bool empty() const { return size_ == 0 && long_.empty(); }
  std::string_view text() const { return long_.empty() ? std::string_view(short_, size_) : long_; }

 private:
  void append(std::string_view text) {
    if (long_.empty() && size_ + text.size() <= sizeof short_) {
      std::memcpy(short_ + size_, text.data(), text.size());
      size_ = static_cast<std::uint8_t>(size_ + text.size());
    } else {
      if (long_.empty()) long_.assign(short_, size_);
      long_ += text;
    }
  }

  std::uint8_t size_ = 0;  // of the text in short_
  char short_[55];         // room for cm, s1, s2 and rl with values of up to seven digits
  std::string long_;       // the text, once it does not fit
};

struct MappingTags {
  TagFields fields;        // cm, s1, s2 and rl
  std::string group;       // the read group as a SAM field, such as RG:Z:run1
  char type = 0;           // tp: P, S, I or i; 0 if absent
  bool intron = false;     // the tag cg has an N, or cs a ~
};

// Parses tab-separated SAM fields.
MappingTags parse_sam_tags(std::string_view fields);
// Parses the optional fields of a BAM record; stops at a malformed field.
MappingTags parse_bam_tags(std::string_view fields);

}  // namespace wfacli

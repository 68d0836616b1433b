// Access to the binary fields of BAM headers and records (SAM specification, section 4.2); all numbers are
// little-endian.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace wfacli {

class BamBytes {
 public:
  static constexpr std::string_view kMagic{"BAM\1", 4};
  static constexpr std::size_t kFixed = 32;  // bytes of a record between block_size and the read name

  explicit BamBytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t size() const { return bytes_.size(); }
  std::uint32_t u8(std::size_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
  std::uint32_t u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) const { return u16(at) | u16(at + 2) << 16; }
  std::string_view text(std::size_t at, std::size_t count) const { return bytes_.substr(at, count); }

  // Returns the size in bytes of the record at offset 0, complete or not, without its sequence and quality; 0 while its
  // fixed fields are incomplete.
  std::size_t size_without_sequence() const {
    if (size() < 4 + kFixed || u32(0) < kFixed) return 0;  // a shorter record has no l_seq
    const std::size_t bytes = u32(0), read_length = u32(20);
    return bytes - std::min(bytes, read_length + (read_length + 1) / 2);
  }
  // Returns the size in bytes of the record at offset 0, including its block_size field; 0 if it is incomplete.
  std::size_t record() const { return size() < 4 || size() - 4 < u32(0) ? 0 : 4 + u32(0); }

  // Returns the offset and length of a record's CIGAR. A CIGAR of more than 65,535 operations is in the tag CG; the
  // CIGAR field then has a soft clip of the whole read and an N as placeholders.
  std::pair<std::size_t, std::size_t> cigar(std::size_t at, std::size_t runs, std::size_t read_length,
                                            std::size_t tags) const {
    if (runs != 2 || u32(at) != (read_length << 4 | 4) || (u32(at + 4) & 15) != 3) return {at, runs};
    for (std::size_t t = tags; has(t, 8);) {
      const std::size_t end = tag_end(t);
      if (end > size()) break;
      if (text(t, 4) == "CGBI") return {t + 8, u32(t + 4)};
      t = end;
    }
    return {at, runs};
  }

 private:
  bool has(std::size_t at, std::size_t count) const { return at <= size() && size() - at >= count; }
  // Returns the end of the tag at `t`, which has at least 8 bytes; an offset beyond the end if it is malformed.
  std::size_t tag_end(std::size_t t) const {
    const std::size_t value = t + 3, none = size() + 1;
    const char type = bytes_[t + 2];
    if (type == 'Z' || type == 'H') {
      const std::size_t end = bytes_.find('\0', value);
      return end == bytes_.npos ? none : end + 1;
    }
    if (type == 'B') {
      const std::size_t each = bytes_of(bytes_[value]);
      return each ? value + 5 + each * u32(value + 1) : none;
    }
    return bytes_of(type) ? value + bytes_of(type) : none;
  }
  static std::size_t bytes_of(char type) {
    switch (type) {
      case 'A': case 'c': case 'C': return 1;
      case 's': case 'S': return 2;
      case 'i': case 'I': case 'f': return 4;
      default: return 0;
    }
  }

  std::string_view bytes_;
};

// Incremental parser of a BAM header; skips the header text without storing it.
class BamHeader {
 public:
  // Consumes what it can of `bytes`, which continue those consumed before, and returns how many. Calls
  // target(name, length) for each reference sequence. Stops before a name longer than `max_name_bytes` bytes.
  template <class Take>
  std::size_t take(std::string_view bytes, std::size_t max_name_bytes, Take target) {
    const BamBytes b(bytes);
    std::size_t at = 0;
    const auto has = [&](std::size_t count) { return bytes.size() - at >= count; };
    if (part_ == Part::Start && has(8)) {
      text_ = b.u32(4);
      at = 8;
      part_ = Part::Text;
    }
    if (part_ == Part::Text) {
      const auto some = static_cast<std::uint32_t>(std::min<std::size_t>(text_, bytes.size() - at));
      text_ -= some;
      at += some;
      if (text_ == 0 && has(4)) {
        targets_ = b.u32(at);
        at += 4;
        part_ = Part::Targets;
      }
    }
    while (part_ == Part::Targets && targets_ > 0 && has(4)) {
      name_ = b.u32(at);
      if (name_ > max_name_bytes || !has(name_ + 8)) break;
      target(b.text(at + 4, name_ ? name_ - 1 : 0), b.u32(at + 4 + name_));
      at += name_ + 8;
      name_ = 0;
      --targets_;
    }
    return at;
  }
  bool whole() const { return part_ == Part::Targets && targets_ == 0; }
  // Returns the length in bytes of the name before which take() stopped, or 0.
  std::size_t name_bytes() const { return name_; }

 private:
  enum class Part { Start, Text, Targets };
  Part part_ = Part::Start;
  std::uint32_t text_ = 0, targets_ = 0;
  std::size_t name_ = 0;
};

}  // namespace wfacli

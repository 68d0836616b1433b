// Little-endian numbers in BAM's bytes, and where things are in its header and records (SAM specification, 4.2).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace wfacli {

class BamBytes {
 public:
  static constexpr std::string_view kMagic{"BAM\1", 4};
  static constexpr std::size_t kFixed = 32;  // bytes of a record before its name

  explicit BamBytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t size() const { return bytes_.size(); }
  std::uint32_t u8(std::size_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
  std::uint32_t u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) const { return u16(at) | u16(at + 2) << 16; }
  std::string_view text(std::size_t at, std::size_t count) const { return bytes_.substr(at, count); }

  // Bytes of the header that begins here, 0 where it is not whole; each target's name and length go to `target`.
  template <class Take>
  std::size_t header(Take target) const {
    std::size_t at = kMagic.size();
    if (!has(at, 4)) return 0;
    at += 4 + u32(at);
    if (!has(at, 4)) return 0;
    std::uint32_t left = u32(at);
    for (at += 4; left > 0; --left) {
      if (!has(at, 4)) return 0;
      const std::size_t length = u32(at);
      if (!has(at, length + 8)) return 0;
      target(text(at + 4, length ? length - 1 : 0), u32(at + 4 + length));
      at += length + 8;
    }
    return at;
  }
  // Bytes of the record that begins here, with the number that says so; 0 where it is not whole.
  std::size_t record() const { return size() < 4 || size() - 4 < u32(0) ? 0 : 4 + u32(0); }

  // Where the runs of a record's CIGAR are, and how many: of more than 65,535 those in its tag CG, for which a clip of
  // all letters and an N stand where runs usually are.
  std::pair<std::size_t, std::size_t> cigar(std::size_t at, std::size_t runs, std::size_t letters, std::size_t tags) const {
    if (runs != 2 || u32(at) != (letters << 4 | 4) || (u32(at + 4) & 15) != 3) return {at, runs};
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
  // Where the tag at `t`, which has 8 bytes at least, ends; behind all bytes where it is none.
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

}  // namespace wfacli

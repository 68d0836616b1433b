// Streaming counter of the records in a BAM file (SAM specification, section 4.2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace wfacli {

class BamCount {
 public:
  // Processes the next decompressed bytes of the file.
  void take(const std::uint8_t* bytes, std::size_t count);
  // Returns the number of complete records so far.
  std::int64_t records() const { return records_; }
  // True if the file may end here, between records.
  bool whole() const { return next_ == Next::Record && left_ == 0 && have_ == 0; }

 private:
  // Meaning of the next 32-bit number.
  enum class Next { Magic, Text, Targets, Name, Record, Broken };
  void take_number(std::uint32_t value);

  Next next_ = Next::Magic;
  std::uint64_t left_ = 0;    // bytes to skip before the next number
  std::uint32_t number_ = 0;  // bytes of the number so far, little-endian
  int have_ = 0;              // how many bytes those are
  std::uint32_t targets_ = 0;
  bool in_record_ = false;  // the bytes to skip belong to a record
  std::int64_t records_ = 0;
};

}  // namespace wfacli

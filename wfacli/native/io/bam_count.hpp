// Counts the records of a BAM file (SAM specification, 4.2) as its bytes pass by.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wfacli {

class BamCount {
 public:
  // Takes the next bytes of a file, after decompression.
  void take(const std::uint8_t* bytes, std::size_t count);
  // Whole records so far.
  std::int64_t records() const { return records_; }
  // Whether the file may end here.
  bool whole() const { return next_ == Next::Record && left_ == 0 && have_ == 0; }

 private:
  // What the next number (4 bytes) says.
  enum class Next { Magic, Text, Targets, Name, Record, Broken };
  void take_number(std::uint32_t value);

  Next next_ = Next::Magic;
  std::uint64_t left_ = 0;    // bytes to pass over before it
  std::uint32_t number_ = 0;  // its first bytes
  int have_ = 0;              // how many these are
  std::uint32_t targets_ = 0;
  bool in_record_ = false;  // the bytes to pass over are a record's
  std::int64_t records_ = 0;
};

}  // namespace wfacli

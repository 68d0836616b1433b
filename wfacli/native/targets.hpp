// Distinct target names and their lengths, for a SAM header.
#pragma once

#include <string>

#include "text.hpp"
#include "types.hpp"

namespace wfacli {

// Remembers names by 128-bit hashes, 24 bytes each, so that millions of targets fit in little memory.
class TargetTable {
 public:
  // Adds @SQ lines to `lines` for the batch's targets that are new and not empty. Returns the row of the
  // first target whose name was seen with another length, or -1.
  std::int64_t add(const BatchView& batch, Text& lines);
  std::int64_t count() const { return count_; }

 private:
  struct Entry {
    std::uint64_t high, low;
    std::int64_t length;  // -1: empty slot
  };
  Entry& find(std::uint64_t high, std::uint64_t low);
  void grow();

  Buffer<Entry> entries_;
  std::int64_t count_ = 0;
};

}  // namespace wfacli

// Distinct target names and their lengths, for a SAM header.
#pragma once

#include <string>

#include "base/text.hpp"
#include "base/types.hpp"

namespace wfacli {

// Remembers names by 96-bit hashes, 16 bytes each, up to a number of them; the names that come later are
// spilled to the caller, who has a disk.
class TargetTable {
 public:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t more;   // of the hash
    std::int32_t length;  // -1: empty slot
  };
  // @SQ lines for targets that are new. Of the spilled ones it is only known that the table lacks them.
  struct Added {
    Text lines, spilled_lines;
    Buffer<Entry> spilled;
    std::int64_t clash = -1;  // row of the first target whose name has another length in the table, or -1
  };

  explicit TargetTable(std::int64_t most) : most_(most) {}
  // Adds the batch's targets that are not empty, up to the first clash.
  Added add(const BatchView& batch);

 private:
  static Entry entry_of(const BatchView& batch, std::int64_t i);
  Entry& find(const Entry& target);
  void grow();

  Buffer<Entry> entries_;
  std::int64_t most_, count_ = 0;
};

}  // namespace wfacli

// Distinct target names and lengths, for the @SQ lines of a SAM header.
#pragma once

#include <string>

#include "base/text.hpp"
#include "base/types.hpp"
#include "io/reference.hpp"

namespace wfacli {

// Hash table of target names: 96-bit hashes, 16 bytes per entry, up to a maximum number of entries. Targets beyond
// that are returned as spilled; the caller deduplicates them on disk.
class TargetTable {
 public:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t more;   // the other 32 bits of the hash
    std::int32_t length;  // -1: empty slot
  };
  // @SQ lines of new targets. Spilled targets are not in the table, but may repeat earlier spilled ones.
  struct Added {
    Text lines, spilled_lines;
    Buffer<Entry> spilled;
    std::int64_t clash = -1;  // first row whose target name is in the table with another length, or -1
  };

  explicit TargetTable(std::int64_t max_entries) : max_entries_(max_entries) {}
  // Adds the nonempty targets of the batch, up to the first clash.
  Added add(const BatchView& batch);

 private:
  static Entry entry_of(const BatchView& batch, std::int64_t i);
  Entry& find(const Entry& target);
  void grow();

  Buffer<Entry> entries_;
  std::int64_t max_entries_, count_ = 0;
};

// Returns the @SQ lines of the sequences first .. last - 1 that are not empty. Throws std::invalid_argument with the
// name of one that SAM does not allow.
Text sequence_lines(const Reference& reference, std::int32_t first, std::int32_t last);

}  // namespace wfacli

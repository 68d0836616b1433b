// Distinct target names and lengths, for the @SQ lines of a SAM header.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/types.hpp"
#include "io/reference.hpp"

namespace wfacli {

// Hash table of target names: 96-bit hashes, 16 bytes per entry, in parts that several threads fill. Once it has
// `max_entries` entries it does not grow any more, and new targets are returned as spilled; the caller deduplicates
// them on disk.
class TargetTable {
 public:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t more;   // the other 32 bits of the hash
    std::int32_t length;  // -1: empty slot
  };
  // New targets of a batch.
  struct Added {
    Buffer<std::uint8_t> lines;  // their @SQ lines, in order
    Buffer<Entry> spilled;       // all of them, if the table was full; they may repeat each other and earlier spilled ones
    std::int64_t clash = -1;     // first row whose target name is in the table with another length, or -1
  };

  explicit TargetTable(std::int64_t max_entries) : max_entries_(max_entries) {}
  // Adds the nonempty targets of the batch, up to the first clash, with up to `threads` threads.
  Added add(const BatchView& batch, int threads);

 private:
  static constexpr int kPartBits = 6, kParts = 1 << kPartBits;

  // The targets whose hashes have the same first bits.
  struct alignas(64) Part {  // a cache line of its own
    Entry& find(const Entry& target);
    void grow();
    void prefetch(const Entry& target) const;
    Buffer<Entry> entries;
    std::size_t count = 0;
  };
  struct Work;

  static Entry entry_of(const BatchView& batch, std::int64_t i);
  static int part_of(const Entry& target) { return static_cast<int>(target.hash >> (64 - kPartBits)); }
  void add_part(Work& work, int part, bool full);
  bool full() const;

  std::array<Part, kParts> parts_;
  std::int64_t max_entries_;
};

// Returns the @SQ lines of the sequences first .. last - 1 that are not empty. Throws std::invalid_argument with the
// name of one that SAM does not allow.
Text sequence_lines(const Reference& reference, std::int32_t first, std::int32_t last);

}  // namespace wfacli

// Reference sequences: in memory, one byte per base, or read on demand from a FASTA file with an index (.fai).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "io/file_blocks.hpp"

namespace wfacli {

class Reference {
 public:
  Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Adds the targets of a batch. Throws std::invalid_argument with the name of a duplicate, or "" for a target without
  // a name.
  void add(const BatchView& batch);
  // Reads bases on demand from a file; add_indexed() then adds the sequences in it. Duplicates the descriptor, and
  // throws std::runtime_error if that fails.
  void use_file(int descriptor);
  // Declares that the file is filled in blocks, which begin at the offsets `starts`. Block i is valid after `loader`
  // was called with a list that contains i. It may throw, and is called by one thread at a time.
  using Loader = std::function<void(const std::vector<std::int64_t>&)>;
  void set_loader(std::vector<std::int64_t> starts, Loader loader);
  // Adds a sequence by its entry in the index (.fai): offset of the first base, bases per line, bytes per line. Throws
  // as add() does, and for impossible values.
  void add_indexed(std::string name, std::int64_t length, std::int64_t offset, std::int64_t line_bases,
                   std::int64_t line_bytes);
  // Returns the index of a sequence, or -1.
  std::int32_t find(std::string_view name) const;

  std::int32_t size() const { return static_cast<std::int32_t>(records_.size()); }
  const std::string& name(std::int32_t i) const { return at(i).name; }
  std::int64_t length(std::int32_t i) const { return at(i).length; }
  // True if windows must be passed to load() before they are copied.
  bool needs_load() const { return loader_ != nullptr; }
  struct Window {
    std::int32_t i;
    std::int64_t begin, end;
  };
  // Loads the blocks of some windows through the loader. Thread-safe. Rethrows what the caller's function throws.
  void load(const std::vector<Window>& windows) const;
  // Copies the bases of a window. Thread-safe. If the file does not match its index, writes N for all bases, and
  // matches_index() returns false from then on.
  void copy(std::int32_t i, std::int64_t begin, std::int64_t end, std::uint8_t* to) const;
  bool matches_index() const { return matches_index_.load(std::memory_order_relaxed); }
  // Prefetches the first bases of a window that will be copied.
  void prefetch(std::int32_t i, std::int64_t begin, std::int64_t end) const;

 private:
  struct Record {
    std::string name;
    std::int64_t start, length;  // start: offset of the bases in bases_ or in the file
    std::int64_t line_bases, line_bytes;
  };
  struct Slot {
    std::uint32_t hash;   // of the name
    std::int32_t number;  // of the sequence; -1: empty
  };
  // Returns the slot of a name, or the empty one where it would be.
  std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  void grow();
  const Record& at(std::int32_t i) const { return records_[static_cast<std::size_t>(i)]; }
  void push(Record record);
  static std::int64_t offset_of(const Record& record, std::int64_t base);
  bool copy_lines(const Record& record, std::int64_t begin, std::int64_t end, std::uint8_t* to) const;

  Buffer<std::uint8_t> bases_;
  std::unique_ptr<FileBlocks> file_;  // null: bases are in bases_
  std::vector<std::int64_t> starts_;  // file offsets of blocks, ascending
  Loader loader_;
  mutable std::mutex load_mutex_;
  mutable std::vector<bool> loaded_;  // per block: already loaded
  std::vector<Record> records_;
  std::vector<Slot> slots_;  // hash table of the names, a power of two of slots
  mutable std::atomic<bool> matches_index_{true};
};

}  // namespace wfacli

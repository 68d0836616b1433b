// The reference sequences of a SAM header: the header of BAM, and the number of each name.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

#include "base/types.hpp"

namespace wfacli {

class TargetIds {
 public:
  // Copies the text of a SAM header from pieces, in up to `threads` threads. Throws std::overflow_error where BAM cannot hold
  // the header.
  explicit TargetIds(const std::vector<std::string_view>& text, int threads = 1);

  // Numbers the sequences in the order of the text's @SQ lines, once; before, none is found. Throws std::invalid_argument for
  // an @SQ line without name or length, and std::logic_error if they are numbered already.
  void number(int threads = 1);

  // Returns the number of the sequence of this name, of several the first; -1 if there is none. Faster if the number is
  // that of `guess`.
  std::int32_t find(std::string_view name, std::int32_t guess = -1) const;
  std::int64_t count() const { return static_cast<std::int64_t>(targets_.size()); }
  std::int64_t longest() const { return longest_; }
  // Returns the text of the header.
  std::string_view text() const { return {header_.data() + kTextAt, text_size_}; }
  // Return the header of BAM: up to the end of the text, and the names and lengths behind it (SAM specification, section 4.2).
  std::string_view begin() const { return {header_.data(), kTextAt + text_size_}; }
  std::string_view sequences() const { return {header_.data() + begin().size(), header_.size() - begin().size()}; }

 private:
  static constexpr std::size_t kTextAt = 8;  // offset of the text in the header of BAM
  struct Target {
    std::uint64_t name;  // offset in header_
    std::uint32_t name_len, length;
  };
  // Lines of the text, for one thread at a time.
  struct Range {
    std::size_t begin = 0, end = 0;            // in header_
    std::vector<Target> targets;
    std::uint32_t longest = 0;  // of their lengths
    std::size_t first = 0, binary_at = 0, binary_size = 0;  // their first number; where they are in header_, and their bytes
    std::size_t slots_begin = 0, slots_end = 0;             // a share of the table
  };
  std::string_view name(const Target& target) const { return {header_.data() + target.name, target.name_len}; }
  std::vector<Range> ranges_of_text(int threads) const;
  void read(Range& range) const;
  void place(std::vector<Range>& ranges);
  void write(const Range& range);
  void hash(const Range& range);
  void insert(std::int32_t number, std::size_t slot);
  static Target target_of(std::string_view line);
  std::uint64_t hash_of(std::string_view name) const;

  Buffer<char> header_;
  Buffer<Target> targets_;
  Buffer<std::int32_t> slots_;  // hash table of numbers; -1: empty
  std::int64_t longest_ = 0;
  std::size_t text_size_ = 0;
  std::atomic<bool> repeated_{false};  // two sequences have the same name
};

// Finds the targets of rows; neighbouring rows often share one.
class TargetFinder {
 public:
  explicit TargetFinder(const TargetIds* targets) : targets_(targets) {}
  // Returns the number of a row's target, or -1 for row -1. Throws std::invalid_argument if the header lacks it.
  std::int32_t id(const BatchView& batch, std::int64_t row);

 private:
  const TargetIds* targets_;
  std::string_view name_;  // of the target found last
  std::int32_t id_ = -1;
};

}  // namespace wfacli

// The sequences that reads are mapped to: in memory, a byte a letter, or left in their file, of which an index says where
// lines are.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/types.hpp"

namespace wfacli {

class Reference {
 public:
  Reference() = default;
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Adds the targets of a batch. Throws std::invalid_argument with the name of one that is there already, or "" for
  // one without a name.
  void add(const BatchView& batch);
  // Leaves letters in a file, through a descriptor of its own, in which sequences lie that add_place() is told of.
  // Throws std::runtime_error where there is none to be had.
  void leave_in(int descriptor);
  // The file has its bytes in blocks, which begin at `starts` and are there as soon as `bring` was called with their numbers; it
  // may throw, and is called by one thread at a time.
  using Bring = std::function<void(const std::vector<std::int64_t>&)>;
  void bring_by(std::vector<std::int64_t> starts, Bring bring);
  // A sequence whose first letter is at an offset of the file, so many letters a line, which has so many bytes. Throws as
  // add() does.
  void add_place(std::string name, std::int64_t length, std::int64_t offset, std::int64_t line_letters,
                 std::int64_t line_bytes);
  // The number of a sequence, or -1.
  std::int32_t find(std::string_view name) const;

  std::int32_t size() const { return static_cast<std::int32_t>(records_.size()); }
  const std::string& name(std::int32_t i) const { return at(i).name; }
  std::int64_t length(std::int32_t i) const { return at(i).length; }
  // Whether windows must be brought before they are copied; does so, from any thread. Throws what the caller's function does.
  bool must_bring() const { return bring_ != nullptr; }
  struct Window {
    std::int32_t i;
    std::int64_t begin, end;
  };
  void bring(const std::vector<Window>& windows) const;
  // Copies the letters of a window; from any thread. Where the file is not as its index says they are all N, and fits()
  // tells it.
  void copy(std::int32_t i, std::int64_t begin, std::int64_t end, std::uint8_t* to) const;
  bool fits() const { return fits_.load(std::memory_order_relaxed); }
  // Has the memory fetch the letters that a copy would begin with.
  void foresee(std::int32_t i, std::int64_t begin, std::int64_t end) const;

 private:
  struct Record {
    std::string name;
    std::int64_t start, length;            // of the letters; in the file where they are left there
    std::int64_t line_letters, line_bytes;
  };
  const Record& at(std::int32_t i) const { return records_[static_cast<std::size_t>(i)]; }
  void push(Record record);
  static std::int64_t place_of(const Record& record, std::int64_t letter);
  bool copy_lines(const Record& record, std::int64_t begin, std::int64_t end, std::uint8_t* to) const;

  Buffer<std::uint8_t> letters_;
  int descriptor_ = -1;
  std::vector<std::int64_t> starts_;  // of blocks
  Bring bring_;
  mutable std::mutex bringing_;
  mutable std::vector<bool> there_;  // blocks
  std::vector<Record> records_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  mutable std::atomic<bool> fits_{true};
};

}  // namespace wfacli

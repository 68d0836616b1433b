// Parallel read-ahead: threads read and parse blocks of a regular file before their records are requested.
#pragma once

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "base/thread_pool.hpp"
#include "io/records.hpp"

namespace wfacli {

// Reads up to `size` bytes at `position` of a file and returns how many; fewer only at its end. Throws InputFault.
std::size_t read_at(int descriptor, std::int64_t position, std::uint8_t* room, std::size_t size);
// Returns the bytes of a block of up to `block` bytes at `position` that are before `end`.
inline std::size_t bytes_before(std::int64_t end, std::int64_t position, std::size_t block) {
  return end <= position ? 0 : std::min(static_cast<std::size_t>(end - position), block);
}

// Where a record starts in a stream: its offset in bytes, and the lines before it.
struct RecordStart {
  std::int64_t offset, lines;
};

// Block of a file, parsed speculatively: without the bytes before and after it, where a record begins is a guess.
struct ParsedBlock {
  std::int64_t position = 0;  // in the file
  std::size_t size = 0;       // bytes to read; the last block of the file has fewer
  char mark = 0;              // first character of records, '>' or '@'
  RecordReader reader;        // its Lines own the bytes of the block
  RecordBuilder builder;
  RecordColumns columns;      // complete records

  bool parsed = false;        // false if no start of a record was found
  std::size_t first = 0;      // offset at which the first record presumably begins
  std::size_t rest = 0;       // offset of the first incomplete record
  std::int64_t lines = 0;     // number of lines from `first` to `rest`
  bool tracked = false;       // whether to keep `starts`
  std::vector<RecordStart> starts;    // of the records; offsets in the block, and lines from `first` on
  std::unique_ptr<InputFault> fault;  // input error after the records; its line number is relative to `first`
  std::exception_ptr error;

  explicit ParsedBlock(RecordParts::Keep keep) : builder(keep) {}
  // Reads the block from a descriptor and parses it. Does not throw: errors go to `error`.
  void fill(int descriptor);

 private:
  void parse();
};

// Parsed blocks of one file, in file order.
class ReadAhead {
 public:
  // Reads from `position` to `end`, `block` bytes at a time. The descriptor is duplicated, so that the caller may close the
  // file while helpers are reading. Throws InputFault if it cannot be duplicated.
  // `tracked`: whether blocks keep the starts of their records.
  ReadAhead(std::shared_ptr<ThreadPool> pool, int descriptor, std::int64_t position, std::int64_t end, std::size_t block,
            char mark, RecordParts::Keep keep, bool tracked);
  ~ReadAhead();

  // Returns the next block, or null at the end of the file. Its memory is reused once nothing else refers to the block.
  // Rethrows errors of reading.
  std::shared_ptr<ParsedBlock> next();

 private:
  struct Slot;
  void begin(const std::shared_ptr<Slot>& slot);
  std::shared_ptr<Slot> free_slot();

  std::shared_ptr<ThreadPool> pool_;
  int descriptor_;
  std::int64_t position_, end_;
  std::size_t block_;
  char mark_;
  RecordParts::Keep keep_;
  bool tracked_;
  std::deque<std::shared_ptr<Slot>> slots_;     // in file order
  std::deque<std::shared_ptr<Slot>> returned_;  // were returned, and may still be referred to
  bool used_ = false, ended_ = false;           // used_: the first slot has been returned; ended_: it is the last
};

}  // namespace wfacli

// The records of one file, some at a time, however its bytes come: block by block from whoever brings them, or read and
// parsed by several threads.
#pragma once

#include <memory>

#include "io/ahead.hpp"

namespace wfacli {

class RecordStream {
 public:
  explicit RecordStream(RecordParts::Keep keep) : keep_(keep), builder_(keep) {}

  // Takes the stream's bytes, as long as read_ahead() was not called.
  Lines& lines() { return reader_.lines(); }
  // Lets helpers read the rest of the stream from a regular file, from `position` on, `block` bytes at a time.
  void read_ahead(std::shared_ptr<Helpers> helpers, int descriptor, std::int64_t position, std::size_t block);
  // Bytes that were so read; for any thread.
  std::int64_t bytes_ahead() const { return bytes_ahead_.load(std::memory_order_relaxed); }

  // Sees to it that records are left; NeedInput where lines() wants more. Throws InputFault, after the records before it.
  Got more();
  // Those that are: from at() on.
  const RecordColumns& records() const { return records_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return records_.size() - at_; }
  void taken(std::size_t count) { at_ += count; }

 private:
  Got parse();
  void next_block();
  void first_block();
  void join(ParsedBlock& block);
  void append(std::string_view bytes);

  RecordParts::Keep keep_;
  RecordReader reader_;  // of what no helper parses
  RecordBuilder builder_;
  RecordColumns records_;
  std::size_t at_ = 0;
  std::unique_ptr<InputFault> fault_;  // behind these records
  ParsedBlock* behind_ = nullptr;      // whose records follow them
  std::unique_ptr<ReadAhead> ahead_;
  struct {
    std::shared_ptr<Helpers> helpers;
    int descriptor;
    std::int64_t position;
    std::size_t block;
  } file_{};  // from which ahead_ reads
  std::atomic<std::int64_t> bytes_ahead_{0};
};

}  // namespace wfacli

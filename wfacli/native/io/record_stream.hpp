// Records of one file, some at a time. The caller supplies the bytes block by block, or several threads read and parse
// them.
#pragma once

#include <memory>
#include <vector>

#include "io/read_ahead.hpp"

namespace wfacli {

// Place in a stream between two records: the offset of the later one in bytes, and the lines and records before it.
struct StreamPlace {
  std::int64_t offset, lines, records;
};

class RecordStream {
 public:
  explicit RecordStream(RecordParts::Keep keep) : keep_(keep), builder_(keep) {}

  // Buffer for the bytes of the stream; not to be used after read_ahead().
  Lines& lines() { return reader_.lines(); }
  // Lets helpers read the rest of the stream from a regular file, from `position` to `end`, `block` bytes at a time.
  void read_ahead(std::shared_ptr<ThreadPool> pool, int descriptor, std::int64_t position, std::int64_t end,
                  std::size_t block);
  // Returns the bytes read by read_ahead(). Thread-safe.
  std::int64_t bytes_read_ahead() const { return bytes_read_ahead_.load(std::memory_order_relaxed); }

  // Ensures that at least one record is left. Returns Item, NeedInput if lines() needs more bytes, or End. Throws
  // InputFault once the records before the fault are taken.
  ParseResult more();
  // Parsed records; those from at() on have not been taken.
  const RecordColumns& records() const { return block_ ? block_->columns : records_; }
  // Returns the same with a share in their memory if they are a helper's block; else use_count() is 0, and they are
  // valid until more() is called.
  std::shared_ptr<const RecordColumns> shared() const { return {block_, &records()}; }
  // True if shared() has a share in the memory.
  bool shares() const { return block_ != nullptr; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return records().size() - at_; }
  void taken(std::size_t count) { at_ += count, taken_ += static_cast<std::int64_t>(count); }

  // Keeps the place of each record from now on.
  void track() { tracked_ = true; }
  // Returns the place of the next record that is not taken. Call track() first.
  StreamPlace place() const;

 private:
  RecordStart next_start() const { return {reader_.offset(), reader_.line_number()}; }
  ParseResult next_record();
  ParseResult parse();
  void next_block();
  void first_block();
  void join(std::shared_ptr<ParsedBlock> joined);
  void release();
  void append(std::string_view bytes);

  RecordParts::Keep keep_;
  RecordReader reader_;  // for bytes that no helper parses
  RecordBuilder builder_;
  RecordColumns records_;               // parsed here
  std::shared_ptr<ParsedBlock> block_;  // a helper's block, whose records come before those parsed here; or null
  std::size_t at_ = 0;
  std::int64_t taken_ = 0;
  bool tracked_ = false;
  std::vector<RecordStart> starts_, built_;  // of records(), and of the records in builder_
  RecordStart open_{};                       // of the record that builder_ is in
  std::unique_ptr<InputFault> fault_;  // fault that follows records_
  std::shared_ptr<ParsedBlock> behind_;  // block whose records follow records_
  std::unique_ptr<ReadAhead> ahead_;
  struct {
    std::shared_ptr<ThreadPool> pool;
    int descriptor;
    std::int64_t position, end;
    std::size_t block;
  } file_{};  // source of ahead_
  std::atomic<std::int64_t> bytes_read_ahead_{0};
};

}  // namespace wfacli

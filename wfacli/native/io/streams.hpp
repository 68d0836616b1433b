// Base class of batch readers. Their streams are filled by the caller or read from file descriptors.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "io/record_stream.hpp"

namespace wfacli {

// Result of fill(): the batch is full, a stream needs input, the end, or an error.
enum class Next { Full, NeedQuery, NeedTarget, NeedMates, End, Failed };

class StreamReader {
 public:
  virtual ~StreamReader() = default;

  // Returns space for the next block of a stream: 0 is the query's or the only stream, 1 the target's or mappings', 2
  // the mates'.
  std::uint8_t* prepare(int stream, std::size_t bytes) { return lines(stream).prepare(bytes); }
  // Commits `bytes` bytes of that space; 0 ends the stream.
  void commit(int stream, std::size_t bytes);

  // Starts threads that read ahead in streams of records attached later, if those are regular files; 0 for none.
  void start_threads(int threads);
  // Lets fill() read the rest of a stream from a file descriptor, uncompressed, `block` bytes at a time: from
  // `position` to `end` or, if `position` is negative, from the current offset of the descriptor.
  void attach(int stream, int descriptor, std::int64_t position, std::size_t block, std::int64_t end = INT64_MAX);
  // Returns the bytes that fill() has read from the stream's descriptor. Thread-safe.
  std::int64_t bytes_read(int stream) const;

  // Provides memory for the bases of the next batch; see BatchBuilder::use_external().
  void use_external(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> owner) {
    builder_.use_external(memory, bytes, std::move(owner));
  }
  // Reads pairs until the batch reaches `weight`, input is missing, the stream ends, or an error occurs (see fault()).
  // Complete pairs read so far can be taken in every case.
  Next fill(std::int64_t weight);
  // Leaves records of files, as far as their memory lasts, to be copied by the thread that completes their batch; else
  // fill() has its threads copy them.
  void copy_later() { copies_later_ = true; }
  virtual std::int64_t pending_pairs() const { return builder_.pairs(); }
  const InputFault* fault() const { return fault_.get(); }

  // Keeps the places of records in their streams; call before the first fill().
  virtual void track() = 0;
  // Returns the place of the first pair that is in no batch so far, in each stream. Call after take().
  virtual std::vector<StreamPlace> places() const = 0;

 protected:
  explicit StreamReader(bool keep_bases) : builder_(keep_bases) {}
  virtual Lines& lines(int stream) = 0;
  // Returns the record stream, or null if the stream consists of other lines.
  virtual const RecordStream* records(int stream) const = 0;
  // Same as fill(), from buffered lines only; throws InputFault.
  virtual Next fill_from_lines(std::int64_t weight) = 0;

  BatchBuilder builder_;
  std::shared_ptr<ThreadPool> pool_;  // null if there are none

 private:
  struct File {
    int descriptor = -1;
    std::int64_t position = -1, end = INT64_MAX;
    std::size_t block = 0;
    std::atomic<std::int64_t> bytes{0};
  };
  Next fill_from_files(std::int64_t weight);
  void read_block(int stream);

  bool copies_later_ = false;
  File files_[3];
  std::unique_ptr<InputFault> fault_;
};

}  // namespace wfacli

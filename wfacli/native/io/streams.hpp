// Streams of lines that somebody fills, or that are read from descriptors: what readers of batches share.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "io/record_stream.hpp"

namespace wfacli {

// What `fill` wants next.
enum class Next { Full, NeedQuery, NeedTarget, NeedMates, End, Failed };

class StreamReader {
 public:
  virtual ~StreamReader() = default;

  // Room for the next block of a stream; 0 is the query's or the only one, 1 the other, 2 that of mates.
  std::uint8_t* prepare(int stream, std::size_t bytes) { return lines(stream).prepare(bytes); }
  // How many bytes came; 0 ends the stream.
  void commit(int stream, std::size_t bytes);

  // Threads that help fill() with streams of records in regular files, which are attached later; 0 for none.
  void help(int threads);
  // Lets fill() read the rest of a stream itself, as it is stored, from a file descriptor: from `position` on,
  // or, where that is negative, from where the descriptor stands; `block` bytes at a time.
  void attach(int stream, int descriptor, std::int64_t position, std::size_t block);
  // Bytes that fill() has read from the stream's descriptor; for any thread.
  std::int64_t bytes_read(int stream) const;

  // Lends memory for the letters of the batch that begins; see BatchBuilder.
  void lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender) {
    builder_.lend(memory, bytes, std::move(lender));
  }
  // Reads pairs until the batch weighs `weight`, input is missing, the end, or a fault (see fault()).
  // Complete pairs read so far are there in every case.
  Next fill(std::int64_t weight);
  std::int64_t pending_pairs() const { return builder_.pairs(); }
  const InputFault* fault() const { return fault_.get(); }

 protected:
  explicit StreamReader(bool keep_letters) : builder_(keep_letters) {}
  virtual Lines& lines(int stream) = 0;
  // A stream of records; null for one of other lines.
  virtual const RecordStream* records(int stream) const = 0;
  // Called before fill() returns, whatever it is that it says.
  virtual void complete() {}
  // As fill(), from the lines that are there; faults are thrown.
  virtual Next fill_from_lines(std::int64_t weight) = 0;

  BatchBuilder builder_;
  std::shared_ptr<Helpers> helpers_;  // null where there are none

 private:
  struct File {
    int descriptor = -1;
    std::int64_t position = -1;
    std::size_t block = 0;
    std::atomic<std::int64_t> bytes{0};
  };
  Next fill_from_files(std::int64_t weight);
  void read_block(int stream);

  File files_[3];
  std::unique_ptr<InputFault> fault_;
};

}  // namespace wfacli

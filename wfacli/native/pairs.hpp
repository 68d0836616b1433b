// Pairs of sequences out of one stream or two, batch by batch.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "records.hpp"

namespace wfacli {

// How pairs lie in the input.
enum class Layout {
  TwoFiles,  // record i of stream 0 with record i of stream 1
  Targets,   // stream 0 alone, as targets of empty queries (to learn names and lengths)
  Seq,       // lines '>query' and '<target' in turn
  Tsv,       // query, target; or name, query, target
};

// What `fill` wants next.
enum class Next { Full, NeedQuery, NeedTarget, End, Failed };

class PairReader {
 public:
  PairReader(Layout layout, bool keep_letters);

  // Room for the next block of a stream; 0 is the query's or the only one, 1 the target's.
  std::uint8_t* prepare(int stream, std::size_t bytes) { return lines(stream).prepare(bytes); }
  // How many bytes came; 0 ends the stream.
  void commit(int stream, std::size_t bytes);

  // Lets fill() read the rest of a stream itself, as it is stored, from a file descriptor: from `position` on,
  // or, where that is negative, from where the descriptor stands; `block` bytes at a time.
  void attach(int stream, int descriptor, std::int64_t position, std::size_t block);
  // Bytes that fill() has read from the stream's descriptor; for any thread.
  std::int64_t bytes_read(int stream) const { return files_[stream].bytes.load(std::memory_order_relaxed); }

  // Lends memory for the letters of the batch that begins; see BatchBuilder.
  void lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender) {
    builder_.lend(memory, bytes, std::move(lender));
  }
  // Reads pairs until the batch weighs `weight`, input is missing, the end, or a fault (see fault()).
  // Complete pairs read so far are there in every case.
  Next fill(std::int64_t weight);
  BatchColumns take() { return builder_.take(); }
  std::int64_t pending_pairs() const { return builder_.pairs(); }
  const InputFault* fault() const { return fault_.get(); }

 private:
  struct File {
    int descriptor = -1;
    std::int64_t position = -1;
    std::size_t block = 0;
    std::atomic<std::int64_t> bytes{0};
  };
  Next fill_from_lines(std::int64_t weight);
  void read_block(int stream);
  Lines& lines(int stream) { return stream == 0 ? first_.lines() : second_.lines(); }
  Next step();
  Next step_two_files();
  Next step_targets();
  Next step_seq();
  Next step_tsv();
  Next count_rest();
  void add_sequence(std::string_view letters, std::int64_t line);
  void fail(const std::string& message, std::int64_t line) const { throw InputFault(message, line, {}); }
  std::string ordinal_name() const { return "pair" + std::to_string(done_ + 1); }

  File files_[2];
  Layout layout_;
  BatchBuilder builder_;
  RecordReader first_, second_;
  std::int64_t done_ = 0;   // complete pairs so far
  bool have_query_ = false;
  int rest_ = -1;           // the stream that holds records beyond the other's end
  std::int64_t extra_ = 0;  // how many of them were counted
  int columns_ = 0;         // of a TSV
  std::unique_ptr<InputFault> fault_;
};

}  // namespace wfacli

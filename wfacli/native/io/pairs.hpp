// Pairs of sequences out of one stream or two, batch by batch.
#pragma once

#include <string>

#include "io/streams.hpp"

namespace wfacli {

// How pairs lie in the input.
enum class Layout {
  TwoFiles,  // record i of stream 0 with record i of stream 1
  Targets,   // stream 0 alone, as targets of empty queries (to learn names and lengths)
  Seq,       // lines '>query' and '<target' in turn
  Tsv,       // query, target; or name, query, target
};

class PairReader : public StreamReader {
 public:
  PairReader(Layout layout, RecordParts::Keep keep);
  BatchColumns take() { return builder_.take(); }

 private:
  Next fill_from_lines(std::int64_t weight) override;
  Lines& lines(int stream) override;
  const RecordStream* records(int stream) const override;
  Next step();
  Next add_pairs(std::int64_t weight);
  Next add_targets(std::int64_t weight);
  Next step_seq();
  Next step_tsv();
  Next count_rest();
  void add_sequence(std::string_view letters, std::int64_t line);
  void fail(const std::string& message, std::int64_t line) const { throw InputFault(message, line, {}); }
  std::string ordinal_name() const { return "pair" + std::to_string(done_ + 1); }

  Layout layout_;
  Lines lines_;  // of layouts that are lines
  RecordStream first_, second_;
  std::int64_t done_ = 0;   // complete pairs so far
  bool have_query_ = false;
  int rest_ = -1;           // the stream that holds records beyond the other's end
  std::int64_t extra_ = 0;  // how many of them were counted
  int columns_ = 0;         // of a TSV
};

}  // namespace wfacli

// Reader of sequence pairs from one or two streams, batch by batch.
#pragma once

#include <string>

#include "io/streams.hpp"

namespace wfacli {

// Layout of pairs in the input.
enum class Layout {
  TwoFiles,  // pair i is record i of stream 0 and record i of stream 1
  Targets,   // stream 0 only, as targets of empty queries (to get names and lengths)
  Seq,       // alternating lines '>query' and '<target'
  Tsv,       // columns query, target or name, query, target
};

class PairReader : public StreamReader {
 public:
  PairReader(Layout layout, RecordParts::Keep keep);
  PendingPairs take() { return builder_.take(); }
  void track() override;
  std::vector<StreamPlace> places() const override;
  // Begins behind `pairs` pairs of a file of which the streams are the rest; `columns`: of its table, or 0.
  void resume(std::int64_t pairs, int columns) { done_ = pairs, columns_ = columns; }
  // Returns the number of columns of a table; 0 if that is not known yet, or it is none.
  int columns() const { return columns_; }

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
  void add_sequence(std::string_view sequence, std::int64_t line);
  void fail(const std::string& message, std::int64_t line) const { throw InputFault(message, line, {}); }
  std::string ordinal_name() const { return "pair" + std::to_string(done_ + 1); }

  Layout layout_;
  Lines lines_;  // for Seq and Tsv
  RecordStream first_, second_;
  std::int64_t done_ = 0;   // complete pairs so far
  bool have_query_ = false;
  int rest_ = -1;           // stream with surplus records after the other one ended; -1: none
  std::int64_t extra_ = 0;  // number of surplus records
  int columns_ = 0;         // number of columns of a TSV; 0: not known yet
};

}  // namespace wfacli

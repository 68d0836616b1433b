// Pairs that are in memory already, as a batch.
#pragma once

#include "engine.hpp"
#include "records.hpp"

namespace wfacli {

// Names pairs pair1, pair2, … as they come.
class MemoryPairs {
 public:
  MemoryPairs() : out_(true) {}

  // Makes room, so that what is added need not be moved.
  void reserve(std::int64_t pairs, std::int64_t letters) { out_.reserve(pairs, letters); }
  // Both throw InputFault.
  void query(std::string_view letters);
  void target(std::string_view letters);
  BatchColumns take() { return out_.take(); }

 private:
  void add(std::string_view letters);

  BatchBuilder out_;
};

// A batch of one pair, for programs that align pair by pair.
class OnePair {
 public:
  // With `estimated` false the edits are unknown, -1.
  OnePair(BatchColumns columns, bool estimated);

  std::int32_t query_len() const { return columns_.q_len[0]; }
  std::int32_t target_len() const { return columns_.t_len[0]; }
  std::uint8_t flags() const { return columns_.flags[0]; }
  std::int32_t est_edits() const { return est_edits_; }
  void align(Aligner& aligner, const AlignOptions& options, const CancelFlag& cancelled, AlignedRows& out) const;

 private:
  BatchView view() const;

  BatchColumns columns_;
  std::int32_t est_edits_;
};

}  // namespace wfacli

// Alignment of one pair at a time, without the columns and names of a batch.
#pragma once

#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// One pair: its sequences, flags and estimated edits.
class OnePair {
 public:
  // The properties that decide the first kernel. Lengths and edits are rounded up by at most about an eighth, so that
  // few kinds exist and each is soon known.
  struct Kind {
    std::int32_t longest, edits;
    std::uint8_t flags;
    bool far;
  };

  // Copies the sequences. Unless `estimated`, est_edits() is -1. Throws InputFault, with stream 1 if the fault is in
  // the target.
  OnePair(std::string_view query, std::string_view target, bool estimated);

  std::int32_t query_len() const { return query_len_; }
  std::int32_t longest() const { return query_len_ > target_len_ ? query_len_ : target_len_; }
  std::uint8_t flags() const { return flags_; }
  std::int32_t est_edits() const { return est_edits_; }
  // True if the target is at least `times` times as long as the query.
  bool is_far(std::int32_t times) const { return target_len_ / times >= query_len_; }
  Kind kind(std::int32_t far) const;
  // A batch of this pair; valid until the pair is moved or destroyed.
  BatchView view() const;

 private:
  Buffer<std::uint8_t> bases_;
  std::int64_t query_start_ = 0, target_start_ = 0;
  std::int32_t query_len_, target_len_, est_edits_ = -1;
  std::uint8_t flags_;
};

// The kernels of one thread, and their results for the last pair.
class Alone {
 public:
  // Align a pair; rows() then holds its result instead of the previous one.
  Status align(const OnePair& pair, const AlignOptions& options);
  AlignedRows& rows() { return rows_; }

 private:
  Aligner aligner_{""};
  AlignedRows rows_;
};

// Return the instance of the calling thread; it is freed when the thread ends.
Alone& alone();

// Kernels, and a cache of the first kernel for each kind of pair. Thread-safe.
class OneByOne {
 public:
  static constexpr int kUnknown = -1;

  // `kernels`: the options of each kernel. `far`: the factor for OnePair::is_far. Pairs with queries longer than
  // `asked_above` are not cached.
  OneByOne(std::vector<AlignOptions> kernels, bool estimated, std::int32_t far, std::int32_t asked_above)
      : kernels_(std::move(kernels)), estimated_(estimated), far_(far), asked_above_(asked_above) {}

  bool estimated() const { return estimated_; }
  std::int32_t far() const { return far_; }
  // Throws std::out_of_range.
  const AlignOptions& kernel(int number) const { return kernels_.at(static_cast<std::size_t>(number)); }
  // Return the first kernel for pairs like this one, or kUnknown.
  int first(const OnePair& pair) const;
  void remember(const OnePair& like, int kernel);

 private:
  std::uint32_t key_of(const OnePair& pair) const;

  std::vector<AlignOptions> kernels_;
  bool estimated_;
  std::int32_t far_, asked_above_;
  mutable std::mutex mutex_;  // guards first_
  std::unordered_map<std::uint32_t, int> first_;
};

}  // namespace wfacli

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
    bool target_much_longer;
  };

  // Copies the sequences. Unless `estimated`, est_edits() is -1. Throws InputFault, with stream 1 if the fault is in
  // the target.
  OnePair(std::string_view query, std::string_view target, bool estimated);

  std::int32_t query_len() const { return query_len_; }
  std::int32_t longest() const { return query_len_ > target_len_ ? query_len_ : target_len_; }
  std::uint8_t flags() const { return flags_; }
  std::int32_t est_edits() const { return est_edits_; }
  // True if the target is at least `min_target_ratio` times as long as the query.
  bool target_much_longer(std::int32_t min_target_ratio) const { return target_len_ / min_target_ratio >= query_len_; }
  Kind kind(std::int32_t min_target_ratio) const;
  // A batch of this pair; valid until the pair is moved or destroyed.
  BatchView view() const;

 private:
  Buffer<std::uint8_t> bases_;
  std::int64_t query_start_ = 0, target_start_ = 0;
  std::int32_t query_len_, target_len_, est_edits_ = -1;
  std::uint8_t flags_;
};

// The kernels of one thread, and their results for the last pair.
class ThreadAligner {
 public:
  // Align a pair; rows() then holds its result instead of the previous one.
  Status align(const OnePair& pair, const AlignOptions& options);
  AlignedRows& rows() { return rows_; }

 private:
  Aligner aligner_{""};
  AlignedRows rows_;
};

// Return the instance of the calling thread; it is freed when the thread ends.
ThreadAligner& thread_aligner();

// Kernels, and a cache of the first kernel for each kind of pair. Thread-safe.
class SinglePairAligner {
 public:
  static constexpr int kUnknown = -1;

  // `kernels`: the options of each kernel. `min_target_ratio`: the factor for OnePair::target_much_longer. Pairs with
  // queries longer than `max_cached_query` are not cached.
  SinglePairAligner(std::vector<AlignOptions> kernels, bool estimated, std::int32_t min_target_ratio,
                    std::int32_t max_cached_query)
      : kernels_(std::move(kernels)),
        estimated_(estimated),
        min_target_ratio_(min_target_ratio),
        max_cached_query_(max_cached_query) {}

  bool estimated() const { return estimated_; }
  std::int32_t min_target_ratio() const { return min_target_ratio_; }
  // Throws std::out_of_range.
  const AlignOptions& kernel(int number) const { return kernels_.at(static_cast<std::size_t>(number)); }
  // Return the first kernel for pairs like this one, or kUnknown.
  int first(const OnePair& pair) const;
  void remember(const OnePair& like, int kernel);

 private:
  std::uint32_t key_of(const OnePair& pair) const;

  std::vector<AlignOptions> kernels_;
  bool estimated_;
  std::int32_t min_target_ratio_, max_cached_query_;
  mutable std::mutex mutex_;  // guards first_
  std::unordered_map<std::uint32_t, int> first_;
};

}  // namespace wfacli

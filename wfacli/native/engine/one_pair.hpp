// Pairs one at a time, for programs that align pair by pair: no columns, no names, no batch.
#pragma once

#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// A pair by itself.
class OnePair {
 public:
  // What a first kernel is chosen by, to about an eighth, upwards: so it is soon known for all pairs.
  struct Kind {
    std::int32_t longest, edits;
    std::uint8_t flags;
    bool far;
  };

  // Copies the letters. With `estimated` false the edits are unknown, -1. Throws InputFault; its stream is 1 where the
  // target is to blame.
  OnePair(std::string_view query, std::string_view target, bool estimated);

  std::int32_t query_len() const { return query_len_; }
  std::int32_t longest() const { return query_len_ > target_len_ ? query_len_ : target_len_; }
  std::uint8_t flags() const { return flags_; }
  std::int32_t est_edits() const { return est_edits_; }
  // Whether the target is so many times as long as the query.
  bool is_far(std::int32_t times) const { return target_len_ / times >= query_len_; }
  Kind kind(std::int32_t far) const;
  // A batch of one; valid while the pair stays where it is.
  BatchView view() const;

 private:
  Buffer<std::uint8_t> bases_;
  std::int64_t query_start_ = 0, target_start_ = 0;
  std::int32_t query_len_, target_len_, est_edits_ = -1;
  std::uint8_t flags_;
};

// A thread's kernels, and what they answered for the last pair.
class Alone {
 public:
  // Replaces the answer before it.
  Status align(const OnePair& pair, const AlignOptions& options);
  AlignedRows& rows() { return rows_; }

 private:
  Aligner aligner_{""};
  AlignedRows rows_;
};

// Of the calling thread; its memory stays until the thread ends.
Alone& alone();

// The kernels of some options, and which of them is first for a pair. Safe to share between threads.
class OneByOne {
 public:
  static constexpr int kUnknown = -1;

  // `far`: as for OnePair::is_far. Pairs with longer queries than `asked_above` have no kind: each is asked for.
  OneByOne(std::vector<AlignOptions> kernels, bool estimated, std::int32_t far, std::int32_t asked_above)
      : kernels_(std::move(kernels)), estimated_(estimated), far_(far), asked_above_(asked_above) {}

  bool estimated() const { return estimated_; }
  std::int32_t far() const { return far_; }
  // Throws std::out_of_range.
  const AlignOptions& kernel(int number) const { return kernels_.at(static_cast<std::size_t>(number)); }
  int first(const OnePair& pair) const;
  void remember(const OnePair& like, int kernel);

 private:
  std::uint32_t key_of(const OnePair& pair) const;

  std::vector<AlignOptions> kernels_;
  bool estimated_;
  std::int32_t far_, asked_above_;
  mutable std::mutex mutex_;  // of what follows
  std::unordered_map<std::uint32_t, int> first_;
};

}  // namespace wfacli

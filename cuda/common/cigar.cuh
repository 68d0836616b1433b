// A run-length CIGAR writer for one thread.
#pragma once

#include "common/task.cuh"

namespace wfacli {

// Write runs to a slot and merge adjacent equal ones. BAM lengths have 28 bits, so a longer run becomes several.
class RunWriter {
 public:
  static constexpr std::int32_t kMaxRun = (1 << 28) - 1;

  // Write at most `capacity` elements to `ops`.
  WFACLI_DEVICE RunWriter(std::uint32_t* ops, std::int32_t capacity) : ops_(ops), capacity_(capacity) {}

  // Add `length` >= 0 operations; a run with the runs merged into it must be shorter than 2^31.
  WFACLI_DEVICE void add(Op op, std::int32_t length) {
    if (length == 0) return;
    if (op != op_) flush();
    op_ = op;
    length_ += length;
  }
  // Faster add() for runs of at most kMaxRun operations after merging.
  WFACLI_DEVICE void add_short(Op op, std::int32_t length) {
    if (length == 0) return;
    if (op != op_) {
      if (length_ > 0) put(length_);
      length_ = 0;
    }
    op_ = op;
    length_ += length;
  }
  // Elements written so far, and the length of the pending run, into which an equal run may still be merged.
  WFACLI_DEVICE std::int32_t count() const { return count_; }
  WFACLI_DEVICE std::int32_t pending_length() const { return length_; }
  // Return the number of elements. Only the first `capacity` are written: a larger number means the slot is too small.
  WFACLI_DEVICE std::int32_t finish() {
    flush();
    return count_;
  }

 private:
  WFACLI_DEVICE void flush() {
#pragma unroll 1
    for (; length_ > kMaxRun; length_ -= kMaxRun) put(kMaxRun);
    if (length_ > 0) put(length_);
    length_ = 0;
  }
  WFACLI_DEVICE void put(std::int32_t length) {
    if (count_ < capacity_) ops_[count_] = static_cast<std::uint32_t>(length) << 4 | op_;
    ++count_;
  }

  std::uint32_t* ops_;
  std::int32_t capacity_, count_ = 0, length_ = 0;
  Op op_ = kEqual;
};

}  // namespace wfacli

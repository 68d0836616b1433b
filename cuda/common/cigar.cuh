// CIGARs written by one thread, run by run.
#pragma once

#include "common/task.cuh"

namespace wfacli {

// Writes runs to a slot; equal neighbours become one. BAM's lengths have 28 bits, so a longer run becomes several.
class RunWriter {
 public:
  static constexpr std::int32_t kLongest = (1 << 28) - 1;

  // At most `capacity` elements from `ops` on.
  WFACLI_DEVICE RunWriter(std::uint32_t* ops, std::int32_t capacity) : ops_(ops), capacity_(capacity) {}

  // Adds `length` >= 0 letters; a run and the runs merged with it must be shorter than 2^31.
  WFACLI_DEVICE void add(Op op, std::int32_t length) {
    if (length == 0) return;
    if (op != op_) flush();
    op_ = op;
    length_ += length;
  }
  // The same where a run and the runs merged with it have no more than kLongest letters: it takes less time.
  WFACLI_DEVICE void add_short(Op op, std::int32_t length) {
    if (length == 0) return;
    if (op != op_) {
      if (length_ > 0) put(length_);
      length_ = 0;
    }
    op_ = op;
    length_ += length;
  }
  // Elements so far, and letters of the one to which equal neighbours may still be added.
  WFACLI_DEVICE std::int32_t count() const { return count_; }
  WFACLI_DEVICE std::int32_t open_letters() const { return length_; }
  // How many elements there are, of which only the first `capacity` were written: if more, the slot is too small.
  WFACLI_DEVICE std::int32_t finish() {
    flush();
    return count_;
  }

 private:
  WFACLI_DEVICE void flush() {
#pragma unroll 1
    for (; length_ > kLongest; length_ -= kLongest) put(kLongest);
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

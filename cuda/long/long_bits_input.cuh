// What a stripe of long_bits.cuh reads: the tagged words of the edge above it, its columns, and its symbols.
#pragma once

#include "common/planes.cuh"
#include "common/task.cuh"

namespace wfacli {

// A 32-bit value and its tag, written in one 64-bit store: if the tag is as expected, the value is valid.
class Tagged {
 public:
  WFACLI_DEVICE static void write(unsigned long long* at, std::uint32_t tag, std::uint32_t value) {
    *static_cast<volatile unsigned long long*>(at) = static_cast<unsigned long long>(tag) << 32 | value;
  }
  WFACLI_DEVICE static std::uint32_t tag(unsigned long long word) { return static_cast<std::uint32_t>(word >> 32); }
  WFACLI_DEVICE static unsigned long long read(const unsigned long long* at) {
    return *static_cast<const volatile unsigned long long*>(at);
  }
  WFACLI_DEVICE static std::uint32_t wait(const unsigned long long* at, std::uint32_t tag_wanted) {
    unsigned long long word = read(at);
    while (tag(word) != tag_wanted) {
      WFACLI_PAUSE();
      word = read(at);
    }
    return static_cast<std::uint32_t>(word);
  }
};

// Range of columns of a stripe, in words of 32.
struct StripeColumns {
  std::int64_t first, end;

  WFACLI_DEVICE static StripeColumns of(const LongBitsTask& task, int matrix, std::int64_t stripe) {
    const std::int64_t row = stripe * task.rows - task.matrix[matrix].padding_rows;
    const std::int64_t from = max(row + task.low, std::int64_t{0});
    const std::int64_t to = min(row + task.rows + task.high, task.target_len);
    return {from / 32, (to + 31) / 32};
  }
};

// Bit planes of a sequence or of the reversed one: 32 symbols from position `at` + 32 * block, the first in the lowest
// bit. Symbols outside the sequence are unspecified. fetch() is called well before align_planes(), so that the load's
// latency is hidden.
template <int Planes>
class PlaneBlocks {
 public:
  WFACLI_DEVICE PlaneBlocks(const std::uint32_t* rows, std::int64_t length, bool reversed, std::int64_t at)
      : rows_(rows), end_(static_cast<std::int32_t>(length >> 5) + kPadRows - 2), reversed_(reversed) {
    const std::int64_t from = reversed ? length - 32 - at : at;
    row_ = static_cast<std::int32_t>(from >> 5);
    by_ = static_cast<std::uint32_t>(from);
  }
  // The words that contain 32 symbols.
  struct Fetched {
    std::uint32_t first[Planes], next[Planes];
  };
  WFACLI_DEVICE Fetched fetch(std::int32_t block) const {
    const std::int32_t at = min(max(reversed_ ? row_ - block : row_ + block, 2 - kPadRows), end_);
    Fetched words;
    if constexpr (Planes == 2) {
      const uint4 row = __ldg(reinterpret_cast<const uint4*>(rows_) + at);
      words = {{row.x, row.y}, {row.z, row.w}};
    } else {
      const std::uint32_t* row = rows_ + static_cast<std::int64_t>(at) * kRowWords<Planes>;
#pragma unroll
      for (int p = 0; p < Planes; ++p) {
        words.first[p] = __ldg(row + p);
        words.next[p] = __ldg(row + p + Planes);
      }
    }
    return words;
  }
  WFACLI_DEVICE void align_planes(const Fetched& words, std::uint32_t (&planes)[Planes]) const {
#pragma unroll
    for (int p = 0; p < Planes; ++p) planes[p] = bits_from(words.first[p], words.next[p], by_);
    if (reversed_) return;
#pragma unroll
    for (int p = 0; p < Planes; ++p) planes[p] = __brev(planes[p]);
  }

 private:
  const std::uint32_t* rows_;
  std::int32_t row_, end_;
  std::uint32_t by_;
  bool reversed_;
};

}  // namespace wfacli

// What enters the first column of a stripe: values from the stripe to the left, and the codes of the rows.
#pragma once

#include "sw/sw_workspace.cuh"

namespace wfacli::sw {

// Values that enter a lane's first column in a row, and the codes of the row.
struct Entry {
  std::uint32_t value, deletion, codes;
};

// Values to the left of stripes of a group's pairs: of stripe stripe[x] for pair x.
struct LeftOfStripes {
  Gaps gaps;
  const Workspace* workspace;
  const Pair* pairs;
  std::int32_t stripe[kPairs], rows;  // rows: of the boundaries
  std::uint32_t beyond;               // code of positions beyond a sequence

  // True if these values differ between rows.
  WFACLI_DEVICE bool differ() const {
    bool edges = !kLocal;
#pragma unroll
    for (int x = 0; x < kPairs; ++x) edges |= stripe[x] > 0;
    return edges;
  }
  WFACLI_DEVICE Entry all() const { return {gaps.word(0), gaps.word(-gaps.opened()), 0}; }
  // Return the entry of row row[x] of each pair.
  WFACLI_DEVICE Entry at(const std::int32_t (&row)[kPairs]) const {
    std::uint32_t value[kPairs], deletion[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      const std::int32_t i = row[x];
      if (stripe[x] > 0) {
        const Edge edge = i <= rows ? workspace->edge(stripe[x] - 1)[i - 1] : Edge{0, 0};
        value[x] = edge.value;
        deletion[x] = edge.deletion;
      } else {
        const std::int32_t h = gaps.left_of(i);
        value[x] = gaps.word(h);
        deletion[x] = gaps.word(h - gaps.opened());
      }
    }
    return {Word::joined(value), Word::joined(deletion), 0};
  }
  // Codes of rows i to i + 3 of a pair.
  WFACLI_DEVICE std::uint32_t codes(int x, std::int32_t i) const { return pairs[x].query_codes(i, beyond); }
};

// The entries of consecutive rows. The lanes of a group load them for each other, some rows ahead.
template <class Left>
class EntryStream {
 public:
  // Start from row[x] of each pair.
  WFACLI_DEVICE void begin(const Left& left, const std::int32_t (&row)[kPairs], std::int32_t lane) {
    left_ = left;
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      row_[x] = row[x] + lane % kChunk;
      next_four_[x] = row[x] + 4 * (lane % kChunk);
      codes_ahead_[x] = left_.codes(x, next_four_[x]);
    }
    edges_ = __any_sync(kAllLanes, left_.differ());
    if (edges_) {
      ahead_ = left_.at(row_);
      next();
    } else {
      entry_ = left_.all();
    }
  }
  // Return row t after the first. All lanes of the warp must call it, for consecutive t.
  WFACLI_DEVICE Entry at(std::int32_t t) {
    if (t % 4 == 0) next_four(t / 4);
    Entry entry{entry_.value, entry_.deletion, Word::codes(four_codes_, static_cast<std::uint32_t>(t % 4))};
    if (edges_) {
      entry.value = __shfl_sync(kAllLanes, entry_.value, t % kChunk, kLanes);
      entry.deletion = __shfl_sync(kAllLanes, entry_.deletion, t % kChunk, kLanes);
      if (t % kChunk == kChunk - 1) next();
    }
    return entry;
  }

 private:
  static constexpr int kChunk = kLanes < 16 ? kLanes : 16;

  // Advance to the codes of the next four rows.
  WFACLI_DEVICE void next_four(std::int32_t number) {
    if (number % kChunk == 0) {
#pragma unroll
      for (int x = 0; x < kPairs; ++x) {
        codes_[x] = codes_ahead_[x];
        next_four_[x] += 4 * kChunk;
        codes_ahead_[x] = left_.codes(x, next_four_[x]);
      }
    }
#pragma unroll
    for (int x = 0; x < kPairs; ++x) four_codes_[x] = __shfl_sync(kAllLanes, codes_[x], number % kChunk, kLanes);
  }
  WFACLI_DEVICE void next() {
    entry_ = ahead_;
#pragma unroll
    for (int x = 0; x < kPairs; ++x) row_[x] += kChunk;
    ahead_ = left_.at(row_);
  }

  Left left_;
  std::int32_t row_[kPairs];
  std::int32_t next_four_[kPairs];  // first of the four rows whose codes the lane loads next
  std::uint32_t codes_[kPairs] = {}, codes_ahead_[kPairs], four_codes_[kPairs] = {};
  bool edges_;
  Entry ahead_, entry_;
};

}  // namespace wfacli::sw

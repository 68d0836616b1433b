// Schedule of `stripes`: where and when each cell of the band is computed. Arithmetic only.
// Included by bits_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/bits/bits_vector.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// One pair spans two vectors where vectors are short, which gives two independent dependency chains.
constexpr int kPairVectors = kVectorBytes < 64 ? 2 : 1, kStripeLanes = kPairVectors * kLanes;

// Rows are grouped into blocks of 64, and lane b % kStripeLanes works on block b, one column per step. A block needs
// the deltas of the last row of the block above it, so it computes each column one step after that block; by then the
// deltas are in the next lane's register. When a lane has computed all columns of its block, it continues with the
// block kStripeLanes further down, whose deltas from above come from the last lane through a delay line of `lag`
// steps. So all lanes are busy, and steps decrease monotonically along the traceback.
struct StripeBand {
  std::int32_t n, m;
  std::int64_t threshold;  // the band contains every path of at most this cost
  std::int64_t first;      // first column of block 0; that of block b is first + 64 b
  std::int64_t columns;    // per block
  std::int64_t last_block, last_group;
  std::int64_t steps;  // total number of steps
  std::int64_t lag;

  static constexpr std::int64_t kFall = 65 * (kStripeLanes - 1);       // steps from first to last lane's start
  static constexpr std::int64_t kMinColumns = kFall + 64 + 64;  // minimum columns, so that lag is at least a word

  // A path that leaves diagonals lo..hi (column - row) has at least `room` + 1 more gap symbols in each direction than
  // the difference of the lengths requires (Ukkonen 1985).
  StripeBand(std::int32_t query_len, std::int32_t target_len, std::int64_t cost) : n(query_len), m(target_len) {
    const std::int64_t last_diagonal = m - n, min_cost = last_diagonal < 0 ? -last_diagonal : last_diagonal;
    std::int64_t room = cost > min_cost ? (cost - min_cost) / 2 : 0;
    if (min_cost + 2 * room + 65 < kMinColumns) room = (kMinColumns - 65 - min_cost + 1) / 2;
    columns = min_cost + 2 * room + 65;
    threshold = min_cost + 2 * room + 1;
    first = 1 + (last_diagonal < 0 ? last_diagonal : 0) - room;
    lag = columns - kFall - 64;
    last_block = (n - 1) / 64;
    last_group = last_block / kStripeLanes;
    steps = time(last_block, m) + 1;
  }
  WFACLI_INLINE std::int64_t start(std::int64_t block) const { return block / kStripeLanes * columns + block % kStripeLanes * 65; }
  WFACLI_INLINE std::int64_t column_at(std::int64_t block, std::int64_t step) const {
    return first + 64 * block + step - start(block);
  }
  WFACLI_INLINE std::int64_t time(std::int64_t block, std::int64_t column) const {
    return start(block) + column - first - 64 * block;
  }
  // Returns the block that a lane works on. Lanes that have not begun count as working on their first block.
  WFACLI_INLINE std::int64_t block_of(int lane, std::int64_t step) const {
    const std::int64_t since = step - 65 * lane;
    std::int64_t group = since < 0 ? 0 : since / columns;
    if (group > last_group) group = last_group;
    const std::int64_t block = group * kStripeLanes + lane;
    return block > last_block && group > 0 ? block - kStripeLanes : block;
  }
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// The canonical path of one long pair whose distance is known, by segments that are walked side by side.
//
// Where a path goes from a cell depends on nothing but the cell. So segments can all be walked at a time, each from where
// it is believed to be entered; where one is left tells its neighbour better. What is walked from the right place is right
// for good, so with each launch one segment more is, from the end of the matrix on; and since paths that begin near each
// other soon run together, most are after two or three. When a launch finds nothing to walk, all are.
//
// From a wrong place a path may go far through a segment, and make all wait for what nobody needs: such walks are given up,
// unless it is known that the place is right.
#pragma once

#include "common/cigar.cuh"
#include "common/task.cuh"

namespace wfacli {

constexpr std::uint32_t kWholeWarp = 0xffffffffu;

// Operations that all lanes of a warp have alike; the first one writes them.
class WarpRuns {
 public:
  WFACLI_DEVICE WarpRuns(std::uint32_t* ops, std::int64_t capacity) : out_(ops, static_cast<std::int32_t>(capacity)) {}

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  WFACLI_DEVICE void add(Op op, std::int64_t letters) {
    if (lane() == 0) out_.add(op, static_cast<std::int32_t>(letters));
  }
  // `count` <= 32 letters of a diagonal: which differ, the first one in the top bit.
  WFACLI_DEVICE void add_aligned(std::uint32_t differ, int count) {
    if (lane() != 0) return;
    while (count > 0) {
      const bool different = differ >> 31;
      const int run = min(count, __clz(static_cast<int>(different ? ~differ : differ)));
      out_.add(different ? kDifferent : kEqual, run);
      count -= run;
      differ = run < 32 ? differ << run : 0;
    }
  }
  // In the first lane: how many there are.
  WFACLI_DEVICE std::int32_t finish() { return lane() == 0 ? out_.finish() : 0; }

 private:
  RunWriter out_;
};

constexpr std::int64_t kSure = INT64_MIN;  // of an entry
constexpr std::int64_t kUnlimited = std::int64_t{1} << 30;

// A launch: `walk(segment, entry, limit, runs)` gives the place where the path leaves a segment, in all lanes; -1: it took
// more parts than the limit. A warp a block.
template <class Walk>
WFACLI_DEVICE void walk_segments(const PathSegments& path, Walk&& walk) {
  const bool first = WarpRuns::lane() == 0;
  for (;;) {
    std::uint32_t drawn = 0;
    if (first) drawn = atomicAdd(path.drawn, 1u);
    const std::int64_t s = path.count - 1 - static_cast<std::int64_t>(__shfl_sync(kWholeWarp, drawn, 0));
    if (s < 0) return;
    const std::int64_t believed = path.entry[s], walked = path.walked[s];
    const auto entry = static_cast<std::int64_t>(static_cast<std::uint32_t>(believed));
    const std::int64_t limit = believed < 0 ? kUnlimited : path.limit;
    bool done = walked == entry;
    const bool given_up = walked >= 0 && static_cast<std::uint32_t>(walked) == entry && walked >> 32 >= limit;
    if (!done && !given_up) {
      WarpRuns runs(path.ops + s * path.op_capacity, path.op_capacity);
      const std::int64_t left = walk(s, entry, limit, runs);
      done = left >= 0;
      const std::int32_t count = runs.finish();
      __syncwarp();
      if (first) {
        path.op_count[s] = count;
        path.exit[s] = left;
        path.walked[s] = done ? entry : limit << 32 | entry;
      }
      __syncwarp();
    }
    if (!first) continue;
    if (!done || walked != entry) atomicAdd(path.changed, 1u);
    if (s > 0) path.next_entry[s - 1] = done ? path.exit[s] | (believed & kSure) : path.entry[s - 1] & ~kSure;
    if (s == path.count - 1) path.next_entry[s] = believed;
  }
}

}  // namespace wfacli

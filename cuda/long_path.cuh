// The canonical path of one long pair whose distance is known, by segments that are walked side by side.
//
// Where a path goes from a cell depends on nothing but the cell. So segments can all be walked at a time, each from where
// it is believed to be entered; where one is left tells its neighbour better. What is walked from the right place is right
// for good, so with each launch one segment more is, from the end of the matrix on; and since paths that begin near each
// other soon run together, most are after two or three. When a launch finds nothing to walk, all are.
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

// A launch: `walk(segment, entry, runs)` gives the place where the path leaves a segment, in all lanes. A warp a block.
template <class Walk>
WFACLI_DEVICE void walk_segments(const PathSegments& path, Walk&& walk) {
  const bool first = WarpRuns::lane() == 0;
  for (;;) {
    std::uint32_t drawn = 0;
    if (first) drawn = atomicAdd(path.drawn, 1u);
    const std::int64_t s = path.count - 1 - static_cast<std::int64_t>(__shfl_sync(kWholeWarp, drawn, 0));
    if (s < 0) return;
    const auto entry = static_cast<std::int64_t>(static_cast<std::uint32_t>(path.entry[s]));
    if (entry != path.walked[s]) {
      WarpRuns runs(path.ops + s * path.op_capacity, path.op_capacity);
      const std::int64_t left = walk(s, entry, runs);
      const std::int32_t count = runs.finish();
      __syncwarp();
      if (first) {
        path.op_count[s] = count;
        path.exit[s] = left;
        path.walked[s] = entry;
        atomicAdd(path.changed, 1u);
      }
      __syncwarp();
    }
    if (!first) continue;
    if (s > 0) path.next_entry[s - 1] = path.exit[s];
    if (s == path.count - 1) path.next_entry[s] = entry;
  }
}

}  // namespace wfacli

// The canonical path of one long pair whose distance is known, traced in segments side by side.
//
// Where a path goes from a cell depends only on the cell. So all segments can be traced at the same time, each from
// where the path is believed to enter it. Where the path leaves a segment corrects the belief of its neighbour. A
// segment traced from the right place is final. Each launch therefore finishes at least one more segment, starting at
// the end of the matrix. Since paths that start near each other soon merge, most segments are final after two or three
// launches. When a launch finds nothing to trace, all are.
//
// From a wrong place a path may take long through a segment and delay all others for a useless result. Such a trace is
// abandoned, unless the place is known to be right.
#pragma once

#include "common/cigar.cuh"
#include "common/task.cuh"

namespace wfacli {

constexpr std::uint32_t kWholeWarp = 0xffffffffu;

// Operations that all lanes of a warp have in common; the first lane writes them.
class WarpRuns {
 public:
  WFACLI_DEVICE WarpRuns(std::uint32_t* ops, std::int64_t capacity) : out_(ops, static_cast<std::int32_t>(capacity)) {}

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  WFACLI_DEVICE void add(Op op, std::int64_t length) {
    if (lane() == 0) out_.add(op, static_cast<std::int32_t>(length));
  }
  // Add `count` <= 32 diagonal operations. `differ`: mismatches, the first in the top bit.
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
  // Return the number of elements, in the first lane.
  WFACLI_DEVICE std::int32_t finish() { return lane() == 0 ? out_.finish() : 0; }

 private:
  RunWriter out_;
};

constexpr std::int64_t kCertain = INT64_MIN;  // flag of an entry known to be right
constexpr std::int64_t kUnlimited = std::int64_t{1} << 30;

// Trace the segments of a launch, with one warp per block. `trace(segment, entry, limit, runs)` returns, in all lanes,
// the place where the path leaves a segment, or -1 if it took more parts than the limit.
template <class Trace>
WFACLI_DEVICE void trace_segments(const PathSegments& path, Trace&& trace) {
  const bool first = WarpRuns::lane() == 0;
  for (;;) {
    std::uint32_t drawn = 0;
    if (first) drawn = atomicAdd(path.work_counter, 1u);
    const std::int64_t s = path.count - 1 - static_cast<std::int64_t>(__shfl_sync(kWholeWarp, drawn, 0));
    if (s < 0) return;
    const std::int64_t assumed = path.entry[s], traced = path.traced_entry[s];
    const auto entry = static_cast<std::int64_t>(static_cast<std::uint32_t>(assumed));
    const std::int64_t limit = assumed < 0 ? kUnlimited : path.limit;
    bool done = traced == entry;
    const bool given_up = traced >= 0 && static_cast<std::uint32_t>(traced) == entry && traced >> 32 >= limit;
    if (!done && !given_up) {
      WarpRuns runs(path.ops + s * path.op_capacity, path.op_capacity);
      const std::int64_t left = trace(s, entry, limit, runs);
      done = left >= 0;
      const std::int32_t count = runs.finish();
      __syncwarp();
      if (first) {
        path.op_count[s] = count;
        path.exit[s] = left;
        path.traced_entry[s] = done ? entry : limit << 32 | entry;
      }
      __syncwarp();
    }
    if (!first) continue;
    if (!done || traced != entry) atomicAdd(path.changed, 1u);
    if (s > 0) path.next_entry[s - 1] = done ? path.exit[s] | (assumed & kCertain) : path.entry[s - 1] & ~kCertain;
    if (s == path.count - 1) path.next_entry[s] = assumed;
  }
}

}  // namespace wfacli

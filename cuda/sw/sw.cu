// Alignment under any scores of letters and affine gaps over all cells (Smith and Waterman 1981, Gotoh 1982), of pairs
// of uneven lengths: a group of lanes for two pairs, one in each 16-bit half of its words, or for one pair of 32 bits
// (as sub-warps share pairs in SALoBa, Park et al. 2022).
//
// Sequences come reversed, so that H(i, j) belongs to suffixes and the way back from the best cell is the canonical
// path, forward; but those of an extension, of which this finds only where it ends: its path is that of a launch with
// these prefixes and SwRule::Global. The matrix is cut into stripes of columns, which a group sweeps one after
// another. With the path either the last column of each stripe and every kSteps steps the lanes' state go to the
// workspace, or directions of all cells, where there are few; then the way back is sw_walk.cu's, which no lane of a
// group has to wait for.
//
// 16 bits: a local score above what they surely hold gets ScoreLimit; of other rules wfacli/gpu/kernels/sw.py says which they
// hold.
//
// Warps draw slots from task.next. They are as many as are resident; but where directions of all cells are kept, in
// memory that belongs to pairs, there may be more, each of which draws less often: then who waits for room on the GPU
// gets it before the launch ends. A group has `stride` bytes of the workspace (Room::of says which), a warp
// Profile::of_warp bytes of dynamic shared memory, and Lines::of_warp where directions of all cells are kept.
//
// WFACLI_BLOCK: threads a block, a multiple of 32. WFACLI_LANES: of a group, a power of two up to 32. WFACLI_COLUMNS:
// of a lane, a multiple of 4. WFACLI_BITS: 16 or 32. WFACLI_RULE: an SwRule; 2 serves Semiglobal and Global.
// WFACLI_PATH: 1 for paths; WFACLI_WHOLE: 1 where directions of all cells are kept for them.
// WFACLI_STEPS: else, between two states that are kept, no less than lanes.
#include "sw/sw_walk.cuh"

namespace wfacli::sw {

constexpr std::uint32_t kBlockPairs = WFACLI_BLOCK / kLanes * kPairs;

struct Shared {
  std::uint32_t scores[kSwCodes * kSwCodes / 4];
  Pair pairs[WFACLI_BLOCK / kLanes][kPairs];  // that groups have, here since lanes need their registers for cells
};

WFACLI_DEVICE Status status_of(const SwTask& task, const Best& best) {
  const bool fits = !kLocal || best.score <= Word::kGreatest - Gaps::of(task).zero - task.most;
  return fits ? Status::Ok : Status::ScoreLimit;
}

// What a pair's lane says of it.
WFACLI_DEVICE void answer(const SwTask& task, const Pair& pair, const Best& best, Status status, Track& track) {
  if constexpr (kTwice) status = track.answer(task, pair, best, status);
  const bool ok = status == Status::Ok;
  task.status[pair.row] = static_cast<std::uint8_t>(status);
  task.score[pair.row] = ok ? best.score * (kWhole ? 1 : task.unit) : 0;  // where all is kept sw_walk.cu goes on from it
  if constexpr (kLeavesWay) task.ends[pair.slot] = int2{best.i, best.j};
  if constexpr (!kPath) task.span[pair.row] = ok ? make_int4(0, pair.query_len, 0, pair.target_len) : make_int4(0, 0, 0, 0);
}

WFACLI_DEVICE void align(const SwTask& task, std::int32_t first, const Room& room, const Profile& profile,
                         const Lines& lines, Shared& shared, std::int32_t lane) {
  const std::int32_t group = static_cast<std::int32_t>(threadIdx.x & 31) / kLanes;  // of the warp
  Pair(&pairs)[kPairs] = shared.pairs[threadIdx.x / kLanes];
  if (lane < kPairs) pairs[lane] = Pair::of(task, first + kPairs * group + lane);
  __syncwarp();
  Best best[kPairs];
  std::int32_t rows = 0, stripes = 0;
#pragma unroll
  for (int x = 0; x < kPairs; ++x) {
    rows = max(rows, pairs[x].query_len);
    stripes = max(stripes, pairs[x].stripes());
  }
  rows = __reduce_max_sync(kAllLanes, rows);
  stripes = __reduce_max_sync(kAllLanes, stripes);
  Sweep sweep(task, room, profile, lines, lane);
  if (kWhole && Gaps::digits(task))
    sweep.run<kWhole ? Trace::Digits : Trace::None>(pairs, rows, stripes, best);
  else
    sweep.run<kTraced>(pairs, rows, stripes, best);
#pragma unroll
  for (int x = 0; x < kPairs; ++x) best[x] = Best::of_group(best[x]);
  // Each pair has as many lanes from here on; the first of them speaks for it.
  constexpr int kOwnLanes = kLanes / kPairs;
  const Pair& own = pairs[lane / kOwnLanes];
  Best end = lane < kOwnLanes ? best[0] : best[kPairs - 1];
  const bool owns = lane % kOwnLanes == 0 && own.slot < task.count;
  const Status status = status_of(task, end);
  Track track{0, 0, 0, 0, 0, 0, RunWriter(nullptr, 0)};
  if constexpr (kTwice) {
    if (own.slot < task.count && status == Status::Ok) {
      track = Track::from(task, own, end, owns);
      if (kLocal) track.j = (end.j + 1) * kColumns;  // the last of the lane's, as long as it is not known
    }
    Walk(task, room, profile, shared.scores, rows, lane).run(pairs, best, track, end.j);
  }
  if (owns) answer(task, own, end, status, track);
}

WFACLI_DEVICE void align_all(const SwTask& task) {
  WFACLI_DYNAMIC_SHARED(profiles);
  __shared__ Shared shared;
  const auto thread = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x);
  const Profile profile = Profile::of_block(task, shared.scores, profiles);
  std::uint8_t* const lines =
      profiles + WFACLI_BLOCK / 32 * Profile::of_warp(task.codes) + threadIdx.x / 32 * Lines::of_warp();
  for (;;) {
    std::uint32_t drawn = 0;
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(task.next, static_cast<unsigned>(kWarpPairs));
    drawn = min(__shfl_sync(kAllLanes, drawn, 0), 0x7fffffffu);
    const auto first = static_cast<std::int32_t>(drawn);
    if (first >= task.count) return;
    const std::int32_t group = Room::kOfLaunch ? first / kPairs + (thread & 31) / kLanes : thread / kLanes;
    const Room room = Room::of(task, group);
    const std::int32_t lane = thread & (kLanes - 1);
    align(task, first, room, profile, Lines(lines), shared, lane);
    // The launch's last draws are one of each warp, which leaves then. (What it drew is in no register any more.)
    const std::int32_t drew = shared.pairs[(threadIdx.x & ~31u) / kLanes][0].slot;
    if (Room::kOfLaunch && drew >= task.count - static_cast<std::int32_t>(gridDim.x * kBlockPairs)) return;
    __syncwarp();  // the room is free again
  }
}

}  // namespace wfacli::sw

WFACLI_KERNEL(sw_align, wfacli::SwTask) { wfacli::sw::align_all(task); }

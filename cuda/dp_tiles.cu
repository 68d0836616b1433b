// Global alignment in a band of any width, in little memory: long or noisy reads. A group of lanes has two pairs at a
// time, one in each 16-bit half of its words.
//
// The matrix of the reversed sequences is cut into stripes of columns, of which each lane has 16 in registers (Gotoh's
// recurrences, 1982). A first sweep through all stripes finds costs alone. With the path, the last column of each
// stripe and every kTileSteps steps the state of its lanes go to the workspace; then the parts that the path crosses
// are computed once more from there, this time with directions (as in Hirschberg's and Myers & Miller's linear space,
// 1988, with one level of rows and columns that are kept).
//
// Resident warps draw slots from task.next, kTilePairs at a time; a warp has kTilePairs times `stride` bytes of the
// workspace (wfacli/gpu/tiles.py). A pair whose band, one of task.bands or task.band diagonals, does not prove its cost
// gets ScoreLimit. wfacli/gpu/tiles.py says which costs and bands 16 bits suffice for.
//
// WFACLI_BLOCK: threads a block, a multiple of 32. WFACLI_LANES: of a group: 4, 8, 16 or 32. WFACLI_TEAM: warps that
// share the stripes of two pairs, all those of a block; or 1. WFACLI_PIECES: of gap costs, 1 or 2. WFACLI_CODES: 1 for
// pairs with letters other than A C G T.
#include "dp_tile_walk.cuh"

namespace wfacli::dp {

// The costs of the group's pairs, as far as the band proves them.
WFACLI_DEVICE void find_costs(const AlignTask& task, const TileCosts& costs, const TileRoom& room, std::int32_t lane,
                              TilePair (&pairs)[2]) {
  TileSweep sweep(task, costs, room, lane);
  if constexpr (kTileTeam == 1)
    sweep_alone(sweep, pairs);
  else
    sweep_as_team(sweep, pairs);
#pragma unroll
  for (int x = 0; x < 2; ++x) {  // the lane that has the last cell tells the others
#pragma unroll
    for (int by = 1; by < kTileLanes; by *= 2)
      pairs[x].cost = min(pairs[x].cost, __shfl_xor_sync(kAllLanes, pairs[x].cost, by, kTileLanes));
    if constexpr (kTileTeam > 1) {
      __shared__ std::int32_t of_team[2];
      of_team[x] = kNever;
      __syncthreads();
      if (lane == 0) atomicMin(&of_team[x], pairs[x].cost);
      __syncthreads();
      pairs[x].cost = of_team[x];
    }
    if (pairs[x].stripes > 0 && pairs[x].cost >= pairs[x].band.unproven) pairs[x].cost = kNever;
  }
}

WFACLI_DEVICE void answer(const AlignTask& task, const TileEnd& end, Status status, std::int32_t count) {
  if (status == Status::Ok && task.path && count > task.op_capacity) status = Status::MemoryLimit;
  task.status[end.slot] = static_cast<std::uint8_t>(status);
  task.cost[end.slot] = status == Status::ScoreLimit ? 0 : end.cost;
  task.op_count[end.slot] = status == Status::Ok ? count : 0;
}

WFACLI_DEVICE Status status_of(const AlignTask& task, const TileEnd& end) {
  if (max(end.query_len, end.target_len) > task.longest) return Status::MemoryLimit;
  return end.cost == kNever || end.cost > task.max_cost ? Status::ScoreLimit : Status::Ok;
}

WFACLI_DEVICE void align(const AlignTask& task, std::int32_t first, const TileRoom& room, std::int32_t lane) {
  const std::int32_t group = static_cast<std::int32_t>(threadIdx.x & 31) / kTileLanes;  // of the warp
  TilePair pairs[2] = {TilePair::of(task, first + 2 * group), TilePair::of(task, first + 2 * group + 1)};
  const TileCosts costs = TileCosts::of(task.costs);
  find_costs(task, costs, room, lane, pairs);
  const bool leads = threadIdx.x / 32 % kTileTeam == 0;  // one warp has the way back, others help it
  // Of two pairs of the group, lanes 0 and 1 have one each from here on.
  const TileEnd own = TileEnd::of(pairs, lane == 1);
  const bool owns = leads && lane < 2 && own.slot < task.count;
  const Status status = status_of(task, own);
  std::int32_t count = 0;
  if (task.path) {
    TileTrack track = TileTrack::of(task, own, owns && status == Status::Ok);
    const TileWalk walk{task, costs, room, lane};
    if constexpr (kTileTeam == 1)
      walk.run(pairs, track);
    else
      walk.run_as_team(pairs, track);
    track.out.add(kInsertion, track.i);
    track.out.add(kDeletion, track.j);
    count = track.out.finish();
  }
  if (owns) answer(task, own, status, count);
}

// The first of the next slots; the same for all threads that work together.
WFACLI_DEVICE std::int32_t draw(const AlignTask& task) {
  std::uint32_t drawn = 0;
  if constexpr (kTileTeam == 1) {
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(task.next, static_cast<unsigned>(kTilePairs));
    drawn = __shfl_sync(kAllLanes, drawn, 0);
  } else {
    __shared__ std::uint32_t of_team;
    __syncthreads();  // the room is free again, and the last draw is read
    if (threadIdx.x == 0) of_team = atomicAdd(task.next, static_cast<unsigned>(kTilePairs));
    __syncthreads();
    drawn = of_team;
  }
  return static_cast<std::int32_t>(min(drawn, 0x7fffffffu));
}

WFACLI_DEVICE void align_all(const AlignTask& task) {
  const auto thread = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x);
  const auto group = static_cast<std::uint64_t>(thread / (kTileLanes * kTileTeam));
  const TileRoom room = TileRoom::of(task, task.workspace + 2 * group * task.stride);
  for (;;) {
    const std::int32_t first = draw(task);
    if (first >= task.count) return;
    align(task, first, room, thread & (kTileLanes - 1));
    __syncwarp();  // the room is free again
  }
}

}  // namespace wfacli::dp

WFACLI_KERNEL(dp_tiles_align, wfacli::AlignTask) { wfacli::dp::align_all(task); }

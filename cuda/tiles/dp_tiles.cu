// Banded global alignment with gap costs, any band width and little memory, for long or noisy reads. A group of lanes
// aligns two pairs at a time, one in each 16-bit half of a word.
//
// The matrix of the reversed sequences is divided into stripes of columns; each lane has some columns of a stripe in
// registers (Gotoh's recurrences, 1982). A first sweep through all stripes computes costs only. If the path is
// requested, the sweep writes the last column of each stripe and, every kTileSteps steps, the state of its lanes to
// the workspace. The parts that the path crosses are then recomputed from there with directions, as in the
// linear-space methods of Hirschberg and of Myers & Miller (1988), with one level of stored rows and columns.
//
// Resident warps draw slots from task.work_counter, kTilePairs at a time; a warp has kTilePairs * `stride` bytes of
// the workspace (wfacli/gpu/kernels/tiles.py). With WFACLI_SPREAD, warps draw stripes (dp_tile_spread.cuh) and
// `stride` is the size of the whole workspace. A pair whose band (task.bands, else task.band diagonals) does not prove
// its cost gets ScoreLimit. wfacli/gpu/kernels/tiles.py states which costs and bands fit 16 bits.
//
// WFACLI_BLOCK: threads per block, a multiple of 32.
// WFACLI_LANES: lanes per group: 4, 8, 16 or 32.
// WFACLI_COLUMNS: columns per lane: 16, or 8 with two pieces, so that 16 bits hold higher costs.
// WFACLI_SPREAD: 1 if any warp of the GPU computes stripes of any two pairs; requires 32 lanes.
// WFACLI_PIECES: pieces of the gap cost, 1 or 2.
// WFACLI_CODED: 1 for pairs with symbols other than A C G T.
#include "tiles/dp_tile_spread.cuh"
#include "tiles/dp_tile_traceback.cuh"

namespace wfacli::dp {

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

// Check that the band proves the costs of both pairs, trace their paths, and write the answers.
WFACLI_DEVICE void finish(const AlignTask& task, const TileCosts& costs, const TileWorkspace& workspace,
                          std::int32_t lane, TilePair (&pairs)[2]) {
#pragma unroll
  for (int x = 0; x < 2; ++x)
    if (pairs[x].stripes > 0 && pairs[x].cost >= pairs[x].band.unproven) pairs[x].cost = kNever;
  // From here on lane 0 has the first pair of the group and lane 1 the second.
  const TileEnd own = TileEnd::of(pairs, lane == 1);
  const bool owns = lane < 2 && own.slot < task.count;
  const Status status = status_of(task, own);
  std::int32_t count = 0;
  if (task.path) {
    TileTrack track = TileTrack::of(task, own, owns && status == Status::Ok);
    TileTraceback{task, costs, workspace, lane}.run(pairs, track);
    track.out.add(kInsertion, track.i);
    track.out.add(kDeletion, track.j);
    count = track.out.finish();
  }
  if (owns) answer(task, own, status, count);
}

// Align two pairs with one group of lanes. `first`: first slot of the warp.
WFACLI_DEVICE void align(const AlignTask& task, std::int32_t first, const TileWorkspace& workspace,
                         std::int32_t lane) {
  const std::int32_t group = static_cast<std::int32_t>(threadIdx.x & 31) / kTileLanes;  // in the warp
  TilePair pairs[2] = {TilePair::of(task, first + 2 * group), TilePair::of(task, first + 2 * group + 1)};
  const TileCosts costs = TileCosts::of(task.costs);
  TileSweep sweep(task, costs, workspace, lane);
  sweep_pairs(sweep, pairs);
#pragma unroll
  for (int x = 0; x < 2; ++x) {  // broadcast the cost from the lane of the last cell
#pragma unroll
    for (int by = 1; by < kTileLanes; by *= 2)
      pairs[x].cost = min(pairs[x].cost, __shfl_xor_sync(kAllLanes, pairs[x].cost, by, kTileLanes));
  }
  finish(task, costs, workspace, lane, pairs);
}

WFACLI_DEVICE void align_all(const AlignTask& task) {
  const auto thread = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x);
  const auto group = static_cast<std::uint64_t>(thread / kTileLanes);
  const TileWorkspace workspace =
      TileWorkspace::of(task, task.workspace + 2 * group * task.stride, task.longest, task.band);
  for (;;) {
    std::uint32_t drawn = 0;
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(task.work_counter, static_cast<unsigned>(kTilePairs));
    const auto first = static_cast<std::int32_t>(min(__shfl_sync(kAllLanes, drawn, 0), 0x7fffffffu));
    if (first >= task.count) return;
    align(task, first, workspace, thread & (kTileLanes - 1));
    __syncwarp();  // the workspace can be reused
  }
}

// Sweep a stripe of two pairs, and trace their paths after the last stripe.
WFACLI_DEVICE void run_unit(const AlignTask& task, const TileTable& table, const TileUnit& unit, std::int32_t wave,
                            std::int32_t lane) {
  TilePair pairs[2] = {TilePair::of(task, 2 * unit.group), TilePair::of(task, 2 * unit.group + 1)};
  const TileCosts costs = TileCosts::of(task.costs);
  const std::int32_t stripes = max(pairs[0].stripes, pairs[1].stripes);
  TileGroup& group = table.group(unit.group);
  const TileWorkspace workspace = table.workspace(pairs, group.at);
  if (unit.stripe == 0)
    open_group(table, group, wave, workspace, stripes, lane);
  else
    wait_for(&group.narrowed_stripes, 0);
  __syncwarp();
  if (stripes > 0) {
    TileSweep sweep(task, costs, workspace, lane);
    sweep_stripe(sweep, pairs, group, workspace, unit.stripe, lane);
  }
  __syncwarp();
  if (unit.stripe >= stripes - 1) {
#pragma unroll
    for (int x = 0; x < 2; ++x)
      if (pairs[x].stripes > 0) pairs[x].cost = group.cost[x];
    finish(task, costs, workspace, lane, pairs);
  }
  __syncwarp();
  if (lane != 0) return;
  __threadfence();
  atomicAdd(&table.wave(wave).done, 1);
}

WFACLI_DEVICE void run_units(const AlignTask& task) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const TileTable table(task);
  TileUnits units(task, table, lane);
  for (;;) {
    const TileUnit unit = units.draw();
    if (unit.group < 0) return;
    run_unit(task, table, unit, units.wave(), lane);
    __syncwarp();
  }
}

}  // namespace wfacli::dp

WFACLI_KERNEL(dp_tiles_align, wfacli::AlignTask) {
  if constexpr (wfacli::dp::kTileSpread)
    wfacli::dp::run_units(task);
  else
    wfacli::dp::align_all(task);
}

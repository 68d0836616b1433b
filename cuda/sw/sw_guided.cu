// Extension of pairs from the beginnings of both sequences, in a band and until a Z-drop. Scores only; they equal
// those of the CPU engine. The band is divided into stripes of columns, as sw.cu divides the matrix, and a group of
// lanes sweeps the rows that the band has in a stripe. Each lane keeps the best score of every anti-diagonal that
// crosses its columns. After each stripe the group combines them, follows the anti-diagonals that are complete, and
// stops where the extension ends, so that the next pairs take its place (similar to subwarp rejoining in AGAThA, Park
// et al. 2024).
//
// Scores have 16 bits; wfacli/gpu/kernels/sw_guided.py states which pairs fit. A pair whose end is not certain
// (sw_guided_drop.cuh) gets Unsupported. For an extension without a Z-drop, `drop` is the greatest value.
//
// Resident warps draw slots from task.work_counter. A group has `stride` bytes of the workspace (GuidedWorkspace), a
// warp Profile::of_warp bytes of dynamic shared memory. Macros as in sw.cu; WFACLI_RULE is Extension and WFACLI_BITS
// is 16.
#include "sw/sw_guided_drop.cuh"
#include "sw/sw_guided_sweep.cuh"

namespace wfacli::sw {

struct Shared {
  std::uint32_t scores[kSwCodes * kSwCodes / 4];
  GuidedPair pairs[WFACLI_BLOCK / kLanes][kPairs];
  Progress progress[WFACLI_BLOCK / kLanes][kPairs];
};

// Return gap costs whose score 0 is stored as high as the launch's scores allow, since scores below the value of cells
// outside the band (`floor`) are lost. Two gaps may open and extend from the floor without falling below 0.
WFACLI_DEVICE Gaps gaps_of(const SwTask& task) {
  Gaps gaps = Gaps::of(task);
  gaps.zero = 0xffff - 128 - task.max_score * min(task.longest_query, task.longest_target);
  gaps.floor = once(Word::all(max(2 * task.open + 3 * task.extend + 1, 128)));
  return gaps;
}

WFACLI_DEVICE void answer(const SwTask& task, const GuidedPair& pair, const Progress& progress, const Gaps& gaps) {
  const bool certain = progress.state != ExtensionState::Unsure;
  const std::int32_t n = task.seq.query_len[pair.row], m = task.seq.target_len[pair.row];
  const bool cut =
      !pair.covered || progress.uncertain || (progress.state == ExtensionState::Dropped && progress.end < n + m);
  task.status[pair.row] = static_cast<std::uint8_t>(certain ? Status::Ok : Status::Unsupported);
  task.score[pair.row] = certain ? (progress.best - gaps.zero) * task.unit : 0;
  task.span[pair.row] = make_int4(cut ? -1 : 0, n, 0, m);
}

// Position of a group in its pairs.
struct GroupState {
  Slice slice{0, 0, 0, 0};
  std::int32_t last_stored = 0;
  bool over = true, none_left = false;

  // Set the rows of the stripe to those that pairs still in progress need.
  WFACLI_DEVICE void measure(const SwTask& task, const GuidedPair (&pairs)[kPairs],
                             const Progress (&progress)[kPairs]) {
    std::int32_t first = INT32_MAX, last = INT32_MIN;
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (progress[x].state != ExtensionState::On) continue;
      const std::int32_t corner = pairs[x].before + slice.number * kWidth;
      first = min(first, max(-corner, -task.band));  // includes the row before the first cell's
      last = max(last, min(pairs[x].query_len - corner, kWidth + task.band));
    }
    over = last == INT32_MIN;
    slice.first = over ? 0 : first;
    slice.rows = over ? 0 : (max(last - first, 0) / 4 + 1) * 4;
  }
  WFACLI_DEVICE void next() {
    slice.known = slice.last() - kWidth;
    last_stored = 2 * slice.number * kWidth + Drop::last_of(slice);
    ++slice.number;
  }
};

WFACLI_DEVICE void align_all(const SwTask& task) {
  WFACLI_DYNAMIC_SHARED(profiles);
  __shared__ Shared shared;
  const auto thread = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x);
  const std::int32_t lane = thread & (kLanes - 1);
  const Profile profile = Profile::of_block(task, shared.scores, profiles);
  const GuidedWorkspace workspace = GuidedWorkspace::of(task, thread / kLanes);
  const Gaps gaps = gaps_of(task);
  const GuidedSweep sweep(task, workspace, profile, gaps, shared.scores, lane);
  const Drop drop(task, workspace, gaps, lane);
  GuidedPair(&pairs)[kPairs] = shared.pairs[threadIdx.x / kLanes];
  Progress(&progress)[kPairs] = shared.progress[threadIdx.x / kLanes];
  GroupState state;
  for (;;) {
    const bool draws = state.over && !state.none_left;
    std::uint32_t drawn = 0;
    if (draws && lane == 0) drawn = atomicAdd(task.work_counter, static_cast<unsigned>(kPairs));
    drawn = min(__shfl_sync(kAllLanes, drawn, 0, kLanes), 0x7ffffff0u);
    if (draws) {
      const auto first = static_cast<std::int32_t>(drawn);
      state.none_left = first >= task.count;
      state.slice.number = 0;
      if (lane < kPairs) {
        pairs[lane] = GuidedPair::of(task, first + lane);
        progress[lane] = Progress::of(pairs[lane], gaps);
      }
    }
    __syncwarp();
    state.measure(task, pairs, progress);
    if (!__any_sync(kAllLanes, !state.over || !state.none_left)) return;
    const std::int32_t steps = __reduce_max_sync(kAllLanes, state.slice.rows ? state.slice.rows + kLanes - 1 : 0);
    sweep.stripe(pairs, state.slice, steps);
    __syncwarp();  // boundaries and anti-diagonals are written
    Progress found[kPairs] = {progress[0], progress[1]};
    drop.update(pairs, state.slice, state.slice.number ? state.last_stored : INT32_MIN, found);
    __syncwarp();
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (lane != x || progress[x].state != ExtensionState::On) continue;
      progress[x] = found[x];
      if (found[x].state != ExtensionState::On) answer(task, pairs[x], found[x], gaps);
    }
    __syncwarp();
    state.next();
  }
}

}  // namespace wfacli::sw

WFACLI_KERNEL(sw_guided, wfacli::SwTask) { wfacli::sw::align_all(task); }

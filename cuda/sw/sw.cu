// Alignment with any substitution scores and affine gaps, over all cells of the matrix (Smith and Waterman 1981, Gotoh
// 1982), for pairs of uneven lengths. A group of lanes aligns two pairs, one in each 16-bit half of a word, or one
// pair with 32-bit scores (subwarps as in SALoBa, Park et al. 2022).
//
// Sequences are reversed, so that H(i, j) belongs to suffixes and the traceback from the best cell emits the canonical
// path in forward order. Extensions are not reversed: this kernel finds only their end, and a second launch with these
// prefixes and SwRule::Global finds the path. The matrix is divided into stripes of columns, which a group sweeps one
// after another. With the path, the workspace receives either the last column of each stripe and, every kSteps steps,
// the state of the lanes; or, where the matrix has few cells, the directions of all cells. In the latter case
// sw_traceback.cu does the traceback, so that no lane of a group waits for it.
//
// With 16 bits, a local score above the guaranteed range gets ScoreLimit; for other rules wfacli/gpu/kernels/sw.py
// states which pairs 16 bits hold.
//
// Warps draw slots from task.work_counter, usually as many warps as are resident. If directions of all cells are
// stored, in memory that belongs to pairs, the launch may have more warps, each of which draws fewer times, so that
// other launches get multiprocessors before this one ends. A group has `stride` bytes of the workspace (see
// Workspace::of). A warp has Profile::of_warp bytes of dynamic shared memory, and Lines::of_warp bytes more if
// directions of all cells are stored.
//
// WFACLI_BLOCK: threads per block, a multiple of 32.
// WFACLI_LANES: lanes per group, a power of two up to 32.
// WFACLI_COLUMNS: columns per lane, a multiple of 4.
// WFACLI_BITS: bits per score, 16 or 32.
// WFACLI_RULE: an SwRule; 2 supports Semiglobal and Global.
// WFACLI_PATH: 1 to compute paths.
// WFACLI_ALL_DIRECTIONS: 1 to store directions of all cells for them.
// WFACLI_STEPS: otherwise, steps between two checkpoints, at least WFACLI_LANES.
#include "sw/sw_traceback.cuh"

namespace wfacli::sw {

constexpr std::uint32_t kBlockPairs = WFACLI_BLOCK / kLanes * kPairs;

struct Shared {
  std::uint32_t scores[kSwCodes * kSwCodes / 4];
  Pair pairs[WFACLI_BLOCK / kLanes][kPairs];  // of each group; in shared memory because cells need the registers
};

WFACLI_DEVICE Status status_of(const SwTask& task, const Best& best) {
  const bool fits = !kLocal || best.score <= Word::kMax - Gaps::of(task).zero - task.max_score;
  return fits ? Status::Ok : Status::ScoreLimit;
}

// Write a pair's answers. Called by one lane per pair.
WFACLI_DEVICE void answer(const SwTask& task, const Pair& pair, const Best& best, Status status, Track& track) {
  if constexpr (kRecomputes) status = track.answer(task, pair, best, status);
  const bool ok = status == Status::Ok;
  task.status[pair.row] = static_cast<std::uint8_t>(status);
  // sw_traceback.cu reads the score in units.
  task.score[pair.row] = ok ? best.score * (kAllDirections ? 1 : task.unit) : 0;
  if constexpr (kFindsStartOnly) task.ends[pair.slot] = int2{best.i, best.j};
  if constexpr (!kPath)
    task.span[pair.row] = ok ? make_int4(0, pair.query_len, 0, pair.target_len) : make_int4(0, 0, 0, 0);
}

WFACLI_DEVICE void align(const SwTask& task, std::int32_t first, const Workspace& workspace, const Profile& profile,
                         const Lines& lines, Shared& shared, std::int32_t lane) {
  const std::int32_t group = static_cast<std::int32_t>(threadIdx.x & 31) / kLanes;  // in the warp
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
  Sweep sweep(task, workspace, profile, lines, lane);
  if (kAllDirections && Gaps::digits(task))
    sweep.run<kAllDirections ? Trace::Digits : Trace::None>(pairs, rows, stripes, best);
  else
    sweep.run<kDefaultTrace>(pairs, rows, stripes, best);
#pragma unroll
  for (int x = 0; x < kPairs; ++x) best[x] = Best::of_group(best[x]);
  // From here on the group's lanes are divided equally among its pairs; the first lane of each writes its answers.
  constexpr int kOwnLanes = kLanes / kPairs;
  const Pair& own = pairs[lane / kOwnLanes];
  Best end = lane < kOwnLanes ? best[0] : best[kPairs - 1];
  const bool owns = lane % kOwnLanes == 0 && own.slot < task.count;
  const Status status = status_of(task, end);
  Track track{0, 0, 0, 0, 0, 0, RunWriter(nullptr, 0)};
  if constexpr (kRecomputes) {
    if (own.slot < task.count && status == Status::Ok) {
      track = Track::from(task, own, end, owns);
      if (kLocal) track.j = (end.j + 1) * kColumns;  // last column of its lane, until the column is known
    }
    PartTraceback(task, workspace, profile, shared.scores, rows, lane).run(pairs, best, track, end.j);
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
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(task.work_counter, static_cast<unsigned>(kWarpPairs));
    drawn = min(__shfl_sync(kAllLanes, drawn, 0), 0x7fffffffu);
    const auto first = static_cast<std::int32_t>(drawn);
    if (first >= task.count) return;
    const std::int32_t group = Workspace::kOfLaunch ? first / kPairs + (thread & 31) / kLanes : thread / kLanes;
    const Workspace workspace = Workspace::of(task, group);
    const std::int32_t lane = thread & (kLanes - 1);
    align(task, first, workspace, profile, Lines(lines), shared, lane);
    // The launch ends with one last draw of each warp, which then exits. The drawn slot is read back from shared memory
    // because no register holds it any more.
    const std::int32_t drew = shared.pairs[(threadIdx.x & ~31u) / kLanes][0].slot;
    if (Workspace::kOfLaunch && drew >= task.count - static_cast<std::int32_t>(gridDim.x * kBlockPairs)) return;
    __syncwarp();  // the workspace can be reused
  }
}

}  // namespace wfacli::sw

WFACLI_KERNEL(sw_align, wfacli::SwTask) { wfacli::sw::align_all(task); }

// Best local score of one long pair, and the cell where its alignment starts (local_strip.cuh). Macros, set by the
// catalogue row:
//
// WFACLI_BLOCK: threads per block. Each warp draws its own strips.
// WFACLI_WORDS: words per lane, each with two rows; a multiple of 4.
// WFACLI_CHUNK: steps per tile.
// WFACLI_PAIRS: 1 to look up the scores of two symbols at a time, for four symbols of the target; others are slower.
#include "local/local_strip.cuh"

WFACLI_KERNEL(local_strips, wfacli::LocalTask) {
  using namespace wfacli::local;
#if WFACLI_PAIRS
  using Scores = PairScores;
#else
  using Scores = ByteScores;
#endif
  WFACLI_DYNAMIC_SHARED(shared);
  const auto in_block = static_cast<std::int32_t>(threadIdx.x / 32);
  const WarpMemory<Scores> memory = WarpMemory<Scores>::of_warp(shared, in_block, task.n_column_codes);
  const auto warp = static_cast<std::int32_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + in_block;
  for (;;) {
    std::uint32_t drawn = 0;
    if ((threadIdx.x & 31) == 0) drawn = atomicAdd(task.work_counter, 1u);
    const std::int64_t number = task.first + __shfl_sync(kAll, drawn, 0);
    if (number >= task.end) return;
    if (!Strip<Scores>(task, memory, number, warp).run()) return;
  }
}

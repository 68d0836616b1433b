// The best local score of one long pair, and where it begins (local_strip.cuh). What a catalogue row decides:
//
// WFACLI_BLOCK   threads a block: its warps draw their strips each for itself
// WFACLI_ROWS    words of two rows that a lane has, a multiple of 4
// WFACLI_CHUNK   steps of a tile
// WFACLI_PAIRS   whether letters are looked up two at a time, for which there may be four different ones in the target
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
  const Room<Scores> room = Room<Scores>::of_warp(shared, in_block, task.letters);
  const auto warp = static_cast<std::int32_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + in_block;
  for (;;) {
    std::uint32_t drawn = 0;
    if ((threadIdx.x & 31) == 0) drawn = atomicAdd(task.next, 1u);
    const std::int64_t number = task.first + __shfl_sync(kAll, drawn, 0);
    if (number >= task.end) return;
    if (!Strip<Scores>(task, room, number, warp).run()) return;
  }
}

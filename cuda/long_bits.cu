// Edit distance of one long pair in a band of bits (long_bits.cuh). What a catalogue row decides:
//
// WFACLI_BLOCK   32: a warp has a stripe
// WFACLI_PLANES  of letters (common/planes.cuh): 2, 4 or 8
// WFACLI_WORDS   of 32 rows that a lane has
#include "long_bits.cuh"

static_assert(WFACLI_BLOCK == 32);

WFACLI_KERNEL(long_bits, wfacli::LongBitsTask) {
  const bool both = task.matrix[1].stripes > 0;
  for (;;) {
    std::uint32_t drawn = 0;
    if (threadIdx.x == 0) drawn = atomicAdd(task.next, 1u);
    const std::int64_t turn = task.first + __shfl_sync(wfacli::kEveryLane, drawn, 0);
    if (turn >= task.end) return;
    const int matrix = both ? 1 - static_cast<int>(turn & 1) : 0;
    wfacli::BitStripe<WFACLI_PLANES, WFACLI_WORDS>(task, matrix, both ? turn >> 1 : turn).run();
  }
}

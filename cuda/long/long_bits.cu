// Edit distance of one long pair with banded bit-vectors (long_bits.cuh). Macros, set by the catalogue row:
//
// WFACLI_BLOCK: threads per block. Each warp has its own scheduler and draws its own stripes.
// WFACLI_PLANES: bit planes per symbol (common/planes.cuh): 2, 4 or 8.
// WFACLI_WORDS: words of 32 rows per lane.
#include "long/long_bits.cuh"

WFACLI_KERNEL(long_bits, wfacli::LongBitsTask) {
  using Stripe = wfacli::BitStripe<WFACLI_PLANES, WFACLI_WORDS>;
  __shared__ typename Stripe::Rows::Memory memory[WFACLI_BLOCK / 32];
  const bool both = task.matrix[1].stripes > 0;
  for (;;) {
    std::uint32_t drawn = 0;
    if (Stripe::lane() == 0) drawn = atomicAdd(task.work_counter, 1u);
    const std::int64_t stripe = task.first + __shfl_sync(wfacli::kEveryLane, drawn, 0);
    if (stripe >= task.end) return;
    const int matrix = both ? 1 - static_cast<int>(stripe & 1) : 0;
    Stripe(task, matrix, both ? stripe >> 1 : stripe, memory[threadIdx.x / 32]).run();
  }
}

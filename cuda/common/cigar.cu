// Concatenate the operations in an alignment kernel's slots: three launches form a prefix sum of the counts, a fourth
// copies.
//
// No block waits for another, and only integers are summed, so the result depends on the counts alone.
// WFACLI_BLOCK: threads per block, a multiple of 32.
#include "common/task.cuh"

namespace wfacli {

constexpr int kWarps = WFACLI_BLOCK / 32;

// Block-wide prefix sums in thread order: over the threads before the caller, and over all. All threads call it.
struct Sums {
  std::int64_t before, all;
};
WFACLI_DEVICE Sums block_sums(std::int64_t value) {
  __shared__ std::int64_t of_warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x / 32);
  std::int64_t inclusive = value;
  for (int by = 1; by < 32; by *= 2) {
    const std::int64_t other = __shfl_up_sync(0xffffffffu, inclusive, static_cast<unsigned>(by));
    if (lane >= by) inclusive += other;
  }
  __syncthreads();  // the previous call's sums have been read
  if (lane == 31) of_warps[warp] = inclusive;
  __syncthreads();
  Sums sums = {inclusive - value, 0};
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) sums.before += of_warps[w];
    sums.all += of_warps[w];
  }
  return sums;
}

// Return the counts of slots first..first + 3; those at or after `end` are 0.
WFACLI_DEVICE int4 four_counts(const GatherTask& task, std::int64_t first, std::int64_t end) {
  if (first + 4 <= end) return *reinterpret_cast<const int4*>(task.op_count + first);
  int4 counts = make_int4(0, 0, 0, 0);
  if (first < end) counts.x = task.op_count[first];
  if (first + 1 < end) counts.y = task.op_count[first + 1];
  if (first + 2 < end) counts.z = task.op_count[first + 2];
  return counts;
}
WFACLI_DEVICE std::int64_t sum_of(int4 counts) {
  return std::int64_t{counts.x} + counts.y + (std::int64_t{counts.z} + counts.w);
}
WFACLI_DEVICE std::int64_t chunk_end(const GatherTask& task, std::int64_t chunk) {
  return min((chunk + 1) * task.chunk, std::int64_t{task.count});
}

}  // namespace wfacli

// Launch 1: sums[c] is the sum of chunk c's counts. Any grid.
WFACLI_KERNEL(sum_chunks, wfacli::GatherTask) {
  for (std::int64_t c = blockIdx.x; c < task.chunks; c += gridDim.x) {
    const std::int64_t end = wfacli::chunk_end(task, c);
    std::int64_t own = 0;
    for (std::int64_t s = c * task.chunk + 4 * static_cast<std::int64_t>(threadIdx.x); s < end; s += 4 * WFACLI_BLOCK)
      own += wfacli::sum_of(wfacli::four_counts(task, s, end));
    const std::int64_t all = wfacli::block_sums(own).all;
    if (threadIdx.x == 0) task.sums[c] = all;
  }
}

// Launch 2: sums[c] becomes the sum over the chunks before c. One block.
WFACLI_KERNEL(sum_before, wfacli::GatherTask) {
  std::int64_t before = 0;
  for (std::int64_t first = 0; first < task.chunks; first += WFACLI_BLOCK) {
    const std::int64_t c = first + threadIdx.x;
    const wfacli::Sums sums = wfacli::block_sums(c < task.chunks ? task.sums[c] : 0);
    if (c < task.chunks) task.sums[c] = before + sums.before;
    before += sums.all;
  }
  if (threadIdx.x == 0) task.start[task.count] = before;
}

// Launch 3: compute start[s] for all slots. Any grid.
WFACLI_KERNEL(sum_slots, wfacli::GatherTask) {
  for (std::int64_t c = blockIdx.x; c < task.chunks; c += gridDim.x) {
    const std::int64_t end = wfacli::chunk_end(task, c);
    std::int64_t before = task.sums[c];
    for (std::int64_t first = c * task.chunk; first < end; first += 4 * WFACLI_BLOCK) {
      const std::int64_t s = first + 4 * static_cast<std::int64_t>(threadIdx.x);
      const int4 counts = wfacli::four_counts(task, s, end);
      const wfacli::Sums sums = wfacli::block_sums(wfacli::sum_of(counts));
      std::int64_t at = before + sums.before;
      if (s < end) task.start[s] = at;
      if (s + 1 < end) task.start[s + 1] = at += counts.x;
      if (s + 2 < end) task.start[s + 2] = at += counts.y;
      if (s + 3 < end) task.start[s + 3] = at += counts.z;
      before += sums.all;
    }
  }
}

// Launch 4: fill cigar. Neighbouring threads copy neighbouring operations of a slot, so accesses cover whole sectors.
// Any grid.
WFACLI_KERNEL(gather_ops, wfacli::GatherTask) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * WFACLI_BLOCK;
  const std::uint64_t threads = static_cast<std::uint64_t>(task.count) << task.lanes_log2;
  const std::int64_t lanes = std::int64_t{1} << task.lanes_log2;
  for (std::uint64_t t = static_cast<std::uint64_t>(blockIdx.x) * WFACLI_BLOCK + threadIdx.x; t < threads; t += step) {
    const std::uint64_t s = t >> task.lanes_log2, at = task.rows ? static_cast<std::uint32_t>(task.rows[s]) : s;
    const std::uint32_t* from = task.ops + s * static_cast<std::uint64_t>(task.op_capacity);
    std::uint32_t* to = task.cigar + task.start[at];
    const std::int32_t count = task.op_count[at];
    for (std::int64_t k = static_cast<std::int64_t>(t) & (lanes - 1); k < count; k += lanes) to[k] = from[k];
  }
}

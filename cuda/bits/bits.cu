// Edit distance of pairs of A C G T, global and exact, with the canonical path, by bit-vectors in a band along the
// diagonal.
//
// bits_align computes the distances, and for paths a trace of two bits per cell; bits_walk, launched after it with the
// same task, follows the trace. The unit of work is a warp, which has 32 / WFACLI_LANES slots and `stride` bytes of
// workspace, from workspace + warp * stride on. The trace takes 256 * WFACLI_WORDS bytes per base of the longest
// target; without paths no workspace is needed. `work_counter` and `costs` are unused.
//
// Ok: cost is the distance. ScoreLimit: the band is too narrow to prove the distance, or the distance is above
// max_cost; cost is then that of some alignment, an upper bound for the next attempt. MemoryLimit: the workspace or
// the slot's ops are too small. LengthLimit: a sequence is longer than 2^30 bases.
//
// WFACLI_WORDS: words of the band per thread. WFACLI_LANES: threads per pair, 1 or 32. The band has
// 32 * WFACLI_WORDS * WFACLI_LANES diagonals. WFACLI_BLOCK: threads per block, a multiple of 32; the grid needs
// count * WFACLI_LANES threads.
#include "bits/bits_sweep.cuh"
#include "bits/bits_traceback.cuh"

namespace wfacli {

constexpr int kWords = WFACLI_WORDS;
#if WFACLI_LANES == 1
using BitsGroup = OneThread;
#else
static_assert(WFACLI_LANES == 32);
using BitsGroup = OneWarp;
#endif

WFACLI_DEVICE std::int64_t grid_thread() { return std::int64_t{blockIdx.x} * WFACLI_BLOCK + threadIdx.x; }
WFACLI_DEVICE uint2* warp_trace(const AlignTask& task) {
  return reinterpret_cast<uint2*>(task.workspace + static_cast<std::uint64_t>(grid_thread() / 32) * task.stride);
}
WFACLI_DEVICE BitsBand band_of(const AlignTask& task, std::int32_t row) {
  return {32 * kWords * BitsGroup::kLanes, task.seq.query_len[row], task.seq.target_len[row]};
}

// Return why the kernel does not align a pair, or Ok.
WFACLI_DEVICE Status refusal(const AlignTask& task, const BitsBand& band) {
  if (max(band.n, band.m) > kBitsLongest) return Status::LengthLimit;
  if (band.length_difference() >= band.diagonals) return Status::ScoreLimit;
  if (task.path && static_cast<std::uint64_t>(band.m) * (256 * kWords) > task.stride) return Status::MemoryLimit;
  return Status::Ok;
}

struct BitsAnswer {
  Status status;
  std::int32_t cost;
};
WFACLI_DEVICE BitsAnswer align_row(const AlignTask& task, std::int32_t row) {
  const BitsBand band = band_of(task, row);
  const Status status = refusal(task, band);
  if (status != Status::Ok) return {status, max(band.n, band.m)};
  BitsSweep<kWords, BitsGroup> sweep(band);
  const Packed query = Packed::query(task.seq, row), target = Packed::target(task.seq, row);
  if (task.path)
    sweep.run<true>(query, target, warp_trace(task) + (threadIdx.x & 31));
  else
    sweep.run<false>(query, target, nullptr);
  const std::int32_t cost = sweep.cost();
  return {cost < band.provable() && cost <= task.max_cost ? Status::Ok : Status::ScoreLimit, cost};
}

}  // namespace wfacli

WFACLI_KERNEL(bits_align, wfacli::AlignTask) {
  const std::int64_t slot = wfacli::grid_thread() / wfacli::BitsGroup::kLanes;
  if (slot >= task.count) return;
  const wfacli::BitsAnswer answer = wfacli::align_row(task, task.rows[slot]);
  if (wfacli::BitsGroup::lane() != 0) return;
  task.status[slot] = static_cast<std::uint8_t>(answer.status);
  task.cost[slot] = answer.cost;
  task.op_count[slot] = 0;
}

WFACLI_KERNEL(bits_walk, wfacli::AlignTask) {
  const std::int64_t slot = wfacli::grid_thread() / wfacli::BitsGroup::kLanes;
  if (slot >= task.count || task.status[slot] != static_cast<std::uint8_t>(wfacli::Status::Ok)) return;
  const bool writes = wfacli::BitsGroup::lane() == 0;
  wfacli::RunWriter runs(task.ops + slot * task.op_capacity, writes ? task.op_capacity : 0);
  wfacli::BitsTraceback<wfacli::kWords, wfacli::BitsGroup> traceback(wfacli::band_of(task, task.rows[slot]),
                                                                     wfacli::warp_trace(task));
  traceback.run(runs);
  const std::int64_t count = runs.finish();
  if (!writes) return;
  if (count > task.op_capacity)
    task.status[slot] = static_cast<std::uint8_t>(wfacli::Status::MemoryLimit);
  else
    task.op_count[slot] = static_cast<std::int32_t>(count);
}

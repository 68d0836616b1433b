// Where a path may cross kept rows (local_strip.cuh): from which columns on it can come, and where it is believed to.
// A part of a row's columns, or all of them, is a block's.
//
// WFACLI_BLOCK  threads
#include "common/task.cuh"

namespace wfacli {

WFACLI_DEVICE std::int64_t score_of(unsigned long long cell) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(cell));
}

}  // namespace wfacli

// The first column of each row from which a path may come to its cell.
WFACLI_KERNEL(local_cones, wfacli::LocalConesTask) {
  const wfacli::LocalCone cone = task.cones[blockIdx.x / static_cast<std::uint32_t>(task.parts)];
  std::uint32_t* const first = task.first + blockIdx.x / static_cast<std::uint32_t>(task.parts);
  const std::int64_t stride = static_cast<std::int64_t>(task.parts) * WFACLI_BLOCK;
  std::int64_t c = static_cast<std::int64_t>(blockIdx.x % static_cast<std::uint32_t>(task.parts)) * WFACLI_BLOCK + threadIdx.x;
  for (; c <= cone.column; c += stride) {
    const std::int64_t columns = cone.column + 1 - c, along = columns - cone.rows;
    std::int64_t most = min(cone.rows, columns) * task.match + wfacli::score_of(cone.row[c]);
    if (along > 0) most -= task.open + along * task.extend;
    if (most + task.spare < cone.needed) continue;
    atomicMin(first, static_cast<std::uint32_t>(c));
    return;
  }
}

// The greatest score of each row up to its cell's column, in the upper half of a word, and its last column.
WFACLI_KERNEL(local_tops, wfacli::LocalConesTask) {
  const wfacli::LocalCone cone = task.cones[blockIdx.x / static_cast<std::uint32_t>(task.parts)];
  const std::int64_t stride = static_cast<std::int64_t>(task.parts) * WFACLI_BLOCK;
  std::int64_t c = static_cast<std::int64_t>(blockIdx.x % static_cast<std::uint32_t>(task.parts)) * WFACLI_BLOCK + threadIdx.x;
  unsigned long long best = 0;
  for (; c <= cone.column; c += stride) {
    const unsigned long long here = static_cast<unsigned long long>(wfacli::score_of(cone.row[c])) << 32 |
                                    static_cast<unsigned long long>(c);
    best = here > best ? here : best;
  }
  atomicMax(task.best + blockIdx.x / static_cast<std::uint32_t>(task.parts), best);
}

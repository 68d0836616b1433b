// Where a path may cross stored rows (local_strip.cuh): the first column from which it can come, and the column where
// it is believed to cross; also copies the cells of these columns. Each block processes part of the columns of one row,
// or all of them.
//
// WFACLI_BLOCK: threads.
#include "common/task.cuh"

namespace wfacli {

WFACLI_DEVICE std::int64_t score_of(unsigned long long cell) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(cell));
}

// The columns of a block. Each thread starts at column `begin` and advances by `stride`.
struct ConePart {
  std::uint32_t number;
  LocalCone cone;
  std::int64_t begin, stride;

  WFACLI_DEVICE explicit ConePart(const LocalConesTask& task)
      : number(blockIdx.x / static_cast<std::uint32_t>(task.parts)), cone(task.cones[number]),
        begin(cone.first +
              static_cast<std::int64_t>(blockIdx.x % static_cast<std::uint32_t>(task.parts)) * WFACLI_BLOCK +
              threadIdx.x),
        stride(static_cast<std::int64_t>(task.parts) * WFACLI_BLOCK) {}
};

}  // namespace wfacli

// Find the first column of each row from which a path may reach the cone's cell. All bits of the answers are set before
// the launch.
WFACLI_KERNEL(local_cones, wfacli::LocalConesTask) {
  const wfacli::ConePart part(task);
  const wfacli::LocalCone& cone = part.cone;
  for (std::int64_t c = part.begin; c <= cone.column; c += part.stride) {
    const std::int64_t columns = cone.column + 1 - c, along = columns - cone.rows;
    std::int64_t bound = min(cone.rows, columns) * task.match + wfacli::score_of(cone.row[c]);
    if (along > 0) bound -= task.open + along * task.extend;
    if (bound + task.slack < cone.needed) continue;
    atomicMin(task.answers + part.number, static_cast<unsigned long long>(c));
    return;
  }
}

// Find the maximum score of each row's columns, less the cost of a gap from the column to the diagonal through
// `middle`. The answer, 0 before the launch, has the score in its upper half and the last such column in its lower
// half. From a column to the right, the gap consumes rows, which then cannot match.
WFACLI_KERNEL(local_tops, wfacli::LocalConesTask) {
  const wfacli::ConePart part(task);
  unsigned long long best = 0;
  for (std::int64_t c = part.begin; c <= part.cone.column; c += part.stride) {
    const std::int64_t right = c - part.cone.middle;
    std::int64_t score = wfacli::score_of(part.cone.row[c]);
    if (right) score -= task.open + (right < 0 ? -right * task.extend : right * (task.extend + task.match));
    const unsigned long long here = static_cast<unsigned long long>(score) << 32 | static_cast<unsigned long long>(c);
    if (score > 0 && here > best) best = here;
  }
  atomicMax(task.answers + part.number, best);
}

// Copy the cells of the columns, one cone after the other.
WFACLI_KERNEL(local_windows, wfacli::LocalConesTask) {
  const wfacli::ConePart part(task);
  unsigned long long* const to = task.answers + part.cone.output_offset - part.cone.first;
  for (std::int64_t c = part.begin; c <= part.cone.column; c += part.stride) to[c] = part.cone.row[c];
}

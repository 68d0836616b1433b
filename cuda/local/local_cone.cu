// Where a path may cross kept rows (local_strip.cuh): from which columns on it can come, and where it is believed to;
// and these columns' cells. A part of a row's columns, or all of them, is a block's.
//
// WFACLI_BLOCK  threads
#include "common/task.cuh"

namespace wfacli {

WFACLI_DEVICE std::int64_t score_of(unsigned long long cell) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(cell));
}

// What a block looks at: each of its threads a column, and then those `stride` further on.
struct ConePart {
  std::uint32_t number;
  LocalCone cone;
  std::int64_t begin, stride;

  WFACLI_DEVICE explicit ConePart(const LocalConesTask& task)
      : number(blockIdx.x / static_cast<std::uint32_t>(task.parts)), cone(task.cones[number]),
        begin(cone.first + static_cast<std::int64_t>(blockIdx.x % static_cast<std::uint32_t>(task.parts)) * WFACLI_BLOCK + threadIdx.x),
        stride(static_cast<std::int64_t>(task.parts) * WFACLI_BLOCK) {}
};

}  // namespace wfacli

// The first column of each row from which a path may come to its cell; all bits are set before.
WFACLI_KERNEL(local_cones, wfacli::LocalConesTask) {
  const wfacli::ConePart part(task);
  const wfacli::LocalCone& cone = part.cone;
  for (std::int64_t c = part.begin; c <= cone.column; c += part.stride) {
    const std::int64_t columns = cone.column + 1 - c, along = columns - cone.rows;
    std::int64_t most = min(cone.rows, columns) * task.match + wfacli::score_of(cone.row[c]);
    if (along > 0) most -= task.open + along * task.extend;
    if (most + task.spare < cone.needed) continue;
    atomicMin(task.answers + part.number, static_cast<unsigned long long>(c));
    return;
  }
}

// The greatest score of each row's columns, less what comes of a gap from there to the middle's diagonal, in the upper
// half of a word, and its last column; 0 before. Down from a column on the right such a gap takes rows, whose letters
// then do not match.
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

// The columns' cells, one cone's behind the other's.
WFACLI_KERNEL(local_windows, wfacli::LocalConesTask) {
  const wfacli::ConePart part(task);
  unsigned long long* const to = task.answers + part.cone.to - part.cone.first;
  for (std::int64_t c = part.begin; c <= part.cone.column; c += part.stride) to[c] = part.cone.row[c];
}

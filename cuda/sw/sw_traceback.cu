// Traceback of paths for which sw.cu has stored the directions of all cells. One thread per pair, so that many memory
// accesses overlap.
//
// The task is that of the previous launch, except for `work_counter`. Macros as in sw.cu.
#include "sw/sw_traceback.cuh"

namespace wfacli::sw {

static_assert(kAllDirections);

WFACLI_DEVICE void trace_slot(const SwTask& task, const std::uint32_t* scores, std::int32_t slot) {
  const Pair pair = Pair::of(task, slot);
  const int2 end = task.ends[slot];
  const Best best{task.score[pair.row], end.x, end.y};
  const Status status = static_cast<Status>(task.status[pair.row]);
  Track track = Track::from(task, pair, best, true);
  if (status != Status::Ok) track.i = track.j = 0;
  Traceback(task, Workspace::of(task, slot / kPairs), scores).all(pair, slot % kPairs, track);
  const Status found = track.answer(task, pair, best, status);
  task.status[pair.row] = static_cast<std::uint8_t>(found);
  task.score[pair.row] = found == Status::Ok ? best.score * task.unit : 0;
}

}  // namespace wfacli::sw

WFACLI_KERNEL(sw_walk, wfacli::SwTask) {
  __shared__ std::uint32_t scores[wfacli::kSwCodes * wfacli::kSwCodes / 4];
  for (int k = static_cast<int>(threadIdx.x); k < wfacli::kSwCodes * wfacli::kSwCodes / 4; k += WFACLI_BLOCK)
    scores[k] = task.scores[k];
  __syncthreads();
  const auto threads = static_cast<std::int32_t>(gridDim.x * WFACLI_BLOCK);
  for (auto slot = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x); slot < task.count;
       slot += threads)
    wfacli::sw::trace_slot(task, scores, slot);
}

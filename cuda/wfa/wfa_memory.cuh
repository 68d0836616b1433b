// Memory of a group of threads that aligns pairs (wfa.cuh), and the highest score whose wavefronts it holds.
#pragma once

#include "wfa/wfa_band.cuh"
#include "wfa/wfa_ring.cuh"
#include "wfa/wfa_trace.cuh"

namespace wfacli {

// Addresses of a group's memory, the same for all its pairs. Template parameters: see Wavefront.
template <int Pieces, class Trace, class Group, class Offset, int Width, Outside Out>
struct WavefrontMemory {
  static constexpr bool kBanded = Out == Outside::Wrapped;
  using R = Ring<Offset, Trace::kWords, Width, Out>;

  GroupState* state;
  std::uint8_t* ring;     // shared
  Range* ranges;          // shared; only with a band
  std::uint8_t* spilled;  // global
  TraceMemory trace;

  // Lay out the group's memory for the whole launch. Any status but Ok means that no pair of it can be aligned.
  WFACLI_DEVICE Status lay_out(const AlignTask& task, std::uint8_t* shared) {
    const Penalties<Pieces> p{task.costs};
    state = reinterpret_cast<GroupState*>(shared) + Group::group();
    if (!p.supported()) return Status::Unsupported;
    const std::int32_t rows = p.rows();
    ring = shared + Group::kGroups * sizeof(GroupState) + Group::group() * shared_bytes(p);
    std::uint8_t* rest = ring + R::shared_bytes(rows);
    ranges = reinterpret_cast<Range*>(rest);
    if (kBanded) rest += Band<Pieces, Group>::shared_bytes(p);
    const std::uint64_t unit = static_cast<std::uint64_t>(blockIdx.x) * Group::kGroups + Group::group();
    spilled = task.workspace + unit * task.stride;
    const std::uint64_t spilled_bytes = R::global_bytes(rows, half(task, p));
    trace = {spilled + spilled_bytes, task.stride - spilled_bytes, state};
    if (Trace::kCarried && !Trace::kLinked) trace = {rest, 4 * Trace::kWords, state};
    return spilled_bytes <= task.stride ? Status::Ok : Status::MemoryLimit;
  }

  // Return the highest score that the task, the offsets and the trace allow.
  WFACLI_DEVICE static std::int32_t cost_limit(const AlignTask& task) {
    const Penalties<Pieces> p{task.costs};
    std::int32_t limit = min(task.max_cost, R::kMaxScore);
    if (Out == Outside::None) limit = min(limit, p.max_score_within(R::kMaxHalf - 1));
    if (Trace::kMaxSteps != INT32_MAX) limit = min(limit, Trace::kMaxSteps * p.twice_min_step() / 2);
    return limit;
  }
  // Return how many diagonals on either side of 0 the ring holds: one more than are ever reached.
  WFACLI_DEVICE static std::int32_t half(const AlignTask& task, const Penalties<Pieces>& p) {
    return min(p.max_gap_length(cost_limit(task)), task.longest) + 1;
  }

 private:
  // Return the bytes of shared memory of a group, without its state.
  WFACLI_DEVICE static std::uint32_t shared_bytes(const Penalties<Pieces>& p) {
    std::uint32_t bytes = R::shared_bytes(p.rows());
    if (kBanded) bytes += Band<Pieces, Group>::shared_bytes(p);
    if (Trace::kCarried && !Trace::kLinked) bytes += (4 * Trace::kWords + 15) & ~15;
    return (bytes + 15) & ~15u;
  }
};

}  // namespace wfacli

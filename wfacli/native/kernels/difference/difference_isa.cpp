// The difference kernels of one instruction set; compiled once per set, which WFACLI_ISA names.
#include "kernels/difference/difference_free_group.hpp"
#include "kernels/difference/difference_reads.hpp"
#include "kernels/difference/difference_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class S>
static KernelAnswer in_memory(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  if (Rows<S>::bytes(task) > task.checkpoint_bytes) return {Status::MemoryLimit};
  return Difference<S>(task, memory, cigar).run();
}

template <int Pieces>
static KernelAnswer by_costs(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  const std::int64_t need = lane_need(task.costs);
  const std::int64_t total_length = static_cast<std::int64_t>(task.query_len) + task.target_len;
  if (need > INT16_MAX || total_length * need > INT32_MAX) return {Status::Unsupported};
  if (need > INT8_MAX) return in_memory<Scheme<Pieces, std::int16_t, false>>(task, memory, cigar);
  if (task.wildcard) return in_memory<Scheme<Pieces, std::int8_t, true>>(task, memory, cigar);
  return in_memory<Scheme<Pieces, std::int8_t, false>>(task, memory, cigar);
}

// Aligns a pair of which one sequence is empty.
static KernelAnswer one_gap(const KernelTask& task, Cigar& cigar) {
  const std::int64_t cost = gap_cost(task.costs, static_cast<std::int64_t>(task.query_len) + task.target_len);
  if (cost > task.max_score) return {Status::ScoreLimit};
  KernelAnswer answer;
  answer.score = static_cast<std::int32_t>(cost);
  if (task.path) {
    cigar.add(kInsertion, task.query_len);
    cigar.add(kDeletion, task.target_len);
  }
  return answer;
}

KernelAnswer difference(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  if (task.heuristics.any()) return {Status::Unsupported};
  if (task.query_len == 0 || task.target_len == 0)
    return task.free.any() ? KernelAnswer{Status::Unsupported} : one_gap(task, cigar);
  if (task.costs.pieces == 2) return by_costs<2>(task, memory, cigar);
  return task.costs.linear() ? by_costs<0>(task, memory, cigar) : by_costs<1>(task, memory, cigar);
}

template <int Pieces>
static void reads_by_ends(const ReadsTask& task, DifferenceMemory& memory, ReadsAnswer* answers) {
  if (task.free.any())
    FreeReads<Pieces>(task, memory, answers).run();
  else
    Reads<Pieces>(task, memory, answers).run();
}

void difference_reads(const ReadsTask& task, DifferenceMemory& memory, ReadsAnswer* answers) {
  if (lane_need(task.costs) > INT8_MAX) {
    for (std::int32_t p = 0; p < task.count; ++p) answers[p] = {.status = Status::Unsupported};
  } else if (task.costs.pieces == 2) {
    reads_by_ends<2>(task, memory, answers);
  } else if (task.costs.linear()) {
    reads_by_ends<0>(task, memory, answers);
  } else {
    reads_by_ends<1>(task, memory, answers);
  }
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

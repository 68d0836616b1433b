// The difference kernel for one pair, by the number of gap pieces. Each number has a unit of its own
// (difference_linear_isa.cpp and the others), since together they take the compiler longer than any other kernel.
#pragma once

#include "kernels/difference/difference_gap.hpp"
#include "kernels/difference/difference_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Aligns the parts between certain matches.
template <class S>
static KernelAnswer in_parts(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  const Sentinels sentinels{task.query[-1], task.target[-1]};
  KernelAnswer whole;
  KernelTask part = task;
  for (std::size_t x = memory.certain.parts.size(); x-- > 0;) {  // paths are traced from the last cell
    const CertainPart p = memory.certain.parts[x];
    if (task.path) cigar.add(kEqual, p.matches);
    part.query = task.query + p.i;
    part.target = task.target + p.j;
    part.query_len = p.query_len;
    part.target_len = p.target_len;
    part.max_score = part.estimate = static_cast<std::int32_t>(p.max_cost);
    const bool empty = part.query_len == 0 || part.target_len == 0;
    const KernelAnswer answer =
        empty ? one_gap(part, cigar) : Difference<S>(part, sentinels, memory, cigar).run();
    if (answer.status != Status::Ok) return answer;
    whole.score += answer.score;
  }
  return whole;
}

template <class S>
static KernelAnswer in_memory(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  if (Rows<S>::bytes(task) > task.checkpoint_bytes) return {Status::MemoryLimit};
  Difference<S> pair(task, memory, cigar);
  const KernelAnswer answer = pair.run();
  return pair.divided() ? in_parts<S>(task, memory, cigar) : answer;
}

// As `difference`, without heuristics and empty sequences.
template <int Pieces>
KernelAnswer difference_pair(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  const std::int64_t need = lane_need(task.costs);
  const std::int64_t total_length = static_cast<std::int64_t>(task.query_len) + task.target_len;
  if (need > INT16_MAX || total_length * need > INT32_MAX) return {Status::Unsupported};
  if (need > INT8_MAX) return in_memory<Scheme<Pieces, std::int16_t, false>>(task, memory, cigar);
  if (task.wildcard) return in_memory<Scheme<Pieces, std::int8_t, true>>(task, memory, cigar);
  return in_memory<Scheme<Pieces, std::int8_t, false>>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

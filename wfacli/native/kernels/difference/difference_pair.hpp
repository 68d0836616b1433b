// The difference kernel for one pair, by the number of gap pieces. Each number has a unit of its own
// (difference_linear_isa.cpp and the others), since together they take the compiler longer than any other kernel.
#pragma once

#include "kernels/difference/difference_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class S>
static KernelAnswer in_memory(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  if (Rows<S>::bytes(task) > task.checkpoint_bytes) return {Status::MemoryLimit};
  return Difference<S>(task, memory, cigar).run();
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

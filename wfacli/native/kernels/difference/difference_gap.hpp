// Pairs of which one sequence is empty.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/gap_cost.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Aligns a pair of which one sequence is empty, globally.
static inline KernelAnswer one_gap(const KernelTask& task, Cigar& cigar) {
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

}  // namespace WFACLI_ISA
}  // namespace wfacli

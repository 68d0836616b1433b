// The difference kernel for one pair, by the number of gap pieces. Each number has a unit of its own
// (difference_linear_isa.cpp and the others), since together they take the compiler longer than any other kernel.
#pragma once

#include "kernels/difference/difference_gap.hpp"
#include "kernels/difference/difference_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Costs of a path through the seeds of a chain.
template <class S>
class ChainCost {
 public:
  ChainCost(const KernelTask& task, const Sentinels& sentinels, DifferenceMemory& memory, Cigar& cigar)
      : t_(task), sentinels_(sentinels), memory_(memory), cigar_(cigar) {}

  // Returns the cost of a path through a part: the cheapest one between seeds that are some hundred rows apart; or, if some
  // are so far apart that this would take as long as a band of `cells` cells a row, a negative number.
  std::int64_t of(const CertainPart& part, std::int32_t cells) const {
    const std::int64_t most = (std::int64_t{part.query_len} + part.target_len) * cells / 16;
    std::int64_t cost = 0;
    std::int32_t i = part.i, j = part.j;
    const std::int32_t end_i = part.i + part.query_len, end_j = part.j + part.target_len, k = memory_.certain.k;
    for (std::size_t s = 0; s < memory_.certain.stops.size(); ++s) {
      const Stop stop = memory_.certain.stops[s];
      if (stop.i < i || stop.j < j) continue;
      if (stop.i + k > end_i || stop.j + k > end_j) break;
      if (stop.i - i < kLeap && stop.j - j < kLeap) continue;
      if (std::int64_t{stop.i - i} * (stop.j - j) > most) return -1;
      cost += between(i, j, stop.i, stop.j);
      i = stop.i + k;
      j = stop.j + k;
    }
    if (std::int64_t{end_i - i} * (end_j - j) > most) return -1;
    return cost + between(i, j, end_i, end_j);
  }

 private:
  static constexpr std::int32_t kLeap = 256;

  std::int64_t between(std::int32_t i, std::int32_t j, std::int32_t end_i, std::int32_t end_j) const {
    const std::int32_t rows = end_i - i, columns = end_j - j, shorter = smaller(rows, columns);
    const std::int64_t mismatches = std::int64_t{t_.costs.mismatch} * shorter + gap_cost(t_.costs, rows + columns - 2 * shorter);
    const std::int64_t crude = smaller(mismatches, gap_cost(t_.costs, rows) + gap_cost(t_.costs, columns));
    if (!shorter) return crude;
    KernelTask task = t_;
    task.query += i, task.target += j;
    task.query_len = rows, task.target_len = columns;
    task.path = false;
    task.max_score = static_cast<std::int32_t>(crude);
    task.estimate = -1;
    const KernelAnswer answer = Difference<S>(task, sentinels_, memory_, cigar_).run();
    return answer.status == Status::Ok ? answer.score : crude;
  }

  const KernelTask& t_;
  const Sentinels& sentinels_;
  DifferenceMemory& memory_;
  Cigar& cigar_;
};

// Aligns the parts between certain matches.
template <class S>
static KernelAnswer in_parts(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  const Sentinels sentinels{task.query[-1], task.target[-1]};
  const ChainCost<S> chain(task, sentinels, memory, cigar);
  KernelAnswer whole;
  KernelTask part = task;
  for (std::size_t x = memory.certain.parts.size(); x-- > 0;) {  // paths are traced from the last cell
    const CertainPart p = memory.certain.parts[x];
    if (task.path) cigar.add(kEqual, p.matches);
    part.query = task.query + p.i;
    part.target = task.target + p.j;
    part.query_len = p.query_len;
    part.target_len = p.target_len;
    part.max_score = part.estimate = static_cast<std::int32_t>(smaller<std::int64_t>(p.max_cost, task.max_score));
    if (const std::int32_t cells = Bounds(part).band(part.max_score).cells(0); cells > Difference<S>::kDivided) {
      const std::int64_t cost = chain.of(p, cells);
      if (cost >= 0 && cost < part.max_score) part.max_score = static_cast<std::int32_t>(cost);
      part.estimate = cost < 0 ? -1 : part.max_score;
    }
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

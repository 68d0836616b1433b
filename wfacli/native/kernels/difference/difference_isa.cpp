// Entry points of the difference kernels; compiled once per instruction set, which WFACLI_ISA names.
#include "kernels/difference/difference_free_group.hpp"
#include "kernels/difference/difference_gap.hpp"
#include "kernels/difference/difference_reads.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int Pieces>
KernelAnswer difference_pair(const KernelTask&, DifferenceMemory&, Cigar&);  // difference_pair.hpp

KernelAnswer difference(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  if (task.heuristics.any()) return {Status::Unsupported};
  if (task.query_len == 0 || task.target_len == 0)
    return task.free.any() ? KernelAnswer{Status::Unsupported} : one_gap(task, cigar);
  if (task.costs.pieces == 2) return difference_pair<2>(task, memory, cigar);
  return task.costs.linear() ? difference_pair<0>(task, memory, cigar) : difference_pair<1>(task, memory, cigar);
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

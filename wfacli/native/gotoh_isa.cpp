// The kernel for any costs, for one instruction set: compiled once for each, with WFACLI_ISA naming it.
#include "gotoh_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Run>
static KernelAnswer by_costs(const KernelTask& task, const Run& run) {
  if (task.heuristics.any() || task.heuristics.zdrop > 0) return {.status = Status::Unsupported};
  if (task.costs.pieces == 2) return task.wildcard ? run.template operator()<2, true>() : run.template operator()<2, false>();
  return task.wildcard ? run.template operator()<1, true>() : run.template operator()<1, false>();
}

KernelAnswer gotoh(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  return by_costs(task, [&]<int P, bool W>() -> KernelAnswer {
    if (GotohRows<P, W>::bytes(task) > task.checkpoint_bytes) return {.status = Status::MemoryLimit};
    return Gotoh<P, W>(task, memory, cigar).run();
  });
}

KernelAnswer gotoh_extension(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  return by_costs(task, [&]<int P, bool W>() -> KernelAnswer {
    if (GotohRows<P, W>::bytes(task) > task.checkpoint_bytes) return {.status = Status::MemoryLimit};
    return Gotoh<P, W>(task, memory, cigar).run_extension();
  });
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

// The Gotoh kernel of one instruction set; compiled once per set, which WFACLI_ISA names.
#include "kernels/gotoh/gotoh_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Rows, bool Extension>
static KernelAnswer solve(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  constexpr std::size_t kFloor = std::size_t{1} << 20;  // bytes that this last fallback may always use
  if (Rows::bytes(task) > task.checkpoint_bytes && Rows::bytes(task) > kFloor) return {.status = Status::MemoryLimit};
  Gotoh<Rows> gotoh(task, memory, cigar);
  return Extension ? gotoh.run_extension() : gotoh.run();
}

template <int Pieces, bool Wildcard, bool Extension>
static KernelAnswer by_size(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  using Narrow = GotohRows<Pieces, Wildcard, std::int32_t>;
  if (Narrow::holds(task)) return solve<Narrow, Extension>(task, memory, cigar);
  return solve<GotohRows<Pieces, Wildcard, std::int64_t>, Extension>(task, memory, cigar);
}

template <bool Extension>
static KernelAnswer by_costs(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  if (task.heuristics.any() || task.heuristics.zdrop > 0) return {.status = Status::Unsupported};
  if (task.costs.pieces == 2)
    return task.wildcard ? by_size<2, true, Extension>(task, memory, cigar)
                         : by_size<2, false, Extension>(task, memory, cigar);
  return task.wildcard ? by_size<1, true, Extension>(task, memory, cigar)
                       : by_size<1, false, Extension>(task, memory, cigar);
}

KernelAnswer gotoh(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  return by_costs<false>(task, memory, cigar);
}

KernelAnswer gotoh_extension(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  return by_costs<true>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

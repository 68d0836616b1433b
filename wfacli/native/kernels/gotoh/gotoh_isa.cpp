// The Gotoh kernel of one instruction set; compiled once per set, which WFACLI_ISA names.
#include "kernels/gotoh/gotoh_solve.hpp"

#include <utility>

namespace wfacli {
namespace WFACLI_ISA {

// Returns the task with query and target exchanged.
static KernelTask transposed(const KernelTask& task) {
  KernelTask other = task;
  std::swap(other.query, other.target);
  std::swap(other.query_len, other.target_len);
  std::swap(other.free.query_begin, other.free.target_begin);
  std::swap(other.free.query_end, other.free.target_end);
  return other;
}

template <class Rows, bool Extension>
static KernelAnswer solve(const KernelTask& given, GotohMemory& memory, Cigar& cigar) {
  constexpr std::size_t kFloor = std::size_t{1} << 20;  // bytes that this last fallback may always use
  // Memory grows with the task's query, so that is the shorter sequence; the ends of extensions depend on the roles.
  const bool exchanged = !Extension && given.query_len > given.target_len;
  const KernelTask task = exchanged ? transposed(given) : given;
  if (Rows::bytes(task) > task.checkpoint_bytes && Rows::bytes(task) > kFloor) return {.status = Status::MemoryLimit};
  Gotoh<Rows> gotoh(task, exchanged, memory, cigar);
  if (Extension) return gotoh.run_extension();
  KernelAnswer answer = gotoh.run();
  if (exchanged) {
    std::swap(answer.query_skip, answer.target_skip);
    std::swap(answer.query_skip_end, answer.target_skip_end);
  }
  return answer;
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

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

constexpr std::size_t kFloor = std::size_t{1} << 20;  // bytes that this last fallback may always use

template <class Rows>
static bool fits_memory(const KernelTask& task) {
  return Rows::bytes(task) <= task.checkpoint_bytes || Rows::bytes(task) <= kFloor;
}

template <class Rows>
static KernelAnswer align(const KernelTask& given, GotohMemory& memory, Cigar& cigar) {
  // Memory grows with the task's query, so that is the shorter sequence.
  const bool exchanged = given.query_len > given.target_len;
  const KernelTask task = exchanged ? transposed(given) : given;
  if (!fits_memory<Rows>(task)) return {.status = Status::MemoryLimit};
  KernelAnswer answer = Gotoh<Rows>(task, exchanged, memory, cigar).run();
  if (exchanged) {
    std::swap(answer.query_skip, answer.target_skip);
    std::swap(answer.query_skip_end, answer.target_skip_end);
  }
  return answer;
}

// The ends of extensions depend on the roles of the sequences, so they are not exchanged.
template <class Rows>
static KernelAnswer extend(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  if (!fits_memory<Rows>(task)) return {.status = Status::MemoryLimit};
  return Gotoh<Rows>(task, false, memory, cigar).run_extension();
}

struct Align {
  template <int Pieces, bool ByBits>
  static KernelAnswer run(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
    using Narrow = GotohRows<Pieces, ByBits, std::int32_t>;
    if (Narrow::holds(task)) return align<Narrow>(task, memory, cigar);
    return align<GotohRows<Pieces, ByBits, std::int64_t>>(task, memory, cigar);
  }
};

struct Extend {
  template <int Pieces, bool ByBits>
  static KernelAnswer run(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
    using Narrowest = GotohRows<Pieces, ByBits, std::int16_t>;
    using Narrow = GotohRows<Pieces, ByBits, std::int32_t>;
    if (Narrowest::holds_extension(task)) return extend<Narrowest>(task, memory, cigar);
    if (Narrow::holds_extension(task)) return extend<Narrow>(task, memory, cigar);
    return extend<GotohRows<Pieces, ByBits, std::int64_t>>(task, memory, cigar);
  }
};

template <class Run>
static KernelAnswer by_costs(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  if (task.heuristics.any()) return {.status = Status::Unsupported};
  if (task.costs.pieces == 2)
    return task.by_bits ? Run::template run<2, true>(task, memory, cigar)
                         : Run::template run<2, false>(task, memory, cigar);
  return task.by_bits ? Run::template run<1, true>(task, memory, cigar)
                       : Run::template run<1, false>(task, memory, cigar);
}

KernelAnswer gotoh(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  return by_costs<Align>(task, memory, cigar);
}

KernelAnswer gotoh_extension(const KernelTask& task, GotohMemory& memory, Cigar& cigar) {
  return by_costs<Extend>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

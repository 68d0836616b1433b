// The wavefront kernel for one instruction set: compiled once for each, with WFACLI_ISA naming it.
#include "wavefront_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int Pieces>
static WavefrontAnswer by_alphabet(const WavefrontTask& task, KernelMemory& memory, Cigar& cigar) {
  if (task.wildcard) return Solver<Pieces, SharedBits>(task, memory, cigar).run();
  return Solver<Pieces, EqualCodes>(task, memory, cigar).run();
}

WavefrontAnswer wavefront(const WavefrontTask& task, KernelMemory& memory, Cigar& cigar) {
  return task.metric == Metric::Edit ? by_alphabet<0>(task, memory, cigar) : by_alphabet<1>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

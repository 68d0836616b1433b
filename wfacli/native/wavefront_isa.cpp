// The wavefront kernels for one instruction set: compiled once for each, with WFACLI_ISA naming it.
#include "wavefront_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <template <int, class> class Run, class... Arguments>
static KernelAnswer by_costs(const KernelTask& t, Arguments&... arguments) {
  const int pieces = t.costs.linear() ? 0 : t.costs.pieces;
  const auto with = [&](auto match) {
    using Match = decltype(match);
    if (pieces == 0) return Run<0, Match>::run(t, arguments...);
    if (pieces == 1) return Run<1, Match>::run(t, arguments...);
    return Run<2, Match>::run(t, arguments...);
  };
  return t.wildcard ? with(SharedBits{}) : with(EqualCodes{});
}

template <int Pieces, class Match>
struct Align {
  static KernelAnswer run(const KernelTask& t, WavefrontMemory& memory, Cigar& cigar) {
    return Solver<Pieces, Match>(t, memory, cigar).run();
  }
};

template <int Pieces, class Match>
struct Extend {
  static KernelAnswer run(const KernelTask& t, WavefrontMemory& memory, Cigar& cigar) {
    return Solver<Pieces, Match>(t, memory, cigar).run_extension();
  }
};

KernelAnswer wavefront(const KernelTask& task, WavefrontMemory& memory, Cigar& cigar) {
  return by_costs<Align>(task, memory, cigar);
}

KernelAnswer wavefront_extension(const KernelTask& task, WavefrontMemory& memory, Cigar& cigar) {
  return by_costs<Extend>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

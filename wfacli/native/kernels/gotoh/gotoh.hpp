// Dynamic programming over all cells: any costs, any free ends, any bases, at a price that does not depend on the costs.
//
// It is the last resort: wavefronts take time that grows with the cost, and the difference kernels (difference.hpp)
// need costs that fit 16 bits.
#pragma once

#include "kernels/kernel.hpp"

namespace wfacli {

// What a thread keeps from pair to pair.
struct GotohMemory {
  struct Checkpoint {
    std::int32_t step, lo, hi;  // an anti-diagonal and its cells that are kept
    std::size_t at;             // of their values in `saved`
  };
  Buffer<std::uint8_t> text, rows, saved, table;
  Buffer<Checkpoint> checkpoints;
};

// `gotoh` aligns globally or with free ends; Unsupported for heuristics. `gotoh_extension` finds the end of the best
// extension of sequences as they are (not reversed), as Solver::run_extension of wavefront_solve.hpp does. A max_score of
// INT32_MAX / 2 is no bound: costs may be greater.
#define WFACLI_DECLARE(isa)                                               \
  namespace isa {                                                         \
  KernelAnswer gotoh(const KernelTask&, GotohMemory&, Cigar&);            \
  KernelAnswer gotoh_extension(const KernelTask&, GotohMemory&, Cigar&);  \
  }
WFACLI_DECLARE(x86_64_v2)
WFACLI_DECLARE(x86_64_v3)
WFACLI_DECLARE(x86_64_v4)
WFACLI_DECLARE(baseline)
#undef WFACLI_DECLARE

}  // namespace wfacli

// The difference kernel: exact global alignment of noisy pairs by vectorised dynamic programming in a band.
#pragma once

#include "kernel.hpp"

namespace wfacli {

// What a thread's difference kernels keep from pair to pair.
struct DifferenceMemory {
  struct Checkpoint {
    std::int32_t row, lo, hi, k_lo, k_hi;  // an anti-diagonal, its cells, the band from there on
    std::size_t at;                        // of its values in `saved`
  };
  struct Piece {
    std::int32_t row, cells, slot;  // the anti-diagonal before it, cells a row, the first cell's letter of the query
    std::size_t at;                 // of its rows in `table`
  };
  Buffer<std::uint8_t> text, rows, table, saved;
  Buffer<Checkpoint> checkpoints;
  Buffer<Piece> pieces;
};

// Global, gap-affine (two pieces at most) or linear gaps; Unsupported for free ends, heuristics and huge costs.
// task.estimate sizes the first band. Defined for each instruction set.
#define WFACLI_DECLARE(isa) \
  namespace isa { KernelAnswer difference(const KernelTask&, DifferenceMemory&, Cigar&); }
WFACLI_DECLARE(x86_64_v2)
WFACLI_DECLARE(x86_64_v3)
WFACLI_DECLARE(x86_64_v4)
WFACLI_DECLARE(baseline)
#undef WFACLI_DECLARE

}  // namespace wfacli

// Dynamic programming over all cells, for any costs, free ends and bases; its time does not depend on the costs.
//
// This is the last fallback: the time of wavefronts grows with the cost, and the difference kernels (difference.hpp)
// require costs that fit 16 bits.
#pragma once

#include "kernels/kernel.hpp"

namespace wfacli {

// Buffers of one thread, reused between pairs.
struct GotohMemory {
  struct Checkpoint {
    std::int32_t step, lo, hi;  // an anti-diagonal, and the range of cells stored
    std::size_t at;             // offset of their values in `saved`
  };
  Buffer<std::uint8_t> text, rows, saved, table;
  Buffer<Checkpoint> checkpoints;
};

// `gotoh` aligns globally or with free ends. `gotoh_extension` finds the end of the best extension of sequences that
// are not reversed (extension_rule.hpp). Both return Unsupported for heuristics that leave out diagonals. A
// max_score of INT32_MAX / 2 means no limit; costs may exceed it.
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

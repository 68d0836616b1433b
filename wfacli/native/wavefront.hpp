// The wavefront kernel's contract: plain values in, a status, a score and a CIGAR out.
//
// One body (wavefront_rows.hpp, wavefront_front.hpp, wavefront_solve.hpp) is compiled once per
// instruction set by wavefront_isa.cpp; `kernel_table` holds the entries that this machine can run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "types.hpp"

namespace wfacli {

enum class Metric : std::uint8_t { Edit, Affine };

// How much of the wavefront is kept, and so how the path is found again.
enum class Memory : std::uint8_t {
  Table,   // every row; MemoryLimit once they pass table_bytes
  Linear,  // rows of some scores; pieces between them are computed again (table_bytes each)
};

struct WavefrontTask {
  // Codes of the *reversed* sequences, each followed by 16 or more sentinels (see letters.hpp).
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;
  Costs costs;  // divided by their greatest common divisor
  Metric metric;
  bool wildcard;  // codes match when they share a bit, else when they are equal
  Memory memory;
  std::int32_t max_score;                      // in units of costs; ScoreLimit above it
  std::size_t table_bytes, checkpoint_bytes;   // bounds on kept rows, and on all checkpoints together
  const CancelFlag* cancelled;
};

struct WavefrontAnswer {
  Status status;
  std::int32_t score;  // in units of task.costs
};

// Where one score's row lies: diagonals lo..hi, one run of `stride` offsets a component from `at` on.
struct RowRef {
  std::int64_t at;
  std::int32_t lo, hi, stride;
};

// Rows of one wavefront.
struct RowMemory {
  Buffer<std::int32_t> offsets;
  Buffer<RowRef> rows;
};

// Memory that a kernel keeps between pairs, so that none is allocated for a pair; one a thread.
struct KernelMemory {
  RowMemory table, ring;
};

// Aligns one pair globally and exactly; adds its canonical CIGAR to `cigar`.
using WavefrontKernel = WavefrontAnswer (*)(const WavefrontTask&, KernelMemory&, Cigar&);

struct KernelEntry {
  const char* name = nullptr;  // instruction set
  WavefrontKernel kernel = nullptr;
};

// The kernels that this machine can run, slowest first; `count` receives how many.
const KernelEntry* kernel_table(int& count);

}  // namespace wfacli

// What the alignment kernels share: plain values in; a status, a cost, a span and a CIGAR out.
//
// Each family of kernels (wavefront, bits, difference) is one body that is compiled once per instruction set;
// `kernel_table` holds the builds that this machine can run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace wfacli {

// How many sentinels stand before and after a sequence's codes.
constexpr std::size_t kSentinels = 64;

// How much is kept on the way forward, and so how the path is found again.
enum class Memory : std::uint8_t {
  Table,   // everything; MemoryLimit once it passes table_bytes
  Linear,  // checkpoints; pieces between them are computed again (table_bytes each)
};

// One pair. Sequences come reversed: cell (0, 0) is the end of both, and the way back from (query_len,
// target_len) meets the operations in forward order. `query_begin` and the like are the ends of the sequences
// as the user has them.
struct KernelTask {
  // Codes of the reversed sequences, with kSentinels codes that match nothing (not each other either) on both sides.
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;
  bool wildcard;  // codes match when they share a bit, else when they are equal

  Costs costs;          // divided by their greatest common divisor; a match costs 0
  FreeEnds free;        // letters that may stay unaligned, none for a global alignment
  bool path;            // whether the CIGAR is wanted
  Memory memory;
  std::int32_t max_score;                     // in units of costs; ScoreLimit above it
  std::int32_t estimate;                      // of the cost, in units of costs; -1 unknown; never changes an answer
  std::size_t table_bytes, checkpoint_bytes;  // bounds on what is kept
  Heuristics heuristics;
  const CancelFlag* cancelled;
  bool may_hand_on = false;  // whether WorkLimit is an answer where all cells would take less time
};

struct KernelAnswer {
  Status status = Status::Ok;
  std::int64_t score = 0;       // the cost in units of task.costs, unaligned letters included
  std::int32_t query_skip = 0, target_skip = 0;          // unaligned letters at the beginning
  std::int32_t query_skip_end = 0, target_skip_end = 0;  // and at the end
  bool cut = false;             // a heuristic left something out, so a better alignment may exist
};

// Aligns one pair; adds its canonical CIGAR (if the path is wanted) to `cigar`, forward.
template <class M>
using Kernel = KernelAnswer (*)(const KernelTask&, M&, Cigar&);

}  // namespace wfacli

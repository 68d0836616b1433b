// Interface shared by all alignment kernels: plain values in; status, cost, span and CIGAR out.
//
// Each family of kernels (wavefront, bits, difference, gotoh) is one body, compiled once per instruction set.
// `kernel_table` lists the builds that this machine can run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/symbols.hpp"

namespace wfacli {

// Number of sentinel codes before and after each sequence.
constexpr std::size_t kSentinels = 64;

// What the forward pass stores for the traceback.
enum class Memory : std::uint8_t {
  Table,   // everything; MemoryLimit if that exceeds table_bytes
  Linear,  // checkpoints; the traceback recomputes each piece between two of them (table_bytes per piece)
};

// One pair. Sequences are stored reversed: cell (0, 0) is the end of both, so a traceback from (query_len, target_len)
// meets the operations in forward order. Names such as `query_begin` refer to the sequences as the user gave them.
struct KernelTask {
  // Codes of the reversed sequences. On both sides stand kSentinels codes that match nothing, not even each other.
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;
  // Codes match if they share a bit, and others with one of kAmbiguousCodes cost costs.ambiguous; otherwise codes match if
  // they are equal, and all others cost a mismatch.
  bool by_bits;
  bool wildcards;  // by_bits, and codes that differ may match

  Costs costs;          // divided by their greatest common divisor; a match costs 0; `ambiguous`: a mismatch unless used
  FreeEnds free;        // numbers of bases that may stay unaligned; none for a global alignment
  bool path;            // whether to return a CIGAR
  Memory memory;
  std::int32_t max_score;                     // in units of costs; a higher cost returns ScoreLimit
  std::int32_t estimate;                      // of the cost, in units of costs; -1 if unknown; never changes an answer
  std::size_t table_bytes, checkpoint_bytes;  // memory limits for the traceback
  Heuristics heuristics;
  const CancelFlag* cancelled;
  // Whether the kernel may return WorkLimit when computing all cells would be faster.
  bool may_return_work_limit = false;
};

struct KernelAnswer {
  Status status = Status::Ok;
  std::int64_t score = 0;       // cost in units of task.costs, including unaligned bases
  std::int32_t query_skip = 0, target_skip = 0;          // unaligned bases at the beginning
  std::int32_t query_skip_end = 0, target_skip_end = 0;  // unaligned bases at the end
  bool heuristic_applied = false;                        // a heuristic skipped cells, so a better alignment may exist
};

// Aligns one pair. If the task asks for a path, appends its canonical CIGAR to `cigar` in forward order.
template <class M>
using Kernel = KernelAnswer (*)(const KernelTask&, M&, Cigar&);

}  // namespace wfacli

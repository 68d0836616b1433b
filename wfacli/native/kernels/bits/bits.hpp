// Interface of the bit-parallel kernels: exact edit distance, with the canonical path on request.
//
// Three bodies, each compiled once per instruction set by bits_isa.cpp:
//   lanes    several pairs per vector, global; A C G T only, distances below 64 * words (bits_lanes.hpp)
//   stripes  one pair over all lanes, global; any symbols, any distance (bits_stripes.hpp)
//   inside   several short queries per vector, each placed within its target; A C G T only (bits_inside.hpp)
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.hpp"

namespace wfacli {

// A batch of pairs for `lanes`. Sequences contain only A C G T in either case, forward, as read.
struct LanesTask {
  const PairView* pairs;
  std::int32_t count;       // consecutive pairs share a vector, so sort them by length
  bool path;                // whether to return CIGARs
  std::int32_t words;       // band width in words of 64 diagonals: 1, 2, 4 or 8
  std::size_t table_bytes;  // limit on the trace of one vector's pairs
  const CancelFlag* cancelled;
};

// Result of one pair. The distance is below 64 * words; otherwise the status is ScoreLimit, and the band was too
// narrow to prove a distance. MemoryLimit and LengthLimit are as in Status; Dropped means that the task was cancelled.
struct LanesAnswer {
  Status status = Status::Ok;
  std::int32_t score = 0;      // edits
  std::int64_t cigar_end = 0;  // number of runs in the CIGARs up to and including this pair's
};

// Maximum length of a sequence for `lanes`.
constexpr std::int32_t kMaxLanesLength = 1 << 20;

// Cost of one edit under any cost model: between `min_cost` and `max_cost`.
struct EditRange {
  std::int32_t min_cost = 1, max_cost = 1;
  // Returns the maximum number of edits of a path that costs no more than some path of `known_edits` edits.
  std::int64_t max_edits(std::int64_t known_edits) const { return known_edits * max_cost / min_cost; }
};

// A query that is aligned end to end, and a target of which some bases may stay unaligned at each end.
struct InsidePair {
  PairView pair;
  std::int32_t free_begin, free_end;  // maximum numbers of unaligned bases, at most target_len
};

// A batch of pairs for `inside`. Sequences are as for `lanes`, and none is empty.
struct InsideTask {
  const InsidePair* pairs;
  std::int32_t count;       // consecutive pairs share a vector, so sort them by target length
  std::int32_t words;       // length of the longest query in words of 64 bases, up to kMaxInsideWords
  bool path;                // whether to return paths; then the beginning of each target is aligned (free_begin is 0)
  EditRange range;          // without paths: report also where costlier paths within this range begin
  std::size_t table_bytes;  // limit on the trace of one vector's pairs
  const CancelFlag* cancelled;
};

// Result of one pair. The status is Ok, MemoryLimit or Dropped.
struct InsideAnswer {
  Status status = Status::Ok;
  std::int32_t edits = 0;
  std::int32_t skip_begin = 0, skip_end = 0;  // unaligned bases of the target; skip_end only with a path
  std::int32_t min_skip_begin = 0, max_skip_begin = 0;  // bounds of skip_begin over all paths within the range
  std::int64_t cigar_end = 0;                 // as in LanesAnswer
};

// Maximum query length in words and maximum target length for `inside`.
constexpr std::int32_t kMaxInsideWords = 8, kMaxInsideLength = 1 << 20;

// Buffers of one thread, reused between calls so that no pair allocates memory.
struct BitsMemory {
  Buffer<std::uint64_t> planes;   // bit planes of the sequences
  Buffer<std::uint64_t> trace;    // two bits per cell of the band
  Buffer<std::uint64_t> state;    // deltas between stripes, checkpoints
  Buffer<std::uint64_t> events;   // columns where a path has an operation other than a match
  Buffer<std::int64_t> checkpoint_steps;  // steps at which checkpoints were taken
  Buffer<std::int32_t> repeats[8];  // per lane, columns with more than one insertion
};

// Aligns task.count pairs and appends their CIGARs to `cigar` in the order of the pairs.
using LanesKernel = void (*)(const LanesTask&, BitsMemory&, Cigar&, LanesAnswer*);
using InsideKernel = void (*)(const InsideTask&, BitsMemory&, Cigar&, InsideAnswer*);

#define WFACLI_DECLARE_BITS(isa)                                         \
  namespace isa {                                                        \
  void lanes(const LanesTask&, BitsMemory&, Cigar&, LanesAnswer*);       \
  KernelAnswer stripes(const KernelTask&, BitsMemory&, Cigar&);          \
  void inside(const InsideTask&, BitsMemory&, Cigar&, InsideAnswer*);    \
  }

#if defined(__x86_64__)
WFACLI_DECLARE_BITS(x86_64_v2)
WFACLI_DECLARE_BITS(x86_64_v3)
WFACLI_DECLARE_BITS(x86_64_v4)
#else
WFACLI_DECLARE_BITS(baseline)
#endif

}  // namespace wfacli

// The bit-parallel kernels' contract: edit distance, global, exact, with the canonical path if it is wanted.
//
// Two bodies, both compiled once per instruction set by bits_isa.cpp:
//   lanes    several pairs in one vector, for plain letters and distances below 64 * words (bits_lanes.hpp)
//   stripes  one pair over all lanes, for any letters and any distance (bits_stripes.hpp)
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel.hpp"

namespace wfacli {

// Pairs for `lanes`. Their letters are A C G T in either case and nothing else, forward, as read.
struct LanesTask {
  const PairView* pairs;
  std::int32_t count;       // pairs that follow one another share a vector: alike lengths waste least
  bool path;                // whether CIGARs are wanted
  std::int32_t words;       // diagonals of the band in 64s: 1, 2, 4 or 8
  std::size_t table_bytes;  // bound on what is kept to find the paths of one vector's pairs
  const CancelFlag* cancelled;
};

// What became of one pair. The distance is below 64 * words, or the status is ScoreLimit and the band was too
// narrow to prove anything; MemoryLimit and LengthLimit as in Status; Dropped after cancelling.
struct LanesAnswer {
  Status status = Status::Ok;
  std::int32_t score = 0;      // edits
  std::int64_t cigar_end = 0;  // of all the CIGARs' runs, those up to and with this pair's
};

// The longest sequence that `lanes` takes.
constexpr std::int32_t kLanesLongest = 1 << 20;

// Memory that the kernels keep between calls, so that none is allocated for a pair; one a thread.
struct BitsMemory {
  Buffer<std::uint64_t> letters;  // bit planes
  Buffer<std::uint64_t> trace;    // two bits a cell of the band
  Buffer<std::uint64_t> state;    // deltas between stripes, checkpoints
  Buffer<std::uint64_t> events;   // where a path leaves its run of matches
  Buffer<std::int64_t> moments;   // steps at which checkpoints were taken
  Buffer<std::int32_t> repeats[8];  // columns with further insertions, of each lane
};

// Aligns task.count pairs; their CIGARs are added to `cigar` in the pairs' order.
using LanesKernel = void (*)(const LanesTask&, BitsMemory&, Cigar&, LanesAnswer*);

#define WFACLI_DECLARE_BITS(isa)                                         \
  namespace isa {                                                        \
  void lanes(const LanesTask&, BitsMemory&, Cigar&, LanesAnswer*);       \
  KernelAnswer stripes(const KernelTask&, BitsMemory&, Cigar&);          \
  }

#if defined(__x86_64__)
WFACLI_DECLARE_BITS(x86_64_v2)
WFACLI_DECLARE_BITS(x86_64_v3)
WFACLI_DECLARE_BITS(x86_64_v4)
#else
WFACLI_DECLARE_BITS(baseline)
#endif

}  // namespace wfacli

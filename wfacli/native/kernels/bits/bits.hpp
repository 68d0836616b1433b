// The bit-parallel kernels' contract: edit distance, global, exact, with the canonical path if it is wanted.
//
// Three bodies, all compiled once per instruction set by bits_isa.cpp:
//   lanes    several pairs in one vector, for plain letters and distances below 64 * words (bits_lanes.hpp)
//   stripes  one pair over all lanes, for any letters and any distance (bits_stripes.hpp)
//   inside   several short queries in one vector, each somewhere in its target, for plain letters (bits_inside.hpp)
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.hpp"

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

// What costs of any kind make of edits: each costs `least` to `most`.
struct EditRange {
  std::int32_t least = 1, most = 1;
  // Edits of a path that costs no more than some path of so many edits.
  std::int64_t edits(std::int64_t known) const { return known * most / least; }
};

// A query that is aligned whole, with a target of which so many letters may stay unaligned at each end.
struct InsidePair {
  PairView pair;
  std::int32_t free_begin, free_end;  // at most as many as there are
};

// Pairs for `inside`. Letters as for `lanes`; no sequence is empty.
struct InsideTask {
  const InsidePair* pairs;
  std::int32_t count;       // pairs that follow one another share a vector: alike targets waste least
  std::int32_t words;       // letters of every query in 64s: up to kInsideWords
  bool path;                // whether paths are wanted: of pairs where all of the target's beginning is aligned
  EditRange range;          // without paths: how much more than the least beginnings may cost that are wanted too
  std::size_t table_bytes;  // bound on what is kept to find the paths of one vector's pairs
  const CancelFlag* cancelled;
};

// What became of one pair: Ok, MemoryLimit or Dropped.
struct InsideAnswer {
  Status status = Status::Ok;
  std::int32_t edits = 0;
  std::int32_t skip_begin = 0, skip_end = 0;  // letters of the target that stay unaligned; skip_end with the path only
  std::int32_t least_skip = 0, most_skip = 0;  // skip_begin of all paths within the range lies between these
  std::int64_t cigar_end = 0;                 // as LanesAnswer has it
};

// The longest query in words, and the longest target, that `inside` takes.
constexpr std::int32_t kInsideWords = 8, kInsideLongest = 1 << 20;

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

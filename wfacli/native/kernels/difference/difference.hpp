// The difference kernels: exact global alignment of noisy pairs by vectorised dynamic programming in a band.
//
//   difference        one pair over all lanes (difference_solve.hpp)
//   difference_reads  a pair in each lane, for short ones (difference_reads.hpp, with free ends difference_free_group.hpp)
#pragma once

#include "kernels/kernel.hpp"

namespace wfacli {

// Short pairs, forward.
struct ReadsTask {
  // Letters as codes that match where they are equal, once `masks` are applied: `mask[p]` for pair p's. 64 bytes that
  // may be read follow each sequence.
  const PairView* pairs;
  const std::uint8_t* masks;
  std::int32_t count;
  Costs costs;              // divided by their greatest common divisor
  FreeEnds free;
  bool path;                // whether CIGARs are wanted
  std::int32_t max_score;   // in units of costs; ScoreLimit above it
  std::size_t table_bytes;  // bound on what is kept to find the paths of one vector's pairs
  const CancelFlag* cancelled;
};

// What became of one pair. ScoreLimit where the widest band proves nothing, LengthLimit above kReadsLongest,
// MemoryLimit and Dropped as in Status, Unsupported for costs that 8 bits do not hold and free ends without a sequence.
struct ReadsAnswer {
  Status status = Status::Ok;
  std::int32_t score = 0;              // in units of task.costs
  std::int64_t cigar = 0, runs = 0;    // where its CIGAR begins in DifferenceMemory::cigars, and how long it is
  std::int32_t query_skip = 0, target_skip = 0, query_skip_end = 0, target_skip_end = 0;  // as in KernelAnswer
};

// Letters of the longest sequence that `difference_reads` takes, and where ends are free: then it computes all cells.
constexpr std::int32_t kReadsLongest = 2000, kFreeReadsLongest = 512;

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
  struct Read {
    std::int32_t pair, query_len, target_len, room;  // diagonals around those of its ends that it is to have
    // Reads that share a vector have much the same length, band and difference of lengths.
    WFACLI_INLINE std::uint32_t key() const {
      const auto skew = static_cast<std::uint32_t>(query_len - target_len + 64) & 127;
      return static_cast<std::uint32_t>(target_len) >> 5 << 12 | static_cast<std::uint32_t>(room) >> 2 << 7 | skew;
    }
  };
  Buffer<std::uint8_t> text, rows, table, saved;
  Buffer<Read> reads, again, sorted;
  Buffer<std::uint32_t> cigars;  // of the pairs that difference_reads was last called for
  Buffer<Checkpoint> checkpoints;
  Buffer<Piece> pieces;
};

using ReadsKernel = void (*)(const ReadsTask&, DifferenceMemory&, ReadsAnswer*);

// `difference`: global or with free ends, gap-affine (two pieces at most) or linear gaps; Unsupported for free ends of a
// pair that lacks a side, heuristics and huge costs.
// task.estimate sizes the first band. Defined for each instruction set.
#define WFACLI_DECLARE(isa)                                                  \
  namespace isa {                                                            \
  KernelAnswer difference(const KernelTask&, DifferenceMemory&, Cigar&);     \
  void difference_reads(const ReadsTask&, DifferenceMemory&, ReadsAnswer*);  \
  }
WFACLI_DECLARE(x86_64_v2)
WFACLI_DECLARE(x86_64_v3)
WFACLI_DECLARE(x86_64_v4)
WFACLI_DECLARE(baseline)
#undef WFACLI_DECLARE

}  // namespace wfacli

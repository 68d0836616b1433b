// Interface of the difference kernels: exact alignment of noisy pairs, global or with free ends, by vectorised
// dynamic programming in a band.
//
//   difference        one pair over all lanes (difference_pair.hpp)
//   difference_reads  one short pair per lane (difference_reads.hpp; with free ends difference_free_group.hpp)
#pragma once

#include "kernels/certain/certain.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {

// A batch of short pairs, forward.
struct ReadsTask {
  // Sequences as codes, which match if they are equal after `masks[p]` is applied to pair p. 64 readable bytes must
  // follow each sequence.
  const PairView* pairs;
  const std::uint8_t* masks;
  std::int32_t count;
  Costs costs;              // divided by their greatest common divisor
  FreeEnds free;
  bool path;                // whether to return CIGARs
  std::int32_t max_score;   // in units of costs; a higher cost returns ScoreLimit
  std::size_t table_bytes;  // limit on the trace of one vector's pairs
  const CancelFlag* cancelled;
};

// Result of one pair. ScoreLimit: the widest band proves nothing. LengthLimit: a sequence is longer than
// kMaxReadsLength. Unsupported: costs do not fit 8 bits, or ends are free and a sequence is empty. MemoryLimit and
// Dropped are as in Status.
struct ReadsAnswer {
  Status status = Status::Ok;
  std::int32_t score = 0;              // in units of task.costs
  std::int64_t cigar = 0, runs = 0;    // start of its CIGAR in DifferenceMemory::cigars, and number of runs
  std::int32_t query_skip = 0, target_skip = 0, query_skip_end = 0, target_skip_end = 0;  // as in KernelAnswer
};

// Maximum sequence lengths for `difference_reads`: without and with free ends, which require all cells.
constexpr std::int32_t kMaxReadsLength = 2000, kMaxFreeReadsLength = 512;

// Buffers of one thread, reused between pairs.
struct DifferenceMemory {
  struct Checkpoint {
    std::int32_t row, lo, hi, k_lo, k_hi;  // an anti-diagonal, its cells, the band from there on
    std::int16_t low_gap[2];               // see Rows
    std::size_t at;                        // offset of its values in `saved`
  };
  struct Piece {
    std::int32_t row, cells, slot;  // anti-diagonal before the piece, cells per row, query index of the first cell
    std::size_t at;                 // offset of its rows in `table`
  };
  struct Read {
    std::int32_t pair, query_len, target_len, room;  // room: diagonals of the band beyond those of both ends
    // Sort key. Reads that share a vector have similar lengths, bands and length differences.
    WFACLI_INLINE std::uint32_t key() const {
      const auto skew = static_cast<std::uint32_t>(query_len - target_len + 64) & 127;
      return static_cast<std::uint32_t>(target_len) >> 5 << 12 | static_cast<std::uint32_t>(room) >> 2 << 7 | skew;
    }
  };
  Buffer<std::uint8_t> text, rows, table, saved;
  Buffer<Read> reads, retries, sorted;
  Buffer<std::uint32_t> cigars;  // of the last call of difference_reads
  Buffer<std::uint64_t> kmers;         // a bit for each k-mer, all 0 between pairs
  Buffer<std::int32_t> absent_seeds;
  Buffer<Checkpoint> checkpoints;
  Buffer<Piece> pieces;
  CertainMemory certain;
  Buffer<CertainPart> pieces_of_parts;  // parts of certain.parts
  Cigar segment;                        // of a path through seeds
};

using ReadsKernel = void (*)(const ReadsTask&, DifferenceMemory&, ReadsAnswer*);

// `difference` aligns globally or with free ends, under linear or gap-affine costs of at most two pieces. It returns
// Unsupported for heuristics, for very large costs, and for free ends if a sequence is empty. task.estimate sets the
// width of the first band. Defined for each instruction set.
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

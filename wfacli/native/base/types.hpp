// The data contract of wfacli/core/batch.py as the native code sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

// Outcome of a pair: aligned, or why not. Same values as wfacli.core.batch.Status.
enum class Status : std::uint8_t {
  Ok,
  ScoreLimit,
  MemoryLimit,
  LengthLimit,
  Dropped,
  Unsupported,
  WorkLimit,   // another kernel is expected to be faster
  ScoreRange,  // the score does not fit 32 bits
};

// CIGAR operations with the codes of BAM; a CIGAR element is length << 4 | operation.
enum Op : std::uint32_t { kMatch = 0, kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8 };

// Bits of the SAM FLAG field.
enum SamFlag : std::int32_t {
  kPaired = 1,
  kProper = 2,  // properly paired according to the mapper
  kUnmapped = 4,
  kMateUnmapped = 8,
  kReverseStrand = 16,
  kMateReverse = 32,
  kFirstMate = 64,
  kLastMate = 128,
  kSecondary = 256,
  kFailed = 512,
  kDuplicate = 1024,
  kSupplementary = 2048
};

// How symbols other than A C G T U compare (wfacli.config.Ambiguous).
// Charged: they match nothing, as under Mismatch, and have a penalty of their own.
enum class Ambiguous : std::uint8_t { Mismatch, Wildcard, Literal, Charged };

// True if two symbols match when their codes share a bit, not when the codes are equal.
constexpr bool matches_by_bits(Ambiguous rule) { return rule == Ambiguous::Wildcard || rule == Ambiguous::Charged; }

// Affine gap cost: a gap of length l costs open + l * extend. Two pieces: the smaller of both costs.
struct GapPiece {
  std::int32_t open = 0, extend = 1;
};

// Costs that kernels minimise; a match costs 0. The defaults are edit distance.
//
// Kernels know no match bonus b. Since 2 * matches + 2 * mismatches + gap length is the number of aligned symbols of
// both sequences, the best score is the minimum cost with mismatch 2 * (x + b), gap opening 2 * o, gap extension 2 * e
// + b, and b for each symbol that stays unaligned (engine.cpp).
struct Costs {
  std::int32_t mismatch = 1;
  std::int32_t ambiguous = 1;  // a column with an ambiguous symbol, under Ambiguous::Charged; at most a mismatch
  std::int32_t pieces = 1;  // 1 or 2
  GapPiece gap[2]{};
  std::int32_t skip = 0;  // per symbol that free ends leave unaligned

  // Linear gap costs need no gap states in the recurrence.
  WFACLI_INLINE bool linear() const { return pieces == 1 && gap[0].open == 0; }
};

// Maximum number of symbols at each end that may stay unaligned at no gap cost.
struct FreeEnds {
  std::int32_t query_begin = 0, query_end = 0, target_begin = 0, target_end = 0;
  WFACLI_INLINE bool any() const { return (query_begin | query_end | target_begin | target_end) != 0; }
};

// Heuristics, which may miss the best alignment; 0 or less is off.
struct Heuristics {
  std::int32_t band = 0;       // diagonals computed on either side of the band's centre
  std::int32_t band_step = 0;  // re-centre the band after this many scores; 0: keep it around both corners
  std::int32_t drop = 0;       // X-drop: drop diagonals this far below the best score (KernelTask: twice the score)
  // Z-drop: end an extension more than this below its best score. KernelTask: at least this, in units of costs.
  std::int32_t zdrop = 0;
  // True if wavefronts may omit diagonals.
  WFACLI_INLINE bool any() const { return band > 0 || drop > 0; }
};

// Bits of PairBatch.flags.
enum Flag : std::uint8_t {
  kNonAcgt = 1,        // has a symbol other than A C G T (either case)
  kNonNucleotide = 2,  // has a symbol that is not an IUPAC nucleotide code
};

// Query and target of one pair, borrowed from a batch.
struct PairView {
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;

  // Returns the part inside `span`: q_beg, q_end, t_beg, t_end, half open.
  PairView part(const std::int32_t* span) const {
    return {query + span[0], target + span[2], span[1] - span[0], span[3] - span[2]};
  }
};

// Columns of wfacli.core.batch.Mapped: positions of rows whose queries are parts of reads and whose targets are
// windows of a reference. Rows of a template (a read, or a pair of mates, one mate after the other) are consecutive
// and share `first`.
struct MappedView {
  const std::int64_t *t_offset, *t_total;
  const std::int64_t* read_start;  // offset of the whole read in BatchView::text, or -1
  const std::int32_t *clip_begin, *clip_end, *first, *sam_flags;
  const std::uint8_t* mapq;
  const std::int64_t* tags;  // offset of the read's own tags in BatchView::text
  const std::int32_t* tags_len;
};

// Columns of a PairBatch: n pairs.
struct BatchView {
  std::int64_t n;
  const std::uint8_t* bases;
  const std::int64_t *q_start, *t_start;
  const std::int32_t *q_len, *t_len;
  const std::uint8_t* flags;
  const std::int32_t* est_edits;
  // Records: `text` holds names and qualities; the columns are offsets into it. qual is -1 where there is no quality.
  const std::uint8_t* text;
  const std::int64_t *q_name, *t_name, *qual;
  const std::int32_t *q_name_len, *t_name_len;
  MappedView mapped;  // null pointers unless the pairs are mapped reads

  bool is_mapped() const { return mapped.sam_flags != nullptr; }
  std::string_view target_name(std::int64_t i) const {
    return {reinterpret_cast<const char*>(text) + t_name[i], static_cast<std::size_t>(t_name_len[i])};
  }
  PairView pair(std::int64_t i) const {
    return {bases + q_start[i], bases + t_start[i], q_len[i], t_len[i]};
  }
};

// Columns of an AlignmentBatch.
struct AlignmentView {
  std::int64_t n;
  const std::uint8_t *status, *cut;
  const std::int32_t *score, *span;  // span: i32[n, 4], q_beg q_end t_beg t_end
  const std::uint32_t* cigar;
  const std::int64_t* cigar_start;
  const std::int32_t* second;  // second-best scores; null unless requested
};

// Builder of CIGARs, in forward order. Adjacent elements of the same operation are merged; CIGARs are stored one after
// another, and begin() starts a new one.
class Cigar {
 public:
  WFACLI_INLINE void begin() { first_ = runs_.size(); }
  WFACLI_INLINE void add(Op op, std::int32_t length) {
    if (length <= 0) return;
    const std::uint32_t l = static_cast<std::uint32_t>(length);
    if (runs_.size() > first_ && (runs_.back() & 15u) == op && (runs_.back() >> 4) + l <= kMaxRun) {
      runs_.back() += l << 4;
      return;
    }
    add_split(op, l);
  }
  WFACLI_INLINE void drop() { runs_.resize(first_); }
  Buffer<std::uint32_t>& runs() { return runs_; }

 private:
  static constexpr std::uint32_t kMaxRun = (1u << 28) - 1;  // BAM stores lengths in 28 bits
  WFACLI_INLINE void add_split(Op op, std::uint32_t length) {
    for (; length > kMaxRun; length -= kMaxRun) runs_.push(kMaxRun << 4 | op);
    if (length) runs_.push(length << 4 | op);
  }
  Buffer<std::uint32_t> runs_;
  std::size_t first_ = 0;
};

// Cancellation flag, set from another thread to stop running alignments.
class CancelFlag {
 public:
  void set() { flag_.store(true, std::memory_order_relaxed); }
  WFACLI_INLINE bool is_set() const { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace wfacli

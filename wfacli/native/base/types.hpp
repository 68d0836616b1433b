// The data contract of wfacli/core/batch.py as the native code sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

// Why a pair has no alignment; the values are those of wfacli.core.batch.Status.
enum class Status : std::uint8_t {
  Ok,
  ScoreLimit,
  MemoryLimit,
  LengthLimit,
  Dropped,
  Unsupported,
  WorkLimit,   // another kernel takes less time
  ScoreRange,  // the score does not fit 32 bits
};

// Operations of a CIGAR as BAM numbers them; an element of a CIGAR is length << 4 | operation.
enum Op : std::uint32_t { kMatch = 0, kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8 };

// Bits of SAM's FLAG.
enum SamFlag : std::int32_t {
  kPaired = 1,
  kProper = 2,  // both mates lie as they should
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

// How letters other than A C G T U compare (wfacli.config.Ambiguous).
enum class Ambiguous : std::uint8_t { Mismatch, Wildcard, Literal };

// A gap of l letters costs open + l * extend; of two pieces, the cheaper one.
struct GapPiece {
  std::int32_t open = 0, extend = 1;
};

// What kernels charge; a match costs nothing. The defaults are edit distance.
//
// A match bonus b is no matter of kernels: since 2 * matches + 2 * mismatches + gap letters is the number of aligned
// letters of both sequences, the best score is the least cost with mismatch 2 * (x + b), open 2 * o, extend
// 2 * e + b, and b for each letter that stays unaligned (engine.cpp).
struct Costs {
  std::int32_t mismatch = 1;
  std::int32_t pieces = 1;  // 1 or 2
  GapPiece gap[2];
  std::int32_t skip = 0;  // for each letter that free ends leave unaligned

  // Gaps without opening need no state of their own.
  WFACLI_INLINE bool linear() const { return pieces == 1 && gap[0].open == 0; }
};

// How many letters at each end may stay unaligned.
struct FreeEnds {
  std::int32_t query_begin = 0, query_end = 0, target_begin = 0, target_end = 0;
  WFACLI_INLINE bool any() const { return (query_begin | query_end | target_begin | target_end) != 0; }
};

// Ways to leave cells out; 0 (or less) is off.
struct Heuristics {
  std::int32_t band = 0;       // diagonals on either side that are computed
  std::int32_t band_step = 0;  // scores after which the band is centred again; 0 leaves it on the way between the ends
  std::int32_t drop = 0;       // diagonals that fall so far (twice the score) behind the best one are given up
  std::int32_t zdrop = 0;      // an extension ends where it has fallen so far (twice the score)
  // Whether rows leave diagonals out.
  WFACLI_INLINE bool any() const { return band > 0 || drop > 0; }
};

// Bits of PairBatch.flags.
enum Flag : std::uint8_t {
  kNonAcgt = 1,        // a letter other than A C G T (either case)
  kNonNucleotide = 2,  // a letter that is no nucleotide code at all
};

struct PairView {
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int32_t query_len, target_len;

  // The letters from q_beg to q_end and from t_beg to t_end.
  PairView part(const std::int32_t* span) const {
    return {query + span[0], target + span[2], span[1] - span[0], span[3] - span[2]};
  }
};

// Columns of wfacli.core.batch.Mapped: where rows lie that are parts of reads and windows of a reference. Rows of a template (a
// read, or a pair of mates, one mate after the other) follow one another, and have the same `first`.
struct MappedView {
  const std::int64_t *t_offset, *t_total, *letters;  // letters: of the whole read in the records' text, or -1
  const std::int32_t *clip_begin, *clip_end, *first, *sam_flags;
  const std::uint8_t* mapq;
  const std::int64_t* tags;  // fields of the read's own, in the records' text
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
  // Records: names and qualities inside `text`; a quality of -1 is absent.
  const std::uint8_t* text;
  const std::int64_t *q_name, *t_name, *qual;
  const std::int32_t *q_name_len, *t_name_len;
  MappedView mapped;  // nulls where rows are pairs and no more

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
  const std::int32_t *score, *span;  // span: four a row
  const std::uint32_t* cigar;
  const std::int64_t* cigar_start;
  const std::int32_t* second;  // null where nobody asked
};

// CIGAR under construction, in forward order; adjacent equal operations are merged.
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
  static constexpr std::uint32_t kMaxRun = (1u << 28) - 1;  // what BAM's 28 bits hold
  WFACLI_INLINE void add_split(Op op, std::uint32_t length) {
    for (; length > kMaxRun; length -= kMaxRun) runs_.push(kMaxRun << 4 | op);
    if (length) runs_.push(length << 4 | op);
  }
  Buffer<std::uint32_t> runs_;
  std::size_t first_ = 0;
};

// Set by the thread that wants running alignments to stop.
class CancelFlag {
 public:
  void set() { flag_.store(true, std::memory_order_relaxed); }
  WFACLI_INLINE bool is_set() const { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace wfacli

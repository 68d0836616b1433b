// The data contract of wfacli/batch.py as the native code sees it.
#pragma once

#include <atomic>
#include <cstdint>

#include "buffer.hpp"

namespace wfacli {

// Why a pair has no alignment; the values are those of wfacli.batch.Status.
enum class Status : std::uint8_t { Ok, ScoreLimit, MemoryLimit, LengthLimit, Dropped, Unsupported };

// Operations of a CIGAR as BAM numbers them; an element of a CIGAR is length << 4 | operation.
enum Op : std::uint32_t { kMatch = 0, kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8 };

// How letters other than A C G T U compare (wfacli.config.Ambiguous).
enum class Ambiguous : std::uint8_t { Mismatch, Wildcard, Literal };

// What a wavefront charges: a mismatch, and opening and extending a gap. Edit distance has no opening.
struct Costs {
  std::int32_t mismatch = 1, open = 0, extend = 1;
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
};

// Columns of a PairBatch: n pairs.
struct BatchView {
  std::int64_t n;
  const std::uint8_t* bases;
  const std::int64_t *q_start, *t_start;
  const std::int32_t *q_len, *t_len;
  const std::uint8_t* flags;
  // Records: names and qualities inside `text`; a quality of -1 is absent.
  const std::uint8_t* text;
  const std::int64_t *q_name, *t_name, *qual;
  const std::int32_t *q_name_len, *t_name_len;

  PairView pair(std::int64_t i) const {
    return {bases + q_start[i], bases + t_start[i], q_len[i], t_len[i]};
  }
};

// Columns of an AlignmentBatch.
struct AlignmentView {
  std::int64_t n;
  const std::uint8_t* status;
  const std::int32_t* score;
  const std::uint32_t* cigar;
  const std::int64_t* cigar_start;
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

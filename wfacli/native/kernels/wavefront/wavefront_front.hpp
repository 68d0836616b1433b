// One step of the wavefront: ranges of rows, the recurrences, and the extension along diagonals. Included by
// wavefront_isa.cpp only; everything here exists once per instruction set.
//
// Recurrences: S. Marco-Sola et al., "Fast gap-affine pairwise alignment using the wavefront algorithm",
// Bioinformatics 2021. Sequences are stored reversed, so the traceback (wavefront_traceback.hpp) meets operations in
// forward order. Free ends: a diagonal enters at the score of the bases that it leaves unaligned.
#pragma once

#include "kernels/wavefront/wavefront_match.hpp"
#include "kernels/wavefront/wavefront_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

struct Range {
  std::int32_t lo, hi;
  bool empty() const { return lo > hi; }
};

WFACLI_INLINE std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }
WFACLI_INLINE std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
WFACLI_INLINE Range common(Range a, Range b) { return {larger(a.lo, b.lo), smaller(a.hi, b.hi)}; }

// Pieces: number of (open, extend) pairs of the gap cost; 0 means no opening cost, with gaps stored in M only.
// FromEnd: offsets and diagonals count from the sequences' ends, and bases are read backwards.
template <int Pieces, class Match, bool FromEnd = false>
class Front {
 public:
  static constexpr int kComponents = 1 + 2 * Pieces;
  static constexpr std::int32_t kMeetingDepth = 8;  // maximum depth for two wavefronts to meet (Meeting)

  explicit Front(const KernelTask& task)
      : c_(task.costs),
        query_(task.query),
        target_(task.target),
        n_(task.query_len),
        m_(task.target_len),
        starts_{-smaller(task.free.query_end, n_), smaller(task.free.target_end, m_)},
        ends_{m_ - n_ - smaller(task.free.target_begin, m_), m_ - n_ + smaller(task.free.query_begin, n_)},
        max_score_(task.free.any() && !task.heuristics.any() ? task.max_score : kUnbounded) {
    if (max_score_ == kUnbounded) return;
    const std::int32_t length = max_gap_length(max_score_);
    starts_ = {larger(starts_.lo, smaller(0, lowest(length))), smaller(starts_.hi, larger(0, highest(length)))};
  }

  WFACLI_INLINE std::int32_t open_cost(int g) const { return c_.gap[g].open + c_.gap[g].extend; }
  // Return the number of scores by which the recurrences look back, for M and for the gap components.
  std::int32_t depth() const {
    const std::int32_t opened = larger(open_cost(0), Pieces == 2 ? open_cost(1) : 0);
    return larger(c_.mismatch, opened);
  }
  std::int32_t gap_depth() const {
    return Pieces == 0 ? 0 : larger(c_.gap[0].extend, Pieces == 2 ? c_.gap[1].extend : 0);
  }
  // Returns the minimum cost of a step to the adjacent diagonal.
  std::int32_t sideways() const {
    return Pieces == 2 ? smaller(c_.gap[0].extend, c_.gap[1].extend) : c_.gap[0].extend;
  }
  // Returns the maximum number of diagonals beside a row that a later row reads: as many as `depth` scores can gain,
  // and at most those of the matrix. Where wavefronts meet, rows follow the optimal paths, by up to one diagonal per
  // score.
  std::int32_t pad() const {
    if (depth() <= kMeetingDepth) return depth() + 4;
    const std::int32_t step = c_.skip > 0 ? smaller(c_.skip, sideways()) : sideways();
    return smaller(depth() / step, larger(n_, m_)) + 4;
  }

  // Returns the length of the matches from (0, 0) on.
  std::int32_t first_matches() const { return matching<Match, FromEnd>(query_, target_); }
  const Range& starts() const { return starts_; }
  const Range& ends() const { return ends_; }
  std::int32_t last_diagonal() const { return m_ - n_; }

  // Initializes the rows at and before score 0.
  void begin(Rows& rows, std::int32_t ring_depth) const {
    const std::int32_t first = 1 - depth();
    const Range at0 = reached(0);
    rows.reset(first, ring_depth);
    rows.open_blanks(first, -1, at0.lo, at0.hi);
    rows.open_blank(0, at0.lo, at0.hi);
    Offset* m = rows.component(0, 0);
    for (std::int32_t k = at0.lo; k <= at0.hi; ++k) m[k] = larger(k, 0);
    extend(m, at0);
  }

  // Returns the diagonals that are reachable at score s.
  Range reached(std::int32_t s) const {
    const Range at{-reach(s, -starts_.lo, n_), reach(s, starts_.hi, m_)};
    if (max_score_ == kUnbounded) return at;
    // The gap may already be open.
    const std::int32_t length = larger(max_score_ - s, 0) / sideways();
    const std::int32_t hi = larger(at.lo, smaller(at.hi, highest(length)));
    return {smaller(hi, larger(at.lo, lowest(length))), hi};
  }

  // Computes the row of score s on a range of its diagonals.
  void step(Rows& rows, std::int32_t s, Range at) const {
    rows.open(s, at.lo, at.hi);
    if constexpr (Pieces == 0)
      step_linear(rows, s, at);
    else
      step_affine(rows, s, at);
    rows.close(s);
    Offset* m = rows.component(s, 0);
    if (c_.skip > 0 && s % c_.skip == 0) enter(m, s / c_.skip, at);
    extend(m, at);
  }

  // Returns the furthest offset inside the matrix on diagonal k.
  WFACLI_INLINE Offset limit(std::int32_t k) const { return smaller(n_ + k, m_); }

  // Return the offset with which insertion or deletion (component 1 + 2g or 2 + 2g), or a mismatch, arrives in M at
  // (s, k).
  Offset arrives(Rows& rows, std::int32_t s, std::int32_t k, int component) const {
    if constexpr (Pieces > 0) return rows.component(s, component)[k];
    const Offset* from = rows.component(s - c_.gap[0].extend, 0);
    return bounded(component == 1 ? from[k + 1] : from[k - 1] + 1, limit(k));
  }
  Offset arrives_by_mismatch(Rows& rows, std::int32_t s, std::int32_t k) const {
    return bounded(rows.component(s - c_.mismatch, 0)[k] + 1, limit(k));
  }
  const Costs& costs() const { return c_; }

 private:
  static constexpr std::int32_t kUnbounded = INT32_MAX;

  // Return the outermost diagonals from which a gap of this length leads to where alignments end.
  std::int32_t highest(std::int32_t length) const { return length < m_ - ends_.hi ? ends_.hi + length : m_; }
  std::int32_t lowest(std::int32_t length) const { return length < ends_.lo + n_ ? ends_.lo - length : -n_; }
  // Returns the maximum length of a gap that costs at most s.
  std::int32_t max_gap_length(std::int32_t s) const {
    return Pieces == 2 ? larger(gap_length(s, 0), gap_length(s, 1)) : gap_length(s, 0);
  }

  // Returns the number of diagonals on one side that score s reaches, at most `max_score`. The first `free` of them
  // can be entered for `skip` each. A gap base costs more than a skipped one, so skipping first reaches furthest.
  std::int32_t reach(std::int32_t s, std::int32_t free, std::int32_t max_score) const {
    const std::int32_t entered = c_.skip > 0 ? smaller(s / c_.skip, free) : free;
    const std::int32_t left = s - entered * c_.skip;
    const std::int32_t length = max_gap_length(left);
    return length < max_score - entered ? entered + length : max_score;
  }
  std::int32_t gap_length(std::int32_t s, int g) const {
    return s < open_cost(g) ? 0 : (s - c_.gap[g].open) / c_.gap[g].extend;
  }

  // Enters diagonals that begin after `length` skipped bases.
  void enter(Offset* m, std::int32_t length, Range at) const {
    const std::int32_t left = -length, right = length;
    if (left >= starts_.lo && left >= at.lo && left <= at.hi) m[left] = larger(m[left], 0);
    if (right <= starts_.hi && right >= at.lo && right <= at.hi) m[right] = larger(m[right], right);
  }

  // Computes whole blocks, so that no scalar loop remains. Values past the end are overwritten later.
  template <class Compute>
  static WFACLI_INLINE void in_blocks(Range at, Compute compute) {
    for (std::int32_t k = at.lo; k <= at.hi; k += kBlock) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
      for (std::int32_t j = 0; j < kBlock; ++j) compute(k + j);
    }
  }

  static WFACLI_INLINE Offset bounded(Offset v, Offset limit) { return v > limit ? kNone : v; }

  // Extends each diagonal while bases match. Sentinels stop a run at the ends of the sequences.
  void extend(Offset* m, Range at) const {
    const std::uint8_t* const query = FromEnd ? query_ + n_ : query_;
    const std::uint8_t* const target = FromEnd ? target_ + m_ : target_;
    for (std::int32_t k = at.lo; k <= at.hi; ++k) {
      const Offset off = m[k];
      if (off < 0) continue;
      m[k] = off + (FromEnd ? matching<Match, true>(query - (off - k), target - off)
                            : matching<Match, false>(query + (off - k), target + off));
    }
  }

  void step_linear(Rows& rows, std::int32_t s, Range at) const {
    Offset* __restrict m = rows.component(s, 0);
    const Offset* gap = rows.component(s - c_.gap[0].extend, 0);
    const Offset* mis = rows.component(s - c_.mismatch, 0);
    const std::int32_t n = n_, last = m_;
    in_blocks(at, [=](std::int32_t k) {
      const Offset lim = smaller(n + k, last);
      const Offset ins = bounded(gap[k + 1], lim), del = bounded(gap[k - 1] + 1, lim);
      m[k] = larger(larger(ins, del), bounded(mis[k] + 1, lim));
    });
  }

  void step_affine(Rows& rows, std::int32_t s, Range at) const {
    Offset* __restrict m = rows.component(s, 0);
    const Offset* mis = rows.component(s - c_.mismatch, 0);
    const std::int32_t n = n_, last = m_;
    step_gaps(rows, s, at, 0, [=](std::int32_t k, Offset ins, Offset del) {
      m[k] = larger(larger(ins, del), bounded(mis[k] + 1, smaller(n + k, last)));
    });
    if constexpr (Pieces == 2)
      step_gaps(rows, s, at, 1, [=](std::int32_t k, Offset ins, Offset del) { m[k] = larger(m[k], larger(ins, del)); });
  }

  // Computes the gap components of piece g; `join` receives what arrives in M on a diagonal.
  template <class Join>
  WFACLI_INLINE void step_gaps(Rows& rows, std::int32_t s, Range at, int g, Join join) const {
    Offset* __restrict i = rows.component(s, 1 + 2 * g);
    Offset* __restrict d = rows.component(s, 2 + 2 * g);
    const Offset* from = rows.component(s - open_cost(g), 0);
    const Offset* longer_i = rows.component(s - c_.gap[g].extend, 1 + 2 * g);
    const Offset* longer_d = rows.component(s - c_.gap[g].extend, 2 + 2 * g);
    const std::int32_t n = n_, last = m_;
    in_blocks(at, [=](std::int32_t k) {
      const Offset lim = smaller(n + k, last);
      const Offset ins = bounded(larger(from[k + 1], longer_i[k + 1]), lim);
      const Offset del = bounded(larger(from[k - 1], longer_d[k - 1]) + 1, lim);
      i[k] = ins;
      d[k] = del;
      join(k, ins, del);
    });
  }

  const Costs c_;
  const std::uint8_t *const query_, *const target_;
  const std::int32_t n_, m_;
  Range starts_;      // diagonals where an alignment may begin (reversed), as far as they matter
  const Range ends_;  // and where it may end
  const std::int32_t max_score_;  // scores above it do not matter, if ends are free
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// The diagonals of a wavefront: all that gaps within its score reach, or a band of them that follows the path.
#pragma once

#include "wfa/wfa_ring.cuh"

namespace wfacli {

// All diagonals of the matrix that gaps within the score reach.
//
// kBelow: count the lowest diagonal down separately, instead of negating the highest one. ptxas 13.0 (sm_90) loses the
// sign when it fuses the maximum of three values of which one is negated; which form is safe depends on what the
// diagonal is compared with next. Bands need kBelow, with each negative value kept in a register of its own; all other
// kernels need the other form.
template <int Pieces, bool kBelow>
class Reach {
 public:
  WFACLI_DEVICE Reach(Penalties<Pieces> p, std::int32_t n, std::int32_t m) : p_(p), n_(kBelow ? -n : n), m_(m) {
    if constexpr (kBelow) WFACLI_KEEP(n_);
#pragma unroll
    for (int g = 0; g < kCount; ++g) {
      longest_gap_[g] = negative_gap_[g] = 0;
      next_score_[g] = p.opened(g);
    }
  }
  // Return the diagonals of the next score.
  WFACLI_DEVICE Range next(std::int32_t s) {
#pragma unroll
    for (int g = 0; g < kCount; ++g) {
      if (s != next_score_[g]) continue;
      ++longest_gap_[g];
      if (kBelow) --negative_gap_[g];
      next_score_[g] += p_.costs.extend[g];
    }
    return reached();
  }
  // Advance as if next() had been called for each score up to s.
  WFACLI_DEVICE Range skip_to(std::int32_t s) {
#pragma unroll
    for (int g = 0; g < kCount; ++g) {
      const std::int32_t opened = p_.opened(g), extend = p_.costs.extend[g];
      longest_gap_[g] = s < opened ? 0 : (s - opened) / extend + 1;
      negative_gap_[g] = -longest_gap_[g];
      WFACLI_KEEP(negative_gap_[g]);  // otherwise the sign may be lost, as above
      next_score_[g] = opened + longest_gap_[g] * extend;
    }
    return reached();
  }
  WFACLI_DEVICE Range reached() const {
    Range at{0, 0};
#pragma unroll
    for (int g = 0; g < kCount; ++g) at = {min(at.lo, negative_gap_[g]), max(at.hi, longest_gap_[g])};
    if constexpr (kBelow) return {max(at.lo, n_), min(at.hi, m_)};
    return {-min(at.hi, n_), min(at.hi, m_)};
  }

 private:
  static constexpr int kCount = Pieces == 2 ? 2 : 1;
  const Penalties<Pieces> p_;
  std::int32_t n_;  // query length; kBelow: negated
  const std::int32_t m_;
  std::int32_t longest_gap_[kCount],
      next_score_[kCount];             // length of the longest gap so far; the score at which it grows
  std::int32_t negative_gap_[kCount];  // the negative of longest_gap_, if kBelow
};

// What remains of the maximum score limits the diagonals: one too far from the last diagonal has no path to the end.
// The sources of all remaining diagonals remain, so no path within max_cost is lost.
class Budget {
 public:
  WFACLI_DEVICE Budget(std::int32_t max_cost, std::int32_t min_gap_step, std::int32_t last)
      : sideways_(min_gap_step), last_(last), diagonals_left_(max_cost / min_gap_step),
        score_rest_(max_cost % min_gap_step) {}
  WFACLI_DEVICE Range clip(Range at) {
    if (score_rest_ == 0) --diagonals_left_;
    score_rest_ = score_rest_ == 0 ? sideways_ - 1 : score_rest_ - 1;
    return {max(at.lo, last_ - diagonals_left_), min(at.hi, last_ + diagonals_left_)};
  }

 private:
  const std::int32_t sideways_, last_;
  std::int32_t diagonals_left_, score_rest_;
};

// A band of `width` diagonals on either side of its centre, the diagonal that has come closest to the end. It is
// centred again every `step` scores (WFA-GPU, section 2.3.5). Rows have the same diagonals as in
// wfacli/native/kernels/wavefront/wavefront_narrow.hpp.
template <int Pieces, class Group>
class Band {
 public:
  // Return the bytes of shared memory: ranges for as many scores as the ring has rows, and for the current one, so
  // that a thread that is one barrier ahead does not overwrite what others read.
  WFACLI_DEVICE static std::uint32_t shared_bytes(const Penalties<Pieces>& p) {
    return (static_cast<std::uint32_t>(p.rows_m() + 1) * sizeof(Range) + 15) & ~15u;
  }

  WFACLI_DEVICE Band(const AlignTask& task, Penalties<Pieces> p, std::int32_t n, std::int32_t m, Range* rows)
      : p_(p), width_(task.band), step_(task.band_step), rows_(rows),
        pad_(min(p.depth() / p.min_gap_step(), max(n, m)) + 4), band_{min(0, m - n) - width_, max(0, m - n) + width_} {
  }

  // Return whether the last row has exactly the band's diagonals. Then so has the next one, until the band moves: the
  // reached range only grows, and the only row that the next row reads and the last one did not is the last row
  // itself.
  WFACLI_DEVICE bool settled() const { return settled_rows_ > 0; }
  // Record `rows` further rows with these diagonals. All threads call it, and need a barrier before the next clip().
  WFACLI_DEVICE void record_settled(std::int32_t rows) {
    const std::int32_t ranges = p_.rows_m() + 1;
    slot_ = (slot_ + rows) % ranges;
    settled_rows_ += rows;
    for (std::int32_t back = Group::rank(); back < min(rows, ranges); back += Group::kThreads)
      rows_[slot_ < back ? slot_ - back + ranges : slot_ - back] = band_;
  }
  // Note whether the band has excluded any diagonal that was reached by then.
  WFACLI_DEVICE void note_excluded(Range reached) { cut_ = cut_ || band_.lo > reached.lo || band_.hi < reached.hi; }
  WFACLI_DEVICE Range diagonals() const { return band_; }
  WFACLI_DEVICE std::int32_t middle() const { return band_.lo + (band_.hi - band_.lo) / 2; }
  // Return the last score after s, at most `limit`, before the band may move.
  WFACLI_DEVICE std::int32_t last_before_move(std::int32_t s, std::int32_t limit) const {
    return step_ > 0 ? min(s / step_ * step_ + step_, limit) : limit;
  }

  // Initialise the ranges of score 0 and of the scores before it.
  WFACLI_DEVICE void begin() {
    for (std::int32_t r = Group::rank(); r <= p_.rows_m(); r += Group::kThreads) rows_[r] = {0, 0};
  }
  // Return whether the next row is part of the shift from the band's old place, where all rows in the ring were, to
  // the new one: one diagonal per row on one side, at once on the other. `reached`: by the last row; `ring_width`:
  // ring's width.
  WFACLI_DEVICE bool is_shifting(Range reached, std::int32_t ring_width) const {
    return rows_since_move_ >= 0 && reached.lo <= band_.lo && reached.hi >= band_.hi &&
           from_.hi - from_.lo + p_.depth() + 2 < ring_width;
  }
  // Return the diagonals of the next row of the shift.
  WFACLI_DEVICE Range next_shifted_row() {
    const std::int32_t oldest = rows_since_move_ - p_.depth();
    const Range before = shifted_range(rows_since_move_), first = shifted_range(oldest);
    span_ = {min(before.lo, first.lo) - 1, max(before.hi, first.hi) + 1};
    cut_ = true;
    return shifted_range(++rows_since_move_);
  }
  // Return the part of `reached` that the next row has. All threads call it; each part of a warp reads all rows.
  WFACLI_DEVICE Range clip(Range reached) {
    rows_since_move_ = -1;
    Range minima{INT32_MAX, INT32_MAX}, complement_minima = minima;  // of the rows' ends and of their complements
    for (std::int32_t back = Group::lane(); back < p_.depth(); back += Group::kWarp) {
      const Range row = before(back);
      minima = {min(minima.lo, row.lo), min(minima.hi, row.hi)};
      complement_minima = {min(complement_minima.lo, ~row.lo), min(complement_minima.hi, ~row.hi)};
    }
    const Range oldest = before(p_.depth());
    const std::int32_t lowest = Group::warp_min(minima.lo);
    std::int32_t highest = ~Group::warp_min(complement_minima.hi),
                 first = ~Group::warp_min(complement_minima.lo) - pad_ + 1;
    WFACLI_KEEP(highest);  // see Reach
    WFACLI_KEEP(first);
    span_ = {min(lowest, oldest.lo) - 1, max(highest, oldest.hi) + 1};
    const Range readable{first, Group::warp_min(minima.hi) + pad_ - 1};
    const Range at{max(max(reached.lo, lowest - 1), max(readable.lo, band_.lo)),
                   min(min(reached.hi, highest + 1), min(readable.hi, band_.hi))};
    cut_ = cut_ || at.lo > reached.lo || at.hi < reached.hi;
    return at;
  }
  // Return the diagonals from the first to the last of any row in the ring, and one more on either side.
  WFACLI_DEVICE Range span() const { return span_; }
  // Record the row's range, which threads may read after their next barrier.
  WFACLI_DEVICE void next(Range at) {
    slot_ = slot_ == p_.rows_m() ? 0 : slot_ + 1;
    if (Group::rank() == 0) rows_[slot_] = at;
    settled_rows_ = at.lo == band_.lo && at.hi == band_.hi ? settled_rows_ + 1 : 0;
  }
  WFACLI_DEVICE bool moves_at(std::int32_t s) const { return step_ > 0 && s % step_ == 0; }
  WFACLI_DEVICE void centre(std::int32_t k) {
    if (band_.lo == k - width_ && band_.hi == k + width_) return;
    // All older rows equal the last one, and stay within readable distance until they leave the ring.
    rows_since_move_ = settled_rows_ >= p_.rows_m() && pad_ > p_.depth() ? 0 : -1;
    from_ = band_;
    settled_rows_ = 0;
    band_ = {k - width_, k + width_};
  }
  WFACLI_DEVICE bool cut() const { return cut_; }

 private:
  // Return the range of the row `back` rows ago; 0: the last row.
  WFACLI_DEVICE Range before(std::int32_t back) const {
    return rows_[slot_ < back ? slot_ - back + p_.rows_m() + 1 : slot_ - back];
  }
  // Return the range of the row `rows` rows after the band moved; 0 or less: of a row before that.
  WFACLI_DEVICE Range shifted_range(std::int32_t rows) const {
    if (rows <= 0) return from_;
    std::int32_t first = from_.lo - rows;
    WFACLI_KEEP(first);  // see Reach
    return {max(band_.lo, first), min(band_.hi, from_.hi + rows)};
  }

  const Penalties<Pieces> p_;
  const std::int32_t width_, step_;
  Range* const rows_;
  const std::int32_t pad_;
  Range band_, span_{0, 0};
  std::int32_t slot_ = 0;     // slot of the last row
  std::int32_t settled_rows_ = 0;  // last rows with exactly the band's diagonals
  // Rows since the band moved, if all of them and all before follow shifted_range(); else -1.
  std::int32_t rows_since_move_ = -1;
  Range from_{0, 0};          // the band's previous place
  bool cut_ = false;
};

}  // namespace wfacli

// Two wavefronts, one from each end, that meet: together they have half the cells of one that crosses the whole
// matrix. Included by wavefront_isa.cpp only; everything here exists once per instruction set.
//
// Idea and meeting test: S. Marco-Sola et al., "Optimal gap-affine alignment in O(s) space", Bioinformatics 2023.
// There the path is assembled at the meeting. Here the first wavefront continues to the end, but only where the second
// one shows that an optimal path runs, so ties are resolved as in the full table.
#pragma once

#include "kernels/wavefront/wavefront_front.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Scores that the first wavefront visits alone, for a cost only and with a path: easy pairs are finished by then. With
// a path, the rows after the meeting must be computed as well.
constexpr std::int32_t kMeetingScore = 24, kMeetingScoreWithPath = 48;

template <int Pieces, class Match>
class Meeting {
  using F = Front<Pieces, Match>;

 public:
  // `ahead` holds the rows of the first wavefront.
  Meeting(const KernelTask& task, const F& front, Rows& ahead, RowMemory& memory)
      : t_(task), front_(front), back_(task), ahead_(ahead), behind_(memory, F::kComponents, front.pad()),
        last_(front.last_diagonal()), depth_(front.depth()) {}

  // Returns true if there is one start and one end, and no heuristic is on. The greater the depth, the more scores
  // pass between the meeting and the proof that it is the cheapest, so the depth is limited.
  static bool suits(const KernelTask& task, const F& front) {
    return front.depth() <= F::kMeetingDepth && task.costs.skip == 0 && !task.free.any() && !task.heuristics.any();
  }

  // Advances both wavefronts, the first from score s, until the cost is known. `ring_depth` 0 keeps all rows;
  // `max_bytes` is the memory limit of both in bytes.
  Status run(std::int32_t s, std::int32_t ring_depth, std::size_t max_bytes) {
    f_ = s;
    b_ = 0;
    back_.begin(behind_, ring_depth);
    for (std::int32_t r = 0; r < depth_; ++r) reach_f_ = larger(reach_f_, reach(ahead_, f_ - r));
    reach_b_ = reach(behind_, 0);
    look(behind_, b_, ahead_, f_);
    while (cost_ > settled()) {
      if (t_.cancelled->is_set()) return Status::Dropped;
      if (settled() >= t_.max_score) return Status::ScoreLimit;
      if (ahead_.bytes() + behind_.bytes() > max_bytes) return Status::MemoryLimit;
      if (f_ <= b_) {
        front_.step(ahead_, f_ + 1, front_.reached(f_ + 1));
        reach_f_ = larger(reach_f_, reach(ahead_, ++f_));
        look(ahead_, f_, behind_, b_);
      } else {
        back_.step(behind_, b_ + 1, back_.reached(b_ + 1));
        reach_b_ = larger(reach_b_, reach(behind_, ++b_));
        look(behind_, b_, ahead_, f_);
      }
    }
    return Status::Ok;
  }

  std::int32_t cost() const { return cost_; }

  // Computes the remaining rows of the first wavefront up to the cost, on diagonals where an optimal path may run.
  // Values there equal those of the full table, since everything that leads to them also lies on such diagonals.
  void finish() {
    for (std::int32_t s = larger(f_ - depth_ + 1, 0); s <= f_; ++s) span(s) = on_path(s);
    for (std::int32_t s = f_ + 1; s <= cost_; ++s) {
      Range at{INT32_MAX, INT32_MIN};
      for (std::int32_t r = 1; r <= depth_ && r <= s; ++r) at = both(at, span(s - r));
      front_.step(ahead_, s, common({at.lo - 1, at.hi + 1}, front_.reached(s)));
      span(s) = on_path(s);
    }
  }

 private:
  // Highest cost that would certainly have been found. On a path of such a cost, the last cell that the first
  // wavefront has visited is less than `depth` scores behind its front, so the second wavefront has visited it too.
  std::int32_t settled() const { return f_ + b_ - depth_ + 1; }

  static WFACLI_INLINE Range both(Range a, Range b) { return {smaller(a.lo, b.lo), larger(a.hi, b.hi)}; }
  Range& span(std::int32_t s) { return spans_[s % F::kMeetingDepth]; }

  // Returns the furthest anti-diagonal of the row of score s. A meeting needs the two wavefronts to cover all of them.
  static std::int32_t reach(Rows& rows, std::int32_t s) {
    if (s < 0) return kNone;
    const RowRef& row = rows.ref(s);
    const Offset* m = rows.component(s, 0);
    Offset furthest = kNone;
    for (std::int32_t k = row.lo; k <= row.hi; ++k) furthest = larger(furthest, m[k] - (k >> 1));
    return furthest;
  }

  // Updates the cost with the cheapest path through the new row s of one wavefront and the last rows of the other, up
  // to row `to`.
  void look(Rows& rows, std::int32_t s, Rows& others, std::int32_t to) {
    if (reach_f_ + reach_b_ < t_.target_len - (last_ >> 1)) return;
    for (std::int32_t r = 0; r < depth_ && r <= to; ++r) {
      const std::int32_t total = s + to - r;
      if (total < cost_ && meet(rows, s, others, to - r, 0)) cost_ = total;
      for (int c = 1; c < F::kComponents; ++c) {  // inside a gap whose opening both have paid
        const std::int32_t open = t_.costs.gap[(c - 1) >> 1].open;
        if (total - open < cost_ && meet(rows, s, others, to - r, c)) cost_ = total - open;
      }
    }
  }

  // Returns the diagonals that row s of `rows` shares with row o of `others`, which counts them from the other end.
  Range shared(Rows& rows, std::int32_t s, Rows& others, std::int32_t o) const {
    const RowRef &a = rows.ref(s), &b = others.ref(o);
    return common({a.lo, a.hi}, {last_ - b.hi, last_ - b.lo});
  }

  bool meet(Rows& rows, std::int32_t s, Rows& others, std::int32_t o, int component) const {
    const Range at = shared(rows, s, others, o);
    const Offset* a = rows.component(s, component);
    const Offset* b = others.component(o, component) + last_;
    Offset furthest = kNone;
    for (std::int32_t k = at.lo; k <= at.hi; ++k) furthest = larger(furthest, a[k] + b[-k]);
    return furthest >= t_.target_len;
  }

  // Returns the range of diagonals of row s on which an optimal path may run: its score plus the remaining score of
  // the second wavefront equals the cost. Inside a gap, both scores include the opening.
  Range on_path(std::int32_t s) {
    Range found = through(s, cost_ - s);
    for (int g = 0; g < Pieces; ++g) found = both(found, through(s, cost_ - s + t_.costs.gap[g].open));
    return found;
  }
  Range through(std::int32_t s, std::int32_t left) {
    Range found{INT32_MAX, INT32_MIN};
    if (left < 0 || left > b_) return found;  // no later row reads scores that are further away
    const Range at = shared(ahead_, s, behind_, left);
    const Offset* a = ahead_.component(s, 0);
    const Offset* b = behind_.component(left, 0) + last_;
    for (std::int32_t k = at.lo; k <= at.hi; ++k)
      if (a[k] + b[-k] >= t_.target_len) found = both(found, {k, k});
    return found;
  }

  const KernelTask& t_;
  const F& front_;
  const Front<Pieces, Match, true> back_;
  Rows& ahead_;
  Rows behind_;
  const std::int32_t last_, depth_;
  std::int32_t f_ = 0, b_ = 0;  // scores of the last rows
  Offset reach_f_ = kNone, reach_b_ = kNone;
  std::int32_t cost_ = INT32_MAX;
  Range spans_[F::kMeetingDepth];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

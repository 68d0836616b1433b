// A tile: some columns of a strip of a local alignment matrix. Included by local_isa.cpp only; everything here exists
// once per instruction set.
//
// Lanes compute an anti-diagonal: each has kDeep consecutive rows, and is a column behind the lane above, whose lowest
// H and F it reads from the step before. 16-bit scores are relative to the tile's base; their sums saturate, so that
// the lower bound of 0 on local scores needs no instruction.
#pragma once

#include "solvers/local/local_scores.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Policies: what a tile computes besides the scores.
struct ScoreOnly {
  static constexpr bool kSeek = false, kTrace = false;
};
struct SeekFirst {
  static constexpr bool kSeek = true, kTrace = false;
};
struct Traced {
  static constexpr bool kSeek = false, kTrace = true;
};

template <class L, int kDeep, class Scores, class Look>
class StripTile {
 public:
  using Vector = typename L::Vector;
  using Lane = typename L::Lane;
  static constexpr int kLanes = L::kCount;

  WFACLI_INLINE StripTile(const LocalStrip& strip, const LocalTile& tile)
      : strip_(strip), t_(tile), wanted_(L::all(inner(tile.wanted))) {}

  WFACLI_INLINE LocalFound run(LocalState& state) {
    take_top();
    take(state);
    Scores scores(strip_, t_);
    const Vector first_gap = L::all(strip_.first_gap), extend = L::all(strip_.extend);
    Vector h[kDeep], e[kDeep], best = L::all(L::kFloor);
    for (int d = 0; d < kDeep; ++d) h[d] = h_[d], e[d] = e_[d];
    Vector below_h = below_h_, below_f = below_f_, before_h = before_h_;
    for (std::int64_t from = 0; from < t_.steps; from += kLocalBlock) {
      scores.block(t_.first + from);
      for (std::int64_t s = from; s < from + kLocalBlock; ++s) {
        scores.step(t_.first + s);
        Vector diagonal = before_h;
        before_h = L::down(below_h, L::load(top_[0] + s));
        Vector f = L::down(below_f, L::load(top_[1] + s)), above = before_h;
#pragma GCC unroll 8
        for (int d = 0; d < kDeep; ++d) {
          const Vector without = L::max(L::plus(diagonal, scores.score(d)), e[d]);
          const Vector now = L::max(without, f);
          if constexpr (Look::kTrace) note(s, d, now, e[d], f, L::less(above, first_gap), L::less(h[d], first_gap));
          if constexpr (Look::kSeek) look(s, d, now);
          diagonal = h[d];
          h[d] = now;
          above = now;
          best = L::max(best, now);
          e[d] = L::max(L::less(e[d], extend), L::less(now, first_gap));
          // Opening a gap right after an F gap is never better than extending that gap, so f needs `without` only and
          // does not wait for `now`.
          f = L::max(L::less(f, extend), L::less(without, first_gap));
        }
        below_h = h[kDeep - 1];
        below_f = f;
        L::store(bottom_[0] + s, (Vector)below_h);
        L::store(bottom_[1] + s, (Vector)below_f);
      }
    }
    for (int d = 0; d < kDeep; ++d) h_[d] = h[d], e_[d] = e[d];
    below_h_ = below_h, below_f_ = below_f, before_h_ = before_h;
    give(state);
    give_bottom();
    found_.best = outer(L::highest(best));
    return found_;
  }

 private:
  // Convert a score to the representation in lanes, and back.
  WFACLI_INLINE std::int32_t inner(std::int32_t score) const {
    const std::int32_t over = score - t_.base;
    return L::kNarrow ? (over < 0 ? 0 : over > 65535 ? 65535 : over) + L::kFloor : score;
  }
  WFACLI_INLINE std::int32_t outer(std::int32_t value) const {
    return L::kNarrow ? value - L::kFloor + t_.base : value;
  }

  WFACLI_INLINE void take_top() {
    const std::int64_t left = t_.columns - t_.first;
    const std::int64_t there = left < 0 ? 0 : left < t_.steps ? left : t_.steps;
    for (int x = 0; x < 2; ++x) {
      const std::int32_t* from = x ? t_.top_f : t_.top_h;
      for (std::int64_t s = 0; s < there; ++s) top_[x][s] = static_cast<Lane>(inner(from[s]));
      for (std::int64_t s = there; s < t_.steps; ++s) top_[x][s] = static_cast<Lane>(L::kFloor);
    }
  }
  // A column of the last row is complete when the lowest lane, kLanes - 1 steps behind, has computed it.
  WFACLI_INLINE void give_bottom() const {
    if (!t_.bottom_h) return;
    const std::int64_t first = t_.first - (kLanes - 1), left = t_.columns - first;
    const std::int64_t from = first < 0 ? -first : 0, to = left < t_.steps ? left : t_.steps;
    for (int x = 0; x < 2; ++x) {
      std::int32_t* into = (x ? t_.bottom_f : t_.bottom_h) - (kLanes - 1);
      for (std::int64_t s = from; s < to; ++s) into[s] = outer(bottom_[x][s]);
    }
  }

  // Load scores relative to another base, which is `by` above this one.
  WFACLI_INLINE Vector moved(const unsigned char* from, std::int32_t by) const {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return L::kNarrow ? L::plus(v, L::all(by)) : v;
  }
  WFACLI_INLINE void take(const LocalState& state) {
    std::int32_t by = state.base - t_.base;
    by = by < -32768 ? -32768 : by > 32767 ? 32767 : by;
    for (int d = 0; d < kDeep; ++d) {
      h_[d] = moved(state.h + d * sizeof(Vector), by);
      e_[d] = moved(state.e + d * sizeof(Vector), by);
    }
    below_h_ = moved(state.below_h, by);
    below_f_ = moved(state.below_f, by);
    before_h_ = moved(state.before_h, by);
  }
  WFACLI_INLINE void give(LocalState& state) const {
    std::memcpy(state.h, h_, sizeof h_);
    std::memcpy(state.e, e_, sizeof e_);
    std::memcpy(state.below_h, &below_h_, sizeof below_h_);
    std::memcpy(state.below_f, &below_f_, sizeof below_f_);
    std::memcpy(state.before_h, &before_h_, sizeof before_h_);
    state.base = t_.base;
  }

  WFACLI_INLINE void note(std::int64_t s, int d, Vector h, Vector e, Vector f, Vector opens_down, Vector opens_along) {
    Vector flags = L::same(h, f) & L::all(kTraceGapDown);
    flags |= L::same(h, e) & L::all(kTraceGapAlong);
    flags |= L::same(f, opens_down) & L::all(kTraceOpensDown);
    flags |= L::same(e, opens_along) & L::all(kTraceOpensAlong);
    const auto bytes = __builtin_convertvector(flags, typename L::Symbols);
    std::memcpy(t_.trace + (s * kDeep + d) * kLanes, &bytes, sizeof bytes);
  }
  WFACLI_INLINE void look(std::int64_t s, int d, Vector h) {
    const Vector hits = L::same(h, wanted_);
    for (int l = 0; l < kLanes; ++l) {
      if (!hits[l]) continue;
      const std::int64_t row = lane_row<L, kDeep>(l, d), column = t_.first + s - (kLanes - 1 - l);
      if (column < 0 || column >= t_.columns) continue;
      const bool before = row != found_.row ? row < found_.row : column < found_.column;
      if (found_.row < 0 || before) found_.row = row, found_.column = column;
    }
  }

  const LocalStrip& strip_;
  const LocalTile& t_;
  const Vector wanted_;
  LocalFound found_{0, -1, -1};
  Vector h_[kDeep], e_[kDeep], below_h_, below_f_, before_h_;
  // H and F of the row above and of the last row, by step. Steps read and write vectors, of which element 0 counts.
  alignas(64) Lane top_[2][kTileSteps + kLanes], bottom_[2][kTileSteps + kLanes];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

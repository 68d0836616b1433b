// One pair by anti-diagonals within a band, for X-drop, Z-drop and bands, which examine the cells of an anti-diagonal
// together.
//
// Each matrix row has a fixed lane, and the last row has the first lane. So the previous cell of a row is in the same
// lane, the previous cell of a column or diagonal is in the lane above, and target symbols lie in lane order. A cell
// stores H, alternating between two anti-diagonals, and the scores that gaps continuing from it have in the next cell.
// Whole vectors are computed; lanes beyond the band's cells are then set to the minimum value, from which no path
// continues.
//
// 16-bit lanes hold scores minus a base, which follows the best cell. Scores that fall below the lanes' minimum
// saturate there and are then overrated; `overrated` bounds the effect.
#pragma once

#include "kernels/sw/sw_lanes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// What a sweep computes for each cell.
enum class SwCells : std::uint8_t {
  All,    // scores
  Live,   // scores, and X-drop removes cells that score too little
  Flags,  // scores, and the flags that the traceback needs
};

template <class Lane, SwCells kCells, bool kPlain>
class SwDiagonals {
  using V = SwVector<Lane>;
  using Vector = typename V::Vector;
  using Signed = typename V::Signed;
  using Lookup = SwLookup<Lane>;
  using C = SwChunks<Lookup::chunks()>;

 public:
  static constexpr int kLanes = V::kCount;
  static constexpr bool kBased = sizeof(Lane) == 2;
  static constexpr std::int32_t kNever = kBased ? INT16_MIN : -1'500'000'000;
  static constexpr std::int32_t kFold = 32;  // anti-diagonals between two updates of the base
  // kTop: lane of the best cell after an update, with headroom until the next. kSlack: how far it may fall until then.
  static constexpr std::int32_t kTop = kBased ? INT16_MAX - (kFold / 2 + 2) * 127 : 0, kSlack = 8192;

  SwDiagonals(const SwScheme& scheme, const SwPair& pair, const SwBand& band, SwMemory& memory)
      : s_(scheme), pair_(pair), n_(pair.query_len), last_i_(pair.query_len), last_j_(pair.target_len) {
    low_ = static_cast<std::int32_t>(band.low < -n_ ? -n_ : band.low);
    high_ = static_cast<std::int32_t>(band.high > last_j_ ? last_j_ : band.high);
    const std::size_t lanes = (static_cast<std::size_t>(n_) / kLanes + 3) * kLanes;
    std::uint8_t* rows = aligned_bytes(memory.rows, 4 * lanes * sizeof(Lane));
    inserted_ = reinterpret_cast<Lane*>(rows) + kLanes;
    deleted_ = inserted_ + lanes;
    h_[0] = deleted_ + lanes;
    h_[1] = h_[0] + lanes;
    symbols_ = aligned_bytes(memory.symbols, lanes + kLookedUp * (vectors() + 2));
    scores_ = symbols_ + lanes;
    for (std::int32_t p = 0; p < n_; ++p) symbols_[p] = pair.query[n_ - 1 - p];
    std::memset(symbols_ + n_, kQueryPad, lanes - kLanes - static_cast<std::size_t>(n_));
  }

  // Initializes anti-diagonal 0.
  void begin() {
    d_ = 0;
    base_ = -kTop;
    first_ = last_ = n_ / kLanes;
    for (int w = -1; w <= 1; ++w)
      for (Lane* values : {inserted_, deleted_, h_[0], h_[1]}) V::store(values + (first_ + w) * kLanes, never());
    const auto set = [&](Lane* values, std::int32_t value) { values[n_] = static_cast<Lane>(value); };
    set(h_[0], kTop);
    set(inserted_, kTop - s_.open - s_.extend);
    set(deleted_, kTop - s_.open - s_.extend);
    live_[0] = {0, 0};
    live_[1] = {n_ + 1, -1};
  }

  // Restricts the following steps to cells that lead to (i, j).
  void lead_to(std::int32_t i, std::int32_t j) {
    last_i_ = i;
    last_j_ = j;
  }

  // Computes the next anti-diagonal. Returns false if it has no cells in the band, or no live cell leads to it. With
  // SwCells::Live, cells that score less than `min_score` are dropped. `flags` is the address for lane 0 of the
  // anti-diagonal.
  bool step(std::int64_t min_score, std::uint8_t* flags) {
    if (d_ % kFold == 0) follow();
    ++d_;
    Rows rows = rows_of(d_);
    if constexpr (kCells == SwCells::Live) {
      const Rows last = live_[(d_ - 1) & 1], before = live_[d_ & 1];
      rows = {larger(rows.from, smaller(last.from, before.from + 1)), smaller(rows.to, larger(last.to, before.to) + 1)};
    }
    if (rows.from > rows.to) return false;
    first_ = (n_ - rows.to) / kLanes;
    last_ = (n_ - rows.from) / kLanes;
    if constexpr (!kPlain) {
      if ((d_ - 1) % kSwBlock == 0 || first_ < looked_first_ || last_ > looked_last_) look_up(rows);
    }
    vectors_of(rows, min_score, flags);
    for (Lane* values : {inserted_, deleted_, h_[d_ & 1]}) V::store(values + (first_ - 1) * kLanes, never());
    for (Lane* values : {inserted_, h_[d_ & 1]}) V::store(values + (last_ + 1) * kLanes, never());
    if constexpr (kCells == SwCells::Live) live_[d_ & 1] = live_of(rows);
    return true;
  }

  std::int32_t base() const { return base_; }
  // Returns the lane value of a score, clamped to what lanes can hold and to `min_lane`.
  Lane to_lane(std::int64_t score, std::int32_t min_lane = kNever) const {
    const std::int64_t lane = score - base_, max_lane = kBased ? INT16_MAX : INT32_MAX;
    return static_cast<Lane>(lane < min_lane ? min_lane : lane > max_lane ? max_lane : lane);
  }
  std::int32_t diagonal() const { return d_; }
  // Maximum H of the last anti-diagonal in each lane; whether a cell of it was dropped.
  Vector max_scores() const { return max_scores_; }
  bool dropped() const { return V::bits(dropped_) != 0; }
  bool none() const { return kCells == SwCells::Live && live_[d_ & 1].to < 0; }
  // The best score of the last anti-diagonal, and the first row that has a given score.
  std::int32_t best() const { return base_ + V::max_element(max_scores_); }
  std::int32_t row_of(std::int32_t score) const {
    const Vector wanted = V::all(score - base_);
    for (std::int32_t w = last_; w >= first_; --w)
      if (const auto bits = V::bits((Vector)(V::load(h_[d_ & 1] + w * kLanes) == wanted)))
        return n_ - w * kLanes - (63 - __builtin_clzll(bits)) / static_cast<int>(sizeof(Lane));
    return -1;
  }
  // Returns H of the last anti-diagonal's cell in row i.
  std::int32_t at(std::int32_t i) const { return base_ + h_[d_ & 1][n_ - i]; }

  // Returns true if a cell of the last anti-diagonal with this score may be overrated.
  bool overrated(std::int64_t score) const {
    return tainted() && 2 * score <= taint_ + std::int64_t{d_} * larger(s_.max_score, 0);
  }
  bool tainted() const { return taint_ > INT64_MIN; }

  // Rows of an anti-diagonal inside the matrix and the band.
  struct Rows {
    std::int32_t from, to;
  };
  Rows rows_of(std::int32_t d) const {
    return {larger(larger(0, d - last_j_), (d - high_ + 1) >> 1), smaller(smaller(last_i_, d), (d - low_) >> 1)};
  }

  // Save and restore the state after an anti-diagonal.
  std::size_t state_bytes() const { return sizeof(SavedState) + 4 * (vectors() + 2) * sizeof(Vector); }
  void save(std::uint8_t* to) const {
    const SavedState saved{d_, base_, first_, last_};
    std::memcpy(to, &saved, sizeof saved);
    copied(saved, [&, at = to + sizeof saved](Lane* values, std::size_t bytes) mutable {
      std::memcpy(at, values, bytes);
      at += bytes;
    });
  }
  void restore(const std::uint8_t* from) {
    SavedState saved;
    std::memcpy(&saved, from, sizeof saved);
    d_ = saved.d, base_ = saved.base, first_ = saved.first, last_ = saved.last;
    copied(saved, [at = from + sizeof saved](Lane* values, std::size_t bytes) mutable {
      std::memcpy(values, at, bytes);
      at += bytes;
    });
  }

 private:
  static constexpr std::size_t kLookedUp = kPlain ? 0 : kSwBlock * C::kBytes;  // bytes per vector of scores
  struct SavedState {
    std::int32_t d, base, first, last;
  };
  static std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }
  static std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
  static Vector never() { return V::all(kNever); }
  static WFACLI_INLINE Vector less(Vector score, Vector by) {
    return kBased ? V::minus(score, by) : V::max(score - by, never());
  }

  // Returns the maximum number of vectors that hold the rows of kSwBlock anti-diagonals.
  std::size_t vectors() const {
    const std::int32_t shorter = smaller(n_, pair_.target_len), wide = (high_ - low_) / 2;
    return static_cast<std::size_t>(smaller(shorter, wide) + kSwBlock) / kLanes + 3;
  }
  template <class Copy>
  void copied(const SavedState& saved, Copy&& copy) const {
    const std::size_t bytes = static_cast<std::size_t>(saved.last - saved.first + 3) * sizeof(Vector);
    for (Lane* values : {inserted_, deleted_, h_[0], h_[1]}) copy(values + (saved.first - 1) * kLanes, bytes);
  }

  // Constants of an anti-diagonal, held in registers so that no vector reads them from memory again.
  struct Step {
    Lane *h, *inserted, *deleted;
    const std::uint8_t *symbols, *target, *scores;
    std::uint8_t* flags;
    Vector opened, extend, same, other, min_score;
    std::int32_t low, high;  // first and last lane with a cell
  };
  // Values carried from vector to vector: I, H of two anti-diagonals before, and results.
  struct Passing {
    Vector inserted, diagonal, max_scores, dropped;
  };

  void vectors_of(const Rows& rows, std::int64_t min_score, std::uint8_t* flags) {
    const std::uint8_t* target = pair_.target + (d_ - 1 - n_);
    const std::uint8_t* scores = scores_ + static_cast<std::size_t>((d_ - 1) % kSwBlock) * C::kBytes;
    const Step step{h_[d_ & 1],
                    inserted_,
                    deleted_,
                    symbols_,
                    target,
                    scores - looked_first_ * static_cast<std::ptrdiff_t>(kLookedUp),
                    flags,
                    V::all(s_.open + s_.extend),
                    V::all(s_.extend),
                    V::all(s_.matrix[0][0]),
                    V::all(s_.matrix[0][1]),
                    V::all(to_lane(min_score, kNever + 1)),
                    n_ - rows.to,
                    n_ - rows.from};
    const std::int32_t last = last_;
    std::int32_t w = first_;
    Passing on{V::load(step.inserted + w * kLanes), V::load(step.h + w * kLanes), never(), Vector{}};
    one<true>(step, w, on);
    for (++w; w < last; ++w) one<false>(step, w, on);
    if (w == last) one<true>(step, w, on);
    max_scores_ = on.max_scores;
    dropped_ = on.dropped;
  }

  // Computes the w-th vector. kEdge: some lanes may have no cells.
  template <bool kEdge>
  static WFACLI_INLINE void one(const Step& step, std::int32_t w, Passing& on) {
    const std::int32_t lane = w * kLanes;
    Lane* const h_at = step.h + lane;
    const Vector inserted_next = V::load(step.inserted + lane + kLanes), diagonal_next = V::load(h_at + kLanes);
    const Vector inserted = V::down(on.inserted, inserted_next), diagonal = V::down(on.diagonal, diagonal_next);
    const Vector deleted = V::load(step.deleted + lane);
    on.inserted = inserted_next;
    on.diagonal = diagonal_next;
    Vector score;
    if constexpr (kPlain)
      score = V::if_same(step.symbols + lane, step.target + lane, step.same, step.other);
    else
      score = V::widened(step.scores + w * static_cast<std::ptrdiff_t>(kLookedUp));
    Vector h = V::max(V::max(V::plus(diagonal, score), inserted), deleted);
    const Vector gap = less(h, step.opened);
    const Vector inserted_on = less(inserted, step.extend), deleted_on = less(deleted, step.extend);
    if constexpr (kCells == SwCells::Flags)
      V::store_bytes(step.flags + lane, sw_flags_of<V>(h, inserted, deleted, gap, inserted_on, deleted_on));
    Vector inserts = V::max(gap, inserted_on), deletes = V::max(gap, deleted_on);
    if constexpr (kEdge) {
      const Vector lanes = V::numbers();
      const Vector from = V::all(larger(step.low - lane, 0)), to = V::all(smaller(step.high - lane, kLanes));
      for (Vector* values : {&h, &inserts, &deletes})
        *values = V::if_at_least(lanes, from, V::if_above(lanes, to, never(), *values), never());
    }
    if constexpr (kCells == SwCells::Live) {
      on.dropped |= V::if_above(step.min_score, h, (Vector)((Signed)h > (Signed)never()), Vector{});
      inserts = V::if_above(step.min_score, h, never(), inserts);
      deletes = V::if_above(step.min_score, h, never(), deletes);
      h = V::if_above(step.min_score, h, never(), h);
    }
    on.max_scores = V::max(on.max_scores, h);
    V::store(h_at, h);
    V::store(step.inserted + lane, inserts);
    V::store(step.deleted + lane, deletes);
  }

  // Looks up scores up to the next multiple of kSwBlock, for all vectors that may have rows until then.
  void look_up(const Rows& now) {
    const std::int32_t from = (d_ - 1) / kSwBlock * kSwBlock, to = from + kSwBlock;
    looked_first_ = larger(0, n_ - smaller(rows_of(to).to, now.to + kSwBlock)) / kLanes;
    looked_last_ = last_;
    for (std::int32_t w = looked_first_; w <= looked_last_; ++w) {
      Lookup lookup;
      for (int lane = 0; lane < kLanes; ++lane) lookup.set_row(s_, lane, symbols_[w * kLanes + lane]);
      const std::uint8_t* target = pair_.target + (from - n_ + w * kLanes);
      lookup.look_up([&](int r) { return C::load(target + r); },
                     scores_ + static_cast<std::size_t>(w - looked_first_) * kLookedUp);
    }
  }

  // Returns a range of rows that contains all live cells, rounded outwards to whole vectors.
  Rows live_of(const Rows& rows) const {
    const auto dead = [&](std::int32_t w) {
      return !V::bits((Vector)((Signed)V::load(h_[d_ & 1] + w * kLanes) > (Signed)never()));
    };
    std::int32_t first = first_, last = last_;
    while (first <= last && dead(first)) ++first;
    while (first <= last && dead(last)) --last;
    if (first > last) return {n_ + 1, -1};
    return {larger(rows.from, n_ - last * kLanes - kLanes + 1), smaller(rows.to, n_ - first * kLanes)};
  }

  // Moves the base after the best cell, and records whether scores may fall below the lanes' minimum until the next
  // update.
  void follow() {
    if constexpr (!kBased) return;
    Vector max_values = never(), min_values = V::all(INT16_MAX);
    for (const Lane* h : h_)
      for (std::int32_t w = first_; w <= last_ + 1; ++w) {
        const Vector values = V::load(h + w * kLanes);
        max_values = V::max(max_values, values);
        min_values = V::min(min_values, V::if_equal(values, never(), min_values, values));
      }
    const std::int32_t top = V::max_element(max_values);
    if (top == kNever) return;
    const std::int32_t moved = top > kTop || top < kTop - kSlack ? larger(top - kTop, -30'000) : 0;  // fits 16 bits
    if (kCells != SwCells::Live &&
        -V::max_element(-min_values) - moved - kFold * (s_.open + s_.extend) - kSlack <= kNever) {
      const std::int64_t floor = std::int64_t{base_} + moved + kNever + kSlack;
      const std::int64_t taint = 2 * floor + std::int64_t{2 - d_} * larger(s_.max_score, 0);
      taint_ = taint > taint_ ? taint : taint_;
    }
    if (!moved) return;
    base_ += moved;
    for (Lane* values : {inserted_, deleted_, h_[0], h_[1]})
      for (std::int32_t w = first_ - 1; w <= last_ + 1; ++w) {
        const Vector v = V::load(values + w * kLanes);
        V::store(values + w * kLanes, V::if_equal(v, never(), v, V::minus(v, V::all(moved))));
      }
  }

  const SwScheme& s_;
  const SwPair& pair_;
  const std::int32_t n_;
  std::int32_t low_, high_, last_i_, last_j_;
  Lane *inserted_, *deleted_, *h_[2];  // at [lane], after one spare vector; h_: even and odd anti-diagonals
  std::uint8_t *symbols_, *scores_;    // query, at [lane]; [vector - looked_first_][anti-diagonal][lane]
  std::int32_t d_ = 0, base_ = 0;
  std::int32_t first_ = 0, last_ = 0;  // vectors of the last anti-diagonal
  std::int32_t looked_first_ = 0, looked_last_ = -1;
  Rows live_[2];  // even and odd anti-diagonals
  std::int64_t taint_ = INT64_MIN;
  Vector max_scores_{}, dropped_{};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// One pair over all lanes, in strips of rows from the top. Each lane holds one row and is one column behind the lane
// of the row above, which is to its right; the topmost row of a strip is in the last lane. So the values that lanes
// write in a step are adjacent, and what remains for the next strip is the lowest row, which is written last.
//
// The path is traced by sweeping strips again with flags for each cell, from states of the lanes that were stored
// every kCheckpointSteps steps. If the rows between all strips are too large to store, only those of every n-th strip
// are stored, and the strips between two of them are swept two more times.
#pragma once

#include "kernels/sw/sw_lanes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Best cell so far.
struct SwBest {
  std::int32_t score = 0;
  std::int32_t i = 0, j = 0;
};

template <class Lane, SwFind kFind, bool kPlain>
class SwSweep {
  using V = SwVector<Lane>;
  using Vector = typename V::Vector;
  using Lookup = SwLookup<Lane>;

 public:
  static constexpr int kLanes = V::kCount;
  static constexpr std::int32_t kCheckpointSteps = 256, kFold = 16'384;  // steps
  // State carried from step to step.
  struct State {
    Vector h, inserted, deleted, diagonal;
  };

  // h and inserted hold the row above the strip at [column], with room for kLanes more on both sides. The sweep
  // replaces them with the row below the strip.
  SwSweep(const SwTask& task, const SwPair& pair, Lane* h, Lane* inserted)
      : s_(*task.scheme), pair_(pair), h_(h), inserted_(inserted) {}
  static constexpr std::int32_t steps(std::int32_t columns) { return columns + kLanes; }
  static Lane never(const SwScheme& s) {
    if (sw_local(kFind)) return static_cast<Lane>(-s.open - s.extend);
    return static_cast<Lane>(sizeof(Lane) == 2 ? INT16_MIN : -1'500'000'000);
  }

  // Prepares the strip below row `above`. True scores are lane values plus `base`.
  void begin(std::int32_t above, std::int32_t base) {
    above_ = above;
    base_ = base;
    const std::int32_t rows = pair_.query_len - above;
    beyond_ = rows < kLanes ? kLanes - rows : 0;
    alignas(64) Lane symbols[kLanes], borders[kLanes], below[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int32_t row = lane < beyond_ ? pair_.query_len : above + kLanes - lane;
      const std::uint8_t code = lane < beyond_ ? kQueryPad : pair_.query[row - 1];
      symbols[lane] = static_cast<Lane>(code);
      if constexpr (!kPlain) lookup_.set_row(s_, lane, code);
      const std::int64_t border = sw_local(kFind) ? 0 : -(s_.open + std::int64_t{row} * s_.extend) - base;
      borders[lane] = static_cast<Lane>(sizeof(Lane) == 2 && border < INT16_MIN ? INT16_MIN : border);
      below[lane] = static_cast<Lane>(lane < beyond_ ? -1 : 0);
    }
    symbols_ = V::load(symbols);
    border_ = V::load(borders);
    below_ = V::load(below);
    const Vector none = V::all(never(s_));
    state = {border_, none, none, none};
    if constexpr (kTracks) {
      at_first_ = 0;
      best_ = V::all(kNone);
      for (SwBest& row : rows_) row.score = INT32_MIN;
    }
  }

  // Computes steps `from` (a multiple of kSwBlock) to `to`, after the steps before `from` or from a stored state.
  void run(std::int32_t from, std::int32_t to, std::uint8_t* flags) {
    for (std::int32_t u = from; u < to; u += kSwBlock) {
      if constexpr (kTracks)
        if (u % kFold == 0) fold(u);
      const std::int32_t count = to - u < kSwBlock ? to - u : kSwBlock;
      std::uint8_t* at = sw_flags(kFind) ? flags + static_cast<std::size_t>(u - from) * kLanes : nullptr;
      if (u < kLanes || beyond_)
        block<true>(u, count, at);
      else
        block<false>(u, count, at);
    }
  }
  // Updates `best` after a strip's last step with the best cell of its rows.
  void look(SwBest& best) {
    if constexpr (kTracks) {
      fold(0);
      for (int lane = kLanes - 1; lane >= beyond_; --lane) {
        const SwBest& row = rows_[lane];
        const bool nearer = kFind == SwFind::Furthest && row.i + row.j < best.i + best.j;
        if (row.score > best.score || (row.score == best.score && nearer)) best = row;
      }
    }
  }

  State state;

 private:
  static constexpr bool kTracks = kFind == SwFind::Score || kFind == SwFind::Best || kFind == SwFind::Furthest;
  static constexpr std::int32_t kNone = sizeof(Lane) == 2 ? INT16_MIN : INT32_MIN;  // below any score

  // kRough: some lanes are before the first column or below the last row.
  template <bool kRough>
  void block(std::int32_t first, std::int32_t count, std::uint8_t* flags) {
    const Vector same = V::all(s_.matrix[0][0]), other = V::all(s_.matrix[0][1]), zero{};
    const Vector opened = V::all(s_.open + s_.extend), extend = V::all(s_.extend);
    const Vector numbers = V::numbers();
    Lane *const row_h = h_ + (first - kLanes + 1), *const row_inserted = inserted_ + (first - kLanes + 1);
    Vector place = V::all(first - at_first_);
    State s = state;
    Vector best = best_, at = at_;
    const Vector symbols = symbols_;
    // Target symbol of the lowest row, whose column is u - kLanes + 1, counted from 1.
    const std::uint8_t* target = pair_.target + (first - kLanes);
    if constexpr (!kPlain) look_up(target);
    for (std::int32_t k = 0; k < count; ++k) {
      const std::int32_t u = first + k;
      Lane *const h_at = row_h + k, *const inserted_at = row_inserted + k;
      const Vector up = V::down(s.h, V::load(h_at + kLanes - 1));
      const Vector inserted = V::down(s.inserted, V::load(inserted_at + kLanes - 1));
      Vector score;
      if constexpr (kPlain)
        score = V::if_equal(symbols, V::widened(target + k), same, other);
      else
        score = lookup_.score(k);
      Vector h = V::max(V::plus(s.diagonal, score), inserted);
      if constexpr (sw_local(kFind)) h = V::max(h, zero);
      h = V::max(h, s.deleted);
      if constexpr (kRough) {
        h = V::choose(h, up, below_);
        if (u < kLanes) h = V::if_above(numbers, V::all(kLanes - 1 - u), h, border_);
      }
      const Vector gap = V::minus(h, opened), inserted_on = V::minus(inserted, extend);
      const Vector deleted_on = V::minus(s.deleted, extend);
      if constexpr (sw_flags(kFind))
        V::store_bytes(flags + static_cast<std::size_t>(k) * kLanes,
                       sw_flags_of<V>(h, inserted, s.deleted, gap, inserted_on, deleted_on));
      s.inserted = V::max(gap, inserted_on);
      if constexpr (kRough) s.inserted = V::choose(s.inserted, inserted, below_);
      s.deleted = V::max(gap, deleted_on);
      s.diagonal = up;
      s.h = h;
      V::store(h_at, h);
      V::store(inserted_at, s.inserted);
      if constexpr (kFind != SwFind::Score && kTracks) at = V::if_above(h, best, place, at);
      if constexpr (kTracks) {
        place += V::all(1);
        best = V::max(best, h);
      }
    }
    best_ = best;
    at_ = at;
    state = s;
  }

  WFACLI_INLINE void look_up(const std::uint8_t* target) {
    using C = SwChunks<Lookup::chunks()>;
    lookup_.look_up([&](int r) { return C::load(target + r); });  // lane r, then lane 16 + r
  }

  // Collects each row's best cell since the last fold. The following steps begin with `next`.
  void fold(std::int32_t next) {
    alignas(64) Lane score[kLanes], at[kLanes];
    V::store(score, best_);
    V::store(at, at_);
    for (int lane = beyond_; lane < kLanes; ++lane) {
      SwBest& row = rows_[lane];
      const std::int32_t max_score = score[lane] + base_;
      if (max_score > row.score)
        row = {max_score, above_ + kLanes - lane,
               at_first_ + static_cast<std::int32_t>(at[lane]) - (kLanes - 1 - lane)};
    }
    at_first_ = next;
    best_ = V::all(kNone);
  }

  const SwScheme& s_;
  const SwPair& pair_;
  Lane *const h_, *const inserted_;
  std::int32_t above_ = 0, base_ = 0, beyond_ = 0;  // beyond_: lanes below the last row
  std::int32_t at_first_ = 0;
  Lookup lookup_;
  Vector symbols_, border_, below_, best_{}, at_{};
  SwBest rows_[kLanes];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Best local score of one pair of any length, and the cell where its alignment starts: strips of rows, which many warps
// compute side by side (J. Li, S. Ranka and S. Sahni, "Pairwise sequence alignment for very long sequences on GPUs",
// 2012; O. Gotoh, "An improved algorithm for matching biological sequences", J. Mol. Biol. 1982).
//
// Rows are symbols of the reversed query, columns those of the reversed target. The score of a cell is that of the best
// alignment that starts there, and the first best cell is the canonical start. A strip has 64 lanes of kWords rows,
// each one column behind the lane above; lanes l and 32 + l are the halves of one lane's words. One array holds the row
// between two strips: a strip reads a column when the strip above has written it, and overwrites it 63 steps later. A
// tag in each word identifies the writer. Strips are drawn from a counter, so a waiting warp always waits for a running
// one.
//
// Scores in halves are relative to their tile's base and start at `floor`; cells are raised to at least that
// (wfacli/native/solvers/local/local_sweep.hpp explains why this is right). No addition leaves its half, so whole words
// are added. These additions use the multiplier pipe, and the rest of a cell the other pipe.
//
// A tile is pruned if no alignment through it can be the best (E. Sandes and A. de Melo, "Retrieving Smith-Waterman
// alignments with optimizations for megabase biological sequences using GPU", 2013); ties are kept.
#pragma once

#include "local/local_state.cuh"

namespace wfacli::local {

template <class Scores>
class Strip {
 public:
  WFACLI_DEVICE Strip(const LocalTask& task, const WarpMemory<Scores>& memory, std::int64_t number, std::int32_t warp)
      : task_(task), memory_(memory), charges_(task), number_(number),
        lane_(static_cast<std::int32_t>(threadIdx.x & 31)), scores_(task, memory.scores, number * kRows, lane_),
        saved_(task.scratch + static_cast<std::int64_t>(warp) * kSlots * (32 * kStateWords + kChunk)),
        record_(task.best + warp) {}

  // Compute all columns and report the best cell. Return false if the launch is to end.
  WFACLI_DEVICE bool run() {
    __syncwarp();
    state_.begin(charges_.floor);
    request(0);
    const std::int64_t steps = task_.columns + kLate;
#pragma unroll 1
    for (std::int64_t from = 0; from < steps; from += kChunk)
      if (!tile(from)) return false;
    write_record();
    return true;
  }

 private:
  struct Place {
    std::int32_t row, column;  // in the strip, and from the tile's first column; row kRows: none
  };

  // Load what enters a tile's columns from above.
  WFACLI_DEVICE void request(std::int64_t from) {
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const std::int64_t c = from + 32 * k + lane_;
      if (c < task_.columns) coming_[k] = Boundary::read(task_.row + c);
    }
  }
  // Receive it, waiting for words that were not written yet unless the launch is to end.
  WFACLI_DEVICE void receive(std::int64_t from) {
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const std::int64_t c = from + 32 * k + lane_;
      if (c >= task_.columns) {
        coming_[k] = 0;
        continue;
      }
      while (!Boundary::is_of(coming_[k], number_)) {
        WFACLI_PAUSE();
        coming_[k] = Boundary::read(task_.row + c);
        if (*static_cast<volatile const std::int32_t*>(task_.best_score) == kStop) break;
      }
    }
    __syncwarp();
  }

  WFACLI_DEVICE bool tile(std::int64_t from) {
    receive(from);
    const std::int32_t highest = highest_input();
    const std::int32_t known = best_known();
    if (known == kStop) return false;
    if (task_.prune && !can_improve(from, highest, known)) {
      request(from + kChunk);
      state_.begin(charges_.floor);
      base_ = 0;
      write_boundary<false>(from);
      return true;
    }
    ++tiles_;
    rebase(max(0, highest - task_.max_difference));
    const bool any = has_barred(from) || has_rare_symbols(from);
    if (any)
      make_keys<true>(from);
    else
      make_keys<false>(from);
    load_tops();
    __syncwarp();
    const std::int32_t grows = min(kRows, kChunk + kLate) * task_.match;
    const bool may_be_best = highest + grows >= known;
    if (may_be_best) save_state(slot_);
    request(from + kChunk);
    const bool inside = from >= kLate && from + kChunk <= task_.columns;
    Place none{};
    const std::uint32_t top = any      ? steps<true, false, true>(from, 0, none)
                              : inside ? steps<false, false, false>(from, 0, none)
                                       : steps<true, false, false>(from, 0, none);
    const auto best = __reduce_max_sync(kAll, greater_half(top)) - task_.floor + base_;
    __syncwarp();
    write_boundary<true>(from);
    if (may_be_best && best > 0 && best >= known) update_best(from, best);
    return true;
  }

  // Return the best score known, the same in all lanes: one lane reads it, since other warps change it concurrently.
  WFACLI_DEVICE std::int32_t best_known() const {
    return __shfl_sync(kAll, *static_cast<volatile const std::int32_t*>(task_.best_score), 0);
  }
  WFACLI_DEVICE std::int32_t highest_input() {
    std::uint32_t highest_half = state_.corner;
#pragma unroll
    for (int r = 0; r < kWords; ++r) highest_half = __vmaxu2(highest_half, state_.score[r]);
    std::int32_t highest = greater_half(highest_half) - task_.floor + base_;
#pragma unroll
    for (int k = 0; k < kParts; ++k) highest = max(highest, Boundary::score(coming_[k]));
    return __reduce_max_sync(kAll, highest);
  }
  // Return true if the best alignment may pass through a tile whose inputs score at most `highest`.
  WFACLI_DEVICE bool can_improve(std::int64_t from, std::int32_t highest, std::int32_t known) const {
    const std::int64_t rows = task_.rows - number_ * kRows;
    const std::int64_t columns = task_.columns - max(from - kLanes, std::int64_t{0});
    const std::int64_t bound = highest + min(rows, columns) * task_.match;
    return bound > 0 && bound >= known;
  }
  WFACLI_DEVICE void rebase(std::int32_t base) {
    const std::int32_t by = base_ - base;
    base_ = base;
    if (by == 0) return;
    if (by > 0) {
      state_.each([&](std::uint32_t& word, int) { word += added(by); });
      return;
    }
    const std::int32_t raised = min(task_.floor - by, 0xffff);
    const std::uint32_t limit = both(raised), moved = added(task_.floor - raised);
    state_.each([&](std::uint32_t& word, int) { word = __vmaxu2(word, limit) + moved; });
  }
  template <bool kAny>
  WFACLI_DEVICE void make_keys(std::int64_t from) {
#pragma unroll 1
    for (int x = lane_; x < WarpMemory<Scores>::kKeys; x += 32) {
      const std::int64_t c = from - 31 + x;
      memory_.keys[x] = Scores::template key<kAny>(column_code(c), column_code(c - 32));
    }
  }
  WFACLI_DEVICE bool has_rare_symbols(std::int64_t from) const {
    if (!Scores::has_rare_symbols(task_)) return false;
    bool some = false;
#pragma unroll 1
    for (int x = lane_; x < WarpMemory<Scores>::kKeys + 32; x += 32)
      some |= column_code(from - 63 + x) >= static_cast<std::uint32_t>(PairScores::kCodes);
    return __any_sync(kAll, some);
  }
  WFACLI_DEVICE std::uint32_t column_code(std::int64_t column) const {
    return column >= 0 && column < task_.columns ? __ldg(task_.target + column) : 0;
  }
  WFACLI_DEVICE void load_tops() {
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const std::int32_t over = Boundary::score(coming_[k]) - base_;
      const std::int32_t h = max(over, 0), f = max(over - Boundary::less(coming_[k]), 0);
      memory_.tops[32 * k + lane_] =
          static_cast<std::uint32_t>(h + task_.floor) | static_cast<std::uint32_t>(f + task_.floor) << 16;
    }
  }

  // Compute the steps of a tile and return the halfwise maximum of all cells. kEdge: keep columns outside the matrix at
  // the floor. kSeek: find the first cell whose half is `wanted`. kAny: support all symbols, and cells that must not
  // be aligned.
  template <bool kEdge, bool kSeek, bool kAny>
  WFACLI_DEVICE std::uint32_t steps(std::int64_t from, std::int32_t wanted, Place& place) {
    const Charges charges = charges_;
    const std::uint32_t into_scores = lane_ == 0 ? 0x1054 : 0x3210, into_gaps = lane_ == 0 ? 0x1076 : 0x3210;
    const std::uint32_t* const keys = memory_.keys + 31 - lane_;
    std::uint32_t top = charges.floor;
    typename Scores::CellScores ahead;
    scores_.template fetch<kAny>(keys[0], ahead);
    std::uint32_t next = keys[1], outer = memory_.tops[0];
#pragma unroll(kEdge ? 1 : 2)
    for (int s = 0; s < kChunk; ++s) {
      const typename Scores::CellScores cell_scores = ahead;
      std::uint32_t above = __shfl_sync(kAll, state_.score[kWords - 1], lane_ + 31);
      std::uint32_t down = __shfl_sync(kAll, state_.down, lane_ + 31);
      scores_.template fetch<kAny>(next, ahead);  // unused after the last step
      above = __byte_perm(above, outer, into_scores);
      down = __byte_perm(down, outer, into_gaps);
      next = keys[s + 2];
      outer = memory_.tops[s + 1];
      const std::uint32_t inside = kEdge ? in_matrix(from + s) : kAll;
      std::uint32_t diagonal = state_.corner, before = 0;
      state_.corner = above;
#pragma unroll
      for (int r = 0; r < kWords; ++r) {
        std::uint32_t now = best_of(charges, diagonal, cell_scores.of(r), state_.along[r], down);
        if (kAny) {
          const std::uint32_t out = barred(r, from + s);
          now = (now & ~out) | (__vimax3_u16x2(state_.along[r], down, charges.floor) & out);
        }
        if (kEdge) now = (now & inside) | (charges.floor & ~inside);
        if (kSeek) compare_cell(now, r, s, wanted, place);
        diagonal = state_.score[r];
        state_.score[r] = now;
        const std::uint32_t begun = charges.sum(now, charges.first_gap);
        state_.along[r] = __vimax3_u16x2(charges.sum(state_.along[r], charges.extend), begun, charges.floor);
        down = __viaddmax_u16x2(down, charges.extend_halves, begun);
        if (r % 2) top = __vimax3_u16x2(top, before, now);
        before = now;
      }
      state_.down = down;
      if (lane_ == 31) memory_.bottoms[s] = __byte_perm(state_.score[kWords - 1], down, 0x7632);
    }
    return top;
  }
  WFACLI_DEVICE static std::uint32_t best_of(const Charges& charges, std::uint32_t diagonal,
                                             std::uint32_t substitution, std::uint32_t along, std::uint32_t down) {
    if constexpr (Scores::kSums)
      return __vimax3_u16x2(charges.sum(diagonal, substitution), along, down);
    else
      return __vmaxu2(__viaddmax_u16x2(diagonal, substitution, along), down);
  }
  // Return all ones in the halves whose columns are in the matrix, in the step that starts with `column`.
  WFACLI_DEVICE std::uint32_t in_matrix(std::int64_t column) const {
    const std::int64_t first = column - lane_, second = first - 32;
    return (first >= 0 && first < task_.columns ? 0xffffu : 0) |
           (second >= 0 && second < task_.columns ? 0xffff0000u : 0);
  }
  // Return all ones in the halves of word r whose cells are barred, in that step.
  WFACLI_DEVICE std::uint32_t barred(int r, std::int64_t column) const {
    std::uint32_t out = 0;
#pragma unroll 1
    for (int set = 0; set < task_.barred_sets; ++set) {
      const std::int32_t* const own = barred_of(set) + r;
      if (__ldg(own) == column - lane_) out |= 0xffffu;
      if (__ldg(own + 32 * kWords) == column - lane_ - 32) out |= 0xffff0000u;
    }
    return out;
  }
  WFACLI_DEVICE const std::int32_t* barred_of(int set) const {
    const std::int64_t strips = (task_.rows + kRows - 1) / kRows;
    return task_.barred + (set * strips + number_) * kRows + lane_ * kWords;
  }
  WFACLI_DEVICE bool has_barred(std::int64_t from) const {
    bool some = false;
#pragma unroll 1
    for (int set = 0; set < task_.barred_sets; ++set)
#pragma unroll 1
      for (int half = 0; half < 2; ++half)
        for (int r = 0; r < kWords; ++r) {
          const std::int64_t column = __ldg(barred_of(set) + 32 * kWords * half + r);
          some |= column >= from - kLate && column < from + kChunk;
        }
    return task_.barred_sets > 0 && __any_sync(kAll, some);
  }
  WFACLI_DEVICE void compare_cell(std::uint32_t now, int r, int s, std::int32_t wanted, Place& place) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Place here{(32 * half + lane_) * kWords + r, s - lane_ - 32 * half};
      const bool is_before = here.row != place.row ? here.row < place.row : here.column < place.column;
      if ((half ? upper(now) : lower(now)) == wanted && is_before) place = here;
    }
  }

  // Write the last row's cells that a tile has completed, or zeros if it was pruned.
  template <bool kComputed>
  WFACLI_DEVICE void write_boundary(std::int64_t from) {
    const bool stores = task_.store_every && (number_ + 1) % task_.store_every == 0;
    unsigned long long* const stored =
        stores ? task_.stored_rows + ((number_ + 1) / task_.store_every - 1 - task_.n_stored_before) * task_.columns
               : nullptr;
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const int s = 32 * k + lane_;
      const std::int64_t c = from - kLate + s;
      if (c < 0 || c >= task_.columns) continue;
      unsigned long long word = Boundary::of(number_ + 1, 0, 0);
      if (kComputed) {
        const std::uint32_t bottom = memory_.bottoms[s];
        word = Boundary::of(number_ + 1, lower(bottom) - task_.floor + base_, lower(bottom) - upper(bottom));
      }
      Boundary::write(task_.row + c, word);
      if (stores) stored[c] = word;
    }
    __syncwarp();
  }

  // Slots save a state together with the values that enter from above.
  WFACLI_DEVICE std::uint32_t* slot(int number) const { return saved_ + number * (32 * kStateWords + kChunk); }
  WFACLI_DEVICE void save_state(int number) {
    std::uint32_t* const to = slot(number);
    state_.each([&](std::uint32_t& word, int w) { to[32 * w + lane_] = word; });
#pragma unroll
    for (int k = 0; k < kParts; ++k) to[32 * kStateWords + 32 * k + lane_] = memory_.tops[32 * k + lane_];
  }
  WFACLI_DEVICE void restore_state(int number) {
    const std::uint32_t* const from = slot(number);
    state_.each([&](std::uint32_t& word, int w) { word = from[32 * w + lane_]; });
#pragma unroll
    for (int k = 0; k < kParts; ++k) memory_.tops[32 * k + lane_] = from[32 * kStateWords + 32 * k + lane_];
  }

  // Process a tile that starts with the state in slot_ and has a cell at least as good as the best known.
  WFACLI_DEVICE void update_best(std::int64_t from, std::int32_t best) {
    if (lane_ == 0) atomicMax(task_.best_score, best);
    if (best < best_) return;
    const Place place{kRows, 0};
    if (best == best_) {
      const std::int32_t base = base_;
      save_state(kSlots - 1);
      resolve();
      const Place before = place_;
      const std::int64_t before_from = best_from_;
      set_best(from, base, place);
      resolve();
      const bool is_before = before.row != place_.row ? before.row < place_.row
                                                      : before_from + before.column < best_from_ + place_.column;
      if (is_before) place_ = before, best_from_ = before_from;
      restore_state(kSlots - 1);
      base_ = base;
      __syncwarp();
      return;
    }
    best_ = best;
    set_best(from, base_, place);
  }
  WFACLI_DEVICE void set_best(std::int64_t from, std::int32_t base, const Place& place) {
    best_from_ = from;
    best_base_ = base;
    place_ = place;
    slot_ ^= 1;
  }
  // Find the first best cell of the best tile, if it is not known yet. Its state is in the slot that is not slot_.
  // Overwrites the current state.
  WFACLI_DEVICE void resolve() {
    if (place_.row < kRows) return;
    __syncwarp();
    restore_state(slot_ ^ 1);
    make_keys<true>(best_from_);
    __syncwarp();
    Place found{kRows, 0};
    steps<true, true, true>(best_from_, best_ - best_base_ + task_.floor, found);
    place_.row = __reduce_min_sync(kAll, found.row);
    place_.column = __reduce_min_sync(kAll, found.row == place_.row ? found.column : INT32_MAX);
    __syncwarp();
  }
  // Record the strip's best cell, if it is at least as good as the best known and better than those of the warp's
  // earlier strips, which are above.
  WFACLI_DEVICE void write_record() {
    if (lane_ == 0) atomicAdd(task_.tiles, static_cast<unsigned long long>(tiles_));
    if (best_ <= 0 || best_ < best_known()) return;
    resolve();
    if (lane_ == 0 && best_ > record_->score)
      *record_ = {best_, 0, number_ * kRows + place_.row, best_from_ + place_.column};
    __syncwarp();
  }

  const LocalTask& task_;
  const WarpMemory<Scores>& memory_;
  const Charges charges_;
  const std::int64_t number_;
  const std::int32_t lane_;
  const Scores scores_;
  std::uint32_t* const saved_;
  LocalPlace* const record_;
  State state_;
  std::int32_t base_ = 0;
  unsigned long long coming_[kParts] = {};
  std::int32_t tiles_ = 0;
  std::int32_t best_ = 0, best_base_ = 0;  // of the strip: score, and base of its tile
  std::int64_t best_from_ = 0;             // first column of that tile
  Place place_{kRows, 0};                  // best cell, if it has been searched for
  int slot_ = 0;                           // where the next state is saved
};

}  // namespace wfacli::local

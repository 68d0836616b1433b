// One pair over all lanes: the band is cut into blocks of 64 rows, one lane per block (schedule: bits_band.hpp).
// Included by bits_isa.cpp only; everything here exists once per instruction set.
//
// Blocks: G. Myers, J. ACM 1999, in the form of H. Hyyrö 2003. Band: E. Ukkonen, "Algorithms for approximate string
// matching", Information and Control 1985. Using the cost found in one band as the bound of the next: R. Marco-Sola et
// al., "QuickEd: high-performance exact sequence alignment based on bound-and-align", 2024.
//
// Cells outside the band count as one edit more than their neighbour inside: right of a block's last column, deltas
// along a row are +1; left of its first column, deltas down a column are +1. So all values are costs of real paths.
// Columns at and before 0 hold H(i, j) = i - j. The recurrence preserves that whatever symbols it reads, so no column
// needs a test.
#pragma once

#include "kernels/bits/bits.hpp"
#include "kernels/bits/bits_band.hpp"
#include "kernels/bits/bits_block.hpp"
#include "kernels/bits/bits_codes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Bit strings that begin in the highest bit of word 0: +1 deltas in even words, -1 deltas in odd words.
struct DeltaString {
  Word* words;
  struct Words {
    Word plus, minus;
  };
  WFACLI_INLINE Words at(std::int64_t position) const {
    const Word* w = words + position / 64 * 2;
    const int skip = static_cast<int>(position & 63);
    return {w[0] << skip | w[2] >> 1 >> (63 - skip), w[1] << skip | w[3] >> 1 >> (63 - skip)};
  }
  // Writes the `count` topmost bits from `position` on, and clears the bits after them.
  WFACLI_INLINE void put(std::int64_t position, int count, Words d) {
    Word* w = words + position / 64 * 2;
    const int skip = static_cast<int>(position & 63);
    const Word keep = skip ? ~Word{0} << (64 - skip) : 0, mask = ~Word{0} << (64 - count);
    d.plus &= mask;
    d.minus &= mask;
    w[0] = (w[0] & keep) | d.plus >> skip;
    w[1] = (w[1] & keep) | d.minus >> skip;
    w[2] = d.plus << 1 << (63 - skip);
    w[3] = d.minus << 1 << (63 - skip);
  }
  // Returns the sum of the deltas at positions from to `to` - 1; if to < from, minus the sum from `to` to from - 1.
  std::int64_t sum(std::int64_t from, std::int64_t to) const {
    if (to < from) return -sum(to, from);
    std::int64_t total = 0;
    for (; from < to; from += 64) {
      const Word mask = to - from < 64 ? ~Word{0} << (64 - (to - from)) : ~Word{0};
      const Words d = at(from);
      total += __builtin_popcountll(d.plus & mask) - __builtin_popcountll(d.minus & mask);
    }
    return total;
  }
};

// Bit planes of the pair.
struct PairPlanes {
  const Word* query;   // word [block][plane], row 64 block + 1 in bit 0
  const Word* target;  // word [64 columns][plane], column 1 - before in bit 63
  std::int64_t before;
};

template <int P>
class Stripes {
 public:
  struct State {
    Deltas vertical[kPairVectors];  // vertical deltas of the last column
    Deltas carried[kPairVectors];   // horizontal deltas, shifted to the lane that needs their top bit next
  };

  Stripes(const StripeBand& band, const PairPlanes& planes, DeltaString row) : b_(band), planes_(planes), row_(row) {}

  // Initializes the lanes, and writes row 0 above block 0.
  void begin(State& state) {
    for (int v = 0; v < kPairVectors; ++v) {
      state.vertical[v] = {ones(), zeros()};
      state.carried[v] = {zeros(), zeros()};
    }
    for (std::int64_t p = 0; p < b_.columns; p += 64) {
      const std::int64_t before = 1 - b_.first - p;  // row 0 falls up to column 0, and rises after it
      const Word minus = before <= 0 ? 0 : before >= 64 ? ~Word{0} : ~Word{0} << (64 - before);
      const int count = b_.columns - p < 64 ? static_cast<int>(b_.columns - p) : 64;
      row_.put(p, count, {~minus, minus});
    }
  }

  // Advances up to 64 steps, but not past the next change of the schedule. Returns the step where it stopped.
  template <bool Path>
  std::int64_t advance(State& state, std::int64_t step, Word* trace) {
    if (step != step_) jump(step);
    std::int64_t since = step - group_ * b_.columns;
    if (since == b_.columns) {
      ++group_;
      since = 0;
    }
    // Lane l begins 65 l steps after lane 0. In the 65 steps before that, it gets no deltas from above: the lane above
    // has moved on.
    const bool falling = since < StripeBand::kFall;
    std::int64_t stop = step - since + (falling ? (since / 65 + 1) * 65 : b_.columns);
    if (stop > step + 64) stop = step + 64;
    if (stop > b_.steps) stop = b_.steps;
    const int count = static_cast<int>(stop - step);
    if (since <= StripeBand::kFall && since % 65 == 0) begin_block(state, static_cast<int>(since / 65));
    load_symbols();
    const int cut_off = falling && group_ > 0 && group_ <= b_.last_group ? static_cast<int>(since / 65) + 1 : 0;
    alignas(64) Word above[3][kStripeLanes] = {};  // a mask of lanes, and their deltas from above
    const DeltaString::Words d = row_.at(step);
    above[0][cut_off] = above[1][cut_off] = ~Word{0};
    above[0][0] = ~Word{0};
    above[1][0] = d.plus;
    above[2][0] = d.minus;
    run<Path>(state, above[0], above[1], above[2], count, trace);
    note_last_row(step, since, count);
    step_ = stop;
    return stop;
  }

  // Returns H below the kStripeLanes blocks of `group` after the step before `step`. `above` is H above them in lane
  // 0's column; the last block's column is kStripeLanes - 1 further left.
  std::int64_t below(const State& state, std::int64_t above) const {
    for (int l = 0; l < kStripeLanes; ++l) {
      above += down_block(state, l);
      if (l + 1 < kStripeLanes) above -= step_left(state, l);
    }
    return above;
  }
  // The same for row `n` and the lane that contains it.
  std::int64_t corner(const State& state, std::int64_t above) const {
    const int lane = static_cast<int>(b_.last_block % kStripeLanes);
    for (int l = 0; l < lane; ++l) above += down_block(state, l) - step_left(state, l);
    return above + down_block(state, lane, ~Word{0} >> (63 - ((b_.n - 1) & 63)));
  }

 private:
  // Returns the horizontal delta of the last row of lane l's block.
  static WFACLI_INLINE std::int64_t step_left(const State& state, int l) {
    const Deltas& d = state.carried[(l + 1) / kLanes];
    const int at = (l + 1) % kLanes;
    return static_cast<std::int64_t>(d.plus[at] >> 63) - static_cast<std::int64_t>(d.minus[at] >> 63);
  }
  // Returns the sum of the vertical deltas of `rows` in lane l's block.
  static WFACLI_INLINE std::int64_t down_block(const State& state, int l, Word rows = ~Word{0}) {
    const Deltas& d = state.vertical[l / kLanes];
    return __builtin_popcountll(d.plus[l % kLanes] & rows) - __builtin_popcountll(d.minus[l % kLanes] & rows);
  }

  // Sets each lane's position to where it is before `step`.
  void jump(std::int64_t step) {
    group_ = step / b_.columns;
    for (int l = 0; l < kStripeLanes; ++l) place(l, b_.block_of(l, step), step);
  }
  void place(int l, std::int64_t block, std::int64_t step) {
    position_[l] = b_.column_at(block, step) - 1 + planes_.before;
    for (int p = 0; p < P; ++p) query_[p][l] = planes_.query[block * P + p];
  }

  // Starts lane l on its next block, if there is one.
  void begin_block(State& state, int l) {
    const std::int64_t block = group_ * kStripeLanes + l;
    if (block > b_.last_block) return;
    state.vertical[l / kLanes].plus[l % kLanes] = ~Word{0};
    state.vertical[l / kLanes].minus[l % kLanes] = 0;
    place(l, block, b_.start(block));
  }

  // Loads the next 64 symbols of each lane's columns.
  WFACLI_INLINE void load_symbols() {
    for (int l = 0; l < kStripeLanes; ++l) {
      const Word* t = planes_.target + position_[l] / 64 * P;
      const int skip = static_cast<int>(position_[l] & 63);
      for (int p = 0; p < P; ++p) target_[p][l] = t[p] << skip | t[P + p] >> 1 >> (63 - skip);
    }
  }

  // Computes `count` steps. Lanes in `given` take the topmost bits of given_plus and given_minus as deltas from above.
  template <bool Path>
  WFACLI_INLINE void run(State& state, const Word* given, const Word* given_plus, const Word* given_minus, int count,
                         Word* trace) {
    Deltas vertical[kPairVectors], carried[kPairVectors], from_row[kPairVectors];
    V q[kPairVectors][P], t[kPairVectors][P];
    for (int v = 0; v < kPairVectors; ++v) {
      vertical[v] = state.vertical[v];
      carried[v] = state.carried[v];
      from_row[v] = {load(given_plus + v * kLanes), load(given_minus + v * kLanes)};
      for (int p = 0; p < P; ++p) {
        q[v][p] = load(query_[p] + v * kLanes);
        t[v][p] = load(target_[p] + v * kLanes);
      }
    }
    for (int s = 0; s < count; ++s) {
      Deltas made[kPairVectors];
      for (int v = 0; v < kPairVectors; ++v) {
        const V mask = load(given + v * kLanes);
        const Deltas above = {choose(carried[v].plus, from_row[v].plus, mask) >> 63,
                              choose(carried[v].minus, from_row[v].minus, mask) >> 63};
        from_row[v].plus += from_row[v].plus;
        from_row[v].minus += from_row[v].minus;
        made[v] = next_column(vertical[v], unequal_rows<P>(q[v], t[v]), above);
        if constexpr (Path) {
          store(trace + v * kLanes, vertical[v].plus);
          store(trace + kStripeLanes + v * kLanes, made[v].plus);
        }
      }
      if constexpr (Path) trace += 2 * kStripeLanes;
      for (int v = 0; v < kPairVectors; ++v) {
        const Deltas& before = made[(v + kPairVectors - 1) % kPairVectors];
        carried[v] = {opaque(next_lane(made[v].plus, before.plus)), opaque(next_lane(made[v].minus, before.minus))};
      }
      last_row_[0][63 - s] = carried[0].plus[0];
      last_row_[1][63 - s] = carried[0].minus[0];
    }
    for (int v = 0; v < kPairVectors; ++v) {
      state.vertical[v] = vertical[v];
      state.carried[v] = carried[v];
    }
  }

  // Stores the deltas below the last lane for lane 0, which needs them `lag` steps later.
  void note_last_row(std::int64_t step, std::int64_t since, int count) {
    for (int l = 0; l < kStripeLanes; ++l) position_[l] += count;
    if (step + b_.lag + count <= b_.columns) return;  // row 0 is still there
    DeltaString::Words d = {top_bits(last_row_[0]), top_bits(last_row_[1])};
    const std::int64_t last_start = b_.last_group * b_.columns + StripeBand::kFall;
    const std::int64_t phase =
        since < StripeBand::kFall ? since - StripeBand::kFall + b_.columns : since - StripeBand::kFall;
    if (step >= last_start || phase < 64) {
      const Word forced = step >= last_start || phase == 0 ? ~Word{0} : ~(~Word{0} >> (64 - phase));
      d.plus |= forced;
      d.minus &= ~forced;
    }
    const std::int64_t early = b_.columns - b_.lag - step;
    if (early > 0) {
      d.plus <<= early;
      d.minus <<= early;
      row_.put(step + early + b_.lag, count - static_cast<int>(early), d);
    } else {
      row_.put(step + b_.lag, count, d);
    }
  }

  const StripeBand& b_;
  const PairPlanes& planes_;
  DeltaString row_;
  std::int64_t step_ = -1, group_ = 0;   // position of the lanes; groups keep counting beyond the last
  std::int64_t position_[kStripeLanes];  // position of each lane's next symbol
  alignas(64) Word query_[P][kStripeLanes], target_[P][kStripeLanes];
  alignas(64) Word last_row_[2][64] = {};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// A slab of rows by bit-vectors, as many blocks as several vectors have lanes, over a range of columns.
// Included by edit_isa.cpp only; everything here exists once per instruction set.
//
// Lane l takes each column l steps after lane 0, so that what a block hands down is in the next lane's register when it
// is wanted. A step depends on the one before; with two vectors there are two chains for the processor to work on.
#pragma once

#include "bits_block.hpp"
#include "edit.hpp"

namespace wfacli {
namespace WFACLI_ISA {

constexpr int kSlabVectors = 2, kSlabLanes = kSlabVectors * kLanes;

template <int P>
class Slab {
 public:
  explicit Slab(const SlabTask& task) : t_(task) {}

  // Before the first column of word `first`.
  void begin(SlabState& state) const {
    std::memset(&state, 0, sizeof state);
    for (int l = 0; l < kSlabLanes; ++l) {
      const std::int64_t falling = t_.falling - 64 * l;
      state.minus[l] = falling <= 0 ? 0 : falling >= 64 ? ~Word{0} : ~Word{0} >> (64 - falling);
      state.plus[l] = ~state.minus[l];
    }
  }

  // Columns of words from .. to - 1. The last lane is behind, so that the row below is complete to word to - 2; with
  // `finish` it is to the end.
  void advance(SlabState& state, std::int64_t from, std::int64_t to, bool finish) const {
    Lanes lanes;
    take(state, lanes);
    const Deltas left = lanes.vertical[0], right = lanes.vertical[1];
    for (std::int64_t w = from; w < to; ++w) {
      if (w == t_.first) {
        const Deltas start[kSlabVectors] = {left, right};
        word<true>(lanes, w, 64, start);
      } else {
        word<false>(lanes, w, 64, nullptr);
      }
      put_below(state, w);
    }
    if (finish) {
      word<false>(lanes, to, kSlabLanes - 1, nullptr);
      put_below(state, to);
    }
    give(lanes, state);
  }

 private:
  struct Lanes {
    Deltas vertical[kSlabVectors];
    Deltas handed[kSlabVectors];  // horizontal deltas, moved to the lane that needs their topmost bit next
    V rows[kSlabVectors][P];
  };

  void take(const SlabState& state, Lanes& lanes) const {
    for (int v = 0; v < kSlabVectors; ++v) {
      const int l = v * kLanes;
      lanes.vertical[v] = {load(state.plus + l), load(state.minus + l)};
      lanes.handed[v] = {load(state.down + l), load(state.fall + l)};
      for (int x = 0; x < kLanes; ++x)
        for (int p = 0; p < P; ++p) lanes.rows[v][p][x] = t_.query[(l + x) * P + p];
    }
  }
  static void give(const Lanes& lanes, SlabState& state) {
    for (int v = 0; v < kSlabVectors; ++v) {
      const int l = v * kLanes;
      store(state.plus + l, lanes.vertical[v].plus);
      store(state.minus + l, lanes.vertical[v].minus);
      store(state.down + l, lanes.handed[v].plus);
      store(state.fall + l, lanes.handed[v].minus);
    }
  }

  static WFACLI_INLINE V lane_numbers(int v) {
    V numbers;
    for (int l = 0; l < kLanes; ++l) numbers[l] = static_cast<Word>(v * kLanes + l);
    return numbers;
  }

  // `count` steps: lane 0 takes the first columns of word w, the others those that it took some steps ago. At the
  // `Start` of the slab lanes stay as they are until it is their turn.
  template <bool Start>
  WFACLI_INLINE void word(Lanes& lanes, std::int64_t w, int count, const Deltas* start) const {
    V columns[kSlabVectors][P];
    for (int v = 0; v < kSlabVectors; ++v) {
      const V late = lane_numbers(v);
      for (int p = 0; p < P; ++p) {
        const V now = zeros() + t_.target[w * P + p], before = zeros() + t_.target[(w - 1) * P + p];
        columns[v][p] = now >> late | before << 1 << (63 - late);
      }
    }
    V lane_0 = zeros(), given_plus = zeros(), given_minus = zeros();
    lane_0[0] = ~Word{0};
    given_plus[0] = t_.row[2 * w];
    given_minus[0] = t_.row[2 * w + 1];
    Deltas vertical[kSlabVectors], handed[kSlabVectors];
    V rows[kSlabVectors][P];
    for (int v = 0; v < kSlabVectors; ++v) {
      vertical[v] = lanes.vertical[v];
      handed[v] = lanes.handed[v];
      for (int p = 0; p < P; ++p) rows[v][p] = lanes.rows[v][p];
    }
    for (int s = 0; s < count; ++s) {
      for (int v = kSlabVectors - 1; v >= 0; --v) {
        const V plus = choose(handed[v].plus, v ? handed[v - 1].plus : given_plus, lane_0);
        const V minus = choose(handed[v].minus, v ? handed[v - 1].minus : given_minus, lane_0);
        const Deltas made = next_column(vertical[v], equal_rows<P>(rows[v], columns[v]), {plus >> 63, minus >> 63});
        handed[v] = {opaque(next_lane(made.plus)), opaque(next_lane(made.minus))};
        if constexpr (Start) {
          const V waits = (V)(lane_numbers(v) > static_cast<Word>(s));
          vertical[v] = {choose(vertical[v].plus, start[v].plus, waits), choose(vertical[v].minus, start[v].minus, waits)};
        }
      }
      given_plus += given_plus;
      given_minus += given_minus;
      below_[0][63 - s] = handed[kSlabVectors - 1].plus[0];
      below_[1][63 - s] = handed[kSlabVectors - 1].minus[0];
    }
    for (int v = 0; v < kSlabVectors; ++v) {
      lanes.vertical[v] = vertical[v];
      lanes.handed[v] = handed[v];
    }
  }

  // The row below the slab is kSlabLanes - 1 columns behind.
  WFACLI_INLINE void put_below(SlabState& state, std::int64_t w) const {
    for (int sign = 0; sign < 2; ++sign) {
      const Word now = top_bits(below_[sign]);
      if (w > t_.first) t_.row[2 * (w - 1) + sign] = state.below[sign] << (kSlabLanes - 1) | now >> (65 - kSlabLanes);
      state.below[sign] = now;
    }
  }

  const SlabTask& t_;
  alignas(64) mutable Word below_[2][64];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

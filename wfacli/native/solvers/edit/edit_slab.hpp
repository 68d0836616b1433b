// A slab of rows by bit-vectors over a range of columns: one block of 64 rows in each lane of one or several vectors.
// Included by edit_isa.cpp only; everything here exists once per instruction set.
//
// Each lane computes a column kLate steps after the lane above, so that the deltas of the block above are in its
// register when they are needed. Passing them on takes the processor longer than one step, hence two. Two vectors give
// it two independent chains of instructions.
#pragma once

#include "kernels/bits/bits_block.hpp"
#include "solvers/edit/edit.hpp"

namespace wfacli {
namespace WFACLI_ISA {

constexpr int kLate = 2;  // steps of a lane behind the lane above

// P: bit planes. Within: write the deltas of row task.last, else those of the last row.
template <int P, int kSlabVectors, bool Within>
class Slab {
  static constexpr int kSlabLanes = kSlabVectors * kLanes;

 public:
  explicit Slab(const SlabTask& task)
      : t_(task), lane_(Within ? (task.last - 1) / 64 : kSlabLanes - 1), latest_(kLate * lane_) {
    for (int l = 0; l < kSlabLanes; ++l)
      wanted_[l / kLanes][l % kLanes] = Within && l == lane_ ? Word{1} << ((task.last - 1) & 63) : 0;
  }

  // Initialise the state before the first column of word `first`.
  void begin(SlabState& state) const {
    std::memset(&state, 0, sizeof state);
    for (int l = 0; l < kSlabLanes; ++l) {
      const std::int64_t falling = t_.falling - 64 * l;
      state.minus[l] = falling <= 0 ? 0 : falling >= 64 ? ~Word{0} : ~Word{0} >> (64 - falling);
      state.plus[l] = ~state.minus[l];
    }
  }

  // Compute the columns of words from .. to - 1. The last lane is behind, so the last row is complete up to word
  // to - 2, or with `finish` to the end.
  void advance(SlabState& state, std::int64_t from, std::int64_t to, bool finish) const {
    Lanes lanes;
    take(state, lanes);
    const Lanes start = lanes;
    for (std::int64_t w = from; w < to; ++w) {
      if (w == t_.first) word<true>(lanes, w, 64, start);
      else word<false>(lanes, w, 64, start);
      put_below(state, w);
    }
    if (finish) {
      word<false>(lanes, to, latest_, start);
      put_below(state, to);
    }
    give(lanes, state);
  }

 private:
  struct Lanes {
    Deltas vertical[kSlabVectors];
    Deltas carried[kLate][kSlabVectors];  // horizontal deltas of the last kLate steps
    V rows[kSlabVectors][P];
  };

  void take(const SlabState& state, Lanes& lanes) const {
    for (int v = 0; v < kSlabVectors; ++v) {
      const int l = v * kLanes;
      lanes.vertical[v] = {load(state.plus + l), load(state.minus + l)};
      for (int ago = 0; ago < kLate; ++ago)
        lanes.carried[ago][v] = {load(state.down[ago] + l), load(state.fall[ago] + l)};
      for (int x = 0; x < kLanes; ++x)
        for (int p = 0; p < P; ++p) lanes.rows[v][p][x] = t_.query[(l + x) * P + p];
    }
  }
  static void give(const Lanes& lanes, SlabState& state) {
    for (int v = 0; v < kSlabVectors; ++v) {
      const int l = v * kLanes;
      store(state.plus + l, lanes.vertical[v].plus);
      store(state.minus + l, lanes.vertical[v].minus);
      for (int ago = 0; ago < kLate; ++ago) {
        store(state.down[ago] + l, lanes.carried[ago][v].plus);
        store(state.fall[ago] + l, lanes.carried[ago][v].minus);
      }
    }
  }

  // Steps of each lane of vector v behind lane 0 of the slab.
  static WFACLI_INLINE V behind(int v) {
    V steps;
    for (int l = 0; l < kLanes; ++l) steps[l] = static_cast<Word>((v * kLanes + l) * kLate);
    return steps;
  }

  // Do `count` steps: lane 0 computes the first columns of word w, each other lane the columns that lane 0 computed
  // some steps before. With `Start`, lanes keep their state until they reach the first column.
  template <bool Start>
  WFACLI_INLINE void word(Lanes& lanes, std::int64_t w, int count, const Lanes& start) const {
    V columns[kSlabVectors][P];
    for (int v = 0; v < kSlabVectors; ++v) {
      const V late = behind(v);
      for (int p = 0; p < P; ++p) {
        const V now = zeros() + t_.target[w * P + p], before = zeros() + t_.target[(w - 1) * P + p];
        columns[v][p] = now >> late | before << 1 << (63 - late);
      }
    }
    V given_plus = zeros() + t_.row[2 * w], given_minus = zeros() + t_.row[2 * w + 1];
    Deltas vertical[kSlabVectors], carried[kLate][kSlabVectors];
    V rows[kSlabVectors][P], within[2] = {zeros(), zeros()};
    for (int v = 0; v < kSlabVectors; ++v) {
      vertical[v] = lanes.vertical[v];
      for (int ago = 0; ago < kLate; ++ago) carried[ago][v] = lanes.carried[ago][v];
      for (int p = 0; p < P; ++p) rows[v][p] = lanes.rows[v][p];
    }
    const auto step = [&](int s, Deltas (&now)[kSlabVectors]) __attribute__((always_inline)) {
      for (int v = kSlabVectors - 1; v >= 0; --v) {
        const V plus = next_lane(now[v].plus, v ? now[v - 1].plus : given_plus);
        const V minus = next_lane(now[v].minus, v ? now[v - 1].minus : given_minus);
        now[v] = next_column(vertical[v], unequal_rows<P>(rows[v], columns[v]), {plus >> 63, minus >> 63});
        if constexpr (Start) {
          const V waits = (V)(behind(v) > static_cast<Word>(s));
          vertical[v] = {choose(vertical[v].plus, start.vertical[v].plus, waits),
                         choose(vertical[v].minus, start.vertical[v].minus, waits)};
        }
      }
      given_plus += given_plus;
      given_minus += given_minus;
      if constexpr (Within) {
        V plus = zeros(), minus = zeros();
        for (int v = 0; v < kSlabVectors; ++v) {
          plus |= now[v].plus & wanted_[v];
          minus |= now[v].minus & wanted_[v];
        }
        within[0] = append_bit(within[0], plus);
        within[1] = append_bit(within[1], minus);
      } else {
        put(below_[0] + 64 - s, now[kSlabVectors - 1].plus);
        put(below_[1] + 64 - s, now[kSlabVectors - 1].minus);
      }
    };
    for (int s = 0; s < count; s += kLate)  // `count` is a multiple of kLate
      for (int late = 0; late < kLate; ++late) step(s + late, carried[late]);
    for (int v = 0; v < kSlabVectors; ++v) {
      lanes.vertical[v] = vertical[v];
      for (int ago = 0; ago < kLate; ++ago) lanes.carried[ago][v] = carried[ago][v];
    }
    if constexpr (Within) {
      for (int sign = 0; sign < 2; ++sign) within_[sign] = count ? within[sign][lane_ % kLanes] << (64 - count) : 0;
    }
  }

  // Store all lanes, so that the last lane is at to[kLanes - 1]; later steps overwrite the others.
  static WFACLI_INLINE void put(Word* to, V v) { std::memcpy(to, &v, sizeof v); }

  // Write word w - 1 of the row's deltas, which the steps of word w complete: its lane is latest_ columns behind.
  WFACLI_INLINE void put_below(SlabState& state, std::int64_t w) const {
    for (int sign = 0; sign < 2; ++sign) {
      const Word now = Within ? within_[sign] : top_bits(below_[sign] + kLanes);
      if (w > t_.first) t_.row[2 * (w - 1) + sign] = state.below[sign] << latest_ | now >> 1 >> (63 - latest_);
      state.below[sign] = now;
    }
  }

  const SlabTask& t_;
  const int lane_, latest_;  // lane of the row that is written, and the steps that it is behind
  V wanted_[kSlabVectors];   // mask of that row
  mutable Word within_[2];   // deltas of that row, the first step in the highest bit
  alignas(64) mutable Word below_[2][kLanes + 64];  // deltas of the last lane from kLanes on, the latest step first
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

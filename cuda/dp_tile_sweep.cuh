// All stripes from the first to the last, costs alone: about five instructions for two cells.
#pragma once

#include "dp_tile_room.cuh"

namespace wfacli::dp {

// A lane's columns of a stripe, after the last row that they had.
struct TileState {
  std::uint32_t value[kTileColumns];
  std::uint32_t insertion[kTilePieces][kTileColumns];  // that come into the next row
  std::uint32_t deletion[kTilePieces];                 // that leave the last column, in the same row
  std::uint32_t corner;                                // the value before the first column

  // Before row 0 of a stripe, where `columns` letters of the targets lie before the lane's.
  WFACLI_DEVICE void begin(const TileCosts& costs, const TilePair (&pairs)[2], std::int32_t stripe,
                           std::int32_t columns, std::uint32_t entry) {
    const bool outer[2] = {pairs[0].top(stripe) == 1, pairs[1].top(stripe) == 1};
#pragma unroll
    for (int j = -1; j < kTileColumns; ++j) {
      const std::int32_t above = costs.edge(columns + j + 1);
      std::int32_t of[2];
#pragma unroll
      for (int x = 0; x < 2; ++x) of[x] = outer[x] ? min(max(above - pairs[x].base, -kFar), kFar) : kFar;
      if (j < 0) {
        corner = halves(of[0], of[1]);
        continue;
      }
      value[j < 0 ? 0 : j] = halves(of[0], of[1]);
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) {
        const std::int32_t by = costs.open[g] + costs.more[g];
        insertion[g][j < 0 ? 0 : j] = halves(min(of[0] + by, kFar), min(of[1] + by, kFar));
      }
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) deletion[g] = Halves::all(kFar);
    if (columns % kTileWidth != 0) return;
    // The first lane's corner lies in the stripe before, unless it is in row 0.
    corner = (corner & ((outer[0] ? 0xffffu : 0) | (outer[1] ? 0xffff0000u : 0))) |
             (entry & ((outer[0] ? 0 : 0xffffu) | (outer[1] ? 0 : 0xffff0000u)));
  }
  // What the lane before passes on: called by all lanes, in the step after the one in which it was made.
  WFACLI_DEVICE Entry passed_on() const {
    Entry entry;
    entry.value = __shfl_up_sync(kAllLanes, value[kTileColumns - 1], 1, kTileLanes);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      entry.deletion[g] = __shfl_up_sync(kAllLanes, deletion[g], 1, kTileLanes);
    return entry;
  }
  // The next row.
  WFACLI_DEVICE void row(const std::uint32_t (&open)[kTilePieces], const std::uint32_t (&more)[kTilePieces],
                         const TileLetters& letters, const TileLetters::Row& letter,
                         const std::uint32_t (&columns)[kTileColumns], const Entry& entry) {
    std::uint32_t diagonal = corner;
    corner = entry.value;
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) deletion[g] = entry.deletion[g];
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      std::uint32_t least = Halves::least_with_sum(diagonal, letters.worth(letter, columns[j]), insertion[0][j]);
      diagonal = value[j];
      if constexpr (kTilePieces == 1) {
        // A deletion after a deletion is no cheaper than one of both: `least` will do to open one.
        value[j] = Halves::least(least, deletion[0]);
        deletion[0] = Halves::least_with_sum(least, open[0], deletion[0]);
        insertion[0][j] = Halves::least_with_sum(value[j], open[0], insertion[0][j]);
      } else {
        least = Halves::least(least, insertion[kTilePieces - 1][j]);
        value[j] = Halves::least(least, deletion[0], deletion[kTilePieces - 1]);
#pragma unroll
        for (int g = 0; g < kTilePieces; ++g) {
          deletion[g] = Halves::add(Halves::least_with_sum(value[j], open[g], deletion[g]), more[g]);
          insertion[g][j] = Halves::add(Halves::least_with_sum(value[j], open[g], insertion[g][j]), more[g]);
        }
      }
    }
  }
  WFACLI_DEVICE void keep(std::uint32_t* at) const {
    int w = 0;
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) at[kTileLanes * w++] = value[j];
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
#pragma unroll
      for (int j = 0; j < kTileColumns; ++j) at[kTileLanes * w++] = insertion[g][j];
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) at[kTileLanes * w++] = deletion[g];
    at[kTileLanes * w] = corner;
  }
  WFACLI_DEVICE Edge edge() const {
    const std::uint32_t last = value[kTileColumns - 1];
    Edge edge;
    edge.of[0].first = __byte_perm(last, deletion[0], 0x5410);
    edge.of[1].first = __byte_perm(last, deletion[0], 0x7632);
#if WFACLI_PIECES == 2
    edge.of[0].second = static_cast<std::uint32_t>(half_of(deletion[1], 0));
    edge.of[1].second = static_cast<std::uint32_t>(half_of(deletion[1], 1));
#endif
    return edge;
  }
};

// Both pairs through a stripe.
struct TileSweep {
  const AlignTask& task;
  const TileCosts costs;
  const TileRoom& room;
  std::int32_t lane;

  // New bases, by which the value at the stripe's top left is kTop; what lifts values of the stripe before to them.
  WFACLI_DEVICE void rebase(TilePair (&pairs)[2], std::int32_t stripe, std::int32_t (&lift)[2]) const {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      lift[x] = 0;
      if (stripe == 0 || pairs[x].rows(stripe - 1) == 0) continue;
      lift[x] = kTop - half_of(room.edge(stripe - 1)->of[x].first, 0);
      pairs[x].base -= lift[x];
    }
    if (lane == 0 && room.path && stripe < room.stripes) *room.bases(stripe) = make_int2(pairs[0].base, pairs[1].base);
  }

  // All lanes of the warp call it. `rows`: of the stripe, of both pairs, and of all pairs of the warp.
  WFACLI_DEVICE void stripe(TilePair (&pairs)[2], std::int32_t number, std::int32_t rows, std::int32_t most) const {
    std::int32_t lift[2];
    rebase(pairs, number, lift);
    const std::int32_t columns = number * kTileWidth + lane * kTileColumns;
    const Entrance entrance = Entrance::of(pairs, room, {number, number}, lift);
    TileState state;
    const std::int32_t before[2] = {-1, -1}, rows_from[2] = {0, 0};
    state.begin(costs, pairs, number, columns, entrance.entry(costs, before, entrance.kept(before)).value);
    TileLetters letters = TileLetters::of(task, {-2 * costs.drift, costs.mismatch - 2 * costs.drift});
    std::uint32_t targets[kTileColumns], open[kTilePieces], more[kTilePieces];
    letters.columns({pairs[0].target, pairs[1].target}, {columns, columns}, targets);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) {
      open[g] = Halves::all(costs.open[g]);
      more[g] = Halves::all(costs.more[g]);
    }
    std::int32_t last[2];  // steps in which this lane has the last cells
#pragma unroll
    for (int x = 0; x < 2; ++x) last[x] = last_step(pairs[x], number);
    const bool ends = __any_sync(kAllLanes, max(last[0], last[1]) >= 0);
    const std::int32_t query[2] = {pairs[0].top(number) - 1 - lane, pairs[1].top(number) - 1 - lane};
    Edge* const edge = room.edge(number);
    Entering entering(entrance, costs, rows_from, lane);
    const std::int32_t steps = most + kTileLanes - 1;
    for (std::int32_t t = 0; t < steps; ++t) {
      if (t % 16 == 0) {
        if (room.path && t % kTileSteps == 0 && t < rows + kTileLanes - 1)
          state.keep(room.kept(number, t / kTileSteps, lane));
        letters.enter({pairs[0].query, pairs[1].query}, {query[0] + t, query[1] + t});
      }
      Entry entry = state.passed_on();
      const Entry outer = entering.at(t);
      if (lane == 0) entry = outer;
      const TileLetters::Row letter = letters.next();
      if (t < lane) continue;
      state.row(open, more, letters, letter, targets, entry);
      if (lane == kTileLanes - 1 && t - lane < rows) edge[t - lane] = state.edge();
      if (ends && (t == last[0] || t == last[1])) end(pairs, state, t == last[0], t == last[1]);
    }
  }

 private:
  WFACLI_DEVICE std::int32_t last_step(const TilePair& pair, std::int32_t stripe) const {
    if (stripe != pair.stripes - 1) return -1;
    const std::int32_t column = pair.target.length - 1 - stripe * kTileWidth;
    return column / kTileColumns == lane ? pair.query.length - pair.top(stripe) + lane : -1;
  }
  WFACLI_DEVICE void end(TilePair (&pairs)[2], const TileState& state, bool of_first, bool of_second) const {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      if (!(x ? of_second : of_first)) continue;
      TilePair& pair = pairs[x];
      std::uint32_t word = 0;  // by masks: an index would take the state out of its registers
#pragma unroll
      for (int j = 0; j < kTileColumns; ++j)
        word |= state.value[j] & (j == (pair.target.length - 1) % kTileColumns ? 0xffffffffu : 0u);
      pair.cost = half_of(word, x) + pair.base + costs.drift * (pair.query.length + pair.target.length);
    }
  }
};

}  // namespace wfacli::dp

// The way back through the stripes: those parts of them that the paths cross are computed once more, with directions.
#pragma once

#include "common/cigar.cuh"
#include "common/lanes.cuh"
#include "dp_tile_sweep.cuh"

namespace wfacli::dp {

using TileSteps = Steps<kTilePieces, true>;
using TileDirections = Directions<kTilePieces>;
using TileGroup = Lanes<kTileLanes>;

// Where directions of a lane's columns are in the words that it writes for a row.
struct TileLayout {
  static constexpr int kBits = TileDirections::kBits;
  static constexpr int kRoom = 16 / kBits;  // of a word, for each pair
  static constexpr int kWords = kTileColumns / kRoom;
  static_assert(kWords == 4 * TileRoom::kVectors);
};

// One pair's way back: a cell, and what of the pair's stripe is there to walk through.
struct TileTrack {
  std::int32_t i, j;    // from (query_len, target_len) to an edge of the matrix
  std::int32_t gap;     // the kind of gap that (i, j) is inside of, perhaps at its end; -1: none
  std::int32_t stripe, top, state;  // of the part
  RunWriter out;

  // From a pair's last cell; nowhere to go where no cost is found. Lane 0 writes.
  WFACLI_DEVICE static TileTrack of(const AlignTask& task, const TilePair& pair, bool found, std::int32_t lane) {
    found = found && pair.slot < task.count;
    const auto at = static_cast<std::uint64_t>(found ? pair.slot : 0) * static_cast<std::uint32_t>(task.op_capacity);
    return {found ? pair.query.length : 0, found ? pair.target.length : 0, -1, 0, 0, 0,
            RunWriter(task.ops + at, found && lane == 0 ? task.op_capacity : 0)};
  }
  WFACLI_DEVICE bool goes_on() const { return i > 0 && j > 0; }
  WFACLI_DEVICE std::int32_t step(std::int32_t row, std::int32_t column) const {
    return row - top + (column - 1 - stripe * kTileWidth) / kTileColumns;
  }
  // The part whose last cell is (i, j).
  WFACLI_DEVICE void enter(const TilePair& pair) {
    stripe = goes_on() ? (j - 1) / kTileWidth : 0;
    top = pair.top(stripe);
    state = goes_on() ? step(i, j) / kTileSteps : 0;
  }
  WFACLI_DEVICE std::int32_t steps() const { return goes_on() ? step(i, j) - state * kTileSteps + 1 : 0; }
  WFACLI_DEVICE bool has(std::int32_t row, std::int32_t column) const {
    return row > 0 && column > stripe * kTileWidth && step(row, column) >= state * kTileSteps;
  }
};

struct TileWalk {
  const AlignTask& task;
  const TileCosts costs;
  const TileRoom& room;
  std::int32_t lane;

  // Both pairs from their last cells to the matrices' edges. All lanes of the warp call it; pairs whose cost is not
  // proved have no track to go.
  WFACLI_DEVICE void run(const TilePair (&pairs)[2], TileTrack (&tracks)[2]) const {
    const TileSteps steps = TileSteps::of(task.costs);
    for (;;) {
      tracks[0].enter(pairs[0]);
      tracks[1].enter(pairs[1]);
      const std::int32_t most = __reduce_max_sync(kAllLanes, max(tracks[0].steps(), tracks[1].steps()));
      if (most == 0) return;
      compute(steps, pairs, tracks, most);
      __syncwarp();  // directions are written
#pragma unroll
      for (int x = 0; x < 2; ++x) walk(tracks[x], x);
      __syncwarp();  // and read
    }
  }

 private:
  // Values of the sweep as the cells of dp_cells.cuh have them: drift by diagonals, and all of a part near 0.
  struct Frame {
    std::uint32_t least, most;  // of values kept
    std::uint32_t tagged_most;

    WFACLI_DEVICE std::uint32_t tagged(std::uint32_t value, std::uint32_t rows_drift, std::uint32_t tag) const {
      const std::uint32_t near = __vmins2(__vmaxs2(__vadd2(__vmins2(value, Halves::all(kFar)), rows_drift), least), most);
      return (__vsub2(near, least) << 4 & 0xfff0fff0u) | tag * Halves::kOnes;
    }
  };
  struct State {
    std::uint32_t value[kTileColumns];
    Gaps<kTilePieces> insertion[kTileColumns], passed;
    std::uint32_t corner;
  };

  // 2 drift a row, counted from the lane that is the furthest behind; `rows` more than the lane's last one.
  WFACLI_DEVICE std::uint32_t drift_of(const TileTrack (&tracks)[2], std::int32_t rows) const {
    std::int32_t of[2];
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t done = tracks[x].state > 0 ? -1 - lane : -1;
      of[x] = 2 * costs.drift * (done + rows + kTileLanes);
    }
    return halves(of[0], of[1]);
  }

  WFACLI_DEVICE std::uint32_t word(const std::uint32_t* const (&kept)[2], int w) const {
    return __byte_perm(kept[0][kTileLanes * w], kept[1][kTileLanes * w], 0x7610);
  }

  // The state before the parts, and the frame that all of it fits.
  WFACLI_DEVICE Frame restore(const TileSteps& steps, const TileTrack (&tracks)[2], State& state) const {
    const std::uint32_t* const kept[2] = {room.kept(tracks[0].stripe, tracks[0].state, lane),
                                          room.kept(tracks[1].stripe, tracks[1].state, lane)};
    const std::uint32_t done = drift_of(tracks, 0), next = drift_of(tracks, 1);
    std::uint32_t least = Halves::all(kFar);
    int w = 0;
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      state.value[j] = word(kept, w++);
      least = __vmins2(least, __vadd2(state.value[j], done));
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
#pragma unroll
      for (int j = 0; j < kTileColumns; ++j) state.insertion[j].insertion[g] = word(kept, w++);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) state.passed.deletion[g] = word(kept, w++);
    state.corner = word(kept, w);
    least = __vmins2(least, __vadd2(state.corner, done));
#pragma unroll
    for (int by = 1; by < kTileLanes; by *= 2) least = __vmins2(least, __shfl_xor_sync(kAllLanes, least, by, kTileLanes));
    // Rows to come may have values a little below those that are here.
    std::int32_t margin = costs.mismatch;
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) margin = max(margin, costs.open[g] + costs.more[g] + costs.drift);
    Frame frame;
    frame.least = __vsub2(least, Halves::all(2 * margin));
    frame.most = __vadd2(frame.least, Halves::all(steps.most));
    frame.tagged_most = Halves::all(steps.most * kScale + static_cast<std::int32_t>(TileSteps::kMatchTag));
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      state.value[j] = frame.tagged(state.value[j], done, TileSteps::kMatchTag);
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g)
        state.insertion[j].insertion[g] = frame.tagged(state.insertion[j].insertion[g], next, TileSteps::tag(g));
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      state.passed.deletion[g] = frame.tagged(state.passed.deletion[g], done, TileSteps::tag(kTilePieces + g));
    state.corner = frame.tagged(state.corner, done, TileSteps::kMatchTag);
    return frame;
  }

  // The parts that the tracks have entered, `most` steps of them: their directions.
  WFACLI_DEVICE void compute(const TileSteps& steps, const TilePair (&pairs)[2], const TileTrack (&tracks)[2],
                             std::int32_t most) const {
    State state;
    const Frame frame = restore(steps, tracks, state);
    std::int32_t lift[2], columns[2], query[2], begin[2], stripes[2];
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t stripe = stripes[x] = tracks[x].stripe;
      lift[x] = stripe ? base_of(stripe - 1, x) - base_of(stripe, x) : 0;
      columns[x] = stripe * kTileWidth + lane * kTileColumns;
      begin[x] = tracks[x].state * kTileSteps;
      query[x] = tracks[x].top - 1 - lane + begin[x];
    }
    const Entrance entrance = Entrance::of(pairs, room, stripes, lift);
    Entering outer(entrance, costs, begin, lane);
    TileLetters letters = TileLetters::of(task, {0, -1});
    std::uint32_t targets[kTileColumns];
    letters.columns({pairs[0].target, pairs[1].target}, columns, targets);
    const std::uint32_t mismatch = steps.mismatch[0] * Halves::kOnes;
    uint4* out = room.directions() + lane * TileRoom::kVectors;
    const std::int32_t behind[2] = {begin[0] > 0 ? 0 : lane, begin[1] > 0 ? 0 : lane};  // steps until its first row
    for (std::int32_t t = 0; t < most; ++t, out += kTileLanes * TileRoom::kVectors) {
      if (t % kRows == 0) {
        letters.enter({pairs[0].query, pairs[1].query}, {query[0] + t, query[1] + t});
#pragma unroll
        for (int j = 0; j < kTileColumns; ++j) state.value[j] = __vmins2(state.value[j], frame.tagged_most);
      }
      Gaps<kTilePieces> deletion{};
      const std::uint32_t corner = entering(frame, outer.at(t), t, state, deletion);
      const TileLetters::Row letter = letters.next();
      row(steps, letters, letter, targets, mismatch, corner, deletion, (t >= behind[0] ? 0xffffu : 0) | (t >= behind[1] ? 0xffff0000u : 0),
          state, out);
    }
  }

  WFACLI_DEVICE std::int32_t base_of(std::int32_t stripe, int x) const {
    const int2 bases = *room.bases(stripe);
    return x ? bases.y : bases.x;
  }

  // What comes into the lane's first column in step t of the parts, from the lane before or, to the first one, from
  // outside; the value there. All lanes call it.
  WFACLI_DEVICE std::uint32_t entering(const Frame& frame, const Entry& outer, std::int32_t t, const State& state,
                                       Gaps<kTilePieces>& deletion) const {
    std::uint32_t value = __shfl_up_sync(kAllLanes, state.value[kTileColumns - 1], 1, kTileLanes);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      deletion.deletion[g] = __shfl_up_sync(kAllLanes, state.passed.deletion[g], 1, kTileLanes);
    if (lane > 0) return value;
    const std::uint32_t drift = Halves::all(2 * costs.drift * (t + kTileLanes));
    value = frame.tagged(outer.value, drift, TileSteps::kMatchTag);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      deletion.deletion[g] = frame.tagged(outer.deletion[g], drift, TileSteps::tag(kTilePieces + g));
    return value;
  }

  // A row of the pairs that have begun (all ones in their halves of `begun`), and its directions.
  WFACLI_DEVICE static void row(const TileSteps& steps, const TileLetters& letters, const TileLetters::Row& letter,
                                const std::uint32_t (&targets)[kTileColumns], std::uint32_t mismatch,
                                std::uint32_t corner, Gaps<kTilePieces> deletion, std::uint32_t begun, State& state,
                                uint4* out) {
    std::uint32_t diagonal = state.corner, words[TileLayout::kWords] = {};
    state.corner = (corner & begun) | (state.corner & ~begun);
    constexpr std::uint32_t kMask = ((1u << TileLayout::kBits) - 1) * Halves::kOnes;
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      const std::uint32_t unlike = letters.worth(letter, targets[j]);
      Gaps<kTilePieces> from, to;
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) {
        from.insertion[g] = state.insertion[j].insertion[g];
        from.deletion[g] = deletion.deletion[g];
      }
      std::uint32_t value;
      const std::uint32_t direction = gotoh(steps, diagonal + (unlike & mismatch), from, value, to);
      diagonal = state.value[j];
      state.value[j] = (value & begun) | (diagonal & ~begun);
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) {
        deletion.deletion[g] = to.deletion[g];
        state.insertion[j].insertion[g] = (to.insertion[g] & begun) | (from.insertion[g] & ~begun);
      }
      words[j / TileLayout::kRoom] += (direction & kMask) << j % TileLayout::kRoom * TileLayout::kBits;
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) state.passed.deletion[g] = deletion.deletion[g];
#pragma unroll
    for (int v = 0; v < TileRoom::kVectors; ++v)
      out[v] = make_uint4(words[4 * v], words[4 * v + 1], words[4 * v + 2], words[4 * v + 3]);
  }

  // The direction of a cell of the track's part, of pair x.
  WFACLI_DEVICE std::uint32_t direction(const TileTrack& track, int x, std::int32_t row, std::int32_t column) const {
    const std::int32_t of_stripe = column - 1 - track.stripe * kTileWidth;
    const std::int32_t of_lane = of_stripe % kTileColumns;
    const std::int32_t step = track.step(row, column) - track.state * kTileSteps;
    const auto* words = reinterpret_cast<const std::uint32_t*>(
        room.directions() + (step * kTileLanes + of_stripe / kTileColumns) * TileRoom::kVectors);
    const int shift = 16 * x + of_lane % TileLayout::kRoom * TileLayout::kBits;
    return words[of_lane / TileLayout::kRoom] >> shift & ((1u << TileLayout::kBits) - 1);
  }
  // How many of the lanes from 0 on say yes.
  WFACLI_DEVICE static std::int32_t leading(bool yes) {
    const std::uint32_t no = ~TileGroup::ballot(yes) & (0xffffffffu >> (32 - kTileLanes));
    return no ? __ffs(static_cast<int>(no)) - 1 : kTileLanes;
  }
  // Through the part. All lanes of the group are at the same cell, and write the same runs; lane 0's are kept.
  WFACLI_DEVICE void walk(TileTrack& track, int x) const {
    while (track.goes_on() && track.has(track.i, track.j)) {
      if (track.gap >= 0)
        along_gap(track, x);
      else
        along_diagonal(track, x);
    }
  }
  // Until a gap begins, or as far as the lanes see.
  WFACLI_DEVICE void along_diagonal(TileTrack& track, int x) const {
    const std::int32_t row = track.i - lane, column = track.j - lane;
    const bool within = row > 0 && column > 0 && track.has(row, column);
    const std::int32_t source = within ? TileDirections::source(direction(track, x, row, column)) : 0;
    const std::int32_t run = leading(within && source < 0);
    const std::uint32_t equal = TileGroup::ballot(source == kMatch);
    for (std::int32_t at = 0; at < run;) {  // runs of equal bits
      const bool same = equal >> at & 1;
      const std::uint32_t change = (same ? ~equal : equal) >> at;
      const std::int32_t length = min(change ? __ffs(static_cast<int>(change)) - 1 : 32, run - at);
      track.out.add(same ? kEqual : kDifferent, length);
      at += length;
    }
    track.i -= run;
    track.j -= run;
    if (run == kTileLanes) return;
    const std::int32_t kind = TileGroup::from(within ? source : -1, run);
    if (kind < 0) return;  // the part ends, or the matrix
    add_gap(track, kind, 1);
    track.gap = kind;
  }
  // The letters with which a gap goes on, as far as the lanes see.
  WFACLI_DEVICE void along_gap(TileTrack& track, int x) const {
    const bool insertion = track.gap < kTilePieces;
    const std::int32_t row = track.i - (insertion ? lane : 0), column = track.j - (insertion ? 0 : lane);
    const bool within = row > 0 && column > 0 && track.has(row, column);
    const bool stays = within && TileDirections::stays(direction(track, x, row, column), track.gap);
    const std::int32_t more = leading(stays);
    const bool ended = more < kTileLanes && TileGroup::from(static_cast<std::int32_t>(within), more);
    add_gap(track, track.gap, more);
    if (ended) track.gap = -1;
  }
  WFACLI_DEVICE static void add_gap(TileTrack& track, std::int32_t kind, std::int32_t letters) {
    const bool insertion = kind < kTilePieces;
    track.out.add(insertion ? kInsertion : kDeletion, letters);
    (insertion ? track.i : track.j) -= letters;
  }
};

}  // namespace wfacli::dp

// Traceback through the stripes: the parts of them that the paths cross are recomputed with directions.
#pragma once

#include "common/cigar.cuh"
#include "tiles/dp_tile_sweep.cuh"

namespace wfacli::dp {

using TileSteps = Steps<kTilePieces, true>;
using TileDirections = Directions<kTilePieces>;

// Layout of the directions of a lane's columns in the words that it writes for a row.
struct TileLayout {
  static constexpr int kBits = TileDirections::kBits;
  static constexpr int kPerWord = 16 / kBits;  // directions per word and pair
  static constexpr int kWords = kTileColumns / kPerWord;
  static_assert(kWords == 4 * TileWorkspace::kVectors);
};

// A part of a stripe, from a checkpoint on.
struct TilePart {
  std::int32_t stripe, state;
};

// The last cell of one of a group's pairs.
struct TileEnd {
  std::int32_t slot, query_len, target_len, cost;

  // Selects each field by itself: selecting whole pairs would move them out of registers.
  WFACLI_DEVICE static TileEnd of(const TilePair (&pairs)[2], bool second) {
    return {second ? pairs[1].slot : pairs[0].slot, second ? pairs[1].query.length : pairs[0].query.length,
            second ? pairs[1].target.length : pairs[0].target.length, second ? pairs[1].cost : pairs[0].cost};
  }
};

// Traceback of one pair: the current cell, and the part of the stripe whose directions are available.
struct TileTrack {
  std::int32_t i, j;                // current cell, from (query_len, target_len) to an edge of the matrix
  std::int32_t gap;                 // kind of gap that (i, j) is in, or at the end of; -1: none
  std::int32_t stripe, top, state;  // of the part
  RunWriter out;

  // Start at a pair's last cell, or at (0, 0) where no cost was found.
  WFACLI_DEVICE static TileTrack of(const AlignTask& task, const TileEnd& end, bool found) {
    const auto at = static_cast<std::uint64_t>(found ? end.slot : 0) * static_cast<std::uint32_t>(task.op_capacity);
    return {found ? end.query_len : 0,
            found ? end.target_len : 0,
            -1,
            0,
            0,
            0,
            RunWriter(task.ops + at, found ? task.op_capacity : 0)};
  }
  WFACLI_DEVICE bool is_inside() const { return i > 0 && j > 0; }
  WFACLI_DEVICE std::int32_t step(std::int32_t row, std::int32_t column) const {
    return row - top + (column - 1 - stripe * kTileWidth) / kTileColumns;
  }
  // Select the part that ends at (i, j), for pair x.
  WFACLI_DEVICE void enter(const TileWorkspace& workspace, int x) {
    stripe = is_inside() ? (j - 1) / kTileWidth : 0;
    top = is_inside() ? workspace.stripe_info(stripe)->top[x] : 1;
    state = is_inside() ? step(i, j) / kTileSteps : 0;
  }
  WFACLI_DEVICE std::int32_t steps() const { return is_inside() ? step(i, j) - state * kTileSteps + 1 : 0; }
  WFACLI_DEVICE bool contains(std::int32_t row, std::int32_t column) const {
    return row > 0 && column > stripe * kTileWidth && step(row, column) >= state * kTileSteps;
  }
};

struct TileTraceback {
  const AlignTask& task;
  const TileCosts costs;
  const TileWorkspace& workspace;
  std::int32_t lane;

  // Trace the pairs of lanes 0 and 1 of the group from the last cell to an edge of the matrix. All lanes of the warp
  // call it; the other lanes pass tracks that start at (0, 0).
  WFACLI_DEVICE void run(const TilePair (&pairs)[2], TileTrack& track) const {
    const TileSteps steps = TileSteps::of(task.costs);
    for (;;) {
      track.enter(workspace, lane == 1);
      const std::int32_t max_steps = __reduce_max_sync(kAllLanes, track.steps());
      if (max_steps == 0) return;
      TilePart parts[2];
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        parts[x].stripe = __shfl_sync(kAllLanes, track.stripe, x, kTileLanes);
        parts[x].state = __shfl_sync(kAllLanes, track.state, x, kTileLanes);
      }
      compute(steps, pairs, parts, max_steps);
      __syncwarp();  // directions are written
      trace(track, lane);
      __syncwarp();  // directions are read
    }
  }

 private:
  // Converts values of the sweep to those of dp_cells.cuh, which drift by diagonal. All values of a part are near 0.
  struct Frame {
    std::uint32_t min_value, max_value;  // range of values; others are clamped
    std::uint32_t tagged_max;

    WFACLI_DEVICE std::uint32_t tagged(std::uint32_t value, std::uint32_t rows_drift, std::uint32_t tag) const {
      const std::uint32_t near =
          __vmins2(__vmaxs2(__vadd2(__vmins2(value, Halves::all(kFar)), rows_drift), min_value), max_value);
      return (__vsub2(near, min_value) << 4 & 0xfff0fff0u) | tag * Halves::kOnes;
    }
  };
  struct State {
    std::uint32_t value[kTileColumns];
    Gaps<kTilePieces> insertion[kTileColumns], leaving;
    std::uint32_t corner;
  };

  // Return the drift to add to a value `rows` rows after the lane's last one: 2 * drift per row, counted from the lane
  // that is furthest behind.
  WFACLI_DEVICE std::uint32_t drift_of(const TilePart (&parts)[2], std::int32_t rows) const {
    std::int32_t of[2];
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t done = parts[x].state > 0 ? -1 - lane : -1;
      of[x] = 2 * costs.drift * (done + rows + kTileLanes);
    }
    return halves(of[0], of[1]);
  }

  WFACLI_DEVICE std::uint32_t word(const std::uint32_t* const (&states)[2], int w) const {
    return __byte_perm(states[0][kTileLanes * w], states[1][kTileLanes * w], 0x7610);
  }

  // Load the state before the parts. Return a frame that holds all of it.
  WFACLI_DEVICE Frame restore(const TileSteps& steps, const TilePart (&parts)[2], State& state) const {
    const std::uint32_t* const states[2] = {workspace.checkpoint(parts[0].stripe, parts[0].state, lane),
                                            workspace.checkpoint(parts[1].stripe, parts[1].state, lane)};
    const std::uint32_t done = drift_of(parts, 0), next = drift_of(parts, 1);
    std::uint32_t minimum = Halves::all(kFar);
    int w = 0;
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      state.value[j] = word(states, w++);
      minimum = __vmins2(minimum, __vadd2(state.value[j], done));
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
#pragma unroll
      for (int j = 0; j < kTileColumns; ++j) state.insertion[j].insertion[g] = word(states, w++);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) state.leaving.deletion[g] = word(states, w++);
    state.corner = word(states, w);
    minimum = __vmins2(minimum, __vadd2(state.corner, done));
#pragma unroll
    for (int by = 1; by < kTileLanes; by *= 2)
      minimum = __vmins2(minimum, __shfl_xor_sync(kAllLanes, minimum, by, kTileLanes));
    // Values of later rows may be slightly lower than those of the checkpoint.
    std::int32_t margin = costs.mismatch;
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) margin = max(margin, costs.open[g] + costs.extra_extend[g] + costs.drift);
    Frame frame;
    frame.min_value = __vsub2(minimum, Halves::all(2 * margin));
    frame.max_value = __vadd2(frame.min_value, Halves::all(steps.exact_below));
    frame.tagged_max = Halves::all(steps.exact_below * kScale + static_cast<std::int32_t>(TileSteps::kMatchTag));
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      state.value[j] = frame.tagged(state.value[j], done, TileSteps::kMatchTag);
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g)
        state.insertion[j].insertion[g] = frame.tagged(state.insertion[j].insertion[g], next, TileSteps::tag(g));
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      state.leaving.deletion[g] = frame.tagged(state.leaving.deletion[g], done, TileSteps::tag(kTilePieces + g));
    state.corner = frame.tagged(state.corner, done, TileSteps::kMatchTag);
    return frame;
  }

  // Compute the directions of `max_steps` steps of both parts.
  WFACLI_DEVICE void compute(const TileSteps& steps, const TilePair (&pairs)[2], const TilePart (&parts)[2],
                             std::int32_t max_steps) const {
    State state;
    const Frame frame = restore(steps, parts, state);
    std::int32_t rebase_offset[2], columns[2], query[2], begin[2], stripes[2];
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t stripe = stripes[x] = parts[x].stripe;
      rebase_offset[x] = stripe ? base_of(stripe - 1, x) - base_of(stripe, x) : 0;
      columns[x] = stripe * kTileWidth + lane * kTileColumns;
      begin[x] = parts[x].state * kTileSteps;
      query[x] = workspace.stripe_info(stripe)->top[x] - 1 - lane + begin[x];
    }
    const EntrySource source = EntrySource::of(workspace, stripes, rebase_offset);
    EntryStream first_entries;
    first_entries.begin(source, costs, begin, lane);
    TileSymbols symbols = TileSymbols::of(task, {0, -1});
    std::uint32_t targets[kTileColumns];
    symbols.columns({pairs[0].target, pairs[1].target}, columns, targets);
    const std::uint32_t mismatch = steps.mismatch[0] * Halves::kOnes;
    uint4* out = workspace.directions() + lane * TileWorkspace::kVectors;
    const std::int32_t behind[2] = {begin[0] > 0 ? 0 : lane, begin[1] > 0 ? 0 : lane};  // steps until its first row
    const bool begins = __any_sync(kAllLanes, min(begin[0], begin[1]) == 0);
    for (std::int32_t t = 0; t < max_steps; ++t, out += kTileLanes * TileWorkspace::kVectors) {
      if (t % kRows == 0) {
        symbols.enter({pairs[0].query, pairs[1].query}, {query[0] + t, query[1] + t});
#pragma unroll
        for (int j = 0; j < kTileColumns; ++j) state.value[j] = __vmins2(state.value[j], frame.tagged_max);
      }
      Gaps<kTilePieces> deletion{};
      const std::uint32_t corner = entering(frame, first_entries.at(t), t, state, deletion);
      const TileSymbols::Row symbol = symbols.next();
      if (begins && t < kTileLanes)
        row<true>(steps, symbols, symbol, targets, mismatch, corner, deletion, begun_by(behind, t), state, out);
      else
        row<false>(steps, symbols, symbol, targets, mismatch, corner, deletion, 0, state, out);
    }
  }

  WFACLI_DEVICE std::int32_t base_of(std::int32_t stripe, int x) const {
    return workspace.stripe_info(stripe)->base[x];
  }

  // Return the value that enters the lane's first column in step t, and set the deletions that enter with it. They
  // come from the previous lane or, for the first lane, from the previous stripe. All lanes call it.
  WFACLI_DEVICE std::uint32_t entering(const Frame& frame, const Entry& first_entry, std::int32_t t,
                                       const State& state, Gaps<kTilePieces>& deletion) const {
    std::uint32_t value = __shfl_up_sync(kAllLanes, state.value[kTileColumns - 1], 1, kTileLanes);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      deletion.deletion[g] = __shfl_up_sync(kAllLanes, state.leaving.deletion[g], 1, kTileLanes);
    if (lane > 0) return value;
    const std::uint32_t drift = Halves::all(2 * costs.drift * (t + kTileLanes));
    value = frame.tagged(first_entry.value, drift, TileSteps::kMatchTag);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      deletion.deletion[g] = frame.tagged(first_entry.deletion[g], drift, TileSteps::tag(kTilePieces + g));
    return value;
  }

  WFACLI_DEVICE static std::uint32_t begun_by(const std::int32_t (&behind)[2], std::int32_t t) {
    return (t >= behind[0] ? 0xffffu : 0) | (t >= behind[1] ? 0xffff0000u : 0);
  }
  // Compute a row and its directions. kBegins: only pairs that have started are updated, whose halves of `begun` are
  // all ones.
  template <bool kBegins>
  WFACLI_DEVICE static void row(const TileSteps& steps, const TileSymbols& symbols, const TileSymbols::Row& symbol,
                                const std::uint32_t (&targets)[kTileColumns], std::uint32_t mismatch,
                                std::uint32_t corner, Gaps<kTilePieces> deletion, std::uint32_t begun, State& state,
                                uint4* out) {
    std::uint32_t diagonal = state.corner, words[TileLayout::kWords] = {};
    state.corner = kBegins ? (corner & begun) | (state.corner & ~begun) : corner;
    constexpr std::uint32_t kMask = ((1u << TileLayout::kBits) - 1) * Halves::kOnes;
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      const std::uint32_t mismatched = symbols.value(symbol, targets[j]);
      Gaps<kTilePieces> from, to;
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) {
        from.insertion[g] = state.insertion[j].insertion[g];
        from.deletion[g] = deletion.deletion[g];
      }
      std::uint32_t value;
      const std::uint32_t direction = gotoh(steps, diagonal + (mismatched & mismatch), from, value, to);
      diagonal = state.value[j];
      state.value[j] = kBegins ? (value & begun) | (diagonal & ~begun) : value;
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) {
        deletion.deletion[g] = to.deletion[g];
        state.insertion[j].insertion[g] =
            kBegins ? (to.insertion[g] & begun) | (from.insertion[g] & ~begun) : to.insertion[g];
      }
      words[j / TileLayout::kPerWord] += (direction & kMask) << j % TileLayout::kPerWord * TileLayout::kBits;
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) state.leaving.deletion[g] = deletion.deletion[g];
#pragma unroll
    for (int v = 0; v < TileWorkspace::kVectors; ++v)
      out[v] = make_uint4(words[4 * v], words[4 * v + 1], words[4 * v + 2], words[4 * v + 3]);
  }

  // Return the direction of a cell of the track's part, for pair x.
  WFACLI_DEVICE std::uint32_t direction(const TileTrack& track, int x, std::int32_t row, std::int32_t column) const {
    const std::int32_t of_stripe = column - 1 - track.stripe * kTileWidth;
    const std::int32_t of_lane = of_stripe % kTileColumns;
    const std::int32_t step = track.step(row, column) % kTileSteps;
    const auto* words = reinterpret_cast<const std::uint32_t*>(
        workspace.directions() + (step * kTileLanes + of_stripe / kTileColumns) * TileWorkspace::kVectors);
    const int shift = 16 * x + of_lane % TileLayout::kPerWord * TileLayout::kBits;
    return words[of_lane / TileLayout::kPerWord] >> shift & ((1u << TileLayout::kBits) - 1);
  }
  // Trace the path through the part. Cells further up the diagonal are loaded together, since most operations are
  // diagonal.
  WFACLI_DEVICE void trace(TileTrack& track, int x) const {
    while (track.is_inside() && track.contains(track.i, track.j)) {
      std::uint32_t ahead[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const bool within = track.contains(track.i - k, track.j - k);
        ahead[k] = within ? direction(track, x, track.i - k, track.j - k) : kUnknown;
      }
      bool straight = true;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (straight && ahead[k] != kUnknown && track.is_inside()) straight = follow(track, ahead[k]);
      }
    }
  }
  // Follow one operation. Return true if it was diagonal.
  WFACLI_DEVICE static bool follow(TileTrack& track, std::uint32_t direction) {
    if (track.gap >= 0 && !TileDirections::is_extended(direction, track.gap)) track.gap = -1;
    const std::int32_t source = track.gap >= 0 ? track.gap : TileDirections::source(direction);
    track.gap = source >= 0 ? source : -1;
    const bool insertion = source >= 0 && source < kTilePieces, deletion = source >= kTilePieces;
    track.i -= !deletion;
    track.j -= !insertion;
    track.out.add(insertion ? kInsertion : deletion ? kDeletion : source == kMatch ? kEqual : kDifferent, 1);
    return !insertion && !deletion;
  }

  static constexpr int kAhead = 4;
  static constexpr std::uint32_t kUnknown = 0xffffffffu;
};

}  // namespace wfacli::dp

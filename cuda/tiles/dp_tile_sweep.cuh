// Costs of all stripes, without directions: about five instructions for two cells.
#pragma once

#include "tiles/dp_tile_workspace.cuh"

namespace wfacli::dp {

// A lane's columns of a stripe, after its latest row.
struct TileState {
  std::uint32_t value[kTileColumns];
  std::uint32_t insertion[kTilePieces][kTileColumns];  // entering the next row
  std::uint32_t deletion[kTilePieces];                 // leaving the last column, in the same row
  std::uint32_t corner;                                // value to the left of the first column

  // Initialize before row 0 of a stripe. `columns`: target positions before the lane's first column.
  WFACLI_DEVICE void begin(const TileCosts& costs, const TilePair (&pairs)[2], const TileStripe& stripe,
                           std::int32_t columns, std::uint32_t entry) {
    const bool first_stripe[2] = {stripe.top[0] == 1, stripe.top[1] == 1};
#pragma unroll
    for (int j = -1; j < kTileColumns; ++j) {
      const std::int32_t above = costs.edge(columns + j + 1);
      std::int32_t of[2];
#pragma unroll
      for (int x = 0; x < 2; ++x) of[x] = first_stripe[x] ? min(max(above - pairs[x].base, -kFar), kFar) : kFar;
      if (j < 0) {
        corner = halves(of[0], of[1]);
        continue;
      }
      value[j < 0 ? 0 : j] = halves(of[0], of[1]);
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) {
        const std::int32_t by = costs.open[g] + costs.extra_extend[g];
        insertion[g][j < 0 ? 0 : j] = halves(min(of[0] + by, kFar), min(of[1] + by, kFar));
      }
    }
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) deletion[g] = Halves::all(kFar);
    if (columns % kTileWidth != 0) return;
    // The first lane's corner is in the previous stripe, unless it is in row 0 of the matrix.
    corner = (corner & ((first_stripe[0] ? 0xffffu : 0) | (first_stripe[1] ? 0xffff0000u : 0))) |
             (entry & ((first_stripe[0] ? 0 : 0xffffu) | (first_stripe[1] ? 0 : 0xffff0000u)));
  }
  // Return what the previous lane passes on. All lanes call it, one step after the values were computed.
  WFACLI_DEVICE Entry from_previous_lane() const {
    Entry entry;
    entry.value = __shfl_up_sync(kAllLanes, value[kTileColumns - 1], 1, kTileLanes);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      entry.deletion[g] = __shfl_up_sync(kAllLanes, deletion[g], 1, kTileLanes);
    return entry;
  }
  // Compute the next row.
  WFACLI_DEVICE void row(const std::uint32_t (&open)[kTilePieces], const std::uint32_t (&extra_extend)[kTilePieces],
                         const TileSymbols& symbols, const TileSymbols::Row& symbol,
                         const std::uint32_t (&columns)[kTileColumns], const Entry& entry) {
    std::uint32_t diagonal = corner;
    corner = entry.value;
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) deletion[g] = entry.deletion[g];
#pragma unroll
    for (int j = 0; j < kTileColumns; ++j) {
      std::uint32_t best = Halves::min_with_sum(diagonal, symbols.value(symbol, columns[j]), insertion[0][j]);
      diagonal = value[j];
      if constexpr (kTilePieces == 1) {
        // A deletion that follows a deletion is no cheaper than one longer deletion, so a deletion may open from
        // `best`.
        value[j] = Halves::minimum(best, deletion[0]);
        deletion[0] = Halves::min_with_sum(best, open[0], deletion[0]);
        insertion[0][j] = Halves::min_with_sum(value[j], open[0], insertion[0][j]);
      } else {
        best = Halves::minimum(best, insertion[kTilePieces - 1][j]);
        value[j] = Halves::minimum(best, deletion[0], deletion[kTilePieces - 1]);
#pragma unroll
        for (int g = 0; g < kTilePieces; ++g) {
          deletion[g] = Halves::add(Halves::min_with_sum(value[j], open[g], deletion[g]), extra_extend[g]);
          insertion[g][j] = Halves::add(Halves::min_with_sum(value[j], open[g], insertion[g][j]), extra_extend[g]);
        }
      }
    }
  }
  WFACLI_DEVICE void store(std::uint32_t* at) const {
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

constexpr std::int32_t kNowhere = kNever / 2;  // negated, it is no diagonal; sums with rows and columns fit 32 bits

// The sweep of both pairs through a stripe, a chunk of steps at a time. All lanes of the warp call its functions.
class TileSweep {
 public:
  static constexpr std::int32_t kChunk = 16;  // steps

  WFACLI_DEVICE TileSweep(const AlignTask& task, const TileCosts& costs, const TileWorkspace& workspace,
                          std::int32_t lane)
      : task_(task), costs_(costs), workspace_(workspace), lane_(lane) {}

  // Set the rows of a stripe from what narrowing of the stripes up to `narrowed` left; -1: none is narrowed, use the
  // full band.
  WFACLI_DEVICE void place_stripe(const TilePair (&pairs)[2], std::int32_t number, std::int32_t narrowed) {
    TileStripe& stripe = *workspace_.stripe_info(number);
    TileStripe own{};
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      own.low[x] = narrowed < 0 ? pairs[x].lowest : workspace_.stripe_info(narrowed)->low[x];
      own.high[x] = narrowed < 0 ? -pairs[x].band.low : workspace_.stripe_info(narrowed)->high[x];
      own.top[x] = max(1, number * kTileWidth + 1 + own.low[x]);
      if (number > 0) own.top[x] = max(own.top[x], workspace_.stripe_info(number - 1)->top[x]);
      const std::int32_t last = min(pairs[x].query.length, (number + 1) * kTileWidth + own.high[x]);
      own.rows[x] = number < pairs[x].stripes ? max(0, last - own.top[x] + 1) : 0;
    }
    __syncwarp();  // all lanes have read the previous content
    if (lane_ == 0) {
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        stripe.top[x] = own.top[x];
        stripe.rows[x] = own.rows[x];
        stripe.low[x] = own.low[x];
        stripe.high[x] = own.high[x];
      }
    }
    __syncwarp();
  }
  // Rows of a placed stripe: the greater number of both pairs.
  WFACLI_DEVICE std::int32_t rows(std::int32_t number) const {
    return max(workspace_.stripe_info(number)->rows[0], workspace_.stripe_info(number)->rows[1]);
  }
  // Rows from the top of the previous stripe to that of a placed stripe.
  WFACLI_DEVICE std::int32_t lower(std::int32_t number) const {
    const TileStripe &own = *workspace_.stripe_info(number), &before = *workspace_.stripe_info(max(number - 1, 0));
    return max(own.top[0] - before.top[0], own.top[1] - before.top[1]);
  }
  // Start a stripe. `rows`: rows of the stripe, for both pairs. `max_rows`: maximum over all pairs of the warp. The
  // boundary of the previous stripe must be complete.
  WFACLI_DEVICE void begin(TilePair (&pairs)[2], std::int32_t number, std::int32_t rows, std::int32_t max_rows) {
    std::int32_t rebase_offset[2];
    rebase(pairs, number, rebase_offset);
    number_ = number;
    rows_ = rows;
    steps_ = max_rows + kTileLanes - 1;
    const std::int32_t columns = number * kTileWidth + lane_ * kTileColumns;
    const TileStripe& own = *workspace_.stripe_info(number);
    const EntrySource source = EntrySource::of(workspace_, {number, number}, rebase_offset);
    const std::int32_t before[2] = {-1, -1};
    state_.begin(costs_, pairs, own, columns, source.entry(costs_, before, source.edge(before)).value);
    entries_.begin(source, costs_, {0, 0}, lane_);
    symbols_ = TileSymbols::of(task_, {-2 * costs_.drift, costs_.mismatch - 2 * costs_.drift});
    symbols_.columns({pairs[0].target, pairs[1].target}, {columns, columns}, targets_);
#pragma unroll
    for (int x = 0; x < 2; ++x) last_[x] = last_step(pairs[x], own.top[x], own.rows[x]);
    ends_ = __any_sync(kAllLanes, max(last_[0], last_[1]) >= 0);
  }
  // Narrow the band after the last step: find the cells after the stripe that a provable path may still cross.
  //
  // The rest of such a path costs at least a gap, without its opening, to the diagonal of the last cell. No provable
  // path goes below the lowest boundary cell that leaves enough for this gap: a path gets further down only within a
  // gap, and could have passed through the boundary cells below at no higher cost. Upwards, the cost that a cell leaves
  // bounds the length of a deletion.
  WFACLI_DEVICE void narrow(const TilePair (&pairs)[2]) const {
    TileStripe& stripe = *workspace_.stripe_info(number_);
    const Edge* const edge = workspace_.edge(number_);
    const std::int32_t column = (number_ + 1) * kTileWidth, drift = costs_.drift;
    std::int32_t slack[2], end[2], last[2] = {-kNowhere, -kNowhere}, rise[2] = {kNever, kNever};
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      slack[x] = max_provable_cost(pairs[x]) - pairs[x].base - 2 * drift * column;
      end[x] = pairs[x].query.length - pairs[x].target.length;
    }
    // Unrolled so that the latency of the loads overlaps.
#pragma unroll 4
    for (std::int32_t r = lane_; r < rows_; r += kTileLanes) {
      const Edge values = edge[r];
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        const std::int32_t k = stripe.top[x] + r - column;
        const std::int32_t rest = slack[x] - half_of(values.of[x].first, 0) - drift * k;
        if (r >= stripe.rows[x] || rest < drift * (k < end[x] ? end[x] - k : k - end[x])) continue;
        last[x] = k;  // k increases
        rise[x] = min(rise[x], drift * k - rest);
      }
    }
#pragma unroll
    for (int x = 0; x < 2; ++x) {
#pragma unroll
      for (int by = 1; by < kTileLanes; by *= 2) {
        last[x] = max(last[x], __shfl_xor_sync(kAllLanes, last[x], by, kTileLanes));
        rise[x] = min(rise[x], __shfl_xor_sync(kAllLanes, rise[x], by, kTileLanes));
      }
      if (lane_ != 0) continue;
      if (drift > 0 && last[x] > -kNowhere) stripe.low[x] = max(stripe.low[x], (rise[x] / drift + end[x]) / 2 - 2);
      stripe.high[x] = min(stripe.high[x], last[x]);
    }
    __syncwarp();
  }
  // Number of times that steps() must be called.
  WFACLI_DEVICE std::int32_t chunks() const { return (steps_ + kChunk - 1) / kChunk; }

  // Compute the steps of a chunk.
  WFACLI_DEVICE void steps(TilePair (&pairs)[2], std::int32_t chunk) {
    const std::int32_t from = chunk * kChunk, to = min(from + kChunk, steps_);
    if (workspace_.path && from % kTileSteps == 0 && from < rows_ + kTileLanes - 1)
      state_.store(workspace_.checkpoint(number_, from / kTileSteps, lane_));
    symbols_.enter({pairs[0].query, pairs[1].query}, {workspace_.stripe_info(number_)->top[0] - 1 - lane_ + from,
                                                      workspace_.stripe_info(number_)->top[1] - 1 - lane_ + from});
    std::uint32_t open[kTilePieces], extra_extend[kTilePieces];
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) {
      open[g] = Halves::all(costs_.open[g]);
      extra_extend[g] = Halves::all(costs_.extra_extend[g]);
    }
    Edge* const edge = workspace_.edge(number_);
#pragma unroll 1
    for (std::int32_t t = from; t < to; ++t) {
      Entry entry = state_.from_previous_lane();
      const Entry first_entry = entries_.at(t);
      if (lane_ == 0) entry = first_entry;
      const TileSymbols::Row symbol = symbols_.next();
      if (t < lane_) continue;
      state_.row(open, extra_extend, symbols_, symbol, targets_, entry);
      if (lane_ == kTileLanes - 1 && t - lane_ < rows_) edge[t - lane_] = state_.edge();
      if (ends_ && (t == last_[0] || t == last_[1])) end(pairs, t == last_[0], t == last_[1]);
    }
  }

 private:
  // Maximum cost of a provable path.
  WFACLI_DEVICE std::int32_t max_provable_cost(const TilePair& pair) const {
    return min(min(pair.band.unproven - 1, task_.max_cost), kNever / 4);
  }
  // Return the maximum value of a provable path at a row of a boundary, after `column` columns: the rest of the path
  // costs at least a gap to the last cell's diagonal, without its opening. The value is relative to `base`.
  WFACLI_DEVICE std::int32_t max_value_at(const TilePair& pair, std::int32_t row, std::int32_t column,
                                          std::int32_t base) const {
    const std::int32_t rest = row - column - (pair.query.length - pair.target.length);
    return max_provable_cost(pair) - costs_.drift * (max(rest, -rest) + row + column) - base;
  }
  // Set each pair's base so that the value at the stripe's top left, or the maximum of a provable path there if that
  // is less, becomes kTop. `rebase_offset` receives what must be added to values of the previous stripe.
  WFACLI_DEVICE void rebase(TilePair (&pairs)[2], std::int32_t stripe, std::int32_t (&rebase_offset)[2]) const {
    const TileStripe& before = *workspace_.stripe_info(max(stripe - 1, 0));
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const bool ended = stripe == 0 || before.rows[x] == 0;
      const std::int32_t beside =
          ended ? 0 : min(workspace_.stripe_info(stripe)->top[x] - before.top[x], before.rows[x] - 1);
      const std::int32_t base = stripe ? before.base[x] : -kTop;
      const std::int32_t max_value = max_value_at(pairs[x], before.top[x] + beside, stripe * kTileWidth, base);
      rebase_offset[x] =
          ended ? 0 : kTop - min(half_of(workspace_.edge(stripe - 1)[beside].of[x].first, 0), max_value);
      pairs[x].base = base - rebase_offset[x];
      if (lane_ == 0) workspace_.stripe_info(stripe)->base[x] = pairs[x].base;
    }
  }
  // Return the step in which this lane computes a pair's last cell, or -1 if it does not in this stripe.
  WFACLI_DEVICE std::int32_t last_step(const TilePair& pair, std::int32_t top, std::int32_t rows) const {
    if (number_ != pair.stripes - 1 || top + rows <= pair.query.length) return -1;
    const std::int32_t column = pair.target.length - 1 - number_ * kTileWidth;
    return column / kTileColumns == lane_ ? pair.query.length - top + lane_ : -1;
  }
  WFACLI_DEVICE void end(TilePair (&pairs)[2], bool of_first, bool of_second) const {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      if (!(x ? of_second : of_first)) continue;
      TilePair& pair = pairs[x];
      std::uint32_t word = 0;  // selected by masks: an index would move the state out of registers
#pragma unroll
      for (int j = 0; j < kTileColumns; ++j)
        word |= state_.value[j] & (j == (pair.target.length - 1) % kTileColumns ? 0xffffffffu : 0u);
      pair.cost = half_of(word, x) + pair.base + costs_.drift * (pair.query.length + pair.target.length);
    }
  }

  const AlignTask& task_;
  const TileCosts& costs_;
  const TileWorkspace& workspace_;
  const std::int32_t lane_;
  std::int32_t number_, rows_, steps_;
  TileState state_;
  EntryStream entries_;
  TileSymbols symbols_;
  std::uint32_t targets_[kTileColumns];
  std::int32_t last_[2];
  bool ends_;
};

// Sweep all stripes of a warp's pairs.
WFACLI_DEVICE void sweep_pairs(TileSweep& sweep, TilePair (&pairs)[2]) {
  const std::int32_t stripes = __reduce_max_sync(kAllLanes, max(pairs[0].stripes, pairs[1].stripes));
  for (std::int32_t s = 0; s < stripes; ++s) {
    sweep.place_stripe(pairs, s, s - 1);
    const std::int32_t rows = sweep.rows(s);
    sweep.begin(pairs, s, rows, __reduce_max_sync(kAllLanes, rows));
    for (std::int32_t c = 0; c < sweep.chunks(); ++c) sweep.steps(pairs, c);
    __syncwarp();  // the stripe's boundary is written
    sweep.narrow(pairs);
  }
}

}  // namespace wfacli::dp

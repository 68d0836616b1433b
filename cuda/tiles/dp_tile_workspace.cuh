// Stripes of the matrices of two pairs, which one group of lanes computes together, and their part of the workspace.
//
// A stripe is kTileWidth columns of the (reversed) targets and, for each pair, the rows of its band that a provable
// path may still cross. A path is provable if it costs no more than the band proves optimal. Rows of a stripe count
// from 0, from a separate first row for each pair. Lane l of the group computes the kTileColumns columns from
// kTileColumns * l on, and is in row t - l at step t.
#pragma once

#include "dp/dp_cells.cuh"
#include "tiles/dp_tile_symbols.cuh"

namespace wfacli::dp {

constexpr std::uint32_t kAllLanes = 0xffffffffu;
constexpr int kTileLanes = WFACLI_LANES;
constexpr int kTileColumns = WFACLI_COLUMNS;  // per lane
constexpr int kTileWidth = kTileLanes * kTileColumns;
constexpr int kTilePieces = WFACLI_PIECES;
// True if any warp of the GPU may compute a stripe of any two pairs (dp_tile_spread.cuh); else a group computes all
// stripes of its pairs.
constexpr bool kTileSpread = WFACLI_SPREAD;
constexpr int kTilePairs = 2 * 32 / kTileLanes;  // per warp
static_assert(!kTileSpread || kTileLanes == 32);
constexpr int kTileSteps = kTileLanes < 8 ? 32 : 64;  // between two checkpoints

#if WFACLI_CODED
using TileSymbols = CodedTiles;
#else
using TileSymbols = PackedTiles;
#endif

// Values of the sweep are cost - drift * (row + column) - base, so that extending a gap of the cheaper piece adds
// nothing. A stripe's base makes kTop the value at its top left, or the maximum of a provable path there if that is
// less. No provable path continues from a value above kTop there. A cell costs at least the gap to its diagonal, so
// all values are close enough below to fit 16 bits. Values above kFar are on no provable path and are clamped to kFar.
constexpr std::int32_t kTop = 23000;
constexpr std::int32_t kFar = 30500;  // value of cells outside the band

struct TileCosts {
  std::int32_t drift, mismatch;
  std::int32_t open[kTilePieces], extra_extend[kTilePieces];  // gap extension beyond the drift

  WFACLI_DEVICE static TileCosts of(const Costs& costs) {
    TileCosts own;
    own.mismatch = costs.mismatch;
    own.drift = costs.extend[0];
    for (int g = 1; g < kTilePieces; ++g) own.drift = min(own.drift, costs.extend[g]);
    for (int g = 0; g < kTilePieces; ++g) {
      own.open[g] = costs.open[g];
      own.extra_extend[g] = costs.extend[g] - own.drift;
    }
    return own;
  }
  // Return the cost of a gap of `length` symbols from (0, 0), less its drift.
  WFACLI_DEVICE std::int32_t edge(std::int32_t length) const {
    if (length == 0) return 0;
    std::int32_t minimum = kNever;
    for (int g = 0; g < kTilePieces; ++g)
      minimum = static_cast<std::int32_t>(
          min(static_cast<std::int64_t>(minimum), open[g] + static_cast<std::int64_t>(extra_extend[g]) * length));
    return min(minimum, kFar - kTop);
  }
};

WFACLI_DEVICE std::uint32_t halves(std::int32_t lower, std::int32_t upper) {
  return (static_cast<std::uint32_t>(lower) & 0xffffu) | static_cast<std::uint32_t>(upper) << 16;
}
WFACLI_DEVICE std::int32_t half_of(std::uint32_t word, int x) {
  return static_cast<std::int32_t>(static_cast<std::int16_t>(word >> 16 * x));
}

// Return the band width of a slot in diagonals; 0 if the slot does not exist.
WFACLI_DEVICE std::int32_t tile_band(const AlignTask& task, std::int32_t slot) {
  if (slot >= task.count) return 0;
  return task.bands ? task.bands[slot] : task.band;
}

// Return true if 16 bits hold a pair's values in the sweep (`widest` in wfacli/gpu/kernels/tiles.py). `longer`: target
// length - query length.
WFACLI_DEVICE bool tile_fits(const TileCosts& costs, std::int32_t length_difference, std::int32_t band) {
  std::int32_t opened = 0;
  for (int g = 0; g < kTilePieces; ++g) opened = max(opened, costs.open[g] + costs.extra_extend[g]);
  opened += costs.drift + costs.mismatch;
  const std::int64_t columns = static_cast<std::int64_t>(band) + max(length_difference, 0) + 2 * kTileWidth;
  return costs.drift * columns + 8 * opened < kTop + 0x8000;
}

// A pair whose cost the band may prove. A pair that cannot be swept has no stripes.
struct TilePair {
  TileSymbols::Sequence query, target;
  std::int32_t slot, stripes;
  std::int32_t lowest;  // row - column of the topmost diagonal of the band
  std::int32_t base;    // of the stripe being swept
  std::int32_t cost;
  Band band;

  WFACLI_DEVICE static TilePair of(const AlignTask& task, std::int32_t slot) {
    const std::int32_t row = task.rows[min(slot, task.count - 1)];
    TilePair pair;
    pair.slot = slot;
    pair.query = TileSymbols::Sequence::query(task.seq, row);
    pair.target = TileSymbols::Sequence::target(task.seq, row);
    const std::int32_t query_len = pair.query.length, target_len = pair.target.length, width = tile_band(task, slot);
    pair.band = Band::of(task.costs, query_len, target_len, width);
    pair.lowest = 1 - pair.band.low - width;
    // An optimal path costs no more than one insertion of the whole query and one deletion of the whole target.
    const std::int32_t both_gaps = sum_of_costs(gap_cost(task.costs, query_len), gap_cost(task.costs, target_len));
    pair.band.unproven = min(pair.band.unproven, sum_of_costs(both_gaps, 1));
    const bool fits = max(query_len, target_len) <= task.longest && slot < task.count;
    const bool swept = fits && query_len > 0 && target_len > 0 && pair.band.holds &&
                       tile_fits(TileCosts::of(task.costs), target_len - query_len, width);
    pair.stripes = swept ? (target_len - 1) / kTileWidth + 1 : 0;
    pair.base = -kTop;
    pair.cost = query_len == 0 || target_len == 0 ? gap_cost(task.costs, query_len + target_len) : kNever;
    return pair;
  }
};

// Position of both pairs in a stripe.
struct TileStripe {
  std::int32_t base[2];
  std::int32_t top[2], rows[2];  // first row; number of rows
  std::int32_t low[2], high[2];  // range of row - column that provable paths may cross after the stripe
  std::int32_t chunks;           // steps whose boundary column other warps may read, in chunks (if stripes are spread)
};

// A row of the boundary between two stripes. For each pair it has the value of the stripe's last column (lower half of
// `first`) and the deletions that continue from it.
struct EdgeOfPair {
#if WFACLI_PIECES == 2
  std::uint32_t first, second;
#else
  std::uint32_t first;
#endif
};
struct alignas(8 * kTilePieces) Edge {
  EdgeOfPair of[2];
};

// The group's part of the workspace. wfacli/gpu/kernels/tiles.py mirrors its layout.
struct TileWorkspace {
  // Words of a lane's state: values and insertions of its columns, deletions that leave it, and the corner before it.
  static constexpr int kWords = kTileColumns * (1 + kTilePieces) + kTilePieces + 1;
  static constexpr int kVectors = kTilePieces * kTileColumns / 16;  // uint4 per row of a lane's directions

  std::uint8_t* at;
  std::uint64_t edge_bytes, checkpoint_bytes;
  std::int32_t stripes;  // stripes that the workspace has space for
  bool path;

  // `longest`: length of the longest sequence. `band`: width of the widest band, in diagonals.
  WFACLI_DEVICE static TileWorkspace of(const AlignTask& task, std::uint8_t* at, std::int32_t longest,
                                        std::int32_t band) {
    TileWorkspace workspace;
    workspace.at = at;
    workspace.path = task.path != 0;
    workspace.stripes = workspace.path || kTileSpread ? (longest - 1) / kTileWidth + 1 : 2;
    const auto rows = static_cast<std::uint64_t>(
        min(static_cast<std::int64_t>(band) + kTileWidth, static_cast<std::int64_t>(longest)));
    workspace.edge_bytes = rows * sizeof(Edge);
    const std::uint64_t states = (rows + kTileLanes - 2) / kTileSteps + 1;
    workspace.checkpoint_bytes = workspace.path ? states * kWords * 4 * kTileLanes : 0;
    return workspace;
  }
  // Without the path, a group that computes all its stripes stores only the last two.
  WFACLI_DEVICE std::uint32_t index(std::int32_t stripe) const {
    return static_cast<std::uint32_t>(path || kTileSpread ? stripe : stripe % 2);
  }
  // Boundary column after a stripe.
  WFACLI_DEVICE Edge* edge(std::int32_t stripe) const {
    return reinterpret_cast<Edge*>(at + edge_bytes * index(stripe));
  }
  // Return word 0 of a lane's state before step kTileSteps * number of a stripe. Words of one lane are kTileLanes
  // apart.
  WFACLI_DEVICE std::uint32_t* checkpoint(std::int32_t stripe, std::int32_t number, std::int32_t lane) const {
    const std::uint64_t first =
        edge_bytes * static_cast<std::uint32_t>(stripes) + checkpoint_bytes * static_cast<std::uint32_t>(stripe);
    return reinterpret_cast<std::uint32_t*>(at + first) + static_cast<std::uint64_t>(number) * kWords * kTileLanes +
           lane;
  }
  // Return the position of a stripe that has been placed.
  WFACLI_DEVICE TileStripe* stripe_info(std::int32_t stripe) const {
    return reinterpret_cast<TileStripe*>(at + (edge_bytes + checkpoint_bytes) * static_cast<std::uint32_t>(stripes)) +
           index(stripe);
  }
  // Directions of the part of a stripe that is being traced. Vectors of consecutive steps are kTileLanes * kVectors
  // apart.
  WFACLI_DEVICE uint4* directions() const { return reinterpret_cast<uint4*>(at + before_directions()); }
  // Size in bytes, a multiple of 256.
  WFACLI_DEVICE std::uint64_t bytes() const {
    constexpr std::uint64_t kDirections = kTileSteps * kTileLanes * kVectors * sizeof(uint4);
    return (before_directions() + (path ? kDirections : 0) + 255) / 256 * 256;
  }

 private:
  WFACLI_DEVICE std::uint64_t before_directions() const {
    const std::uint64_t each = edge_bytes + checkpoint_bytes + sizeof(TileStripe);
    return (each * static_cast<std::uint32_t>(stripes) + 15) / 16 * 16;
  }
};

// Values and deletions that enter a stripe from the one before: one row of each pair, relative to the base of the
// stripe.
struct Entry {
  std::uint32_t value;
  std::uint32_t deletion[kTilePieces];
};

// Source of the entries of each pair to a stripe. The two pairs may be in different stripes.
struct EntrySource {
  const Edge* from[2];
  std::int32_t lower[2], rows[2];  // lower: rows below the previous stripe's top; rows: of that stripe
  std::int32_t rebase_offset[2];   // added to values of the previous stripe to make them relative to this one's base
  bool first_stripe[2];            // true in the first stripe, whose entries are the edge of the matrix

  WFACLI_DEVICE static EntrySource of(const TileWorkspace& workspace, const std::int32_t (&stripe)[2],
                                      const std::int32_t (&rebase_offset)[2]) {
    EntrySource source;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      source.first_stripe[x] = stripe[x] == 0;
      source.from[x] = workspace.edge(max(stripe[x] - 1, 0));
      const TileStripe& before = *workspace.stripe_info(max(stripe[x] - 1, 0));
      source.lower[x] = source.first_stripe[x] ? 0 : workspace.stripe_info(stripe[x])->top[x] - before.top[x];
      source.rows[x] = source.first_stripe[x] ? 0 : before.rows[x];
      source.rebase_offset[x] = rebase_offset[x];
    }
    return source;
  }
  // Return true if the previous stripe has the row. It may lack rows above its first row.
  WFACLI_DEVICE bool contains(int x, std::int32_t row) const {
    return static_cast<std::uint32_t>(row) < static_cast<std::uint32_t>(rows[x]);
  }
  // Return the stored boundary of one row of each pair, counted in the stripe; unspecified where no row is stored.
  WFACLI_DEVICE Edge edge(const std::int32_t (&row)[2]) const {
    Edge edge{};
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t at = row[x] + lower[x];
      if (contains(x, at)) edge.of[x] = from[x][at].of[x];
    }
    return edge;
  }
  // Return the entries of the same rows.
  WFACLI_DEVICE Entry entry(const TileCosts& costs, const std::int32_t (&row)[2], const Edge& edge) const {
    std::int32_t value[2], deletion[2][kTilePieces];
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      value[x] = kFar;
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) deletion[x][g] = kFar;
      if (first_stripe[x]) {  // matrix rows count from 1
        value[x] = kTop + costs.edge(row[x] + 1);
#pragma unroll
        for (int g = 0; g < kTilePieces; ++g)
          deletion[x][g] = min(value[x] + costs.open[g] + costs.extra_extend[g], kFar);
      } else if (contains(x, row[x] + lower[x])) {
        value[x] = min(half_of(edge.of[x].first, 0) + rebase_offset[x], kFar);
        deletion[x][0] = min(half_of(edge.of[x].first, 1) + rebase_offset[x], kFar);
#if WFACLI_PIECES == 2
        deletion[x][1] = min(static_cast<std::int32_t>(edge.of[x].second) + rebase_offset[x], kFar);
#endif
      }
    }
    Entry entry;
    entry.value = halves(value[0], value[1]);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g) entry.deletion[g] = halves(deletion[0][g], deletion[1][g]);
    return entry;
  }
};

// The entries of consecutive rows. The lanes of a group load them for each other, some rows ahead.
class EntryStream {
 public:
  // Rows loaded by the time the first of them is requested.
  static constexpr int kAhead = 2 * (kTileLanes < 16 ? kTileLanes : 16);

  // Start from rows `row` of the pairs' stripes.
  WFACLI_DEVICE void begin(const EntrySource& source, const TileCosts& costs, const std::int32_t (&row)[2],
                           std::int32_t lane) {
    source_ = source;
    costs_ = costs;
    row_[0] = row[0] + lane % kChunk;
    row_[1] = row[1] + lane % kChunk;
    ahead_ = source_.edge(row_);
    next();
  }
  // Return row t after the first. All lanes of the warp must call it, for consecutive t.
  WFACLI_DEVICE Entry at(std::int32_t t) {
    Entry entry;
    entry.value = __shfl_sync(kAllLanes, entry_.value, t % kChunk, kTileLanes);
#pragma unroll
    for (int g = 0; g < kTilePieces; ++g)
      entry.deletion[g] = __shfl_sync(kAllLanes, entry_.deletion[g], t % kChunk, kTileLanes);
    if (t % kChunk == kChunk - 1) next();
    return entry;
  }

 private:
  static constexpr int kChunk = kAhead / 2;

  WFACLI_DEVICE void next() {
    entry_ = source_.entry(costs_, row_, ahead_);
    row_[0] += kChunk;
    row_[1] += kChunk;
    ahead_ = source_.edge(row_);
  }

  EntrySource source_;
  TileCosts costs_;
  std::int32_t row_[2];
  Edge ahead_;
  Entry entry_;
};

}  // namespace wfacli::dp

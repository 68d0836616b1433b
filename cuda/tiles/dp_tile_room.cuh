// Stripes of the matrices of two pairs, a group of lanes for both, and what of them is kept in the workspace.
//
// A stripe is kTileWidth columns of the (reversed) targets, and of each pair those rows of its band that a path which is
// proved may still cross; its rows are counted from 0, for each pair from a row of its own. Lane l of the group has the
// stripe's columns 16 l to 16 l + 15, and in step t it is in row t - l.
#pragma once

#include "dp/dp_cells.cuh"
#include "tiles/dp_tile_letters.cuh"

namespace wfacli::dp {

constexpr std::uint32_t kAllLanes = 0xffffffffu;
constexpr int kTileLanes = WFACLI_LANES;
constexpr int kTileColumns = 16;  // of a lane
constexpr int kTileWidth = kTileLanes * kTileColumns;
constexpr int kTilePieces = WFACLI_PIECES;
// Whether any warp of the GPU takes a stripe of any two pairs (dp_tile_spread.cuh), or each all those of its own.
constexpr bool kTileSpread = WFACLI_SPREAD;
constexpr int kTilePairs = 2 * 32 / kTileLanes;  // of a warp
static_assert(!kTileSpread || kTileLanes == 32);
constexpr int kTileSteps = kTileLanes < 8 ? 32 : 64;  // between two states that are kept

#if WFACLI_CODES
using TileLetters = CodedTiles;
#else
using TileLetters = PackedTiles;
#endif

// Values of the sweep are cost - drift * (row + column) - base, so that lengthening a gap of the cheaper piece costs
// nothing. At a stripe's top left a value of kTop is as much as a path may have had there that the band proves, or less,
// so no value from which such a path goes on is above it. Since a cell costs at least the gap to its diagonal, all values
// lie close enough below; those above kFar, which lead nowhere, are kFar.
constexpr std::int32_t kTop = 23000;
constexpr std::int32_t kFar = 30500;  // what lies outside the band

struct TileCosts {
  std::int32_t drift, mismatch;
  std::int32_t open[kTilePieces], more[kTilePieces];  // more: of a gap's letter, beside the drift

  WFACLI_DEVICE static TileCosts of(const Costs& costs) {
    TileCosts own;
    own.mismatch = costs.mismatch;
    own.drift = costs.extend[0];
    for (int g = 1; g < kTilePieces; ++g) own.drift = min(own.drift, costs.extend[g]);
    for (int g = 0; g < kTilePieces; ++g) {
      own.open[g] = costs.open[g];
      own.more[g] = costs.extend[g] - own.drift;
    }
    return own;
  }
  // A gap of so many letters from (0, 0), less its drift.
  WFACLI_DEVICE std::int32_t edge(std::int32_t letters) const {
    if (letters == 0) return 0;
    std::int32_t least = kNever;
    for (int g = 0; g < kTilePieces; ++g)
      least = static_cast<std::int32_t>(
          min(static_cast<std::int64_t>(least), open[g] + static_cast<std::int64_t>(more[g]) * letters));
    return min(least, kFar - kTop);
  }
};

WFACLI_DEVICE std::uint32_t halves(std::int32_t lower, std::int32_t upper) {
  return (static_cast<std::uint32_t>(lower) & 0xffffu) | static_cast<std::uint32_t>(upper) << 16;
}
WFACLI_DEVICE std::int32_t half_of(std::uint32_t word, int x) {
  return static_cast<std::int32_t>(static_cast<std::int16_t>(word >> 16 * x));
}

// Diagonals of a slot's band; 0: there is no such slot.
WFACLI_DEVICE std::int32_t tile_band(const AlignTask& task, std::int32_t slot) {
  if (slot >= task.count) return 0;
  return task.bands ? task.bands[slot] : task.band;
}

// Whether 16 bits hold a pair's values in the sweep (widest of wfacli/gpu/kernels/tiles.py); `longer`: letters by which its
// target is longer than the query.
WFACLI_DEVICE bool tile_holds(const TileCosts& costs, std::int32_t longer, std::int32_t band) {
  std::int32_t opened = 0;
  for (int g = 0; g < kTilePieces; ++g) opened = max(opened, costs.open[g] + costs.more[g]);
  opened += costs.drift + costs.mismatch;
  const std::int64_t columns = static_cast<std::int64_t>(band) + max(longer, 0) + 2 * kTileWidth;
  return costs.drift * columns + 8 * opened < kTop + 0x8000;
}

// A pair whose cost the band may prove; or none, which has no stripes.
struct TilePair {
  TileLetters::Of query, target;
  std::int32_t slot, stripes;
  std::int32_t lowest;  // row - column of the band's uppermost cells
  std::int32_t base;    // of the stripe that is being swept
  std::int32_t cost;
  Band band;

  WFACLI_DEVICE static TilePair of(const AlignTask& task, std::int32_t slot) {
    const std::int32_t row = task.rows[min(slot, task.count - 1)];
    TilePair pair;
    pair.slot = slot;
    pair.query = TileLetters::Of::query(task.seq, row);
    pair.target = TileLetters::Of::target(task.seq, row);
    const std::int32_t query_len = pair.query.length, target_len = pair.target.length, width = tile_band(task, slot);
    pair.band = Band::of(task.costs, query_len, target_len, width);
    pair.lowest = 1 - pair.band.low - width;
    // No path need cost more than two gaps that have all letters.
    const std::int32_t apart = sum_of_costs(gap_cost(task.costs, query_len), gap_cost(task.costs, target_len));
    pair.band.unproven = min(pair.band.unproven, sum_of_costs(apart, 1));
    const bool fits = max(query_len, target_len) <= task.longest && slot < task.count;
    const bool swept = fits && query_len > 0 && target_len > 0 && pair.band.holds &&
                       tile_holds(TileCosts::of(task.costs), target_len - query_len, width);
    pair.stripes = swept ? (target_len - 1) / kTileWidth + 1 : 0;
    pair.base = -kTop;
    pair.cost = query_len == 0 || target_len == 0 ? gap_cost(task.costs, query_len + target_len) : kNever;
    return pair;
  }
};

// Where both pairs are in a stripe.
struct TileStripe {
  std::int32_t base[2];
  std::int32_t top[2], rows[2];  // the first row, and how many there are
  std::int32_t low[2], high[2];  // row - column of the cells behind it that a path which is proved may cross
  std::int32_t chunks;           // of its steps whose edge others may read, where they wait for it
};

// A row where one stripe ends and the next begins: of each pair the value of the stripe's last column (lower half of
// `first`) and the deletions that go on from it.
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

// The group's piece of the workspace; wfacli/gpu/kernels/tiles.py mirrors it.
struct TileRoom {
  // Words of a lane's state: values and insertions of its columns, the deletions that leave it, the corner before it.
  static constexpr int kWords = kTileColumns * (1 + kTilePieces) + kTilePieces + 1;
  static constexpr int kVectors = kTilePieces;  // uint4 of a lane's directions of a row

  std::uint8_t* at;
  std::uint64_t edge_bytes, kept_bytes;
  std::int32_t stripes;  // that there is room for
  bool path;

  // For sequences of so many letters at most, in bands of so many diagonals.
  WFACLI_DEVICE static TileRoom of(const AlignTask& task, std::uint8_t* at, std::int32_t longest, std::int32_t band) {
    TileRoom room;
    room.at = at;
    room.path = task.path != 0;
    room.stripes = room.path || kTileSpread ? (longest - 1) / kTileWidth + 1 : 2;
    const auto rows = static_cast<std::uint64_t>(
        min(static_cast<std::int64_t>(band) + kTileWidth, static_cast<std::int64_t>(longest)));
    room.edge_bytes = rows * sizeof(Edge);
    const std::uint64_t states = (rows + kTileLanes - 2) / kTileSteps + 1;
    room.kept_bytes = room.path ? states * kWords * 4 * kTileLanes : 0;
    return room;
  }
  // Without the path a warp that has all stripes keeps only the last one and the one before.
  WFACLI_DEVICE std::uint32_t place(std::int32_t stripe) const {
    return static_cast<std::uint32_t>(path || kTileSpread ? stripe : stripe % 2);
  }
  // Rows of the edge behind a stripe.
  WFACLI_DEVICE Edge* edge(std::int32_t stripe) const {
    return reinterpret_cast<Edge*>(at + edge_bytes * place(stripe));
  }
  // The word 0 of a lane's state before step kTileSteps * number of a stripe; words are kTileLanes apart.
  WFACLI_DEVICE std::uint32_t* kept(std::int32_t stripe, std::int32_t number, std::int32_t lane) const {
    const std::uint64_t first = edge_bytes * static_cast<std::uint32_t>(stripes) +
                                kept_bytes * static_cast<std::uint32_t>(stripe);
    return reinterpret_cast<std::uint32_t*>(at + first) +
           static_cast<std::uint64_t>(number) * kWords * kTileLanes + lane;
  }
  // What is known of a stripe that has its place.
  WFACLI_DEVICE TileStripe* about(std::int32_t stripe) const {
    return reinterpret_cast<TileStripe*>(at + (edge_bytes + kept_bytes) * static_cast<std::uint32_t>(stripes)) +
           place(stripe);
  }
  // Directions of the part of a stripe that is walked through; a step's vectors are kTileLanes * kVectors apart.
  WFACLI_DEVICE uint4* directions() const { return reinterpret_cast<uint4*>(at + before_directions()); }
  // All of it, a multiple of 256.
  WFACLI_DEVICE std::uint64_t bytes() const {
    constexpr std::uint64_t kDirections = kTileSteps * kTileLanes * kVectors * sizeof(uint4);
    return (before_directions() + (path ? kDirections : 0) + 255) / 256 * 256;
  }

 private:
  WFACLI_DEVICE std::uint64_t before_directions() const {
    const std::uint64_t each = edge_bytes + kept_bytes + sizeof(TileStripe);
    return (each * static_cast<std::uint32_t>(stripes) + 15) / 16 * 16;
  }
};

// The values and deletions that come into a stripe from the one before, a row of each pair, in the frame of the stripe.
struct Entry {
  std::uint32_t value;
  std::uint32_t deletion[kTilePieces];
};

// Where both pairs' entries to a stripe are; stripes may differ.
struct Entrance {
  const Edge* from[2];
  std::int32_t lower[2], rows[2];  // rows: of the stripe before
  std::int32_t lift[2];            // from its frame to that of the stripe
  bool outer[2];                   // the stripe is the first: its entries are the matrix' edge

  WFACLI_DEVICE static Entrance of(const TileRoom& room, const std::int32_t (&stripe)[2],
                                   const std::int32_t (&lift)[2]) {
    Entrance entrance;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      entrance.outer[x] = stripe[x] == 0;
      entrance.from[x] = room.edge(max(stripe[x] - 1, 0));
      const TileStripe& before = *room.about(max(stripe[x] - 1, 0));
      entrance.lower[x] = entrance.outer[x] ? 0 : room.about(stripe[x])->top[x] - before.top[x];
      entrance.rows[x] = entrance.outer[x] ? 0 : before.rows[x];
      entrance.lift[x] = lift[x];
    }
    return entrance;
  }
  // Whether the stripe before has a row; there may be none above the first row of both.
  WFACLI_DEVICE bool has(int x, std::int32_t row) const {
    return static_cast<std::uint32_t>(row) < static_cast<std::uint32_t>(rows[x]);
  }
  // What is kept of rows of the stripe, of each pair one; anything where nothing is.
  WFACLI_DEVICE Edge kept(const std::int32_t (&row)[2]) const {
    Edge edge{};
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t at = row[x] + lower[x];
      if (has(x, at)) edge.of[x] = from[x][at].of[x];
    }
    return edge;
  }
  // The entries of the same rows.
  WFACLI_DEVICE Entry entry(const TileCosts& costs, const std::int32_t (&row)[2], const Edge& edge) const {
    std::int32_t value[2], deletion[2][kTilePieces];
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      value[x] = kFar;
#pragma unroll
      for (int g = 0; g < kTilePieces; ++g) deletion[x][g] = kFar;
      if (outer[x]) {  // rows count from 1 there
        value[x] = kTop + costs.edge(row[x] + 1);
#pragma unroll
        for (int g = 0; g < kTilePieces; ++g) deletion[x][g] = min(value[x] + costs.open[g] + costs.more[g], kFar);
      } else if (has(x, row[x] + lower[x])) {
        value[x] = min(half_of(edge.of[x].first, 0) + lift[x], kFar);
        deletion[x][0] = min(half_of(edge.of[x].first, 1) + lift[x], kFar);
#if WFACLI_PIECES == 2
        deletion[x][1] = min(static_cast<std::int32_t>(edge.of[x].second) + lift[x], kFar);
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

// The entries of one row after another, which the lanes of a group read for each other, and some rows ahead.
class Entering {
 public:
  // Rows that lanes have read when they are asked for the first of them.
  static constexpr int kAhead = 2 * (kTileLanes < 16 ? kTileLanes : 16);

  // From rows `row` of the pairs' stripes on.
  WFACLI_DEVICE void begin(const Entrance& entrance, const TileCosts& costs, const std::int32_t (&row)[2],
                           std::int32_t lane) {
    entrance_ = entrance;
    costs_ = costs;
    row_[0] = row[0] + lane % kChunk;
    row_[1] = row[1] + lane % kChunk;
    ahead_ = entrance_.kept(row_);
    next();
  }
  // The row t after the first; all lanes of the warp call it for one t after the other.
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
    entry_ = entrance_.entry(costs_, row_, ahead_);
    row_[0] += kChunk;
    row_[1] += kChunk;
    ahead_ = entrance_.kept(row_);
  }

  Entrance entrance_;
  TileCosts costs_;
  std::int32_t row_[2];
  Edge ahead_;
  Entry entry_;
};

}  // namespace wfacli::dp

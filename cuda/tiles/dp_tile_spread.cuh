// Stripes that any warp of the GPU takes, so that a long pair is on many multiprocessors at a time.
//
// Warps draw units from a counter, each a stripe of two pairs (a group). What a unit waits for was drawn before it: so
// whoever waits, waits for somebody who is at work, whatever part of the grid the GPU runs. The group with the most
// stripes comes first, and all groups' last stripes come together. Which warp has the last stripe of a group also goes
// back through it.
//
// Groups have rooms of their own sizes. As many as the workspace has room for are a wave; the next wave begins when all
// of one is done. Who draws the first number lays this out, for all others.
#pragma once

#include "common/signal.cuh"
#include "tiles/dp_tile_sweep.cuh"

namespace wfacli::dp {

// In which order a group's stripes come: each has a level, and all groups' units of a level come together, from the
// highest level down to 1. Below a group's last stripe there is time for its way back, about as long as for the stripes.
struct TileLevels {
  std::int32_t stripes, back;

  WFACLI_DEVICE static TileLevels of(const AlignTask& task, const TilePair (&pairs)[2]) {
    const std::int32_t stripes = max(max(pairs[0].stripes, pairs[1].stripes), 1);  // somebody is to answer
    return {stripes, task.path ? stripes : 0};
  }
  WFACLI_DEVICE std::int32_t count() const { return stripes + back; }
  // Which may be no stripe of the group.
  WFACLI_DEVICE std::int32_t stripe(std::int32_t level) const { return stripes + back - level; }
};

// Of two pairs.
struct TileGroup {
  std::uint64_t at;     // their room, bytes behind the table
  std::int32_t opened;  // how many stripes, from the first on, say which cells behind them count; -1: no stripe may begin
  std::int32_t cost[2];
  TileLevels levels;
};
// Groups that are under way together.
struct TileWave {
  std::int32_t end;     // the group behind its last one
  std::int32_t before;  // the first group of the wave before
  std::int32_t levels;  // of the order in which units come
  std::int32_t first;   // unit, counted through all waves
  std::int32_t units;   // which there are in fact
  std::int32_t done;    // of them
};

// The workspace: what is known of groups and of waves, then rooms. wfacli/gpu/kernels/tiles.py mirrors it.
class TileTable {
 public:
  WFACLI_DEVICE explicit TileTable(const AlignTask& task) : task_(task), groups_((task.count - 1) / 2 + 1) {}

  WFACLI_DEVICE std::int32_t groups() const { return groups_; }
  WFACLI_DEVICE TileGroup& group(std::int32_t number) const {
    return reinterpret_cast<TileGroup*>(task_.workspace)[number];
  }
  // The one that begins with a group.
  WFACLI_DEVICE TileWave& wave(std::int32_t group) const {
    return reinterpret_cast<TileWave*>(task_.workspace + sizeof(TileGroup) * groups_)[group];
  }
  // Units of a wave, whether there are such stripes or not.
  WFACLI_DEVICE std::int32_t units_before_next(std::int32_t first) const {
    return wave(first).levels * (wave(first).end - first);
  }
  WFACLI_DEVICE std::uint64_t bytes() const {
    return ((sizeof(TileGroup) + sizeof(TileWave)) * groups_ + 255) / 256 * 256;
  }
  WFACLI_DEVICE TileRoom room(const TilePair (&pairs)[2], std::uint64_t at) const {
    std::int32_t longest = 1, band = 1;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      if (pairs[x].stripes == 0) continue;
      longest = max(longest, max(pairs[x].query.length, pairs[x].target.length));
      band = max(band, tile_band(task_, pairs[x].slot));
    }
    return TileRoom::of(task_, task_.workspace + bytes() + at, longest, band);
  }
  // Where rooms are, and which groups are under way together; by a whole warp.
  WFACLI_DEVICE void lay_out(std::int32_t lane) const {
    const std::uint64_t most = task_.stride - bytes();
    std::uint64_t at = 0;
    std::int32_t begun = 0;
    TileWave wave{0, -1, 0, 0, 0, 0};
    for (std::int32_t first = 0; first < groups_; first += 32) {
      const std::int32_t number = min(first + lane, groups_ - 1);
      const TilePair pairs[2] = {TilePair::of(task_, 2 * number), TilePair::of(task_, 2 * number + 1)};
      const TileLevels own = TileLevels::of(task_, pairs);
      const std::uint64_t size = room(pairs, 0).bytes();
      std::uint64_t own_at = 0;
      for (std::int32_t k = 0; k < min(32, groups_ - first); ++k) {
        const std::uint64_t needed = __shfl_sync(kAllLanes, size, k);
        const std::int32_t stripes = __shfl_sync(kAllLanes, own.stripes, k);
        const std::int32_t levels = __shfl_sync(kAllLanes, own.count(), k);
        if (at + needed > most && first + k > begun) {
          end_wave(wave, begun, first + k, lane);
          begun = first + k;
          at = 0;
        }
        if (lane == k) own_at = at;
        at += needed;
        wave.units += stripes;
        wave.levels = max(wave.levels, levels);
      }
      if (first + lane < groups_) group(first + lane) = {own_at, -1, {kNever, kNever}, own};
    }
    end_wave(wave, begun, groups_, lane);
    __syncwarp();
  }

 private:
  // Writes it down; `wave` becomes the next one.
  WFACLI_DEVICE void end_wave(TileWave& next, std::int32_t begun, std::int32_t end, std::int32_t lane) const {
    next.end = end;
    if (lane == 0) wave(begun) = next;
    next = {0, begun, 0, next.first + next.levels * (end - begun), 0, 0};
  }

  const AlignTask& task_;
  const std::int32_t groups_;
};

// A stripe to be swept, or a group that has none but is to be answered.
struct TileUnit {
  std::int32_t group, stripe;  // group -1: there is none left
};

// Where a warp gets its units.
class TileUnits {
 public:
  WFACLI_DEVICE TileUnits(const AlignTask& task, const TileTable& table, std::int32_t lane)
      : next_(task.next), table_(table), lane_(lane) {}

  WFACLI_DEVICE TileUnit draw() {
    for (;;) {
      const std::int32_t unit = number();
      while (unit >= table_.wave(wave_).first + table_.units_before_next(wave_)) {
        const std::int32_t end = table_.wave(wave_).end;
        if (end == table_.groups()) return {-1, 0};
        wave_ = end;
      }
      const TileWave& wave = table_.wave(wave_);
      const std::int32_t at = unit - wave.first, groups = wave.end - wave_;
      const std::int32_t group = wave_ + at % groups;
      const std::int32_t stripe = table_.group(group).levels.stripe(wave.levels - at / groups);
      if (stripe >= 0 && stripe < table_.group(group).levels.stripes) return {group, stripe};
    }
  }
  // Of the unit that was drawn last: the first group of its wave.
  WFACLI_DEVICE std::int32_t wave() const { return wave_; }

 private:
  static constexpr std::uint32_t kLaidOut = 1u << 31;

  // Of the next unit, whether there is such a stripe or not. Whose number is the first one lays out the table.
  WFACLI_DEVICE std::int32_t number() {
    for (;;) {
      std::uint32_t drawn = 0;
      if (lane_ == 0) drawn = atomicAdd(next_, 1u);
      drawn = __shfl_sync(kAllLanes, drawn, 0);
      if (drawn == 0) {
        table_.lay_out(lane_);
        __threadfence();
        if (lane_ == 0) atomicOr(next_, kLaidOut);
        continue;
      }
      if (!laid_out_) {
        auto* const next = reinterpret_cast<const std::int32_t*>(next_);
        while (told(next) >= 0) WFACLI_PAUSE();
        __syncwarp();
        laid_out_ = true;
      }
      return static_cast<std::int32_t>(drawn & ~kLaidOut) - 1;
    }
  }

  std::uint32_t* const next_;
  const TileTable& table_;
  const std::int32_t lane_;
  std::int32_t wave_ = 0;
  bool laid_out_ = false;
};

// Lets a group's stripes begin, as soon as the wave before leaves them its memory.
WFACLI_DEVICE void open_group(const TileTable& table, TileGroup& group, std::int32_t wave, const TileRoom& room,
                              std::int32_t stripes, std::int32_t lane) {
  const std::int32_t before = table.wave(wave).before;
  if (before >= 0) wait_for(&table.wave(before).done, table.wave(before).units);
  __syncwarp();
  for (std::int32_t s = lane; s < stripes; s += 32) room.about(s)->chunks = 0;
  __syncwarp();
  if (lane == 0) tell(&group.opened, 0);
}

// A stripe, some rows behind the one before.
WFACLI_DEVICE void sweep_stripe(TileSweep& sweep, TilePair (&pairs)[2], TileGroup& group, const TileRoom& room,
                                std::int32_t number, std::int32_t lane) {
  constexpr std::int32_t kTurn = 4;  // chunks between two signals
  constexpr std::int32_t kAll = 0x7fffffff;
  constexpr std::int32_t kBehind = (kTileLanes + Entering::kAhead) / TileSweep::kChunk + 1;
  std::int32_t* const own = &room.about(number)->chunks;
  const std::int32_t* const before = &room.about(max(number - 1, 0))->chunks;
  // The later a stripe gets its place, the fewer rows it has.
  if (number > 0) wait_for(before, kTileWidth / TileSweep::kChunk + kBehind);
  sweep.place(pairs, number, told(&group.opened) - 1);
  const std::int32_t rows = sweep.rows(number), behind = kTurn + kBehind + sweep.lower(number) / TileSweep::kChunk;
  std::int32_t reached = number > 0 ? wait_for(before, behind) : kAll;
  __syncwarp();
  sweep.begin(pairs, number, rows, rows);
#pragma unroll 1
  for (std::int32_t chunk = 0; chunk < sweep.chunks();) {
    if (reached < chunk + behind) reached = wait_for(before, chunk + behind);
    __syncwarp();
    const std::int32_t end = min(chunk + kTurn, sweep.chunks());
#pragma unroll 1
    for (; chunk < end; ++chunk) sweep.steps(pairs, chunk);
    if (chunk == sweep.chunks()) {
      // None is done before those before it, of which it may have needed the upper rows only.
      if (reached < kAll) wait_for(before, kAll);
#pragma unroll
      for (int x = 0; x < 2; ++x)  // the lane that has the last cell knows it
        if (pairs[x].stripes - 1 == number && pairs[x].cost != kNever) group.cost[x] = pairs[x].cost;
    }
    __syncwarp();
    if (lane == kTileLanes - 1) tell(own, chunk < sweep.chunks() ? chunk : kAll);
  }
  sweep.narrow(pairs);
  if (lane == 0) {
    __threadfence();
    atomicMax(&group.opened, number + 1);
  }
}

}  // namespace wfacli::dp

// Stripes distributed over all warps of the GPU, so that one long pair uses many multiprocessors at a time.
//
// Warps draw units from a counter. A unit is one stripe of two pairs (a group). Everything a unit waits for was drawn
// before it, so a waiting warp always waits for a running one, whatever part of the grid the GPU runs. The group with
// the most stripes starts first, and the last stripes of all groups come together. The warp that draws the last stripe
// of a group also does the group's traceback.
//
// Each group has its own amount of workspace. A wave is as many groups as fit into the workspace together; the next
// wave starts when all units of the last one are done. The warp that draws the first number lays this out for all
// others.
#pragma once

#include "common/signal.cuh"
#include "tiles/dp_tile_sweep.cuh"

namespace wfacli::dp {

// The order of a group's stripes. Each stripe has a level, and units of all groups are ordered by level, from the
// highest down to 1. Levels below a group's last stripe leave time for its traceback, which takes about as long as its
// stripes.
struct TileLevels {
  std::int32_t stripes, traceback_levels;

  WFACLI_DEVICE static TileLevels of(const AlignTask& task, const TilePair (&pairs)[2]) {
    const std::int32_t stripes = max(max(pairs[0].stripes, pairs[1].stripes), 1);  // one unit writes the answers
    return {stripes, task.path ? stripes : 0};
  }
  WFACLI_DEVICE std::int32_t count() const { return stripes + traceback_levels; }
  // Return the stripe of a level. It may be out of range: such a unit does not exist.
  WFACLI_DEVICE std::int32_t stripe(std::int32_t level) const { return stripes + traceback_levels - level; }
};

// State of two pairs.
struct TileGroup {
  std::uint64_t at;     // offset of their workspace after the table, in bytes
  std::int32_t narrowed_stripes;  // leading stripes that have been narrowed; -1: no stripe may start
  std::int32_t cost[2];
  TileLevels levels;
};
// Groups that are computed together.
struct TileWave {
  std::int32_t end;     // one past the last group
  std::int32_t before;  // first group of the previous wave
  std::int32_t levels;  // number of levels
  std::int32_t first;   // number of its first unit, counted over all waves and levels
  std::int32_t units;   // units that exist
  std::int32_t done;    // units that are finished
};

// The workspace: a table of groups and waves, then the groups' own parts. wfacli/gpu/kernels/tiles.py mirrors its
// layout.
class TileTable {
 public:
  WFACLI_DEVICE explicit TileTable(const AlignTask& task) : task_(task), groups_((task.count - 1) / 2 + 1) {}

  WFACLI_DEVICE std::int32_t groups() const { return groups_; }
  WFACLI_DEVICE TileGroup& group(std::int32_t number) const {
    return reinterpret_cast<TileGroup*>(task_.workspace)[number];
  }
  // Return the wave whose first group is `group`.
  WFACLI_DEVICE TileWave& wave(std::int32_t group) const {
    return reinterpret_cast<TileWave*>(task_.workspace + sizeof(TileGroup) * groups_)[group];
  }
  // Number of units of a wave, including those that do not exist.
  WFACLI_DEVICE std::int32_t units_before_next(std::int32_t first) const {
    return wave(first).levels * (wave(first).end - first);
  }
  WFACLI_DEVICE std::uint64_t bytes() const {
    return ((sizeof(TileGroup) + sizeof(TileWave)) * groups_ + 255) / 256 * 256;
  }
  WFACLI_DEVICE TileWorkspace workspace(const TilePair (&pairs)[2], std::uint64_t at) const {
    std::int32_t longest = 1, band = 1;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      if (pairs[x].stripes == 0) continue;
      longest = max(longest, max(pairs[x].query.length, pairs[x].target.length));
      band = max(band, tile_band(task_, pairs[x].slot));
    }
    return TileWorkspace::of(task_, task_.workspace + bytes() + at, longest, band);
  }
  // Assign workspace to groups and groups to waves. Called by a whole warp.
  WFACLI_DEVICE void make_waves(std::int32_t lane) const {
    const std::uint64_t capacity = task_.stride - bytes();
    std::uint64_t at = 0;
    std::int32_t begun = 0;
    TileWave wave{0, -1, 0, 0, 0, 0};
    for (std::int32_t first = 0; first < groups_; first += 32) {
      const std::int32_t number = min(first + lane, groups_ - 1);
      const TilePair pairs[2] = {TilePair::of(task_, 2 * number), TilePair::of(task_, 2 * number + 1)};
      const TileLevels own = TileLevels::of(task_, pairs);
      const std::uint64_t size = workspace(pairs, 0).bytes();
      std::uint64_t own_at = 0;
      for (std::int32_t k = 0; k < min(32, groups_ - first); ++k) {
        const std::uint64_t needed = __shfl_sync(kAllLanes, size, k);
        const std::int32_t stripes = __shfl_sync(kAllLanes, own.stripes, k);
        const std::int32_t levels = __shfl_sync(kAllLanes, own.count(), k);
        if (at + needed > capacity && first + k > begun) {
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
  // Store the wave and make `next` the following one.
  WFACLI_DEVICE void end_wave(TileWave& next, std::int32_t begun, std::int32_t end, std::int32_t lane) const {
    next.end = end;
    if (lane == 0) wave(begun) = next;
    next = {0, begun, 0, next.first + next.levels * (end - begun), 0, 0};
  }

  const AlignTask& task_;
  const std::int32_t groups_;
};

// A stripe to sweep, or a group without stripes whose answers are to be written.
struct TileUnit {
  std::int32_t group, stripe;  // group -1: no unit is left
};

// Source of a warp's units.
class TileUnits {
 public:
  WFACLI_DEVICE TileUnits(const AlignTask& task, const TileTable& table, std::int32_t lane)
      : next_(task.work_counter), table_(table), lane_(lane) {}

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
  // Return the first group of the wave of the unit drawn last.
  WFACLI_DEVICE std::int32_t wave() const { return wave_; }

 private:
  static constexpr std::uint32_t kWavesMade = 1u << 31;

  // Draw the number of the next unit, which may not exist. The warp that draws the first number lays out the table.
  WFACLI_DEVICE std::int32_t number() {
    for (;;) {
      std::uint32_t drawn = 0;
      if (lane_ == 0) drawn = atomicAdd(next_, 1u);
      drawn = __shfl_sync(kAllLanes, drawn, 0);
      if (drawn == 0) {
        table_.make_waves(lane_);
        __threadfence();
        if (lane_ == 0) atomicOr(next_, kWavesMade);
        continue;
      }
      if (!waves_made_) {
        auto* const next = reinterpret_cast<const std::int32_t*>(next_);
        while (load_acquire(next) >= 0) WFACLI_PAUSE();
        __syncwarp();
        waves_made_ = true;
      }
      return static_cast<std::int32_t>(drawn & ~kWavesMade) - 1;
    }
  }

  std::uint32_t* const next_;
  const TileTable& table_;
  const std::int32_t lane_;
  std::int32_t wave_ = 0;
  bool waves_made_ = false;
};

// Allow a group's stripes to start once the previous wave has released the workspace.
WFACLI_DEVICE void open_group(const TileTable& table, TileGroup& group, std::int32_t wave,
                              const TileWorkspace& workspace, std::int32_t stripes, std::int32_t lane) {
  const std::int32_t before = table.wave(wave).before;
  if (before >= 0) wait_for(&table.wave(before).done, table.wave(before).units);
  __syncwarp();
  for (std::int32_t s = lane; s < stripes; s += 32) workspace.stripe_info(s)->chunks = 0;
  __syncwarp();
  if (lane == 0) store_release(&group.narrowed_stripes, 0);
}

// Sweep a stripe, some rows behind the previous stripe.
WFACLI_DEVICE void sweep_stripe(TileSweep& sweep, TilePair (&pairs)[2], TileGroup& group,
                                const TileWorkspace& workspace, std::int32_t number, std::int32_t lane) {
  constexpr std::int32_t kSignalChunks = 4;  // chunks between two signals
  constexpr std::int32_t kAll = 0x7fffffff;
  constexpr std::int32_t kBehind = (kTileLanes + EntryStream::kAhead) / TileSweep::kChunk + 1;
  std::int32_t* const own = &workspace.stripe_info(number)->chunks;
  const std::int32_t* const before = &workspace.stripe_info(max(number - 1, 0))->chunks;
  // Wait before placing: the more earlier stripes have been narrowed, the fewer rows this one has.
  if (number > 0) wait_for(before, kTileWidth / TileSweep::kChunk + kBehind);
  sweep.place_stripe(pairs, number, load_acquire(&group.narrowed_stripes) - 1);
  const std::int32_t rows = sweep.rows(number),
                     behind = kSignalChunks + kBehind + sweep.lower(number) / TileSweep::kChunk;
  std::int32_t reached = number > 0 ? wait_for(before, behind) : kAll;
  __syncwarp();
  sweep.begin(pairs, number, rows, rows);
#pragma unroll 1
  for (std::int32_t chunk = 0; chunk < sweep.chunks();) {
    if (reached < chunk + behind) reached = wait_for(before, chunk + behind);
    __syncwarp();
    const std::int32_t end = min(chunk + kSignalChunks, sweep.chunks());
#pragma unroll 1
    for (; chunk < end; ++chunk) sweep.steps(pairs, chunk);
    if (chunk == sweep.chunks()) {
      // A stripe finishes only after its predecessor, even if it needed only the predecessor's upper rows.
      if (reached < kAll) wait_for(before, kAll);
#pragma unroll
      for (int x = 0; x < 2; ++x)  // only the lane of the last cell has the cost
        if (pairs[x].stripes - 1 == number && pairs[x].cost != kNever) group.cost[x] = pairs[x].cost;
    }
    __syncwarp();
    if (lane == kTileLanes - 1) store_release(own, chunk < sweep.chunks() ? chunk : kAll);
  }
  sweep.narrow(pairs);
  if (lane == 0) {
    __threadfence();
    atomicMax(&group.narrowed_stripes, number + 1);
  }
}

}  // namespace wfacli::dp

// Sweep of one stripe of a band, with the best score of each of its anti-diagonals in each lane.
#pragma once

#include "sw/sw_guided_workspace.cuh"

namespace wfacli::sw {

// Best scores of the anti-diagonals that cross a lane's columns: [k] is that of the anti-diagonal of column k in the
// latest row. kBand: set cells outside the band to the floor.
template <bool kBand>
struct Diagonals {
  static constexpr bool kGuided = true;

  std::uint32_t (&best)[kColumns];
  std::uint32_t inside, floor;  // bit k: column k is in the band

  WFACLI_DEVICE std::uint32_t without_deletions(int k, std::uint32_t score) const {
    return !kBand || (inside >> k & 1) ? score : floor;
  }
  WFACLI_DEVICE std::uint32_t cell(int k, std::uint32_t score) const {
    if (kBand) score = inside >> k & 1 ? score : floor;
    best[k] = k + 1 < kColumns ? Word::maximum(best[k + 1 < kColumns ? k + 1 : k], score) : score;
    return score;
  }
};

// Changes to a lane's state before certain rows: the row of a pair's first cell, and the row after a pair's last. Only
// the next such row is stored; others are recomputed when needed, since cells need the registers.
struct Events {
  const GuidedPair* pairs;
  const Slice& slice;
  std::int32_t lane;
  std::int32_t next;

  WFACLI_DEVICE Events(const GuidedPair* pairs, const Slice& slice, std::int32_t lane)
      : pairs(pairs), slice(slice), lane(lane), next(from(0)) {}
  // Apply the changes before row r. `first`: word of score 0, less the substitution score of what precedes both
  // sequences.
  WFACLI_DEVICE void at(std::int32_t r, State& state, std::uint32_t floor, std::uint32_t first) {
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      const std::uint32_t own = x ? 0xffff0000u : 0xffffu;
      const std::uint32_t ends = r == end(x) ? own : 0, begins = r == begin(x) ? own : 0;
      const std::int32_t column = column_0(x);
      put(state.corner, floor, ends);
      put(state.corner, first, column == 0 ? begins : 0);
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        put(state.value[k], floor, ends);
        put(state.insertion[k], floor, ends);
        // By masks: an index would move the values out of registers.
        put(state.value[k], first, column == k + 1 ? begins : 0);
      }
    }
    next = from(r + 1);
  }

 private:
  WFACLI_DEVICE static void put(std::uint32_t& word, std::uint32_t value, std::uint32_t mask) {
    word = (word & ~mask) | (value & mask);
  }
  // Number, in the slice, of row 0 of the matrix. It may be outside the slice.
  WFACLI_DEVICE std::int32_t row_0(int x) const {
    return -pairs[x].before - slice.number * kWidth - slice.first;
  }
  WFACLI_DEVICE std::int32_t column_0(int x) const {
    return -pairs[x].before - slice.number * kWidth - 1 - lane * kColumns;
  }
  WFACLI_DEVICE std::int32_t begin(int x) const {
    return static_cast<std::uint32_t>(column_0(x)) < static_cast<std::uint32_t>(kColumns) ? row_0(x) : -1;
  }
  WFACLI_DEVICE std::int32_t end(int x) const { return pairs[x].query_len + row_0(x) + 1; }
  // Return the first row with a change, from r on.
  WFACLI_DEVICE std::int32_t from(std::int32_t r) const {
    std::int32_t found = INT32_MAX;
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (begin(x) >= r) found = min(found, begin(x));
      if (end(x) >= r) found = min(found, end(x));
    }
    return found;
  }
};

class GuidedSweep {
 public:
  // `scores`: the task's scores in shared memory.
  WFACLI_DEVICE GuidedSweep(const SwTask& task, const GuidedWorkspace& workspace, const Profile& profile,
                            const Gaps& gaps, const std::uint32_t* scores, std::int32_t lane)
      : task_(task), workspace_(workspace), profile_(profile), gaps_(gaps), lane_(lane) {
    const auto outside =
        static_cast<std::int8_t>(scores[(task.codes * kSwCodes + task.codes) / 4] >> task.codes % 4 * 8);
    first_ = gaps.word(-outside);
  }

  // Sweep a stripe. All lanes of the warp call it. `steps`: those of the group with the most rows.
  WFACLI_DEVICE void stripe(const GuidedPair (&pairs)[kPairs], const Slice& slice, std::int32_t steps) const {
    std::int32_t first[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      profile_.make(pairs[x], x, pairs[x].before + slice.number * kWidth + lane_ * kColumns);
      first[x] = slice.first;
    }
    State state;
    std::uint32_t best[kColumns];
    begin(state, best);
    Events events(&pairs[0], slice, lane_);
    EntryStream<LeftOfBand> entries;
    entries.begin({&workspace_, &pairs[0], slice, task_.band, gaps_.floor, static_cast<std::uint32_t>(task_.codes)},
                  first, lane_);
    uint4 leaving{0, 0, 0, 0};
    std::uint32_t* const left = workspace_.left(lane_);
#pragma unroll 1
    for (std::int32_t t = 0; t < steps; ++t) {
      const Entry entry = state.entry(entries.at(t), lane_);
      const std::int32_t r = t - lane_;
      const bool goes = static_cast<std::uint32_t>(r) < static_cast<std::uint32_t>(slice.rows);
      const std::int32_t above = slice.first + r - lane_ * kColumns + task_.band;  // columns up to the edge of the band
      const bool within = above >= kColumns && above <= 2 * task_.band + 1;
      const bool all_within = __all_sync(kAllLanes, within || !goes);
      if (!goes) continue;
      if (r == events.next) events.at(r, state, gaps_.floor, first_);
      std::uint32_t none[Workspace::kDirections];
      if (all_within) {
        state.row<Trace::None>(gaps_, profile_, entry, 0, none, Diagonals<false>{best, 0, gaps_.floor});
      } else {
        const std::uint32_t inside = up_to(above) & ~up_to(above - 2 * task_.band - 1);
        state.row<Trace::None>(gaps_, profile_, entry, 0, none, Diagonals<true>{best, inside, gaps_.floor});
      }
      Edge::put(workspace_.edge(slice.number + 1, slice.first + r - kWidth), state.value[kColumns - 1], state.deletion,
                lane_ == kLanes - 1);
      leaving = make_uint4(leaving.y, leaving.z, leaving.w, best[0]);
      if (r % 4 == 3) *reinterpret_cast<uint4*>(left + r - 3) = leaving;
    }
    if (slice.rows == 0) return;
#pragma unroll
    for (int k = 0; k < kColumns; k += 4)
      *reinterpret_cast<uint4*>(left + slice.rows + k) =
          make_uint4(best[k + 1], best[k + 2], best[k + 3], k + 4 < kColumns ? best[(k + 4) % kColumns] : gaps_.floor);
  }

 private:
  WFACLI_DEVICE void begin(State& state, std::uint32_t (&best)[kColumns]) const {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) state.value[k] = state.insertion[k] = best[k] = gaps_.floor;
    state.corner = state.deletion = gaps_.floor;
    state.codes = 0;
  }
  // Bits of the first `columns` columns.
  WFACLI_DEVICE static std::uint32_t up_to(std::int32_t columns) {
    return columns <= 0 ? 0 : 0xffffffffu >> max(32 - columns, 0);
  }

  const SwTask& task_;
  const GuidedWorkspace& workspace_;
  const Profile& profile_;
  const Gaps& gaps_;
  const std::int32_t lane_;
  std::uint32_t first_;
};

}  // namespace wfacli::sw

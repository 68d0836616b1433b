// From the best cell back to where the path begins: the parts of stripes that it crosses are computed once more, from
// states that were kept, with directions (as in Hirschberg's linear space, 1975, with one level of what is kept).
#pragma once

#include "common/cigar.cuh"
#include "sw_sweep.cuh"

namespace wfacli::sw {

// Bits of a cell that say what is not so: that H comes from an insertion, from a deletion; that the gap which goes on
// from here into the next row, the next column, begins here. It does wherever that is as good, and an insertion goes
// before a deletion, and both before two letters.
enum Direction : std::uint32_t { kNoInsertion = 1, kNoDeletion = 2, kInsertionGoesOn = 4, kDeletionGoesOn = 8 };

// Where the way back of a pair is.
struct Track {
  std::int32_t i, j;
  std::int32_t left;           // what the rest of the path scores
  std::int32_t stripe, state;  // of the part
  std::uint32_t gap;           // kNoInsertion or kNoDeletion inside one
  RunWriter out;

  WFACLI_DEVICE bool goes_on() const { return i > 0 && j > 0 && !(kLocal && gap == 0 && left == 0); }
  WFACLI_DEVICE std::int32_t step(std::int32_t row, std::int32_t column) const {
    return row - 1 + (column - 1 - stripe * kWidth) / kColumns;
  }
  // The part whose last cell is (i, j).
  WFACLI_DEVICE void enter() {
    stripe = goes_on() ? (j - 1) / kWidth : 0;
    state = kTwice && goes_on() ? step(i, j) / kSteps : 0;
  }
  WFACLI_DEVICE std::int32_t steps() const { return goes_on() ? step(i, j) - state * kSteps + 1 : 0; }
  WFACLI_DEVICE bool has(std::int32_t row, std::int32_t column) const {
    return row > 0 && column > stripe * kWidth && step(row, column) >= state * kSteps;
  }
};

class Walk {
 public:
  WFACLI_DEVICE Walk(const SwTask& task, const Room& room, const Profile& profile, const std::uint32_t* scores,
                     std::int32_t rows, std::int32_t lane)
      : task_(task),
        room_(room),
        profile_(profile),
        gaps_(Gaps::of(task)),
        scores_(reinterpret_cast<const std::int8_t*>(scores)),
        rows_(rows),
        lane_(lane) {}

  // Lane x of the group brings pair x to the beginning of its path, others have tracks with nowhere to go. `best`: the
  // cells where the pairs' ways begin; `begins` becomes the column of the lane's pair where it was not known. All
  // lanes of the warp call it.
  WFACLI_DEVICE void run(const Pair (&pairs)[kPairs], const Best (&best)[kPairs], Track& track, std::int32_t& begins) {
    std::int32_t seeks[kPairs];  // the score that a lane looks for in the last of a part's steps, or 0
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      seeks[x] = kLocal && kTwice && best[x].score > 0 && best[x].j % kLanes == lane_ ? best[x].score : 0;
      made_[x] = -1;
    }
    for (;;) {
      track.enter();
      const std::int32_t most = __reduce_max_sync(kAllLanes, track.steps());
      if (most == 0) return;
      if constexpr (kTwice) again(pairs, best, most, seeks, track, begins);
      __syncwarp();  // directions are written
      if (lane_ < kPairs) through(pairs[lane_], track);
      __syncwarp();  // and read
    }
  }

 private:
  static constexpr int kAhead = 4;

  // The tracks' parts once more.
  WFACLI_DEVICE void again(const Pair (&pairs)[kPairs], const Best (&best)[kPairs], std::int32_t most,
                           std::int32_t (&seeks)[kPairs], Track& track, std::int32_t& begins) {
    std::int32_t stripe[kPairs], state[kPairs], last[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      stripe[x] = __shfl_sync(kAllLanes, track.stripe, x, kLanes);
      state[x] = __shfl_sync(kAllLanes, track.state, x, kLanes);
      last[x] = __shfl_sync(kAllLanes, track.steps(), x, kLanes) - 1;
    }
    compute(pairs, stripe, state, most, seeks, last);
    if constexpr (kLocal) {
#pragma unroll
      for (int x = 0; x < kPairs; ++x) {
        const std::int32_t column = __shfl_sync(kAllLanes, seeks[x], best[x].j % kLanes, kLanes);
        if (lane_ == x && column < 0) begins = track.j = -column;
        seeks[x] = 0;
      }
    }
  }

  // The state before parts of two stripes.
  WFACLI_DEVICE void restore(const std::int32_t (&stripe)[kPairs], const std::int32_t (&number)[kPairs],
                             State& state) const {
    const std::uint32_t* kept[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) kept[x] = room_.kept(stripe[x], number[x], lane_);
    int w = 0;
    const auto word = [&] {
      std::uint32_t own[kPairs];
#pragma unroll
      for (int x = 0; x < kPairs; ++x) own[x] = kept[x][kLanes * w];
      ++w;
      return Word::joined(own);
    };
#pragma unroll
    for (int k = 0; k < kColumns; ++k) state.value[k] = word();
#pragma unroll
    for (int k = 0; k < kColumns; ++k) state.insertion[k] = word();
    state.deletion = word();
    state.corner = word();
    state.codes = word();
  }
  // `most` steps of a part of each pair, with directions. Where a lane seeks pair x's score in step last[x], minus the
  // column that has it takes its place.
  WFACLI_DEVICE void compute(const Pair (&pairs)[kPairs], const std::int32_t (&stripe)[kPairs],
                             const std::int32_t (&number)[kPairs], std::int32_t most, std::int32_t (&seeks)[kPairs],
                             const std::int32_t (&last)[kPairs]) {
    State state;
    restore(stripe, number, state);
    std::int32_t first[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (made_[x] != stripe[x]) profile_.make(pairs[x], x, stripe[x] * kWidth + lane_ * kColumns);
      made_[x] = stripe[x];
      first[x] = number[x] * kSteps + 1;
    }
    Entering entering;
    entering.begin(gaps_, room_, pairs, task_.codes, stripe, first, rows_, lane_);
#pragma unroll 1
    for (std::int32_t t = 0; t < most; ++t) {
      const Entry entry = state.entry(entering.at(t), lane_);
      if (t == lane_) begin_first_parts(state, stripe, number);
      std::uint32_t directions[Room::kDirections];
      state.row<true>(gaps_, profile_, entry, Word::kLeast, directions);
      Room::put(room_.directions(0, t, lane_), directions);
#pragma unroll
      for (int x = 0; x < kPairs; ++x)
        if (kLocal && seeks[x] > 0 && t == last[x]) {
          const std::uint32_t columns = state.columns_of(gaps_, gaps_.word(seeks[x]));
          seeks[x] = -(stripe[x] * kWidth + lane_ * kColumns + 1 + Word::of(columns, x));
        }
    }
  }
  // Before row 1 of the lane, for pairs whose part begins above it: what it did until now was for nothing.
  WFACLI_DEVICE void begin_first_parts(State& state, const std::int32_t (&stripe)[kPairs],
                                       const std::int32_t (&number)[kPairs]) const {
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (number[x] > 0) continue;
      bool own[kPairs] = {};
      own[x] = true;
      const std::uint32_t mask = Word::mask(own), *kept = room_.kept(stripe[x], 0, lane_);
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        state.value[k] = (kept[kLanes * k] & mask) | (state.value[k] & ~mask);
        state.insertion[k] = (kept[kLanes * (kColumns + k)] & mask) | (state.insertion[k] & ~mask);
      }
      state.corner = (kept[kLanes * (2 * kColumns + 1)] & mask) | (state.corner & ~mask);
    }
  }
  // The direction of a cell of the track's part, of the lane's pair.
  WFACLI_DEVICE std::uint32_t direction(const Track& track, std::int32_t row, std::int32_t column) const {
    const std::int32_t of_stripe = column - 1 - track.stripe * kWidth, of_lane = of_stripe % kColumns;
    const std::uint32_t* words =
        room_.directions(track.stripe, track.step(row, column) - track.state * kSteps, of_stripe / kColumns);
    return words[of_lane / 4] >> (16 * lane_ + of_lane % 4 * 4) & 15;
  }
  // Through the part. Most cells are followed by those above them on the diagonal, which are read at the same time.
  WFACLI_DEVICE void through(const Pair& pair, Track& track) const {
    while (track.goes_on() && track.has(track.i, track.j)) {
      std::uint32_t ahead[kAhead], query[kAhead], target[kAhead];
      const std::int32_t i = track.i, j = track.j;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const bool within = track.has(i - k, j - k);
        ahead[k] = within ? direction(track, i - k, j - k) : kUnknown;
        query[k] = within ? pair.query_code(i - k) : 0;
        target[k] = within ? pair.target_code(j - k) : 0;
      }
      bool straight = true;
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (straight && ahead[k] != kUnknown && track.goes_on())
          straight = follow(track, ahead[k], query[k], target[k]);
    }
  }
  // One operation, or the end of a gap and of the path; whether it went along the diagonal.
  WFACLI_DEVICE bool follow(Track& track, std::uint32_t direction, std::uint32_t query, std::uint32_t target) const {
    if (track.gap && !(direction & track.gap << 2)) track.gap = 0;
    if (!track.goes_on()) return false;
    if (track.gap == 0) {
      track.gap = !(direction & kNoInsertion) ? kNoInsertion : ~direction & kNoDeletion;
      if (track.gap) track.left += gaps_.open;
    }
    if (track.gap == 0) {
      track.left -= scores_[target * kSwCodes + query];
      track.out.add(query == target && (task_.same >> query & 1) ? kEqual : kDifferent, 1);
      --track.i;
      --track.j;
      return true;
    }
    track.left += gaps_.extend;
    const bool insertion = track.gap == kNoInsertion;
    track.out.add(insertion ? kInsertion : kDeletion, 1);
    track.i -= insertion;
    track.j -= !insertion;
    return false;
  }

  static constexpr std::uint32_t kUnknown = 0xffffffffu;

  const SwTask& task_;
  const Room& room_;
  const Profile& profile_;
  const Gaps gaps_;
  const std::int8_t* scores_;
  const std::int32_t rows_;  // that edges have
  const std::int32_t lane_;
  std::int32_t made_[kPairs];  // the stripe that the profile is of
};

}  // namespace wfacli::sw

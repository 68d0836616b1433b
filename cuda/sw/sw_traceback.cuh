// Traceback from the best cell to the other end of the path. It uses either the stored directions of all cells, or
// directions of the parts of stripes that the path crosses, recomputed from checkpoints (as in Hirschberg's linear
// space, 1975, with one level of checkpoints).
#pragma once

#include "common/cigar.cuh"
#include "sw/sw_sweep.cuh"

namespace wfacli::sw {

// Flags of a cell, which state what is not the case. Bits 0 and 1: H does not come from an insertion, from a deletion.
// Bits 2 and 3: the gap that continues from here into the next row, the next column, was not opened here. Ties: a gap
// opens here where that is as good; insertions come before deletions, and both before a substitution.
enum Direction : std::uint32_t { kNoInsertion = 1, kNoDeletion = 2, kInsertionGoesOn = 4, kDeletionGoesOn = 8 };

// Position in the traceback of a pair.
struct Track {
  std::int32_t i, j;
  std::int32_t rest_score;     // score of the rest of the path
  std::int32_t stripe, state;  // of the current part
  std::uint32_t gap;           // kNoInsertion or kNoDeletion in such a gap, else 0
  RunWriter out;

  // Start at the cell where a pair's traceback begins.
  WFACLI_DEVICE static Track from(const SwTask& task, const Pair& pair, const Best& best, bool writes) {
    const auto at = static_cast<std::uint64_t>(pair.slot) * static_cast<std::uint32_t>(task.op_capacity);
    return {best.i, best.j, best.score, 0, 0, 0, RunWriter(task.ops + at, writes ? task.op_capacity : 0)};
  }
  WFACLI_DEVICE bool is_inside() const { return i > 0 && j > 0 && !(kLocal && gap == 0 && rest_score == 0); }
  WFACLI_DEVICE std::int32_t step(std::int32_t row, std::int32_t column) const {
    return row - 1 + (column - 1 - stripe * kWidth) / kColumns;
  }
  // Select the part that ends at (i, j).
  WFACLI_DEVICE void enter() {
    stripe = is_inside() ? (j - 1) / kWidth : 0;
    state = kRecomputes && is_inside() ? step(i, j) / kSteps : 0;
  }
  WFACLI_DEVICE std::int32_t steps() const { return is_inside() ? step(i, j) - state * kSteps + 1 : 0; }
  WFACLI_DEVICE bool contains(std::int32_t row, std::int32_t column) const {
    return row > 0 && column > stripe * kWidth && step(row, column) >= state * kSteps;
  }
  // Write a pair's operations and span at the end of the traceback from `best`. Return its status.
  WFACLI_DEVICE Status answer(const SwTask& task, const Pair& pair, const Best& best, Status status) {
    if (!kLocal) {
      out.add(kInsertion, i);
      i = 0;
      if (task.rule == SwRule::Global) {
        out.add(kDeletion, j);
        j = 0;
      }
    }
    const std::int32_t count = out.finish();
    if (status == Status::Ok && count > task.op_capacity) status = Status::MemoryLimit;
    const bool ok = status == Status::Ok;
    task.op_count[pair.row] = ok ? count : 0;
    const std::int32_t n = pair.query_len, m = pair.target_len;
    task.span[pair.row] = ok && count ? make_int4(n - best.i, n - i, m - best.j, m - j) : make_int4(0, 0, 0, 0);
    return status;
  }
};

// Load a word whose neighbours are likely to be read next, and prefetch 128 bytes into L2.
WFACLI_DEVICE std::uint32_t load_prefetching(const std::uint32_t* at) {
#ifdef __CUDACC__
  std::uint32_t word;
  asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(word) : "l"(at));
  return word;
#else
  return *at;
#endif
}

// Codes of a sequence that are read in order, loaded eight at a time.
class EightCodes {
 public:
  // `symbols`: aligned to 8 bytes and readable up to a multiple of 8.
  WFACLI_DEVICE explicit EightCodes(const std::uint8_t* symbols) : symbols_(symbols) {}
  WFACLI_DEVICE std::uint32_t operator[](std::int32_t at) {
    if (at / 8 != number_) eight_ = reinterpret_cast<const std::uint64_t*>(symbols_)[at / 8];
    number_ = at / 8;
    return static_cast<std::uint32_t>(eight_ >> at % 8 * 8) & 0xff;
  }

 private:
  const std::uint8_t* symbols_;
  std::int32_t number_ = -1;
  std::uint64_t eight_ = 0;
};

// Traceback steps by directions.
class Traceback {
 public:
  WFACLI_DEVICE Traceback(const SwTask& task, const Workspace& workspace, const std::uint32_t* scores)
      : task_(task), workspace_(workspace), gaps_(Gaps::of(task)),
        scores_(reinterpret_cast<const std::int8_t*>(scores)), digits_(Gaps::digits(task)) {}

  // Trace the pair in half x to the end of its path. The directions of all cells must be stored.
  WFACLI_DEVICE void all(const Pair& pair, int x, Track& track) const {
    EightCodes query(pair.query), target(pair.target);
#pragma unroll 1
    while (track.is_inside()) {
      track.enter();
      const std::uint32_t direction_bits = direction(track, x, track.i, track.j);
      follow(track, direction_bits, query[pair.query_len - track.i], target[pair.target_len - track.j]);
    }
  }

 protected:
  // Return the direction of a cell of the track's part, for the pair in half x.
  WFACLI_DEVICE std::uint32_t direction(const Track& track, int x, std::int32_t row, std::int32_t column) const {
    const std::int32_t of_stripe = column - 1 - track.stripe * kWidth, of_lane = of_stripe % kColumns;
    const std::uint32_t* words =
        workspace_.directions(track.stripe, track.step(row, column) - track.state * kSteps, of_stripe / kColumns);
    const std::uint32_t word = kAllDirections ? load_prefetching(words + of_lane / 4) : words[of_lane / 4];
    if (!digits_) return word >> (16 * x + of_lane % 4 * 4) & 15;
    const std::uint32_t digits = word - gaps_.surplus() >> (16 * x + (3 - of_lane % 4) * 4);
    const auto open = static_cast<std::uint32_t>(gaps_.open), insertion = digits & 3, deletion = digits >> 2 & 3;
    return (insertion ? kNoInsertion : 0) | (deletion ? kNoDeletion : 0) | (insertion < open ? kInsertionGoesOn : 0) |
           (deletion < open ? kDeletionGoesOn : 0);
  }
  WFACLI_DEVICE std::int32_t score(std::uint32_t query, std::uint32_t target) const {
    return scores_[target * kSwCodes + query];
  }
  WFACLI_DEVICE bool equal(std::uint32_t query, std::uint32_t target) const {
    return query == target && (task_.self_match >> query & 1);
  }
  // Follow one operation, or find that the gap and the path end here.
  WFACLI_DEVICE void follow(Track& track, std::uint32_t direction, std::uint32_t query, std::uint32_t target) const {
    if (track.gap && !(direction & track.gap << 2)) track.gap = 0;
    if (!track.is_inside()) return;
    if (track.gap == 0) {
      track.gap = !(direction & kNoInsertion) ? kNoInsertion : ~direction & kNoDeletion;
      if (track.gap) track.rest_score += gaps_.open;
    }
    const bool deletion = track.gap == kNoDeletion, insertion = track.gap == kNoInsertion;
    track.rest_score += track.gap ? gaps_.extend : -score(query, target);
    track.out.add(insertion ? kInsertion : deletion ? kDeletion : equal(query, target) ? kEqual : kDifferent, 1);
    track.i -= !deletion;
    track.j -= !insertion;
  }

  const SwTask& task_;
  const Workspace& workspace_;
  const Gaps gaps_;
  const std::int8_t* scores_;
  const bool digits_;  // directions are stored as digits
};

class PartTraceback : Traceback {
 public:
  WFACLI_DEVICE PartTraceback(const SwTask& task, const Workspace& workspace, const Profile& profile,
                              const std::uint32_t* scores, std::int32_t rows, std::int32_t lane)
      : Traceback(task, workspace, scores), profile_(profile), rows_(rows), lane_(lane) {}

  // Trace each pair with its lanes to the end of its path. Every lane has a copy of the track; the first lane of a
  // pair writes the operations. `best`: cells where the tracebacks start. `begins`: set to the column of that cell for
  // the lane's pair, where it was not known. All lanes of the warp call it.
  WFACLI_DEVICE void run(const Pair (&pairs)[kPairs], const Best (&best)[kPairs], Track& track, std::int32_t& begins) {
    std::int32_t seeks[kPairs];  // score that the lane looks for in the last step of a part, or 0
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      seeks[x] = kLocal && best[x].score > 0 && best[x].j % kLanes == lane_ ? best[x].score : 0;
      made_[x] = -1;
    }
    for (;;) {
      track.enter();
      const std::int32_t max_steps = __reduce_max_sync(kAllLanes, track.steps());
      if (max_steps == 0) return;
      recompute(pairs, max_steps, seeks, track, begins);
      __syncwarp();  // directions are written
      trace(pairs[lane_ / kOwnLanes], track);
      __syncwarp();  // directions are read
    }
  }

 private:
  // Recompute the parts of the tracks.
  WFACLI_DEVICE void recompute(const Pair (&pairs)[kPairs], std::int32_t max_steps, std::int32_t (&seeks)[kPairs],
                               Track& track, std::int32_t& begins) {
    std::int32_t stripe[kPairs], state[kPairs], last[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      stripe[x] = __shfl_sync(kAllLanes, track.stripe, x * kOwnLanes, kLanes);
      state[x] = __shfl_sync(kAllLanes, track.state, x * kOwnLanes, kLanes);
      last[x] = __shfl_sync(kAllLanes, track.steps(), x * kOwnLanes, kLanes) - 1;
    }
    if (digits_)
      compute<Trace::Digits>(pairs, stripe, state, max_steps, seeks, last);
    else
      compute<Trace::Flags>(pairs, stripe, state, max_steps, seeks, last);
    if constexpr (kLocal) {
#pragma unroll
      for (int x = 0; x < kPairs; ++x) {
        const std::uint32_t found = __ballot_sync(kAllLanes, seeks[x] < 0) >> ((threadIdx.x & 31) - lane_) & kGroup;
        const std::int32_t column =
            __shfl_sync(kAllLanes, seeks[x], max(__ffs(static_cast<int>(found)), 1) - 1, kLanes);
        if (lane_ / kOwnLanes == x && found) begins = track.j = -column;
        seeks[x] = 0;
      }
    }
  }

  // Load the state before the parts of both pairs.
  WFACLI_DEVICE void restore(const std::int32_t (&stripe)[kPairs], const std::int32_t (&number)[kPairs],
                             State& state) const {
    const std::uint32_t* saved[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) saved[x] = workspace_.checkpoint(stripe[x], number[x], lane_);
    int w = 0;
    const auto word = [&] {
      std::uint32_t own[kPairs];
#pragma unroll
      for (int x = 0; x < kPairs; ++x) own[x] = saved[x][kLanes * w];
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
  // Compute `max_steps` steps of a part of each pair, with directions. If a lane looks for pair x's score in step
  // last[x], seeks[x] becomes minus the column that has it.
  template <Trace kTrace>
  WFACLI_DEVICE void compute(const Pair (&pairs)[kPairs], const std::int32_t (&stripe)[kPairs],
                             const std::int32_t (&number)[kPairs], std::int32_t max_steps,
                             std::int32_t (&seeks)[kPairs], const std::int32_t (&last)[kPairs]) {
    State state;
    restore(stripe, number, state);
    std::int32_t first[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (made_[x] != stripe[x]) profile_.make(pairs[x], x, stripe[x] * kWidth + lane_ * kColumns);
      made_[x] = stripe[x];
      first[x] = number[x] * kSteps + 1;
    }
    LeftOfStripes left{gaps_, &workspace_, &pairs[0], {}, rows_, static_cast<std::uint32_t>(task_.codes)};
#pragma unroll
    for (int x = 0; x < kPairs; ++x) left.stripe[x] = stripe[x];
    EntryStream<LeftOfStripes> entries;
    entries.begin(left, first, lane_);
#pragma unroll 1
    for (std::int32_t t = 0; t < max_steps; ++t) {
      const Entry entry = state.entry(entries.at(t), lane_);
      if (t == lane_) begin_first_parts(state, stripe, number);
      std::uint32_t directions[Workspace::kDirections];
      state.row<kTrace>(gaps_, profile_, entry, Word::kMin, directions);
      Workspace::put(workspace_.directions(0, t, lane_), directions);
#pragma unroll
      for (int x = 0; x < kPairs; ++x)
        if (kLocal && seeks[x] > 0 && t == last[x]) {
          const std::uint32_t columns = state.columns_of(gaps_, gaps_.word(seeks[x]));
          seeks[x] = -(stripe[x] * kWidth + lane_ * kColumns + 1 + Word::of(columns, x));
        }
    }
  }
  // Reload the state before the lane's row 1, for pairs whose part starts at the top of the stripe. Earlier
  // steps computed rows above the matrix.
  WFACLI_DEVICE void begin_first_parts(State& state, const std::int32_t (&stripe)[kPairs],
                                       const std::int32_t (&number)[kPairs]) const {
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (number[x] > 0) continue;
      bool own[kPairs] = {};
      own[x] = true;
      const std::uint32_t mask = Word::mask(own), *saved = workspace_.checkpoint(stripe[x], 0, lane_);
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        state.value[k] = (saved[kLanes * k] & mask) | (state.value[k] & ~mask);
        state.insertion[k] = (saved[kLanes * (kColumns + k)] & mask) | (state.insertion[k] & ~mask);
      }
      state.corner = (saved[kLanes * (2 * kColumns + 1)] & mask) | (state.corner & ~mask);
    }
  }
  // Trace through the part. Most operations are diagonal, so each of the pair's lanes loads one of the next cells up
  // the diagonal, and all lanes take the same steps. All lanes of the warp call it.
  WFACLI_DEVICE void trace(const Pair& pair, Track& track) const {
    const int half = lane_ / kOwnLanes, ahead = lane_ % kOwnLanes;
    const auto own = [&](bool yes) {  // bits of the pair's lanes, the first the lowest
      return std::uint64_t{__ballot_sync(kAllLanes, yes) >> ((threadIdx.x & 31) - ahead)} & kOwn;
    };
    for (;;) {
      const bool inside = track.is_inside() && track.contains(track.i, track.j);
      if (!__any_sync(kAllLanes, inside)) return;
      const std::int32_t i = track.i - ahead, j = track.j - ahead;
      const bool here = inside && track.contains(i, j);
      const std::uint32_t direction_bits = here ? direction(track, half, i, j) : 0;
      const std::uint32_t query = here ? pair.query_code(i) : 0, target = here ? pair.target_code(j) : 0;
      const bool straight =
          here && track.gap == 0 && (direction_bits & kNoInsertion) && (direction_bits & kNoDeletion);
      std::int32_t scored = straight ? score(query, target) : 0;  // sum up to this cell
#pragma unroll
      for (int by = 1; by < kOwnLanes; by *= 2) {
        const std::int32_t before = __shfl_up_sync(kAllLanes, scored, by, kOwnLanes);
        if (ahead >= by) scored += before;
      }
      const std::uint64_t leaves_diagonal = own(!straight),
                          ends = own(kLocal && straight && scored == track.rest_score);
      std::uint64_t equals = own(equal(query, target));
      std::int32_t cells = leaves_diagonal ? __ffsll(static_cast<long long>(leaves_diagonal)) - 1 : kOwnLanes;
      if (ends) cells = min(cells, __ffsll(static_cast<long long>(ends)));
      const std::int32_t last = max(cells, 1) - 1, next = min(cells, kOwnLanes - 1);
      scored = __shfl_sync(kAllLanes, scored, last, kOwnLanes);
      if (cells > 0) track.rest_score -= scored;
      track.i -= cells;
      track.j -= cells;
      for (std::int32_t rest = cells; rest > 0;) {
        const bool is_equal = equals & 1;
        const std::int32_t run = min(rest, __ffsll(static_cast<long long>(is_equal ? ~equals : equals | ~kOwn)) - 1);
        track.out.add(is_equal ? kEqual : kDifferent, run);
        equals >>= run;
        rest -= run;
      }
      // Direction and codes of the cell where the diagonal ends, which one of the lanes has loaded.
      const std::uint32_t after = __shfl_sync(kAllLanes, direction_bits | query << 8 | target << 16, next, kOwnLanes);
      if (inside && cells < kOwnLanes && track.is_inside() && track.contains(track.i, track.j))
        follow(track, after & 15, after >> 8 & 0xff, after >> 16);
    }
  }

  static constexpr std::uint32_t kGroup = kAllLanes >> (32 - kLanes);
  static constexpr int kOwnLanes = kLanes / kPairs;  // per pair
  static constexpr std::uint64_t kOwn = (std::uint64_t{1} << kOwnLanes) - 1;

  const Profile& profile_;
  const std::int32_t rows_;  // of the boundaries
  const std::int32_t lane_;
  std::int32_t made_[kPairs];  // stripe that the profile contains
};

}  // namespace wfacli::sw

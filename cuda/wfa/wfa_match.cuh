// Runs of matches, found by one thread or by several together.
#pragma once

#include "common/lanes.cuh"
#include "common/symbols.cuh"

namespace wfacli {

// Both sequences of a pair, reversed, as A C G T in two bits; see Packed for the layout.
struct PackedPair {
  static constexpr int kWindow = Packed::kWindow;  // bases compared at once
  const std::uint32_t* words;
  std::uint32_t query_start, target_start;  // words
  std::int32_t query_length, target_length;

  WFACLI_DEVICE PackedPair(const AlignTask& task, std::int32_t row)
      : words(task.seq.packed - kGuard), query_start(task.seq.query_start[row] + kGuard),
        target_start(task.seq.target_start[row] + kGuard), query_length(task.seq.query_len[row]),
        target_length(task.seq.target_len[row]) {}
  // Return how many bases match from (q, t) on, up to one window and to `max_run`.
  WFACLI_DEVICE std::int32_t count_equal(std::int32_t q, std::int32_t t, std::int32_t max_run) const {
    return count_equal_at(query_length - 1 - q, target_length - 1 - t, max_run);
  }
  // The same for positions in unreversed order: those of the first bases compared, or -1 at the end of a sequence.
  WFACLI_DEVICE std::int32_t count_equal_at(std::int32_t query, std::int32_t target, std::int32_t max_run) const {
    const std::uint32_t differ = window(query_start, query) ^ window(target_start, target);
    return min(__clz(static_cast<int>(differ)) >> 1, max_run);
  }

 private:
  // Same as Packed::window. The index is summed in 32 bits, which saves most of the address arithmetic; it is not
  // negative, because it counts from the guard words before all bases.
  WFACLI_DEVICE std::uint32_t window(std::uint32_t start, std::int32_t last) const {
    const std::uint32_t* at = words + (start + static_cast<std::uint32_t>(last >> 4));
    return __funnelshift_l(at[-1], at[0], static_cast<std::uint32_t>(2 * ~last & 30));
  }
};

// The same for any symbols, as codes.
struct CodedPair {
  static constexpr int kWindow = 4;
  Coded query, target;
  std::int32_t query_length, target_length;
  bool wildcard;

  WFACLI_DEVICE CodedPair(const AlignTask& task, std::int32_t row)
      : query(Coded::query(task.seq, row)), target(Coded::target(task.seq, row)), query_length(query.length),
        target_length(target.length), wildcard(task.wildcard != 0) {}
  WFACLI_DEVICE std::int32_t count_equal(std::int32_t q, std::int32_t t, std::int32_t max_run) const {
    std::int32_t run = 0;
    while (run < min(kWindow, max_run) && codes_match(query.code(q + run), target.code(t + run), wildcard)) ++run;
    return run;
  }
  WFACLI_DEVICE std::int32_t count_equal_at(std::int32_t q, std::int32_t t, std::int32_t max_run) const {
    return count_equal(query_length - 1 - q, target_length - 1 - t, max_run);
  }
};

// Extends along diagonals. `Group`: the threads of a pair (Lanes).
template <class Pair, class Group>
struct Matching {
  static constexpr int kOwnWindows = 2;  // windows that a thread compares alone before others help
  Pair pair;

  WFACLI_DEVICE Matching(const AlignTask& task, std::int32_t row) : pair(task, row) {}
  WFACLI_DEVICE std::int32_t query_length() const { return pair.query_length; }
  WFACLI_DEVICE std::int32_t target_length() const { return pair.target_length; }

  // Return the run from (q, t), equal for all threads; each compares different windows.
  WFACLI_DEVICE std::int32_t extend_together(std::int32_t q, std::int32_t t) const {
    return extend_together(q, t, min(query_length() - q, target_length() - t));
  }
  // The same where most runs are short: each thread first compares the first window itself.
  WFACLI_DEVICE std::int32_t extend_mostly_short(std::int32_t q, std::int32_t t) const {
    const std::int32_t max_run = min(query_length() - q, target_length() - t), run = pair.count_equal(q, t, max_run);
    return run < Pair::kWindow || run == max_run ? run : run + extend_together(q + run, t + run, max_run - run);
  }
  // Each thread's own runs from one or two places (see Pair::count_equal_at), of up to `max_run` bases, the length
  // available, or 0. The loads for both places overlap.
  struct Place {
    std::int32_t query, target, max_run, run;
  };
  WFACLI_DEVICE void extend_one(Place& at) const {
    at.run = pair.count_equal_at(at.query, at.target, at.max_run);
    const bool more = at.run == Pair::kWindow && at.run < at.max_run;
    if (Group::ballot(more)) extend_further(at, more);
  }
  WFACLI_DEVICE void extend_two(Place& a, Place& b) const {
    a.run = pair.count_equal_at(a.query, a.target, a.max_run);
    b.run = pair.count_equal_at(b.query, b.target, b.max_run);
    // Few runs are longer than a window.
    const bool more_a = a.run == Pair::kWindow && a.run < a.max_run,
               more_b = b.run == Pair::kWindow && b.run < b.max_run;
    if (!Group::ballot(more_a || more_b)) return;
    extend_further(a, more_a);
    extend_further(b, more_b);
  }

  // Return each thread's own run from (q, t); 0 if not `wanted`. Short runs, the majority, are found by each thread
  // alone; long ones one after the other by all threads together, because the others would wait anyway.
  WFACLI_DEVICE std::int32_t extend_each(std::int32_t q, std::int32_t t, bool wanted) const {
    const std::int32_t max_run = wanted ? min(query_length() - q, target_length() - t) : 0;
    std::int32_t run = 0;
    bool going = max_run > 0;
    for (int window = 0; window < kOwnWindows && going; ++window) {
      const std::int32_t equal = pair.count_equal(q + run, t + run, max_run - run);
      run += equal;
      going = equal == Pair::kWindow && run < max_run;
    }
    for (std::uint32_t longer = Group::ballot(going); longer; longer &= longer - 1) {
      const int lane = __ffs(static_cast<int>(longer)) - 1;
      const std::int32_t rest = extend_together(Group::from_lane(q + run, lane), Group::from_lane(t + run, lane),
                                                Group::from_lane(max_run - run, lane));
      if (Group::lane() == lane) run += rest;
    }
    return run;
  }

 private:
  WFACLI_DEVICE void extend_further(Place& at, bool more) const {
    at.run += extend_each(query_length() - 1 - at.query + at.run, target_length() - 1 - at.target + at.run, more);
  }
  WFACLI_DEVICE std::int32_t extend_together(std::int32_t q, std::int32_t t, std::int32_t max_run) const {
    const std::int32_t own = Group::lane() * Pair::kWindow;
    for (std::int32_t done = 0; done < max_run; done += Group::kWarp * Pair::kWindow) {
      const std::int32_t at = done + own;
      const std::int32_t equal = at < max_run ? pair.count_equal(q + at, t + at, max_run - at) : 0;
      if (const std::uint32_t ended = Group::ballot(equal < Pair::kWindow)) {
        const int lane = __ffs(static_cast<int>(ended)) - 1;
        return done + lane * Pair::kWindow + Group::from_lane(equal, lane);
      }
    }
    return max_run;
  }
};

}  // namespace wfacli

// A path's operations, from its steps.
#pragma once

#include "common/cigar.cuh"
#include "wfa/wfa_match.cuh"
#include "wfa/wfa_trace.cuh"

namespace wfacli {

// Replays the steps of one pair, by the threads of its group or of the first part of a warp.
template <int Pieces, class Pair, class Group>
class Replay {
 public:
  WFACLI_DEVICE Replay(const Penalties<Pieces>& p, const Matching<Pair, Group>& match) : p_(p), match_(match) {}

  // Follow the steps from the ends of the sequences and insert the matches. Threads of one part of a warp call it
  // together; the group's first thread writes up to `capacity` operations. Return the number of operations.
  WFACLI_DEVICE std::int32_t operations(const std::uint32_t* words, std::int32_t count, std::uint32_t* ops,
                                        std::int32_t capacity) const {
    RunWriter runs(ops, Group::rank() == 0 ? capacity : 0);
    std::int32_t run = match_.extend_together(0, 0), query = run, target = run;
    bool in_gap = false;
    runs.add_short(kEqual, run);
    std::uint32_t ahead = count > 0 ? words[0] : 0;
    for (std::int32_t w = 0; w < count; ++w) {
      const std::uint32_t word = ahead;
      ahead = words[min(w + 1, count - 1)];
      for (int shift = (31 - __clz(static_cast<int>(word))) & ~1; shift >= 0; shift -= 2) {
        const std::uint32_t step = word >> shift & 3;
        const bool gap = step != kStepMismatch, one = gap || !in_gap;
        if (one) runs.add_short(!gap ? kDifferent : step == kStepInsertion ? kInsertion : kDeletion, 1);
        query += one && step != kStepDeletion;
        target += one && step != kStepInsertion;
        in_gap = Pieces > 0 && gap;
        if (in_gap) continue;
        // Noisy pairs have few long runs; other pairs have few short ones.
        run = run < Pair::kWindow ? match_.extend_mostly_short(query, target) : match_.extend_together(query, target);
        runs.add_short(kEqual, run);
        query += run;
        target += run;
      }
    }
    return runs.finish();
  }
  // The same by all threads of the group, which get the result, and in forward order. `words` words of steps end at
  // `end`; only the first thread's `words` matters. `shared` is in shared memory.
  WFACLI_DEVICE std::int32_t all_operations(const std::uint32_t* end, std::int32_t words, std::uint32_t* ops,
                                            std::int32_t capacity, std::int32_t* shared) const {
    if (Group::rank() < Group::kWarp) {  // more warps would not help
      Group::sync_warp();
      words = Group::from_lane(words, 0);
      const std::int32_t found = operations(end - words, words, ops, capacity);
      if (Group::rank() == 0) *shared = found;
    }
    Group::sync();
    const std::int32_t count = *shared;
    if (count > capacity) return count;
    for (std::int32_t i = Group::rank(); i < count / 2; i += Group::kThreads) {
      const std::uint32_t early = ops[i];
      ops[i] = ops[count - 1 - i];
      ops[count - 1 - i] = early;
    }
    return count;
  }
  // Return the cost of operations. A band's rows may open a gap next to another one, where a single gap is cheaper.
  // All threads call it and get the result; `sum` is in shared memory.
  WFACLI_DEVICE std::int32_t priced(const std::uint32_t* ops, std::int32_t count, std::int32_t* sum) const {
    std::int32_t cost = 0;
    for (std::int32_t i = Group::rank(); i < count; i += Group::kThreads) {
      const std::uint32_t op = ops[i] & 15;
      const std::int32_t length = static_cast<std::int32_t>(ops[i] >> 4);
      if (op == kDifferent) cost += length * p_.costs.mismatch;
      if (op == kInsertion || op == kDeletion) cost += p_.gap_cost(length);
    }
    if (Group::rank() == 0) *sum = 0;
    Group::sync();
    atomicAdd(sum, cost);
    Group::sync();
    return *sum;
  }

 private:
  const Penalties<Pieces>& p_;
  const Matching<Pair, Group>& match_;
};

}  // namespace wfacli

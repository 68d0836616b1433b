// Short pairs in groups that share a vector: grouping, choice of the band width, and retries in wider bands.
#pragma once

#include "kernels/difference/difference_group.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int P>
class Reads {
  using Read = DifferenceMemory::Read;
  static constexpr int kLanes = Group<P>::kLanes;
  static constexpr std::int32_t kMaxRoom = 96, kMaxSkew = 48;  // slots and their origins are stored in bytes
  static constexpr std::int32_t kFirstRoom = 4;
  static constexpr std::int32_t kAhead = 8;  // prefetch distance in pairs
  static constexpr std::int32_t kSetUp = 6;  // work that does not depend on the number of slots, in slots

 public:
  Reads(const ReadsTask& task, DifferenceMemory& memory, ReadsAnswer* answers)
      : task_(task), m_(memory), answers_(answers), group_(task, memory) {}

  void run() {
    m_.reads.clear();
    m_.retries.clear();
    m_.cigars.clear();
    for (std::int32_t p = 0; p < task_.count; ++p) {
      if (p + kAhead < task_.count) fetch(p + kAhead);
      admit(p);
    }
    sort(m_.reads);
    // A sample from the whole batch, retried until proved, shows which band width is best for the rest.
    const std::int32_t count = static_cast<std::int32_t>(m_.reads.size());
    if (count > 4 * kLanes) {
      for (int l = 0; l < kLanes; ++l)
        std::swap(m_.reads[l], m_.reads[l + static_cast<std::int64_t>(l) * (count - kLanes) / kLanes]);
      align(m_.reads, 0, kLanes);
      retry();
      const std::int32_t best = best_room();
      for (std::int32_t x = kLanes; x < count; ++x) m_.reads[x].room = roomy(m_.reads[x], best);
      align(m_.reads, kLanes, count);
    } else {
      align(m_.reads, 0, count);
    }
    retry();
  }

 private:
  // Prefetches a pair's sequences while others are aligned.
  WFACLI_INLINE void fetch(std::int32_t p) const {
    const PairView& pair = task_.pairs[p];
    const std::int32_t max_length = larger(pair.query_len, pair.target_len);
    for (std::int32_t at = 0; at < max_length && at <= kMaxReadsLength; at += 64) {
      __builtin_prefetch(pair.query + smaller(at, pair.query_len));
      __builtin_prefetch(pair.target + smaller(at, pair.target_len));
    }
  }

  // Limits the room of a read: more than the length of its shorter sequence is never needed.
  static std::int32_t roomy(const Read& r, std::int32_t room) {
    return smaller(room, smaller(r.query_len, r.target_len));
  }

  // Answers pairs that need no band, and queues the others.
  void admit(std::int32_t p) {
    const PairView& pair = task_.pairs[p];
    const std::int32_t n = pair.query_len, m = pair.target_len;
    answers_[p] = ReadsAnswer();
    answers_[p].cigar = static_cast<std::int64_t>(m_.cigars.size());
    if (n > kMaxReadsLength || m > kMaxReadsLength) {
      answers_[p].status = Status::LengthLimit;
    } else if (n == 0 || m == 0) {
      RunWriter runs(m_.cigars, 1);
      if (n + m > 0) runs.add(n ? kInsertion : kDeletion, n + m);
      done(p, gap_cost(task_.costs, n + m), runs);
    } else if (larger(n, m) - smaller(n, m) > kMaxSkew) {
      answers_[p].status = Status::ScoreLimit;
    } else if (n != m || !ungapped(p)) {
      Read read{p, n, m, 0};
      read.room = roomy(read, kFirstRoom);
      m_.reads.push(read);
    }
  }

  // Sequences of equal length whose mismatches cost less than any two gaps have exactly one optimal alignment. Answers
  // such a pair and returns true.
  bool ungapped(std::int32_t p) {
    const PairView& pair = task_.pairs[p];
    const std::int32_t n = pair.query_len;
    const std::int64_t gaps_cost = 2 * gap_cost(task_.costs, 1);
    RunWriter runs(m_.cigars, 2 * static_cast<std::size_t>(gaps_cost) + 1);
    std::int64_t cost = 0;
    std::int32_t next = 0;
    for (std::int32_t first = 0; first < n; first += 64) {
      std::uint64_t bits = differing(pair.query + first, pair.target + first, task_.masks[p]);
      if (n - first < 64) bits &= (std::uint64_t{1} << (n - first)) - 1;
      for (; bits; bits &= bits - 1) {
        cost += task_.costs.mismatch;
        if (cost >= gaps_cost) {
          m_.cigars.resize(static_cast<std::size_t>(answers_[p].cigar));
          return false;
        }
        const std::int32_t at = first + __builtin_ctzll(bits);
        runs.matches(at - next);
        runs.add(kDifferent, 1);
        next = at + 1;
      }
    }
    runs.matches(n - next);
    done(p, cost, runs);
    return true;
  }

  void done(std::int32_t p, std::int64_t cost, RunWriter& runs) {
    ReadsAnswer& a = answers_[p];
    runs.finish();
    a.score = static_cast<std::int32_t>(cost);
    if (cost > task_.max_score) a.status = Status::ScoreLimit;
    if (!task_.path || a.status != Status::Ok) m_.cigars.resize(static_cast<std::size_t>(a.cigar));
    a.runs = static_cast<std::int64_t>(m_.cigars.size()) - a.cigar;
  }

  void sort(Buffer<Read>& reads) {
    sort_reads(reads, m_.sorted, [](const Read& r) __attribute__((always_inline)) { return r.key(); });
  }

  // Aligns reads again whose first band proved nothing.
  void retry() {
    while (!m_.retries.empty()) {
      Buffer<Read> reads = std::move(m_.retries);
      m_.retries.clear();
      sort(reads);
      align(reads, 0, static_cast<std::int32_t>(reads.size()));
    }
  }

  void align(const Buffer<Read>& reads, std::int32_t from, std::int32_t to) {
    for (; from < to; from += kLanes) {
      const std::int32_t count = smaller(kLanes, to - from);
      const bool stop = task_.cancelled && task_.cancelled->is_set();
      for (std::int32_t x = from + kLanes; x < to && x < from + 2 * kLanes; ++x)
        fetch(reads[static_cast<std::size_t>(x)].pair);
      const bool aligned = !stop && group_.run(reads.data() + from, count);
      for (int l = 0; l < count; ++l) {
        if (aligned)
          answer(reads[static_cast<std::size_t>(from + l)], l);
        else
          answers_[reads[static_cast<std::size_t>(from + l)].pair].status =
              stop ? Status::Dropped : Status::MemoryLimit;
      }
    }
  }

  void answer(Read read, int lane) {
    const std::int32_t cost = group_.cost(lane), room = group_.room(lane);
    if (!proved(read, cost, room)) {
      // If a narrow band lost the path, the cost may be far too high, so the room at most about doubles.
      const std::int32_t previous_room = read.room, max_room = smaller(2 * previous_room + kFirstRoom, kMaxRoom);
      while (read.room < max_room && !proved(read, cost, read.room)) ++read.room;
      if (read.room > previous_room)
        m_.retries.push(read);
      else
        answers_[read.pair].status = Status::ScoreLimit;
      return;
    }
    answers_[read.pair].cigar = static_cast<std::int64_t>(m_.cigars.size());
    RunWriter runs(m_.cigars, task_.path ? 2 * static_cast<std::size_t>(cost) + 2 : 1);
    if (task_.path) group_.trace_path(lane, runs);
    done(read.pair, cost, runs);
  }

  // Returns true if every path that leaves `room` diagonals on either side costs more than `cost`.
  bool proved(const Read& r, std::int64_t cost, std::int32_t room) const {
    const std::int32_t n = r.query_len, m = r.target_len;
    return room >= smaller(n, m) ||
           gap_cost(task_.costs, room + 1) + gap_cost(task_.costs, room + 1 + larger(n, m) - smaller(n, m)) > cost;
  }

  // Returns the room with the shortest expected time, if all reads are like the sample.
  std::int32_t best_room() const {
    std::int32_t need[kMaxRoom + 1] = {}, all = 0, slots = 0;
    for (int l = 0; l < kLanes; ++l) {
      const Read& r = m_.reads[static_cast<std::size_t>(l)];
      const ReadsAnswer& a = answers_[r.pair];
      std::int32_t room = 0;
      while (room < kMaxRoom && !proved(r, a.score, room)) ++room;
      ++need[room];
      ++all;
      slots += 2 * room + kSetUp;
    }
    std::int32_t best = 0, min_time = INT32_MAX;
    for (std::int32_t room = 0; room < kMaxRoom; ++room) {
      all -= need[room];
      slots -= need[room] * (2 * room + kSetUp);
      const std::int32_t time = kLanes * (2 * room + kSetUp) + slots;
      if (time < min_time) {
        min_time = time;
        best = room;
      }
    }
    return best;
  }

  const ReadsTask& task_;
  DifferenceMemory& m_;
  ReadsAnswer* answers_;
  Group<P> group_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Several short queries per vector: each lane holds a column of its own pair in W words, and all lanes compute one
// column per step. Included by bits_isa.cpp only; everything here exists once per instruction set.
//
// Source: G. Myers, J. ACM 1999 (bits_block.hpp). Rows are bases of the reversed query, columns those of the reversed
// target. H(i, j) is the cost of aligning the last i bases of the query with the last j bases of the target. Target
// bases that may stay unaligned at the end are the first columns, where row 0 is free. So the last row has the costs
// of all paths by where they begin. Of equal columns the last one is taken, which leaves the fewest bases unaligned
// before the path.
//
// A path that begins in a known column with a known cost spans at most as many columns as the query has bases and the
// path has edits. For these columns all deltas are stored, two bits per cell, and the traceback from the last row
// yields the path in forward order.
#pragma once

#include "kernels/bits/bits.hpp"
#include "kernels/bits/bits_block.hpp"
#include "kernels/bits/bits_planes.hpp"
#include "kernels/bits/bits_runs.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int W>
class InsideGroup {
 public:
  InsideGroup(const InsideTask& task, BitsMemory& memory) : task_(task), memory_(memory) {}

  // Aligns pairs first to first + count - 1 of the task; count <= kLanes. Returns false if the trace exceeds
  // table_bytes.
  bool run(std::int32_t first, std::int32_t count, InsideAnswer* answers, Cigar& cigar) {
    admit(first, count);
    const std::size_t trace = task_.path ? kStride * static_cast<std::size_t>(columns_) : 0;
    if (trace * sizeof(Word) > task_.table_bytes) return false;
    lay_out(first);
    trace_ = aligned_words(memory_.trace, trace);
    if (ranged()) marks_ = aligned_words(memory_.state, kLanes * static_cast<std::size_t>(columns_ / kMark + 2));
    if (task_.path)
      sweep<true>();
    else
      sweep<false>();
    for (int l = 0; l < count; ++l) {
      answers[l] = InsideAnswer();
      // found_ is cost << 32 minus the column.
      const std::int64_t column = -static_cast<std::int32_t>(found_[l]);
      answers[l].edits = static_cast<std::int32_t>((found_[l] + column) >> 32);
      answers[l].skip_begin = m_[l] - static_cast<std::int32_t>(column);
      if (!task_.path) look_for_others(l, answers[l]);
      if (task_.path) {
        cigar.begin();
        RunWriter runs(cigar.runs(), 2 * static_cast<std::size_t>(answers[l].edits) + 2);
        answers[l].skip_end = trace_path(l, task_.pairs[first + l].pair, runs);
      }
      answers[l].cigar_end = static_cast<std::int64_t>(cigar.runs().size());
    }
    return true;
  }

 private:
  static constexpr std::size_t kStride = std::size_t{2} * W * kLanes;  // words per column of the trace
  static constexpr Word kEdit = Word{1} << 32;
  static constexpr std::int32_t kMark = 16;  // column interval at which the last row's cost is stored for a range

  struct State {
    Deltas vertical[W];
    V now, best;  // last row's cost << 32 minus the column; minimum so far
  };

  void admit(std::int32_t first, std::int32_t count) {
    columns_ = 0;
    for (int l = 0; l < kLanes; ++l) {
      n_[l] = m_[l] = first_[l] = free_[l] = 0;
      if (l >= count) continue;
      const InsidePair& p = task_.pairs[first + l];
      n_[l] = p.pair.query_len;
      m_[l] = p.pair.target_len;
      first_[l] = m_[l] - p.free_begin;
      free_[l] = p.free_end;
      if (m_[l] > columns_) columns_ = m_[l];
    }
  }

  // Writes the bit planes in the order in which the columns read them: word w of both is at [w][plane][lane]. The
  // first row is in the lowest bit, the first column in the highest.
  void lay_out(std::int32_t first) {
    const std::int32_t target_words = columns_ / 64 + 1;
    q_ = aligned_words(memory_.planes, 2 * kLanes * static_cast<std::size_t>(W + target_words));
    t_ = q_ + 2 * W * kLanes;
    for (int l = 0; l < kLanes; ++l) {
      const std::uint8_t* query = n_[l] ? task_.pairs[first + l].pair.query : nullptr;
      const std::uint8_t* target = n_[l] ? task_.pairs[first + l].pair.target : nullptr;
      for (std::int32_t w = 0; w < W; ++w) {
        const Planes p = 64 * w < n_[l] ? reversed_word(query, n_[l], w) : Planes{0, 0};
        q_[2 * w * kLanes + l] = mirrored(p.low);
        q_[(2 * w + 1) * kLanes + l] = mirrored(p.high);
        last_[l] = n_[l] ? Word{1} << ((n_[l] - 1) & 63) : 0;
      }
      Word* out = t_ + l;
      for (std::int32_t w = 0; w < target_words; ++w, out += 2 * kLanes) {
        const Planes p = 64 * w < m_[l] ? reversed_word(target, m_[l], w) : Planes{0, 0};
        out[0] = p.low;
        out[kLanes] = p.high;
      }
    }
  }

  // Computes all columns. A lane's result is read when its last column is done.
  template <bool Path>
  void sweep() {
    State state;
    for (int w = 0; w < W; ++w) state.vertical[w] = {ones(), zeros()};
    for (int l = 0; l < kLanes; ++l) {
      state.now[l] = static_cast<Word>(n_[l]) << 32;
      state.best[l] = first_[l] == 0 ? state.now[l] : Word{INT64_MAX};
    }
    const bool marks = ranged();
    for (std::int32_t j = 0; j < columns_;) {
      std::int32_t stop = (j | (marks ? kMark - 1 : 63)) + 1;
      if (marks && j % kMark == 0) store(marks_ + static_cast<std::size_t>(j / kMark) * kLanes, state.now);
      V rising = zeros();  // 1 in lanes whose row 0 costs one more per column from here on
      for (int l = 0; l < kLanes; ++l) {
        for (const std::int32_t event : {first_[l], free_[l], m_[l]})
          if (event > j && event < stop) stop = event;
        rising[l] = free_[l] <= j;
      }
      columns<Path>(state, j, stop, rising);
      j = stop;
      for (int l = 0; l < kLanes; ++l) {
        if (first_[l] == j) state.best[l] = state.now[l];
        if (m_[l] == j) found_[l] = static_cast<std::int64_t>(state.best[l]);
      }
    }
    if (marks) {  // one more mark, so that each lane's last column lies between two marks
      const std::int32_t rest = kMark - 1 - (columns_ - 1) % kMark;
      columns<Path>(state, columns_, columns_ + rest, zeros() + 1);
      store(marks_ + static_cast<std::size_t>((columns_ + rest) / kMark) * kLanes, state.now);
    }
  }

  // Computes columns from + 1 to `to`, which lie in one word of the target.
  template <bool Path>
  void columns(State& state, std::int32_t from, std::int32_t to, V rising) {
    const Word* t = t_ + static_cast<std::size_t>(from / 64) * 2 * kLanes;
    V t_low = load(t) << (from & 63), t_high = load(t + kLanes) << (from & 63);
    const V last = load(last_), edit = zeros() + kEdit;
    const Word* q = q_;
    Deltas vertical[W];
    for (int w = 0; w < W; ++w) vertical[w] = state.vertical[w];
    V now = state.now, best = state.best;
    Word* trace = trace_ + static_cast<std::size_t>(from) * (Path ? kStride : 0);
    for (std::int32_t j = from; j < to; ++j) {
      const V low = top_bit_everywhere(t_low), high = top_bit_everywhere(t_high);
      t_low += t_low;
      t_high += t_high;
      Deltas made, above = {rising, zeros()};
      for (int w = 0; w < W; ++w) {
        const V differ = or_differ(load(q + 2 * w * kLanes) ^ low, load(q + (2 * w + 1) * kLanes), high);
        made = next_column(vertical[w], differ, above);
        above = {made.plus >> 63, made.minus >> 63};
        if constexpr (Path) {
          store(trace + 2 * w * kLanes, vertical[w].plus);
          store(trace + (2 * w + 1) * kLanes, made.plus);
        }
      }
      if constexpr (Path) trace += kStride;
      now = add_where_joint(now - 1, made.plus, last, edit);
      now = add_where_joint(now, made.minus, last, -edit);
      best = lesser(best, now);
    }
    for (int w = 0; w < W; ++w) state.vertical[w] = vertical[w];
    state.now = now;
    state.best = best;
  }

  bool ranged() const { return !task_.path && task_.range.max_cost > task_.range.min_cost; }

  // Finds where paths within the range may begin, from the costs stored at every kMark-th column.
  void look_for_others(int l, InsideAnswer& answer) const {
    answer.min_skip_begin = answer.max_skip_begin = answer.skip_begin;
    const std::int64_t bound = task_.range.max_edits(answer.edits);
    if (!ranged() || bound == 0) return;  // the same number of edits may cost less elsewhere, but 0 edits cannot
    const auto cost = [&](std::int32_t mark) {
      const Word mark_word = marks_[static_cast<std::size_t>(mark) * kLanes + l];
      return static_cast<std::int64_t>(mark_word + static_cast<Word>(mark) * kMark) >> 32;
    };
    // Adjacent costs differ by at most one.
    const auto meets = [&](std::int32_t mark) { return cost(mark) + cost(mark + 1) - kMark <= 2 * bound; };
    std::int32_t first = first_[l] / kMark, last = (m_[l] - 1) / kMark;
    const std::int32_t found = (m_[l] - answer.skip_begin) / kMark;
    while (first < found && !meets(first)) ++first;
    while (last > found && !meets(last)) --last;
    const std::int32_t begin = first * kMark > first_[l] ? first * kMark : first_[l];
    const std::int32_t min_skip = m_[l] - (last + 1) * kMark, max_skip = m_[l] - begin;
    if (min_skip < answer.min_skip_begin) answer.min_skip_begin = min_skip > 0 ? min_skip : 0;
    if (max_skip > answer.max_skip_begin) answer.max_skip_begin = max_skip;
  }

  // Writes a lane's path. Returns the number of target bases that stay unaligned after it.
  std::int32_t trace_path(int l, const PairView& pair, RunWriter& runs) const {
    const std::uint8_t *q = pair.query + n_[l], *t = pair.target + m_[l];
    std::int64_t j = m_[l];
    trace_bits(n_[l], j, runs, [&](std::int64_t i, std::int64_t column) -> BitsSource {
      const Word* at = trace_ + static_cast<std::size_t>(column - 1) * kStride + ((i - 1) >> 6) * 2 * kLanes + l;
      const int bit = (i - 1) & 63;
      return {(at[0] >> bit & 1) != 0, (at[kLanes] >> bit & 1) != 0, ((q[-i] ^ t[-column]) & 0xdf) == 0};
    });
    const std::int32_t rest = static_cast<std::int32_t>(j), left = rest < free_[l] ? rest : free_[l];
    if (rest > left) runs.add(kDeletion, rest - left);
    runs.finish();
    return left;
  }

  const InsideTask& task_;
  BitsMemory& memory_;
  std::int32_t n_[kLanes], m_[kLanes];
  std::int32_t first_[kLanes], free_[kLanes];  // first column where a path may begin; columns where row 0 is free
  std::int32_t columns_;
  std::int64_t found_[kLanes];
  alignas(64) Word last_[kLanes];  // bit of the last row in the last word
  Word *q_ = nullptr, *t_ = nullptr, *trace_ = nullptr, *marks_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

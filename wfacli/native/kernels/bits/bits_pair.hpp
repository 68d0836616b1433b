// Aligns one pair with `stripes`: widens the band until it proves the distance, then traces the path. Included by
// bits_isa.cpp only; everything here exists once per instruction set.
//
// Memory: if the trace (two bits per cell) fits table_bytes, all of it is stored. Otherwise the lanes' registers are
// checkpointed at regular steps, beside the deltas between groups of blocks, and the traceback recomputes the steps
// between two checkpoints.
#pragma once

#include "kernels/bits/bits_runs.hpp"
#include "kernels/bits/bits_stripes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int P>
class PairBand {
 public:
  enum class End { Proved, Unproved, GivenUp, Dropped, Memory };
  using State = typename Stripes<P>::State;

  PairBand(const KernelTask& task, const DenseCodes& codes, BitsMemory& memory)
      : task_(task), memory_(memory), checkpoint_steps_(memory.checkpoint_steps) {
    pack(codes);
  }

  KernelAnswer run(Cigar& cigar) {
    KernelAnswer answer;
    const std::int64_t n = task_.query_len, m = task_.target_len, longer = n > m ? n : m,
                       min_cost = n > m ? n - m : m - n;
    std::int64_t cost = task_.estimate >= 0 ? task_.estimate + task_.estimate / 8 : min_cost + longer / 32;
    for (int attempt = 0;; ++attempt) {
      if (cost > task_.max_score) cost = task_.max_score;
      if (cost > longer) cost = longer;  // the distance never exceeds the longer length
      const StripeBand band(task_.query_len, task_.target_len, cost);
      const End end = sweep(band, attempt);
      if (end == End::Dropped || end == End::Memory) {
        answer.status = end == End::Dropped ? Status::Dropped : Status::MemoryLimit;
        return answer;
      }
      if (end == End::Proved) {
        answer.score = static_cast<std::int32_t>(found_);
        if (found_ > task_.max_score) answer.status = Status::ScoreLimit;
        else if (task_.path)
          trace_path(band, cigar);
        if (task_.cancelled && task_.cancelled->is_set()) answer.status = Status::Dropped;
        return answer;
      }
      if (band.threshold >= task_.max_score) {
        answer.status = Status::ScoreLimit;
        return answer;
      }
      cost = next_cost(band, end, attempt);
    }
  }

 private:
  static constexpr std::int64_t kStepWords = 2 * kStripeLanes, kStateWords = sizeof(State) / sizeof(Word);
  // Columns of a band above which the traceback recomputes the trace. From about 4000 columns on, recomputing costs no
  // time and saves memory.
  static constexpr std::int64_t kWide = 8192;

  // Returns the next cost to try. A cost that was found is an upper bound; a guess needs a margin, and may be far off.
  std::int64_t next_cost(const StripeBand& band, End end, int attempt) const {
    const std::int64_t min_next = band.threshold + band.threshold / 8 + 64;
    const std::int64_t max_next = (attempt ? 2 : 4) * (band.threshold + 64);
    if (end == End::Unproved) return found_ < max_next ? found_ : max_next;
    const std::int64_t guess = found_ + found_ / (attempt ? 16 : 8);
    return guess < min_next ? min_next : guess > max_next ? max_next : guess;
  }

  // Writes the bit planes. Zeroed margins beside the target make columns outside it readable; `place` adds the offset.
  void pack(const DenseCodes& codes) {
    const std::size_t blocks = static_cast<std::size_t>(task_.query_len) / 64 + 1 + kStripeLanes;
    const std::size_t words = static_cast<std::size_t>(task_.target_len) / 64 + 1;
    const std::size_t margin =
        static_cast<std::size_t>(task_.query_len) / 64 + words + 16 + 2 * StripeBand::kMinColumns / 64;
    Word* q = aligned_words(memory_.planes, (blocks + words + 2 * margin) * P);
    std::memset(q, 0, (blocks + words + 2 * margin) * P * sizeof(Word));
    write_planes<false>(task_.query, task_.query_len, codes.query, P, q);
    write_planes<true>(task_.target, task_.target_len, codes.target, P, q + (blocks + margin) * P);
    planes_ = {q, q + blocks * P, static_cast<std::int64_t>(64 * margin)};
  }

  // Computes the band. Sets found_ to the cost within the band, or, if the band is given up, to an estimate of the
  // cost.
  End sweep(const StripeBand& band, int attempt) {
    const std::int64_t positions = band.steps + band.lag + 256;
    const std::size_t string_words = static_cast<std::size_t>(positions / 64 + 4) * 2;
    const std::int64_t room = static_cast<std::int64_t>(task_.table_bytes / (kStepWords * 8)) - 64;
    whole_ = task_.path && band.steps <= room && band.columns < kWide;
    // A path stays within a group for a few hundred steps, so short pieces leave most of a wide band uncomputed.
    const std::int64_t widest = room > 128 ? room : 128;
    spacing_ = band.columns / 16 < 1024 ? 1024 : band.columns / 16;
    if (spacing_ > widest) spacing_ = widest;
    const auto checkpoint_words = [&] { return static_cast<std::size_t>((band.steps / spacing_ + 1) * kStateWords); };
    if ((string_words + checkpoint_words()) * 8 > task_.checkpoint_bytes) spacing_ = widest;
    const std::size_t saved_words = task_.path && !whole_ ? checkpoint_words() : 0;
    if (saved_words && (string_words + saved_words) * 8 > task_.checkpoint_bytes) return End::Memory;
    states_ = aligned_words(memory_.state, saved_words + string_words);
    row_ = {states_ + saved_words};
    std::memset(row_.words, 0, string_words * sizeof(Word));
    if (task_.path)
      trace_ = aligned_words(memory_.trace,
                             static_cast<std::size_t>((whole_ ? band.steps : spacing_) + 64) * kStepWords);
    trace_begin_ = 0;
    Stripes<P> stripes(band, planes_, row_);
    return whole_ ? forward<true>(band, stripes, attempt) : forward<false>(band, stripes, attempt);
  }

  template <bool Path>
  End forward(const StripeBand& band, Stripes<P>& stripes, int attempt) {
    State state;
    stripes.begin(state);
    std::int64_t step = 0, group = 0, column = 0, cost = 0;  // cost of cell (last row above the group, column)
    checkpoint_steps_.clear();
    while (step < band.steps) {
      if (task_.cancelled && task_.cancelled->is_set()) return End::Dropped;
      if (task_.path && !Path && step >= static_cast<std::int64_t>(checkpoint_steps_.size()) * spacing_)
        save_checkpoint(state, step);
      step = stripes.template advance<Path>(state, step, Path ? trace_ + step * kStepWords : nullptr);
      if (step != (group + 1) * band.columns || group == band.last_group) continue;
      if (group > 0 && hopeless(band, group, column, cost, attempt)) return End::GivenUp;
      const std::int64_t last = column_of(band, group, step - 1);
      cost = stripes.below(state, cost + along(band, group, column, last));
      column = last - (kStripeLanes - 1);
      ++group;
    }
    const std::int64_t last = band.m + band.last_block % kStripeLanes;
    found_ = stripes.corner(state, cost + along(band, group, column, last));
    return found_ <= band.threshold ? End::Proved : End::Unproved;
  }

  // Returns the column that lane 0 computes in step `position`; the row above a group is indexed by steps.
  static std::int64_t column_of(const StripeBand& band, std::int64_t group, std::int64_t position) {
    return band.column_at(group * kStripeLanes, position);
  }
  // Returns the sum of deltas of the row above a group between two columns.
  std::int64_t along(const StripeBand& band, std::int64_t group, std::int64_t from, std::int64_t to) const {
    const std::int64_t block = group * kStripeLanes;
    return row_.sum(band.time(block, from) + 1, band.time(block, to) + 1);
  }

  // Returns true if the band cannot prove its result, or is unlikely to (an estimate). Samples every 64th column of
  // the row above `group`; `cost` is the known cost of that row in `column`.
  bool hopeless(const StripeBand& band, std::int64_t group, std::int64_t column, std::int64_t cost, int attempt) {
    const std::int64_t row = group * kStripeLanes * 64;
    std::int64_t best = INT64_MAX, lowest = INT64_MAX, c = column_of(band, group, group * band.columns);
    const std::int64_t end = c + band.columns, rest = band.n - row;
    for (std::int64_t here = cost + along(band, group, column, c); c < end; c += 64) {
      const std::int64_t ahead = rest - (band.m - c), lower_bound = here + (ahead < 0 ? -ahead : ahead);
      if (lower_bound < best) best = lower_bound;
      if (here < lowest) lowest = here;
      if (c + 64 < end) here += along(band, group, c, c + 64);
    }
    lowest = lowest > 32 ? lowest - 32 : 0;  // columns between two samples may cost less
    found_ = lowest + lowest * rest / row;
    if (found_ < best) found_ = best;
    if (best - 128 > band.threshold) return true;  // a sample is at most 64 columns away, at 2 edits each
    if (band.threshold >= task_.max_score || band.threshold >= band.n + std::int64_t{band.m}) return false;
    // Likely but not certain: the first guess is judged early, later ones after a third of the rows.
    const std::int64_t bound = attempt ? band.threshold + band.threshold / 16 : band.threshold;
    return found_ > bound && (attempt ? 3 : 8) * row >= band.n && rest > row;
  }

  void save_checkpoint(const State& state, std::int64_t step) {
    Word* at = states_ + checkpoint_steps_.size() * kStateWords;
    std::memcpy(at, &state, sizeof state);
    checkpoint_steps_.push(step);
  }

  // Recomputes the trace of `step`, starting from the last checkpoint at or before it.
  void recompute(const StripeBand& band, std::int64_t step) {
    std::size_t k = checkpoint_steps_.size() - 1;
    while (checkpoint_steps_[k] > step) --k;
    checkpoint_steps_.resize(k + 1);  // the traceback never needs later steps again
    const Word* at = states_ + k * kStateWords;
    State state;
    std::memcpy(&state, at, sizeof state);
    Stripes<P> stripes(band, planes_, row_);
    trace_begin_ = checkpoint_steps_[k];
    for (std::int64_t s = trace_begin_; s <= step;)
      s = stripes.template advance<true>(state, s, trace_ + (s - trace_begin_) * kStepWords);
  }

  void trace_path(const StripeBand& band, Cigar& cigar) {
    cigar.begin();
    RunWriter runs(cigar.runs(), 2 * static_cast<std::size_t>(found_) + 2);
    if (!whole_) trace_begin_ = band.steps;
    std::int64_t j = band.m;
    trace_bits(band.n, j, runs, [&](std::int64_t i, std::int64_t column) -> BitsSource {
      const std::int64_t block = (i - 1) >> 6, step = band.time(block, column);
      if (__builtin_expect(step < trace_begin_, 0)) recompute(band, step);
      const Word* at = trace_ + (step - trace_begin_) * kStepWords + block % kStripeLanes;
      const int bit = (i - 1) & 63;
      return {(at[0] >> bit & 1) != 0, (at[kStripeLanes] >> bit & 1) != 0,
              task_.query[i - 1] == task_.target[column - 1]};
    });
    if (j > 0) runs.add(kDeletion, static_cast<std::int32_t>(j));
    runs.finish();
  }

  const KernelTask& task_;
  BitsMemory& memory_;
  PairPlanes planes_{};
  DeltaString row_{};
  Word *trace_ = nullptr, *states_ = nullptr;
  Buffer<std::int64_t>& checkpoint_steps_;  // steps before which checkpoints were taken
  std::int64_t trace_begin_ = 0, spacing_ = 0, found_ = 0;
  bool whole_ = false;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Short pairs with free ends, one per lane: all lanes compute the same cell of their own full matrix in a step.
//
// Columns (symbols of the reversed target) are computed one at a time, with all rows (symbols of the reversed query).
// Lanes with shorter sequences continue beyond their matrix, and nothing reads those cells. A path may end in a lane's
// last row or last column; the costs of both are accumulated along the way.
#pragma once

#include "kernels/difference/difference_trace.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int P>
class FreeGroup {
  using T = Trace<P>;
  using S = typename T::S;
  using L = typename T::L;
  using Lane = typename T::Lane;
  using Vector = typename T::Vector;
  using Read = DifferenceMemory::Read;

 public:
  static constexpr int kLanes = L::kCount;
  static constexpr std::int32_t kMaxSpread = 255;  // maximum length difference; last_row_ has a byte per lane

  FreeGroup(const ReadsTask& task, DifferenceMemory& memory)
      : task_(task), memory_(memory), s_(task.costs, false, task.free.target_end, task.free.query_end), step_(s_) {}

  // Aligns `count` <= kLanes reads with non-empty sequences, whose query lengths differ by at most kMaxSpread.
  // Returns false if the trace exceeds table_bytes.
  bool run(const Read* reads, std::int32_t count) {
    rows_ = columns_ = 0;
    min_rows_ = INT32_MAX;
    for (int l = 0; l < kLanes; ++l) {
      const Read& r = reads[l < count ? l : 0];  // unused lanes repeat the first read
      n_[l] = r.query_len;
      m_[l] = r.target_len;
      rows_ = larger(rows_, n_[l]);
      min_rows_ = smaller(min_rows_, n_[l]);
      columns_ = larger(columns_, m_[l]);
    }
    const std::size_t bytes = static_cast<std::size_t>(rows_) * columns_ * kLanes;
    if (bytes > task_.table_bytes) return false;
    table_ = aligned_bytes(memory_.table, bytes);
    text_.fill(task_, {reads, count, rows_, columns_, nullptr}, memory_.text);
    lay_out_state();
    for (std::int32_t j = 1; j <= columns_; ++j) {
      const Vector last = column(j);
      end_in_last_row(j, last);
      end_in_last_column(j);
    }
    return true;
  }

  std::int32_t cost(int lane) const { return smaller(row_end_[lane].cost, column_end_[lane].cost); }

  // Writes the lane's CIGAR and its numbers of unaligned symbols.
  void trace_path(int lane, RunWriter& runs, ReadsAnswer& answer) const {
    std::int32_t i = n_[lane], j = m_[lane];
    if (column_end_[lane].cost < row_end_[lane].cost)  // of equal ends, the one that skips no query symbol
      i = column_end_[lane].before;
    else
      j = row_end_[lane].before;
    answer.query_skip = n_[lane] - i;
    answer.target_skip = m_[lane] - j;
    const auto cell = [&](std::int32_t row, std::int32_t col) __attribute__((always_inline)) {
      return table_[(static_cast<std::size_t>(col - 1) * rows_ + (row - 1)) * kLanes + lane];
    };
    const typename T::Edge edge = T::trace_path(i, j, cell, runs);
    answer.query_skip_end = smaller(edge.i, task_.free.query_end);
    answer.target_skip_end = smaller(edge.j, task_.free.target_end);
    if (edge.i > answer.query_skip_end) runs.add(kInsertion, edge.i - answer.query_skip_end);
    if (edge.j > answer.target_skip_end) runs.add(kDeletion, edge.j - answer.target_skip_end);
  }

 private:
  static constexpr std::int32_t kNone = INT32_MAX;

  // Cheapest cell so far where a path may end, and the number of symbols aligned there of the sequence that may end
  // early. Of equal cells the last one is kept, which skips the fewest symbols.
  struct Ending {
    std::int32_t cost, before;
    WFACLI_INLINE void see(std::int32_t at_cost, std::int32_t at) {
      before = at_cost <= cost ? at : before;
      cost = smaller(cost, at_cost);
    }
  };

  // Returns the cost of `length` symbols at the beginning of a sequence, of which `free` may stay unaligned.
  std::int32_t along(std::int32_t length, std::int32_t free) const {
    const std::int32_t out = smaller(length, free);
    return static_cast<std::int32_t>(gap_cost(task_.costs, length - out)) + out * task_.costs.skip;
  }
  bool may_end_in_row(int l, std::int32_t j) const { return m_[l] >= j && m_[l] - j <= task_.free.target_begin; }

  // Initializes column 0.
  void lay_out_state() {
    state_ = reinterpret_cast<Lane*>(aligned_bytes(memory_.rows, static_cast<std::size_t>(rows_) * kLanes * (2 + P)));
    for (std::int32_t i = 1; i <= rows_; ++i) {
      L::store(slot(kU, i), L::all(s_.left(i)));
      L::store(slot(kRun, i), L::all(T::kNoRun));
      for (int g = 0; g < P; ++g) L::store(slot(kB + g, i), step_.full[g]);
    }
    for (int l = 0; l < kLanes; ++l) {
      last_row_[l] = static_cast<std::uint8_t>(n_[l] - min_rows_);
      row_cost_[l] = along(n_[l], task_.free.query_end);
      row_end_[l] = column_end_[l] = {kNone, 0};
      if (may_end_in_row(l, 0)) row_end_[l].see(row_cost_[l] + m_[l] * task_.costs.skip, 0);
    }
  }

  enum { kU, kRun, kB };
  // Returns an array's lane values for row i, from 1 to rows_.
  WFACLI_INLINE Lane* slot(int array, std::int32_t i) const {
    return state_ + (static_cast<std::size_t>(array) * rows_ + (i - 1)) * kLanes;
  }

  // Computes column j. Returns v in each lane's last row.
  Vector column(std::int32_t j) {
    // Local copies: as far as the compiler knows, a byte store might change the members.
    const Step<S> step = step_;
    const std::uint8_t* q = text_.query;
    const std::uint8_t* const t = text_.target + static_cast<std::size_t>(j - 1) * kLanes;
    std::uint8_t* table = table_ + static_cast<std::size_t>(j - 1) * rows_ * kLanes;
    Lane *us = slot(kU, 1), *runs = slot(kRun, 1), *bs[P + 1];
    for (int g = 0; g < P; ++g) bs[g] = slot(kB + g, 1);
    Vector v = L::all(s_.top(j)), run_before = L::all(T::kNoRun), last = v, a[P + 1];
    for (int g = 0; g < P; ++g) a[g] = step.full[g];
    const auto cell = [&]() __attribute__((always_inline)) {
      Vector u = L::load(us), b[P + 1];
      for (int g = 0; g < P; ++g) b[g] = L::load(bs[g]);
      step(q, t, u, v, a, b);
      const Vector run = T::source(step, q, t, run_before, u, v, a, b, table);
      run_before = L::load(runs);
      L::store(us, u);
      L::store(runs, run);
      for (int g = 0; g < P; ++g) {
        L::store(bs[g], b[g]);
        bs[g] += kLanes;
      }
      us += kLanes;
      runs += kLanes;
      table += kLanes;
      q += kLanes;
    };
    for (std::int32_t i = 1; i < min_rows_; ++i) cell();
    for (std::int32_t i = min_rows_; i <= rows_; ++i) {
      cell();
      last = last_row_ == L::all(i - min_rows_) ? v : last;
    }
    return last;
  }

  void end_in_last_row(std::int32_t j, Vector last) {
    Lane v[kLanes];
    L::store(v, last);
    for (int l = 0; l < kLanes; ++l) {
      row_cost_[l] += v[l] + s_.extend;
      if (may_end_in_row(l, j)) row_end_[l].see(row_cost_[l] + (m_[l] - j) * task_.costs.skip, j);
    }
  }

  // Updates column_end_ of lanes whose last column is j.
  void end_in_last_column(std::int32_t j) {
    bool ends = false;
    for (int l = 0; l < kLanes; ++l) ends |= m_[l] == j;
    if (!ends || !task_.free.query_begin) return;
    std::int32_t cost[kLanes];
    for (std::int32_t i = 0; i < rows_; ++i) {
      Lane u[kLanes];
      if (i) L::store(u, L::load(slot(kU, i)));
      for (int l = 0; l < kLanes; ++l) {
        cost[l] = i ? cost[l] + u[l] + s_.extend : along(j, task_.free.target_end);
        const std::int32_t left = n_[l] - i;
        if (m_[l] == j && left > 0 && left <= task_.free.query_begin)
          column_end_[l].see(cost[l] + left * task_.costs.skip, i);
      }
    }
  }

  const ReadsTask& task_;
  DifferenceMemory& memory_;
  const S s_;
  const Step<S> step_;
  Vector last_row_;                                        // last row of each lane, minus min_rows_
  std::int32_t n_[kLanes], m_[kLanes], row_cost_[kLanes];  // row_cost_: cost of (n, j)
  Ending row_end_[kLanes], column_end_[kLanes];
  std::int32_t rows_ = 0, min_rows_ = 0, columns_ = 0;  // longest and shortest query, longest target
  LanesText text_;
  std::uint8_t* table_ = nullptr;
  Lane* state_ = nullptr;
};

// Aligns all pairs of a task, with similar lengths together.
template <int P>
class FreeReads {
  using Read = DifferenceMemory::Read;
  static constexpr std::int32_t kLanes = FreeGroup<P>::kLanes;

 public:
  FreeReads(const ReadsTask& task, DifferenceMemory& memory, ReadsAnswer* answers)
      : task_(task), m_(memory), answers_(answers), group_(task, memory) {}

  void run() {
    m_.reads.clear();
    m_.cigars.clear();
    for (std::int32_t p = 0; p < task_.count; ++p) {
      const std::int32_t n = task_.pairs[p].query_len, m = task_.pairs[p].target_len;
      answers_[p] = ReadsAnswer();
      if (larger(n, m) > kMaxFreeReadsLength)
        answers_[p].status = Status::LengthLimit;
      else if (n == 0 || m == 0)
        answers_[p].status = Status::Unsupported;
      else
        m_.reads.push({p, n, m, 0});
    }
    // Sort by query length in steps of 16, then by target length, so that the lanes of a group do similar work.
    sort_reads(m_.reads, m_.sorted, [](const Read& r) __attribute__((always_inline)) {
      return static_cast<std::uint32_t>(r.query_len - 1) >> 4 << 9 | static_cast<std::uint32_t>(r.target_len - 1);
    });
    const auto count = static_cast<std::int32_t>(m_.reads.size());
    for (std::int32_t from = 0, to; from < count; from = to) {
      std::int32_t min_length = read(from).query_len, max_length = min_length;
      for (to = from + 1; to < count && to < from + kLanes; ++to) {
        min_length = smaller(min_length, read(to).query_len);
        max_length = larger(max_length, read(to).query_len);
        if (max_length - min_length > FreeGroup<P>::kMaxSpread) break;
      }
      align(from, to);
    }
  }

 private:
  const Read& read(std::int32_t x) const { return m_.reads[static_cast<std::size_t>(x)]; }

  void align(std::int32_t from, std::int32_t to) {
    const bool stop = task_.cancelled && task_.cancelled->is_set();
    const bool aligned = !stop && group_.run(&read(from), to - from);
    for (std::int32_t x = from; x < to; ++x) {
      ReadsAnswer& a = answers_[read(x).pair];
      if (aligned)
        answer(x - from, read(x), a);
      else
        a.status = stop ? Status::Dropped : Status::MemoryLimit;
    }
  }

  void answer(int lane, const Read& r, ReadsAnswer& a) {
    a.score = group_.cost(lane);
    if (a.score > task_.max_score) {
      a.status = Status::ScoreLimit;
      return;
    }
    a.cigar = static_cast<std::int64_t>(m_.cigars.size());
    RunWriter runs(m_.cigars, static_cast<std::size_t>(r.query_len) + r.target_len);
    group_.trace_path(lane, runs, a);
    runs.finish();
    if (!task_.path) m_.cigars.resize(static_cast<std::size_t>(a.cigar));
    a.runs = static_cast<std::int64_t>(m_.cigars.size()) - a.cigar;
  }

  const ReadsTask& task_;
  DifferenceMemory& m_;
  ReadsAnswer* answers_;
  FreeGroup<P> group_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Aligns a pair through all cells: finds the ends of the path, and traces the path in bounded memory.
//
// The forward pass stores checkpoints of anti-diagonals. The traceback recomputes the cells that lead to its position
// from the last checkpoint, for as many steps as the trace table holds. A cell leads only to its neighbours, so at
// most d + 1 cells of the d-th anti-diagonal before a position lead to it.
#pragma once

#include "kernels/gotoh/gotoh_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Rows>
class Gotoh {
  using Cell = typename Rows::Cell;
  static constexpr int P = Rows::P;
  static constexpr std::int32_t kBefore = Rows::kLanes;  // bytes of a traced row before its first cell
  static constexpr std::int32_t kMinSteps = 62, kMaxSteps = 4096;  // limits on the steps of a table

 public:
  // Takes a task, whose query is the user's target if `transposed`; the answer is of the task's roles.
  Gotoh(const KernelTask& task, bool transposed, GotohMemory& memory, Cigar& cigar)
      : t_(task),
        transposed_(transposed),
        m_(memory),
        cigar_(cigar),
        rows_(task, transposed, memory),
        last_(task.query_len + task.target_len) {
    m_.saved.clear();
    m_.checkpoints.clear();
    const double side = __builtin_sqrt(static_cast<double>(t_.table_bytes)) - kBefore - 1;
    steps_ = side < kMinSteps ? kMinSteps : side > kMaxSteps ? kMaxSteps : static_cast<std::int32_t>(side);
  }

  KernelAnswer run() {
    const std::int64_t whole = std::int64_t{last_ + 1} * (t_.query_len + 1 + kBefore);
    const bool traced = t_.path && last_ <= steps_ && whole <= std::int64_t{steps_} * (steps_ + 1 + kBefore);
    if (const Status status = traced ? forward_traced() : forward(); status != Status::Ok) return {.status = status};
    if (t_.max_score < INT32_MAX / 2 && end_.cost > t_.max_score) return {.status = Status::ScoreLimit};
    KernelAnswer answer;
    answer.score = end_.cost;
    answer.query_skip = t_.query_len - end_.i;
    answer.target_skip = t_.target_len - end_.j;
    if (!t_.path) return answer;
    Place place{end_.i, end_.j, -1};
    if (traced) {
      trace_path(place, 0, t_.query_len + 1 + kBefore, 0);
    } else if (answer.status = path(place); answer.status != Status::Ok) {
      return answer;
    }
    answer.query_skip_end = rows_.query_left(place.i);
    answer.target_skip_end = rows_.target_left(place.j);
    // At most one of the two has bases left.
    add_gap(true, place.i - answer.query_skip_end);
    add_gap(false, place.j - answer.target_skip_end);
    return answer;
  }

  // Finds the end of an extension, as extension_rule.hpp defines it.
  KernelAnswer run_extension() {
    const ExtensionRule rule(t_);
    std::int64_t best = 0, best_cost = 0;
    std::int32_t end_i = 0, end_j = 0;
    bool dropped = false;
    rows_.begin();
    std::int64_t before = 0;  // least cost of anti-diagonal d
    for (std::int32_t d = 0; d < last_; ++d) {
      if (t_.cancelled->is_set()) return {.status = Status::Dropped};
      rows_.template advance<false>(0, t_.query_len, t_.target_len, nullptr);
      const std::int64_t now = least_cost(rows_.costs(), d + 1), reach = now < before ? now : before;
      if (rule.max_value(reach) <= best) break;
      const std::int64_t radius = rule.drop_radius(best, rule.value(d, reach));
      dropped = radius >= 0 && (is_near(rows_.costs(), d + 1, reach, end_j - end_i, radius) ||
                                is_near(rows_.costs_before(), d, reach, end_j - end_i, radius));
      if (dropped) break;
      before = now;
      if (rule.value(d + 1, now) <= best) continue;
      best = rule.value(d + 1, now), best_cost = now;
      for (end_i = first(d + 1); rows_.costs()[end_i] != now;) ++end_i;
      end_j = d + 1 - end_i;
    }
    return {.score = best_cost,
            .query_skip_end = t_.query_len - end_i,
            .target_skip_end = t_.target_len - end_j,
            .heuristic_applied = dropped};
  }

 private:
  // Position of the traceback: cells (0, 0) to (i, j) remain. `gap` is the gap that it is inside, or -1.
  struct Place {
    std::int32_t i, j;
    int gap;
    std::int32_t step() const { return i + j; }
  };
  // Cheapest cell so far from which the traceback may begin.
  struct End {
    std::int64_t cost = INT64_MAX;
    std::int32_t i = 0, j = 0;
  };
  static std::int32_t smaller(std::int32_t a, std::int32_t b) { return b < a ? b : a; }
  static std::int32_t larger(std::int32_t a, std::int32_t b) { return a < b ? b : a; }

  // Return the first and last row of an anti-diagonal.
  std::int32_t first(std::int32_t d) const { return larger(0, d - t_.target_len); }
  std::int32_t last(std::int32_t d) const { return smaller(d, t_.query_len); }

  Cell least_cost(const Cell* costs, std::int32_t d) const {
    Cell least = Rows::kCeiling;
    for (std::int32_t i = first(d), end = last(d); i <= end; ++i) least = costs[i] < least ? costs[i] : least;
    return least;
  }

  // Returns true if a cell of anti-diagonal d has this cost, at most `radius` diagonals beside one.
  bool is_near(const Cell* costs, std::int32_t d, std::int64_t cost, std::int32_t diagonal, std::int64_t radius) const {
    const std::int64_t middle = std::int64_t{d} - diagonal;  // twice the row on that diagonal
    const std::int64_t from = (middle - radius + 1) >> 1, to = (middle + radius) >> 1;
    const std::int32_t lo = from > first(d) ? static_cast<std::int32_t>(from) : first(d);
    const std::int32_t hi = to < last(d) ? static_cast<std::int32_t>(to) : last(d);
    const Cell wanted = static_cast<Cell>(cost);
    Cell found = 0;
    for (std::int32_t i = lo; i <= hi; ++i) found |= static_cast<Cell>(costs[i] == wanted);
    return found != 0;
  }

  // Appends bases of the task's query, or of its target, as a gap.
  void add_gap(bool of_query, std::int32_t bases) {
    cigar_.add(of_query != transposed_ ? kInsertion : kDeletion, bases);
  }

  // Updates the ends. Of equal ends, takes the one that skips no base of the user's query, then the one that skips the
  // fewest bases of the other sequence. Where both sequences end, the user's query is whole.
  void look_for_ends() {
    const std::int32_t d = rows_.step(), n = t_.query_len, m = t_.target_len, j = d - n, i = d - m;
    const bool corner = d == last_;
    if (j >= 0 && j <= m && !(corner && transposed_) && m - j <= t_.free.target_begin) {
      const std::int64_t cost = rows_.costs()[n] + std::int64_t{t_.costs.skip} * (m - j);
      if (cost <= whole_query_.cost) whole_query_ = {cost, n, j};
    }
    if (i >= 0 && i <= n && !(corner && !transposed_) && n - i <= t_.free.query_begin) {
      const std::int64_t cost = rows_.costs()[i] + std::int64_t{t_.costs.skip} * (n - i);
      if (cost <= whole_target_.cost) whole_target_ = {cost, i, m};
    }
    if (!corner) return;
    const End &preferred = transposed_ ? whole_target_ : whole_query_, &other = transposed_ ? whole_query_ : whole_target_;
    end_ = other.cost < preferred.cost ? other : preferred;
  }

  Status forward_traced() {
    const std::int64_t stride = t_.query_len + 1 + kBefore;
    m_.table.resize(static_cast<std::size_t>(stride * (last_ + 1)));
    rows_.begin();
    look_for_ends();
    while (rows_.step() < last_) {
      if (t_.cancelled->is_set()) return Status::Dropped;
      rows_.template advance<true>(0, t_.query_len, t_.target_len, m_.table.data() + stride * rows_.step() + kBefore);
      look_for_ends();
    }
    return Status::Ok;
  }

  Status forward() {
    const std::int32_t spacing = spacing_of(last_, Rows::bytes(t_), t_.checkpoint_bytes / 2);
    rows_.begin();
    look_for_ends();
    for (;;) {
      if (t_.path && rows_.step() % spacing == 0) rows_.save(m_, 0, t_.query_len, t_.target_len);
      if (rows_.step() == last_) return Status::Ok;
      if (t_.cancelled->is_set()) return Status::Dropped;
      rows_.template advance<false>(0, t_.query_len, t_.target_len, nullptr);
      look_for_ends();
    }
  }

  // Returns the number of steps between checkpoints of `bytes` bytes each, within `room` bytes.
  std::int32_t spacing_of(std::int64_t steps, std::size_t bytes, std::size_t room) const {
    const std::size_t num_checkpoints = room / bytes > 0 ? room / bytes : 1;
    const std::int64_t spacing =
        (steps + static_cast<std::int64_t>(num_checkpoints)) / static_cast<std::int64_t>(num_checkpoints);
    return static_cast<std::int32_t>(spacing > steps_ ? spacing : steps_);
  }

  // Traces from `place` to an edge of the matrix.
  Status path(Place& place) {
    while (place.i > 0 && place.j > 0) {
      if (t_.cancelled->is_set()) return Status::Dropped;
      while (m_.checkpoints.back().step >= place.step()) drop_checkpoint();
      const GotohMemory::Checkpoint from = m_.checkpoints.back();
      rows_.restore(m_, from);
      if (place.step() - from.step > steps_)
        add_checkpoints(place);
      else
        trace_piece(place);
    }
    return Status::Ok;
  }

  // Recomputes the cells that lead to `place`, from the last checkpoint on, and traces through them.
  void trace_piece(Place& place) {
    const std::int32_t from = rows_.step(), to = place.step(), first = larger(0, place.i - (to - from));
    const std::int64_t stride = smaller(place.i, to - from) + 1 + kBefore;
    m_.table.resize(static_cast<std::size_t>(stride * (to - from)));
    while (rows_.step() < to) {
      std::uint8_t* row = m_.table.data() + stride * (rows_.step() - from) + kBefore;
      const std::int32_t reach = place.i - (to - rows_.step() - 1);
      rows_.template advance<true>(larger(0, reach), place.i, place.j, row - first);
    }
    trace_path(place, from, stride, first);
  }

  // Adds checkpoints before `place`, only of cells that lead to it.
  void add_checkpoints(const Place& place) {
    const std::int32_t from = rows_.step(), to = place.step();
    const std::size_t bytes = static_cast<std::size_t>(smaller(place.i, to - from) + 1) * Rows::kArrays * sizeof(Cell);
    std::int32_t spacing = spacing_of(to - from, bytes, t_.checkpoint_bytes / 4);
    if (spacing >= to - from) spacing = (to - from + 1) / 2;
    for (std::int32_t next = from + spacing; next < to; next += spacing) {
      while (rows_.step() < next) {
        if (t_.cancelled->is_set()) return;
        rows_.template advance<false>(larger(0, place.i - (to - rows_.step() - 1)), place.i, place.j, nullptr);
      }
      // The anti-diagonal before a checkpoint is read one slot lower.
      rows_.save(m_, larger(0, place.i - (to - next) - 1), place.i, place.j);
    }
  }

  void drop_checkpoint() {
    m_.saved.resize(m_.checkpoints.back().at);
    m_.checkpoints.resize(m_.checkpoints.size() - 1);
  }

  // Writes operations until the path leaves the table, whose first row is step `from` + 1 and first slot `first`.
  void trace_path(Place& place, std::int32_t from, std::int64_t stride, std::int32_t first) {
    while (place.i > 0 && place.j > 0 && place.step() > from) {
      const std::uint8_t cell =
          m_.table[static_cast<std::size_t>(stride * (place.step() - from - 1) + kBefore + place.i - first)];
      if (place.gap < 0) place.gap = (cell & 7) - 1;
      if (place.gap < 0) {
        cigar_.add(rows_.operation(place.i, place.j), 1);
        --place.i;
        --place.j;
        continue;
      }
      const bool of_query = place.gap < P, open = cell >> (3 + place.gap) & 1;
      add_gap(of_query, 1);
      --(of_query ? place.i : place.j);
      if (!open) place.gap = -1;
    }
  }

  const KernelTask& t_;
  const bool transposed_;
  GotohMemory& m_;
  Cigar& cigar_;
  Rows rows_;
  const std::int32_t last_;  // last anti-diagonal
  std::int32_t steps_;       // anti-diagonals that a table holds
  End whole_query_, whole_target_, end_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

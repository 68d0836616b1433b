// Modes of running a wavefront: all rows in a table; checkpoints with recomputed pieces; only the most recent rows,
// for a score or for the end of an extension. Included by wavefront_isa.cpp only; everything here exists once per
// instruction set.
#pragma once

#include "kernels/extension_rule.hpp"
#include "kernels/wavefront/wavefront_traceback.hpp"
#include "kernels/wavefront/wavefront_meet.hpp"
#include "kernels/wavefront/wavefront_narrow.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int Pieces, class Match>
class Solver {
  using F = Front<Pieces, Match>;

 public:
  Solver(const KernelTask& task, WavefrontMemory& memory, Cigar& cigar)
      : t_(task),
        front_(task),
        table_(memory.table, F::kComponents, front_.pad()),
        ring_(memory.ring, F::kComponents, front_.pad()),
        behind_(memory.behind),
        meeting_score_(!Meeting<Pieces, Match>::suits(task, front_) ? INT32_MAX
                       : task.path                                  ? kMeetingScoreWithPath
                                                                    : kMeetingScore),
        narrow_(task, front_, memory.ranges),
        cigar_(cigar),
        saved_(F::kComponents, front_.depth(), front_.gap_depth()) {}

  KernelAnswer run() {
    if (!t_.path) return run_ring();
    return t_.memory == Memory::Table ? run_table() : run_linear();
  }

  // Finds the end of an extension, as extension_rule.hpp defines it; sequences are not reversed. Returns WorkLimit, if
  // the task allows it, once the rows have taken longer than all cells up to the same place would.
  KernelAnswer run_extension() {
    const ExtensionRule rule(t_);
    // Most short extensions match to the end of a sequence; preparing rows would take longer than all the rest.
    if (const std::int32_t run = front_.first_matches(); rule.max_value(1) <= rule.value(2 * std::int64_t{run}, 0))
      return extended({rule.value(2 * std::int64_t{run}, 0), 0, run, 0, 2 * run}, 0, false);
    if (t_.may_return_work_limit && kOffsetsToBegin * front_.depth() * front_.pad() > kOffsetsPerCell * rule.cells(INT32_MAX))
      return failed(Status::WorkLimit);
    front_.begin(ring_, ring_depth());
    narrow_.begin();
    Furthest best = furthest(rule, 0, Range{0, 0}, 0, 0);
    std::int32_t best_cost = 0, most = best.place;  // the furthest place so far
    bool dropped = false;
    double work = 0;
    for (std::int32_t s = 0; rule.max_value(s + 1) > best.value;) {
      if (const Status halt = halted(s); halt != Status::Ok) return failed(halt);
      if (ring_.bytes() > t_.checkpoint_bytes) return failed(Status::MemoryLimit);
      const Range at = forward(ring_, ++s);
      if (at.empty()) break;
      work += at.hi - at.lo + kRowOffsets;
      const bool slow = work > kFirstOffsets + kOffsetsPerCell * rule.cells(most);
      if (slow && t_.may_return_work_limit) return failed(Status::WorkLimit);
      const Furthest row = furthest(rule, s, at, best.diagonal, most + 1);
      if (row.place <= most) continue;
      const std::int32_t away = row.nearest - best.diagonal;
      dropped = (away < 0 ? -away : away) <= rule.drop_radius(best.value, rule.value(most + 1, s));
      if (dropped) break;
      most = row.place;
      if (row.value > best.value) best = row, best_cost = s;
    }
    return extended(best, best_cost, dropped);
  }

 private:
  // Offsets of rows that take as long as one cell of gotoh_extension, as the rest of a row, as what that kernel does once,
  // and as preparing a diagonal of the first rows.
  static constexpr double kOffsetsPerCell = 0.03, kRowOffsets = 32, kFirstOffsets = 1000, kOffsetsToBegin = 0.5;
  // Furthest cell of a row; of several, the one with the fewest query bases.
  struct Furthest {
    std::int64_t value;  // see extension_rule.hpp
    std::int32_t diagonal;
    Offset offset;
    std::int32_t nearest;  // of the diagonals that reach a given place, the nearest to a given diagonal
    std::int32_t place;    // -1 if no path has this cost
  };
  // End of an alignment: its total cost, and the score and diagonal at which its traceback begins.
  struct End {
    std::int64_t total = INT64_MAX;
    std::int32_t score = 0, diagonal = 0;
    bool found() const { return total != INT64_MAX; }
  };

  KernelAnswer run_table() {
    front_.begin(table_, 0);
    narrow_.begin();
    End end = end_at(table_, 0, front_.reached(0), End{});
    for (std::int32_t s = 0; s < end.total;) {
      if (s == meeting_score_) {
        const Status status = meet(table_, s, 0, t_.table_bytes, end);
        if (status != Status::Ok) return failed(status);
        break;
      }
      if (const Status halt = halted(s); halt != Status::Ok) return failed(halt);
      if (table_.bytes() > t_.table_bytes) return failed(Status::MemoryLimit);
      const Range at = forward(table_, ++s);
      if (at.empty()) return failed(Status::Dropped);
      end = end_at(table_, s, at, end);
    }
    Cell cell = end_cell(end);
    WavefrontTraceback<Pieces, Match>(front_, table_, cigar_).trace_path(cell, 0);
    return answered(end, cell);
  }

  KernelAnswer run_ring() {
    End end;
    std::int32_t unused = INT32_MAX;
    const Status status = run_forward(end, unused, false);
    // The end of the traceback is known only for global alignments; with free ends a path is always requested.
    return status == Status::Ok ? answered(end, Cell{0, 0, 0, 0}) : failed(status);
  }

  // Runs forward once with a ring of rows and stores checkpoints. Then, from the last piece to the first, recomputes
  // the rows inside the cone of the cell where the path enters the piece, and traces through them. All cells have the
  // values of the full table, so ties are resolved in the same way.
  KernelAnswer run_linear() {
    End end;
    std::int32_t spacing = piece_scores();
    if (t_.may_return_work_limit && rows_outweigh(spacing)) return failed(Status::WorkLimit);
    Status status = run_forward(end, spacing, true);
    if (status != Status::Ok) return failed(status);
    Cell cell = end_cell(end);
    status = trace_pieces(cell);
    return status == Status::Ok ? answered(end, cell) : failed(status);
  }

  Status run_forward(End& end, std::int32_t& spacing, bool keep) {
    front_.begin(ring_, ring_depth());
    narrow_.begin();
    if (keep) saved_.save(ring_, 0);
    end = end_at(ring_, 0, front_.reached(0), end);
    for (std::int32_t s = 0; s < end.total;) {
      if (!keep && s == meeting_score_) return meet(ring_, s, ring_depth(), t_.checkpoint_bytes, end);
      if (const Status halt = halted(s); halt != Status::Ok) return halt;
      const Range at = forward(ring_, ++s);
      if (at.empty()) return Status::Dropped;
      end = end_at(ring_, s, at, end);
      if (keep && s % spacing == 0 && !checkpoint(s, 1, 0, spacing)) return Status::MemoryLimit;
      if (!keep && ring_.bytes() > t_.checkpoint_bytes) return Status::MemoryLimit;
    }
    return Status::Ok;
  }

  // Continues from score s with a second wavefront from the other end. If `rows` keeps all rows, completes them.
  Status meet(Rows& rows, std::int32_t s, std::int32_t ring_depth, std::size_t max_bytes, End& end) {
    Meeting<Pieces, Match> meeting(t_, front_, rows, behind_);
    if (const Status status = meeting.run(s, ring_depth, max_bytes); status != Status::Ok) return status;
    if (!ring_depth) meeting.finish();
    end = {meeting.cost(), meeting.cost(), front_.last_diagonal()};
    return Status::Ok;
  }

  // Computes the next row. Returns its range of diagonals.
  WFACLI_INLINE Range forward(Rows& rows, std::int32_t s) {
    Range at = front_.reached(s);
    if (narrow_.any()) at = narrow_.before(rows, s, at);
    if (at.empty()) return at;
    front_.step(rows, s, at);
    if (narrow_.any()) at = narrow_.after(rows, s, at);
    return at;
  }

  // Returns the better of `end` and the ends that row s reaches. Of equal costs, the fewest query bases are skipped,
  // then the fewest target bases: first the last diagonal and those below it, then those above.
  WFACLI_INLINE End end_at(Rows& rows, std::int32_t s, Range at, End end) const {
    const std::int32_t last = front_.last_diagonal();
    const Range ends = common(front_.ends(), at);
    if (ends.empty()) return end;
    const Offset* m = rows.component(s, 0);
    const auto look = [&](std::int32_t k) {
      if (m[k] != front_.limit(k)) return;
      const std::int64_t total = s + std::int64_t{t_.costs.skip} * (k < last ? last - k : k - last);
      if (total < end.total || (total == end.total && precedes(k, end.diagonal))) end = {total, s, k};
    };
    for (std::int32_t k = smaller(last, ends.hi); k >= ends.lo; --k) look(k);
    for (std::int32_t k = larger(last + 1, ends.lo); k <= ends.hi; ++k) look(k);
    return end;
  }
  WFACLI_INLINE bool precedes(std::int32_t k, std::int32_t other) const {
    const std::int32_t last = front_.last_diagonal();
    if ((k > last) != (other > last)) return k < other;  // skips no query bases
    return k > last ? k < other : k > other;
  }

  Status trace_pieces(Cell& cell) {
    for (;;) {
      if (t_.cancelled->is_set()) return Status::Dropped;
      while (saved_.count() > 1 && saved_.last() >= cell.score) saved_.truncate(saved_.count() - 1);
      const std::int32_t from = saved_.last();
      const Cone cone{cell.score, cell.diagonal, front_.sideways()};
      if (cell.score - from <= piece_scores()) {
        saved_.restore_last(table_, 0, cone);
        for (std::int32_t s = from + 1; s <= cell.score; ++s) recompute(table_, s, cone);
        if (WavefrontTraceback<Pieces, Match>(front_, table_, cigar_).trace_path(cell, from)) return Status::Ok;
      } else if (!split_piece(from, cone)) {
        return t_.cancelled->is_set() ? Status::Dropped : Status::MemoryLimit;
      }
    }
  }

  // Adds checkpoints inside a piece that is too large for a table.
  bool split_piece(std::int32_t from, const Cone& cone) {
    const std::size_t first = saved_.count();
    std::int32_t spacing = piece_scores();
    saved_.restore_last(ring_, ring_depth(), cone);
    for (std::int32_t s = from + 1; s < cone.score; ++s) {
      if (t_.cancelled->is_set()) return false;
      recompute(ring_, s, cone);
      if ((s - from) % spacing == 0 && !checkpoint(s, first, from, spacing)) return false;
    }
    return saved_.count() > first;
  }

  // Recomputes a row inside the cone.
  void recompute(Rows& rows, std::int32_t s, const Cone& cone) {
    const Range around{cone.lo(s), cone.hi(s)};
    const Range inside = common(narrow_.any() ? narrow_.range(s) : front_.reached(s), around);
    if (inside.empty()) return rows.open_blank(s, around.lo, around.hi);
    if (narrow_.any() && narrow_.blank(s)) return rows.open_blank(s, inside.lo, inside.hi);
    front_.step(rows, s, inside);
  }

  // Saves the rows of score s. Beyond the memory limit, keeps every other checkpoint from index `first` on and doubles
  // the spacing.
  bool checkpoint(std::int32_t s, std::size_t first, std::int32_t base, std::int32_t& spacing) {
    if (ring_.bytes() > t_.checkpoint_bytes) return false;
    saved_.save(ring_, s);
    while (saved_.bytes() > t_.checkpoint_bytes && saved_.count() > first + 1) {
      spacing *= 2;
      saved_.thin(first, base, spacing);
    }
    return saved_.bytes() <= 2 * t_.checkpoint_bytes;
  }

  // Returns true if a piece of `scores` scores needs over kTimes as many earlier rows, and the pair has fewer than
  // kCells cells.
  bool rows_outweigh(std::int32_t scores) const {
    constexpr std::int32_t kTimes = 8;
    constexpr double kCells = 1e10;
    return front_.depth() / kTimes > scores && static_cast<double>(t_.query_len) * t_.target_len < kCells;
  }

  // Returns the number of scores that a piece may span so that its cone fits the table.
  std::int32_t piece_scores() const {
    const double row = 2.0 * front_.pad() + 1 + 2.0 * sizeof(RowRef) / sizeof(Offset);
    const double offsets = static_cast<double>(t_.table_bytes) / (sizeof(Offset) * F::kComponents);
    // rows * (row + rows / extend) <= offsets
    const double e = front_.sideways();
    const double scores = (__builtin_sqrt(row * row * e * e + 4 * offsets * e) - row * e) / 2;
    return scores < 1 ? 1 : scores > 1e6 ? 1000000 : static_cast<std::int32_t>(scores);
  }

  Furthest furthest(const ExtensionRule& rule, std::int32_t s, Range at, std::int32_t near, std::int32_t place) {
    const Offset* m = ring_.component(s, 0);
    const auto distance = [&](std::int32_t k) { return k < near ? near - k : k - near; };
    Furthest row{0, 0, 0, INT32_MAX / 2, -1};
    for (std::int32_t k = at.lo; k <= at.hi; ++k) {
      if (m[k] < 0) continue;
      const std::int32_t d = 2 * m[k] - k;
      if (d >= place && distance(k) < distance(row.nearest)) row.nearest = k;
      if (d < row.place) continue;
      row.place = d;
      row.diagonal = k;
    }
    if (row.place >= 0) row.offset = m[row.diagonal], row.value = rule.value(row.place, s);
    return row;
  }

  KernelAnswer extended(const Furthest& end, std::int32_t cost, bool dropped) const {
    return {.score = cost,
            .query_skip_end = t_.query_len - (end.offset - end.diagonal),
            .target_skip_end = t_.target_len - end.offset,
            .heuristic_applied = narrow_.heuristic_applied() || dropped};
  }

  std::int32_t ring_depth() const { return front_.depth() + 1; }
  Cell end_cell(const End& e) const { return {e.score, e.diagonal, front_.limit(e.diagonal), 0}; }
  Status halted(std::int32_t s) const {
    if (t_.cancelled->is_set()) return Status::Dropped;
    return s >= t_.max_score ? Status::ScoreLimit : Status::Ok;
  }

  static KernelAnswer failed(Status status) { return {.status = status}; }
  KernelAnswer answered(const End& end, const Cell& start) const {
    const std::int32_t begin = end.diagonal - front_.last_diagonal();
    return {.status = Status::Ok,
            .score = static_cast<std::int32_t>(end.total),
            .query_skip = larger(begin, 0),
            .target_skip = larger(-begin, 0),
            .query_skip_end = larger(-start.diagonal, 0),
            .target_skip_end = larger(start.diagonal, 0),
            .heuristic_applied = narrow_.heuristic_applied()};
  }

  const KernelTask& t_;
  const F front_;
  Rows table_, ring_;
  RowMemory& behind_;  // rows of the wavefront from the other end
  const std::int32_t meeting_score_;  // score at which that wavefront starts
  Narrow<F> narrow_;
  Cigar& cigar_;
  Checkpoints saved_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

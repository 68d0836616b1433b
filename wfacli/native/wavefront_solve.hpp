// The two ways to run a wavefront: all rows in a table, or checkpoints and pieces computed again.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "wavefront_front.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int Pieces, class Match>
class Solver {
  using F = Front<Pieces, Match>;

 public:
  Solver(const WavefrontTask& task, KernelMemory& memory, Cigar& cigar)
      : t_(task), front_(task), table_(memory.table, F::kComponents, front_.pad()),
        ring_(memory.ring, F::kComponents, front_.pad()), cigar_(cigar),
        saved_(F::kComponents, front_.pad(), front_.depth(), front_.gap_depth()) {}

  WavefrontAnswer run() { return t_.memory == Memory::Table ? run_table() : run_linear(); }

 private:
  WavefrontAnswer run_table() {
    front_.begin(table_, 0);
    std::int32_t s = 0;
    while (!front_.reached_end(table_, s)) {
      if (const Status halt = halted(s); halt != Status::Ok) return {halt, 0};
      if (table_.bytes() > t_.table_bytes) return {Status::MemoryLimit, 0};
      front_.step(table_, ++s, nullptr);
    }
    Cell cell = end_cell(s);
    front_.walk_back(table_, cell, 0, cigar_);
    cigar_.add(kEqual, cell.offset);
    return {Status::Ok, s};
  }

  // Forward once with a ring of rows, keeping checkpoints; then, from the last piece to the first, the
  // rows inside the cone of the cell where the path enters the piece are computed again and walked back.
  // All cells have the values of the whole table, so the path is the table's, tie by tie.
  WavefrontAnswer run_linear() {
    front_.begin(ring_, ring_depth());
    saved_.save(ring_, 0);
    std::int32_t spacing = piece_scores();
    std::int32_t s = 0;
    while (!front_.reached_end(ring_, s)) {
      if (const Status halt = halted(s); halt != Status::Ok) return {halt, 0};
      front_.step(ring_, ++s, nullptr);
      if (s % spacing == 0 && !checkpoint(s, 1, 0, spacing)) return {Status::MemoryLimit, 0};
    }
    Cell cell = end_cell(s);
    const Status status = pieces_back(cell);
    if (status != Status::Ok) return {status, 0};
    cigar_.add(kEqual, cell.offset);
    return {Status::Ok, s};
  }

  Status pieces_back(Cell& cell) {
    while (cell.score > 0) {
      if (t_.cancelled->is_set()) return Status::Dropped;
      while (saved_.last() >= cell.score) saved_.truncate(saved_.count() - 1);
      const std::int32_t from = saved_.last();
      const Cone cone{cell.score, cell.diagonal, t_.costs.extend};
      if (cell.score - from <= piece_scores()) {
        saved_.restore_last(table_, 0, cone);
        for (std::int32_t s = from + 1; s <= cell.score; ++s) front_.step(table_, s, &cone);
        front_.walk_back(table_, cell, from, cigar_);
      } else if (!split_piece(from, cone)) {
        return t_.cancelled->is_set() ? Status::Dropped : Status::MemoryLimit;
      }
    }
    return Status::Ok;
  }

  // Adds checkpoints inside a piece that is too large for a table.
  bool split_piece(std::int32_t from, const Cone& cone) {
    const std::size_t first = saved_.count();
    std::int32_t spacing = piece_scores();
    saved_.restore_last(ring_, ring_depth(), cone);
    for (std::int32_t s = from + 1; s < cone.score; ++s) {
      if (t_.cancelled->is_set()) return false;
      front_.step(ring_, s, &cone);
      if ((s - from) % spacing == 0 && !checkpoint(s, first, from, spacing)) return false;
    }
    return saved_.count() > first;
  }

  // Saves the rows of score s; over the bound, keeps every other checkpoint from index `first` on and
  // doubles the spacing.
  bool checkpoint(std::int32_t s, std::size_t first, std::int32_t base, std::int32_t& spacing) {
    if (ring_.bytes() > t_.checkpoint_bytes) return false;
    saved_.save(ring_, s);
    while (saved_.bytes() > t_.checkpoint_bytes && saved_.count() > first + 1) {
      spacing *= 2;
      saved_.thin(first, base, spacing);
    }
    return saved_.bytes() <= 2 * t_.checkpoint_bytes;
  }

  // How many scores a piece may span so that its cone fits the table.
  std::int32_t piece_scores() const {
    const double row = 2.0 * front_.pad() + 1 + 2.0 * sizeof(RowRef) / sizeof(Offset);
    const double offsets = static_cast<double>(t_.table_bytes) / (sizeof(Offset) * F::kComponents);
    // rows * (row + rows / extend) <= offsets
    const double e = t_.costs.extend;
    const double scores = (__builtin_sqrt(row * row * e * e + 4 * offsets * e) - row * e) / 2;
    return scores < 1 ? 1 : scores > 1e6 ? 1000000 : static_cast<std::int32_t>(scores);
  }

  std::int32_t ring_depth() const { return front_.depth() + 1; }
  Cell end_cell(std::int32_t s) const { return {s, front_.last_diagonal(), t_.target_len, 0}; }
  Status halted(std::int32_t s) const {
    if (t_.cancelled->is_set()) return Status::Dropped;
    return s >= t_.max_score ? Status::ScoreLimit : Status::Ok;
  }

  const WavefrontTask& t_;
  const F front_;
  Rows table_, ring_;
  Cigar& cigar_;
  Checkpoints saved_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

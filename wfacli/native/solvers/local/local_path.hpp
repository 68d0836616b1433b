// The way of the best local alignment, in little memory.
//
// The sweep that finds the best cell keeps some rows. Between the last of them before that cell and the cell itself
// another sweep takes only the columns from which a path of its score can come; it keeps rows too, closer to one
// another, and so on until directions of all cells between two rows fit the memory; they are walked, and the rest is
// done likewise from where the path crosses the row. Cells have the scores that they have in the whole matrix, so ties
// fall as there. (A checkpoint scheme as that of the difference kernel; the cone of columns comes from the scores.)
#pragma once

#include "solvers/local/local_sweep.hpp"

namespace wfacli {

// Strips from one row that is kept to the next, so that they take `memory` bytes at most, and no more than are of use:
// with 96 of them the second sweep computes about one cell in fifty again, and memory that is touched for the first
// time costs more than the few that would be saved.
std::int64_t strips_between_kept(std::int64_t strips, std::int64_t columns, std::int64_t memory);

// BAM's numbers of what the walk writes.
enum LocalOp : std::uint32_t { kLocalInsertion = 1, kLocalDeletion = 2, kLocalSame = 7, kLocalOther = 8 };

// A cell that a path comes to, and how.
struct LocalEntry {
  std::int64_t row, column;
  std::int32_t needed;  // what the rest of the path scores
  bool down, along;     // a gap that has begun before goes on through it

  bool operator==(const LocalEntry&) const = default;
};

class LocalPath {
 public:
  struct Options {
    int threads = 1;
    std::int64_t memory = std::int64_t{1} << 30;  // bytes of rows that a sweep keeps
    std::int64_t trace = std::int64_t{1} << 22;   // bytes of directions
    std::int64_t steps = kTileSteps;
    Buffer<std::uint8_t>* room = nullptr;  // as a sweep's
  };
  // `same`: of each code whether it is written as equal to itself.
  LocalPath(const LocalPair& pair, const LocalEntry& start, const std::uint8_t* same, const Options& options);

  // Walks through the rows from `row` on until the path leaves them or ends; `top` is the row above, from a column on
  // which is no more than first_column() says; without cells: they are 0.
  void walk(std::int64_t row, const LocalRow& top, std::int64_t column = 0);
  bool ended() const { return ended_; }
  std::int64_t row() const { return row_; }  // where it is
  std::int64_t column() const { return column_; }
  LocalEntry place() const { return {row_, column_, needed_, down_, along_}; }
  std::int64_t cells() const { return cells_; }  // that were computed
  // length << 4 | LocalOp, from the alignment's beginning on.
  Buffer<std::uint32_t>& cigar() { return cigar_; }

 private:
  void between(std::int64_t row, const LocalRow& top, std::int64_t column);
  void follow(const LocalSweep& sweep);
  std::int64_t first_column(std::int64_t row, const LocalRow& top, std::int64_t column) const;
  void write(LocalOp op);

  const LocalPair& pair_;
  const std::uint8_t* const same_;
  const Options options_;
  std::int64_t row_, column_;  // the cell that comes next
  std::int32_t needed_;        // its score, in the state in which it is reached
  bool down_;                  // it is a row of a gap that has begun before
  bool along_;                 // it is a column of one
  bool ended_ = false;
  std::int64_t cells_ = 0;
  Buffer<std::uint32_t> cigar_;
};

}  // namespace wfacli

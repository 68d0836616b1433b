// Traceback of the best local alignment in bounded memory.
//
// The sweep that finds the best cell keeps some rows as checkpoints. Between the last checkpoint before that cell and
// the cell, another sweep computes only the columns from which a path of its score can come, and keeps rows at smaller
// distances. This repeats until the traceback bits of all cells between two rows fit the memory. Then that piece is
// traced back, and the next one begins where the path crosses the row. Cells have the scores that they have in the
// whole matrix, so ties are resolved as there. (The difference kernel uses checkpoints in the same way; here the
// columns follow from the scores.)
#pragma once

#include "solvers/local/local_sweep.hpp"

namespace wfacli {

// Return the number of strips between two kept rows, such that the kept rows take at most `memory` bytes. At most 96
// rows are kept: with these the second sweep recomputes about one cell in fifty, and touching more memory for the
// first time would cost more than the cells saved.
std::int64_t strips_per_checkpoint(std::int64_t strips, std::int64_t columns, std::int64_t memory);

// Operations of a path, as numbered by BAM.
enum LocalOp : std::uint32_t { kLocalInsertion = 1, kLocalDeletion = 2, kLocalSame = 7, kLocalOther = 8 };

// A cell of a path, and the state in which the path reaches it.
struct LocalEntry {
  std::int64_t row, column;
  std::int32_t needed;  // score of the rest of the path
  bool down, along;     // an open gap along the column or the row continues through the cell

  bool operator==(const LocalEntry&) const = default;
};

class LocalPath {
 public:
  struct Options {
    int threads = 1;
    std::int64_t memory = std::int64_t{1} << 30;  // bytes of rows that a sweep keeps
    std::int64_t trace = std::int64_t{1} << 22;   // bytes of traceback bits
    std::int64_t steps = kTileSteps;              // steps of a tile
    Buffer<std::uint8_t>* room = nullptr;         // see LocalSweepOptions::room
  };
  // `same`: [codes], whether a code aligned with itself is written as =.
  LocalPath(const LocalPair& pair, const LocalEntry& start, const std::uint8_t* same, const Options& options);

  // Trace back through the rows from `row` on until the path leaves them or ends. `top` is the row above, from
  // `column` on, which must not exceed first_column(); an empty `top` is all 0.
  void trace(std::int64_t row, const LocalRow& top, std::int64_t column = 0);
  bool ended() const { return ended_; }
  std::int64_t row() const { return row_; }  // the next cell
  std::int64_t column() const { return column_; }
  LocalEntry place() const { return {row_, column_, needed_, down_, along_}; }
  std::int64_t cells() const { return cells_; }  // cells computed so far
  // Elements length << 4 | LocalOp, from the beginning of the alignment on.
  Buffer<std::uint32_t>& cigar() { return cigar_; }

 private:
  void between(std::int64_t row, const LocalRow& top, std::int64_t column);
  void follow(const LocalSweep& sweep);
  std::int64_t first_column(std::int64_t row, const LocalRow& top, std::int64_t column) const;
  void write(LocalOp op);

  const LocalPair& pair_;
  const std::uint8_t* const same_;
  const Options options_;
  std::int64_t row_, column_;  // the next cell
  std::int32_t needed_;        // its score, in the state in which it is reached
  bool down_;                  // an open gap along the column continues through it
  bool along_;                 // an open gap along the row continues through it
  bool ended_ = false;
  std::int64_t cells_ = 0;
  Buffer<std::uint32_t> cigar_;
};

}  // namespace wfacli

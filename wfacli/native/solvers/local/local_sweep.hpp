// Part of a matrix of local alignments from its top to its bottom, strip after strip, by several threads: each strip
// is a few tiles behind the one above, of which it takes the last row, chunk by chunk (the strips of J. Li, S. Ranka
// and S. Sahni, "Pairwise sequence alignment for very long sequences on GPUs", 2012, on cores). Memory is one row, the
// rows that are kept for the way back, and directions where they are asked for.
//
// A tile is left out where no alignment through it can be what is looked for (block pruning: E. Sandes and A. de Melo,
// "Retrieving Smith-Waterman alignments with optimizations for megabase biological sequences using GPU", 2013). Its
// cells then count 0, so that cells behind it may have less than their score, and never more; those which are on a way
// that is looked for are never behind one. In 16 bits cells count as at least the tile's base: that is below the
// scores that cells so close to its best one must have, so it is no more than the score either.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "solvers/local/local_pair.hpp"

namespace wfacli {

// A row of scores: of its cells, and F of the row below.
struct LocalRow {
  Buffer<std::int32_t> h, f;
};

// Cells of a matrix: rows and columns from the first on. `row` is a multiple of a strip's rows.
struct LocalRegion {
  std::int64_t row, rows, column, columns;
};

// The best score, and the first of the cells that have it, in the order of rows, then columns: of the beginnings that
// are equally good the last one in the query, then in the target.
struct LocalBest {
  std::int32_t score = 0;
  std::int64_t row = -1, column = -1;

  bool operator<(const LocalBest& o) const {
    return score != o.score ? score < o.score : row != o.row ? row > o.row : column > o.column;
  }
};

struct LocalSweepOptions {
  int threads = 1;
  std::int64_t keep = 0;    // strips between two rows that are kept; 0: none
  bool trace = false;       // directions of all cells
  std::int32_t needed = 0;  // the score of the region's last cell, whose path is looked for; 0: the best cell is
  bool prune = true;
  std::int64_t steps = kTileSteps;  // of a tile
  Buffer<std::uint8_t>* room = nullptr;  // for directions, which outlives the sweep; null: its own
};

class LocalSweep {
 public:
  // `top`: the row above the region, for its columns. The pair must outlive it.
  LocalSweep(const LocalPair& pair, const LocalRegion& region, LocalRow top, const LocalSweepOptions& options);
  LocalSweep(const LocalSweep&) = delete;
  LocalSweep& operator=(const LocalSweep&) = delete;

  // Goes on for about so many seconds, or to the end; whether that has been reached.
  bool advance(double seconds);

  std::int64_t strips() const { return strips_; }
  std::int64_t next() const { return next_; }
  std::int64_t cells() const { return cells_.load(std::memory_order_relaxed); }  // computed, not left out
  const LocalBest& best() const { return best_; }
  const LocalRegion& region() const { return region_; }
  const LocalRow& row() const { return row_; }
  // Row k is that below (k + 1) * keep strips.
  const std::vector<LocalRow>& kept() const { return kept_; }
  std::int64_t kept_every() const { return options_.keep * pair_.kernel().rows; }
  std::uint8_t trace_at(std::int64_t row, std::int64_t column) const;
  // Goes on from a state saved before: rows and best are what they were when `next` strips were done.
  void restore(std::int64_t next, std::int64_t cells, const LocalBest& best, LocalRow row, std::vector<LocalRow> kept);

 private:
  struct Thread;
  void work(Thread& thread, std::int64_t end);
  void strip(Thread& thread, std::int64_t x);
  void tile(Thread& thread, std::int64_t x, LocalTile& tile);
  bool matters(std::int64_t x, const LocalTile& tile, std::int32_t highest) const;
  void leave_out(Thread& thread, const LocalTile& tile) const;
  void consider(Thread& thread, std::int64_t x, std::int32_t score);
  LocalBest resolved(Thread& thread, std::int64_t x) const;
  void keep(std::int64_t x, std::int64_t from, std::int64_t to);
  LocalStrip strip_of(std::int64_t x, const LocalTile& tile) const;
  void wait_for_strip_above(std::int64_t x, std::int64_t columns) const;

  const LocalPair& pair_;
  const LocalRegion region_;
  const LocalSweepOptions options_;
  const std::int64_t strips_, steps_;  // steps_: of a strip, in whole blocks
  LocalRow row_;
  std::vector<LocalRow> kept_;
  Buffer<std::uint8_t> own_trace_;
  Buffer<std::uint8_t>& trace_;
  std::int64_t next_ = 0, round_ = 0;  // strips that are done; the first of the round that is under way
  double strip_seconds_ = 0;
  std::atomic<std::int64_t> taken_{0}, cells_{0};
  std::unique_ptr<std::atomic<std::int64_t>[]> done_;  // columns, of each strip of a round
  std::int64_t room_ = 0;                              // strips that done_ has room for
  std::atomic<std::int32_t> known_{0};                 // the best score so far
  std::mutex lock_;                                    // of best_ in a round
  LocalBest best_;
};

}  // namespace wfacli

// A sweep over a region of a local alignment matrix, strip by strip from top to bottom, by several threads. Each strip
// is a few tiles behind the strip above, whose last row it reads chunk by chunk (the strips of J. Li, S. Ranka and
// S. Sahni, "Pairwise sequence alignment for very long sequences on GPUs", 2012, on CPU cores). Memory is one row, the
// rows kept for the traceback, and traceback bits if requested.
//
// A tile is left out if no wanted alignment can pass through it (block pruning: E. Sandes and A. de Melo, "Retrieving
// Smith-Waterman alignments with optimizations for megabase biological sequences using GPU", 2013). Its cells then
// count as 0, so that cells that depend on it may have less than their true score, never more; cells on a wanted path
// never depend on such a tile. With 16 bits, cells count as at least the tile's base. The base is below the score that
// any cell so close to the tile's best input must have, so it does not exceed true scores either.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "solvers/local/local_pair.hpp"

namespace wfacli {

// A row of scores: H of its cells, and F of the row below.
struct LocalRow {
  Buffer<std::int32_t> h, f;
};

// A rectangle of the matrix: first row, number of rows, first column, number of columns. `row` is a multiple of a
// strip's rows.
struct LocalRegion {
  std::int64_t row, rows, column, columns;
};

// The best score, and the first cell that has it, in the order of rows, then columns. Sequences are reversed, so this
// is the last of equally good beginnings in the query, then in the target.
struct LocalBest {
  std::int32_t score = 0;
  std::int64_t row = -1, column = -1;

  bool operator<(const LocalBest& o) const {
    return score != o.score ? score < o.score : row != o.row ? row > o.row : column > o.column;
  }
};

struct LocalSweepOptions {
  int threads = 1;
  std::int64_t strips_per_checkpoint = 0;  // strips between two checkpoints; 0: no checkpoints
  bool trace = false;       // write traceback bits of all cells
  std::int32_t needed = 0;  // score of the region's last cell, if its path is wanted; 0: find the best cell
  bool prune = true;        // leave out tiles that cannot matter
  std::int64_t steps = kTileSteps;       // steps of a tile
  Buffer<std::uint8_t>* room = nullptr;  // memory for traceback bits, which must outlive the sweep; null: its own
};

class LocalSweep {
 public:
  // `top`: the row above the region, for the region's columns. The pair must outlive the object.
  LocalSweep(const LocalPair& pair, const LocalRegion& region, LocalRow top, const LocalSweepOptions& options);
  LocalSweep(const LocalSweep&) = delete;
  LocalSweep& operator=(const LocalSweep&) = delete;

  // Continue for about `seconds` seconds, or to the end; return true at the end.
  bool advance(double seconds);

  std::int64_t strips() const { return strips_; }
  std::int64_t next() const { return next_; }                                    // strips done
  std::int64_t cells() const { return cells_.load(std::memory_order_relaxed); }  // cells computed, not left out
  const LocalBest& best() const { return best_; }
  const LocalRegion& region() const { return region_; }
  const LocalRow& row() const { return row_; }  // the last row of the strips done
  // Element k is the last row of the first (k + 1) * keep strips.
  const std::vector<LocalRow>& checkpoints() const { return checkpoints_; }
  // Rows between two checkpoints.
  std::int64_t checkpoint_distance() const { return options_.strips_per_checkpoint * pair_.kernel().rows; }
  std::uint8_t trace_at(std::int64_t row, std::int64_t column) const;              // relative to the region
  // Continue from a state in which `next` strips were done.
  void restore(std::int64_t next, std::int64_t cells, const LocalBest& best, LocalRow row,
               std::vector<LocalRow> checkpoints);

 private:
  struct Thread;
  void work(Thread& thread, std::int64_t end);
  void strip(Thread& thread, std::int64_t x);
  void tile(Thread& thread, std::int64_t x, LocalTile& tile);
  bool matters(std::int64_t x, const LocalTile& tile, std::int32_t highest) const;
  void prune_tile(Thread& thread, const LocalTile& tile) const;
  void consider(Thread& thread, std::int64_t x, std::int32_t score);
  LocalBest resolved(Thread& thread, std::int64_t x) const;
  void save_checkpoint(std::int64_t x, std::int64_t from, std::int64_t to);
  LocalStrip strip_of(std::int64_t x, const LocalTile& tile) const;
  void wait_for_strip_above(std::int64_t x, std::int64_t columns) const;

  const LocalPair& pair_;
  const LocalRegion region_;
  const LocalSweepOptions options_;
  const std::int64_t strips_, steps_;  // steps_: steps of a strip, a multiple of kLocalBlock
  LocalRow row_;
  std::vector<LocalRow> checkpoints_;
  Buffer<std::uint8_t> own_trace_;
  Buffer<std::uint8_t>& trace_;
  std::int64_t next_ = 0, round_ = 0;  // strips done; first strip of the current round
  double strip_seconds_ = 0;
  std::atomic<std::int64_t> taken_{0}, cells_{0};
  std::unique_ptr<std::atomic<std::int64_t>[]> done_;  // completed columns of each strip of a round
  std::int64_t room_ = 0;                              // size of done_
  std::atomic<std::int32_t> best_score_{0};            // best score so far
  std::mutex lock_;                                    // guards best_ during a round
  LocalBest best_;
};

}  // namespace wfacli

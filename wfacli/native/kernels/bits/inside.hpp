// Finds where in a target with free ends a query costs least, in edits; for queries of any length and any alphabet.
#pragma once

#include "solvers/edit/edit.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {

// The part of a target that paths of at most a given number of edits can reach, and the numbers of its bases that are
// free at each end.
struct InsidePart {
  std::int32_t first, end, free_begin, free_end;

  // `begin` and `end` are the numbers of bases that may stay unaligned at the target's ends; some path costs
  // `max_edits`.
  InsidePart(std::int32_t query_len, std::int32_t target_len, std::int32_t begin, std::int32_t end,
             std::int64_t max_edits);
};
// Returns an upper bound of the cost: one gap for the whole query, and one for the target bases that must be aligned.
std::int64_t max_inside_cost(std::int32_t query_len, std::int32_t target_len, std::int32_t begin, std::int32_t end);

// Buffers of one thread, reused between pairs.
struct InsideMemory {
  struct Words {
    std::int64_t first, end;
  };
  EditPlanes planes;
  Buffer<std::uint64_t> row, first_row;   // deltas of a row, laid out as in SlabTask
  Buffer<std::int32_t> cost, first_cost;  // cost of the row's cell before each word
  Buffer<Words> words, next;              // ranges of words that are computed
};

// Computes slab after slab of rows, each over the words of columns that paths within a bound can cross. E. Ukkonen,
// "Finding approximate patterns in strings", J. Algorithms 1985, prunes cells by column; this prunes them by row in
// the same way. The bound is a guess from the first slab or the cost of a known path; a path found within the bound is
// proved optimal.
//
// Row i counts symbols of the reversed query, column j those of the reversed target (bits_inside.hpp).
class InsideSearch {
 public:
  // Requires free ends of the target only, edit distance, and non-empty sequences.
  InsideSearch(const KernelTask& task, const SlabKernel& kernel, InsideMemory& memory);

  // Finds the minimum cost, and how many symbols of the target stay unaligned before the path. Sets status, score and
  // target_skip.
  KernelAnswer run();
  // After run(): bounds of the number of unaligned symbols before any path of at most `edits` edits.
  struct Skips {
    std::int32_t min_skip, max_skip;
  };
  Skips within(std::int64_t edits);

 private:
  using Words = InsideMemory::Words;

  void begin();
  void down(std::int64_t rows);
  void narrow(std::int64_t rows, std::int64_t bound);
  void fill(std::int64_t from, std::int64_t to);
  template <class Bound>
  void descend(const Bound& bound);
  void restart();
  std::int64_t near_best();
  std::int64_t lowest() const;
  std::int64_t guess() const;
  bool crowded(std::int64_t bound) const;
  bool stopped() const { return t_.cancelled && t_.cancelled->is_set(); }
  KernelAnswer best_answer() const;

  const KernelTask& t_;
  const SlabKernel& kernel_;
  InsideMemory& m_;
  const std::int64_t n_, count_, first_;  // rows, words of columns, first column where a path may begin
  std::int64_t row_ = 0;                  // rows done
};

}  // namespace wfacli

// Where in a target with free ends a query costs least, in edits: for queries of any length, and any letters.
#pragma once

#include "solvers/edit/edit.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {

// Letters of a target that paths of at most so many edits can meet, and how many of those are free at each end.
struct InsidePart {
  std::int32_t first, end, free_begin, free_end;

  // Some path costs `most`. So many letters may stay unaligned at the target's ends.
  InsidePart(std::int32_t query_len, std::int32_t target_len, std::int32_t begin, std::int32_t end, std::int64_t most);
};
// What some path costs: all of the query is one gap, and what of the target may not stay unaligned another one.
std::int64_t inside_most(std::int32_t query_len, std::int32_t target_len, std::int32_t begin, std::int32_t end);

// What a thread keeps from pair to pair.
struct InsideMemory {
  struct Words {
    std::int64_t first, end;
  };
  EditPlanes planes;
  Buffer<std::uint64_t> row, first_row;   // deltas of a row, as SlabTask has them
  Buffer<std::int32_t> cost, first_cost;  // of its cells before each word
  Buffer<Words> words, next;              // that are computed
};

// Slab of rows by slab, each over the words of columns that paths within a bound can cross: E. Ukkonen, "Finding
// approximate patterns in strings", J. Algorithms 1985, leaves cells out by column, which is the same by row. The bound
// is a guess from the first slab, or the cost of a path; a path that costs no more proves itself.
//
// Rows are letters of the reversed query, columns those of the reversed target (bits_inside.hpp).
class InsideSearch {
 public:
  // Free ends of the target only, edit distance, no sequence empty.
  InsideSearch(const KernelTask& task, const SlabKernel& kernel, InsideMemory& memory);

  // The least cost, and how many letters of the target stay unaligned before the path: status, score and target_skip.
  KernelAnswer run();
  // After run(): between which numbers of letters before them all paths of so many edits or fewer begin.
  struct Skips {
    std::int32_t least, most;
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
  KernelAnswer least() const;

  const KernelTask& t_;
  const SlabKernel& kernel_;
  InsideMemory& m_;
  const std::int64_t n_, count_, first_;  // rows, words of columns, the first column where a path may begin
  std::int64_t row_ = 0;                  // that is done
};

}  // namespace wfacli

// Edit distance of one pair by bit-vectors: one slab of rows after another, each over the columns that matter.
//
// Cells from which no path within a bound reaches the end are left out (E. Ukkonen, "Algorithms for approximate string
// matching", Information and Control 1985); as rows cost edits, the remaining cells narrow to half the band. The bound
// is the cost of a path found before, as in S. Marco-Sola et al., "QuickEd: high-performance exact sequence alignment
// based on bound-and-align", 2024: the first passes compute only cells that are little worse than the best of their
// row. The last pass, or with luck an earlier one, proves that no path is better.
#pragma once

#include "solvers/edit/edit_helper.hpp"
#include "solvers/edit/edit_solver.hpp"

namespace wfacli {

class EditBits final : public EditSolver {
 public:
  // Symbols must be single bytes.
  EditBits(const EditPair& pair, std::int64_t max_edits, int threads, const EditKernels& kernels);

  bool advance(double seconds) override;
  double share() const override;
  std::vector<const char*> arrays() const override { return {"numbers", "pass", "row"}; }
  std::vector<SavedArray> save() const override;
  void restore(const std::vector<SavedView>& state) override;

 private:
  // State of one pass down the matrix, except for the deltas of its last row.
  struct Pass {
    std::int64_t bound;     // maximum edits of a path in this pass
    std::int64_t slack;     // maximum edits by which a cell may be worse than the best of its row
    std::int64_t proved;    // all paths of at most this many edits are within the computed cells
    std::int64_t row;       // last computed row; negative in the padding
    std::int64_t lo, hi;    // first and last column that matter in this row; negative before the paths begin
    std::int64_t first;     // first word whose deltas are known ...
    std::int64_t filled;    // ... and the end of the known words
    std::int64_t anchor;    // cost of the cell left of word `first`
    std::int64_t best;      // approximate minimum edits of a path through a cell of the row
    std::int64_t steepest;  // maximum increase of `best` in a step, in edits per 1,000 rows
    std::int64_t upper;     // cost of the best path of earlier passes
  };
  static constexpr std::size_t kPassNumbers = sizeof(Pass) / sizeof(std::int64_t);

  void begin_pass(std::int64_t slack);
  void step(EditHelper& helper);
  void slab(int x, std::atomic<std::int64_t>* done, const std::atomic<std::int64_t>* above);
  std::int64_t left_word(int x) const;
  std::int64_t right_word(int x) const;
  std::int64_t below(std::int64_t from, std::int64_t to) const;
  void move_anchor(std::int64_t word);
  void narrow(std::int64_t rows);
  std::int64_t column_within(std::int64_t word, std::int64_t cost, std::int64_t cut, bool last) const;
  bool narrow_left(std::int64_t cut);
  void narrow_right(std::int64_t cut, std::int64_t cost);
  void conclude(std::int64_t found);
  void nothing_left();
  void next_pass(std::int64_t found);
  std::int64_t rest(std::int64_t column) const;

  static constexpr std::int64_t kKind = 2;
  const int threads_;
  const SlabKernel kernel_;
  EditPlanes planes_;
  Buffer<std::uint64_t> row_;  // deltas in the layout of SlabTask::row
  Pass pass_{};
};

}  // namespace wfacli

// The edit distance of one pair by bit-vectors, slab of rows by slab of rows, each over the columns that matter.
//
// E. Ukkonen, "Algorithms for approximate string matching", Information and Control 1985: cells from which no path
// within a bound leads to the end are left out; as rows cost edits, what is left narrows to half the band. The
// bound is the cost of a path that was found before, as in S. Marco-Sola et al., "QuickEd: high-performance exact
// sequence alignment based on bound-and-align", 2024: first passes look only at cells that are little worse than
// the best of their row, and the last one, or a lucky one before, proves that there is no better path.
#pragma once

#include "solvers/edit/edit_helper.hpp"
#include "solvers/edit/edit_solver.hpp"

namespace wfacli {

class EditBits final : public EditSolver {
 public:
  // Letters of one byte.
  EditBits(const EditPair& pair, std::int64_t most, int threads, const EditKernels& kernels);

  bool advance(double seconds) override;
  double share() const override;
  std::vector<const char*> arrays() const override { return {"numbers", "pass", "row"}; }
  std::vector<SavedArray> save() const override;
  void restore(const std::vector<SavedView>& state) override;

 private:
  // One way down the matrix; all of it but the deltas of its last row.
  struct Pass {
    std::int64_t bound;     // edits: all that matters in this pass
    std::int64_t slack;     // edits by which a cell may lead to more than the best of its row
    std::int64_t proved;    // no path of so many edits or fewer leaves what has been computed
    std::int64_t row;       // that is done; negative ones are padding
    std::int64_t lo, hi;    // the columns in it that matter; negative where paths are yet to begin
    std::int64_t first;     // the word from which on its deltas are known ...
    std::int64_t filled;    // ... and where they end
    std::int64_t anchor;    // cost of the cell left of that word
    std::int64_t best;      // the least that cells of the row lead to, about
    std::int64_t steepest;  // by how much that rose in a step, for a thousand rows
    std::int64_t upper;     // a path's cost, from passes before
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
  Buffer<std::uint64_t> row_;  // deltas, as SlabTask has them
  Pass pass_{};
};

}  // namespace wfacli

// Edit distance of one pair by two fronts of furthest-reaching points that meet.
//
// The two fronts are those of S. Marco-Sola et al., "Optimal gap-affine alignment in O(s) space", Bioinformatics 2023.
// Under unit costs only the last row of each front is needed, and the fronts overlap exactly if the distance is at
// most the sum of their scores. So each front advances many rows at a time; once they overlap, the last rows are
// computed again to find the first overlap.
#pragma once

#include "solvers/edit/edit_helper.hpp"
#include "solvers/edit/edit_solver.hpp"

namespace wfacli {

template <class Offset>
class EditWavefront final : public EditSolver {
 public:
  EditWavefront(const EditPair& pair, std::int64_t max_edits, int threads, const EditKernels& kernels);

  bool advance(double seconds) override;
  double share() const override;
  std::vector<const char*> arrays() const override { return {"numbers", "ahead", "behind"}; }
  std::vector<SavedArray> save() const override;
  void restore(const std::vector<SavedView>& state) override;

 private:
  // One front: its last row, in the first of two arrays.
  struct Front {
    explicit Front(bool end) : from_end(end) {}
    const bool from_end;
    std::int64_t score = 0;
    Buffer<Offset> memory[2];
    std::int64_t zero = 0;  // index of diagonal 0
    Buffer<Offset> saved;   // row at the beginning of the round

    Offset* row() { return memory[0].data() + zero; }
    const Offset* row() const { return memory[0].data() + zero; }
  };

  FrontTask<Offset> task(Front& front) const;
  void reserve(Front& front, std::int64_t score);
  void put(Front& front, std::int64_t score, const Offset* values);
  Buffer<Offset> values(const Front& front) const;
  void go(Front& front, std::int64_t rows);
  bool meet() const;
  void round(EditHelper& helper);
  void find_first_overlap(std::int64_t ahead, std::int64_t behind);
  std::int64_t rows_per_round() const;

  static constexpr std::int64_t kKind = 1;
  const FrontReach reach_;
  const int threads_;
  const FrontKernel<Offset> kernel_;
  Front ahead_{false}, behind_{true};
};

}  // namespace wfacli

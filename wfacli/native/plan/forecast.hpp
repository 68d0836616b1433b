// How long kernels take for pairs, and which had best be first. The models are data, which wfacli/plan/forecast.py fills in.
#pragma once

#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/types.hpp"

namespace wfacli {

// All that a kernel is chosen by.
struct PairShape {
  double query, longest, edits, cells;
  bool other_letters;  // than A C G T
};

// One kernel: microseconds = start + letter * longest + both * query * edits + edit * edits + square * edits^2
// + cell * cells of the matrix.
struct KernelModel {
  double start, letter, both, edit, square, cell;
  double most_letters, most_edits;  // it is not for pairs with more
  bool other_letters;               // whether it is for pairs with them
  double tried;                     // times as long it takes to find that it cannot align a pair

  double microseconds(const PairShape& pair) const {
    const double quadratic = (edit + square * pair.edits) * pair.edits;
    return start + letter * pair.longest + both * pair.query * pair.edits + quadratic + cell * pair.cells;
  }
  bool able(const PairShape& pair) const {
    return pair.longest <= most_letters && pair.edits <= most_edits && (other_letters || !pair.other_letters);
  }
};

// Columns of a batch that choices need.
struct ShapeColumns {
  const std::int32_t *q_len, *t_len, *est_edits;
  const std::uint8_t* flags;
};

class Forecaster {
 public:
  // `usual_error`: edits a letter of pairs without an estimate.
  Forecaster(std::vector<KernelModel> models, double usual_error)
      : models_(std::move(models)), usual_error_(usual_error) {}

  std::size_t kernels() const { return models_.size(); }
  // For each kernel and pair, infinite where it is not for it; `out` has kernels() * pairs.
  void microseconds(const ShapeColumns& pairs, std::int64_t count, double* out) const;
  // For each kernel the rows for which it promises the least; of equals the first kernel has them.
  std::vector<Buffer<std::int32_t>> fastest(const ShapeColumns& pairs, std::int64_t count) const;
  // Microseconds of these rows with each kernel first for all of them (`total`, one a kernel); returns those with the best
  // kernel for each. A kernel tries what it cannot align, and then the best one aligns it.
  double totals(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count, double* total) const;
  // The kernel with the least of these totals; -1 where the best kernel for each row takes less, also with `choosing`
  // microseconds a row for the choice.
  std::int64_t for_all(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count, double choosing) const;

 private:
  PairShape shape(const ShapeColumns& pairs, std::int64_t row) const;
  std::size_t best(const PairShape& pair, double& time) const;

  std::vector<KernelModel> models_;
  double usual_error_;
};

}  // namespace wfacli

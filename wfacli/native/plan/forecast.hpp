// Expected times of kernels, and the choice of the first kernel for each pair. The models are data from
// wfacli/plan/forecast.py.
#pragma once

#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/types.hpp"

namespace wfacli {

// The properties of a pair that decide its kernel.
struct PairShape {
  double query, longest, edits, cells;  // query length, longer length, expected edits, product of the lengths
  bool other_letters;                   // it has bases other than A C G T
};

// Time model of one kernel: microseconds = start + letter * longest + both * query * edits + edit * edits
// + square * edits^2 + cell * cells.
struct KernelModel {
  double start, letter, both, edit, square, cell;
  double most_letters, most_edits;  // maximum length and edits of a pair that it accepts
  bool other_letters;               // it accepts bases other than A C G T
  double tried;                     // time of a failed attempt, as a multiple of the model's time

  double microseconds(const PairShape& pair) const {
    const double quadratic = (edit + square * pair.edits) * pair.edits;
    return start + letter * pair.longest + both * pair.query * pair.edits + quadratic + cell * pair.cells;
  }
  bool able(const PairShape& pair) const {
    return pair.longest <= most_letters && pair.edits <= most_edits && (other_letters || !pair.other_letters);
  }
};

// Columns of a batch that the choice needs; one value per pair.
struct ShapeColumns {
  const std::int32_t *q_len, *t_len, *est_edits;
  const std::uint8_t* flags;
};

class Forecaster {
 public:
  // `default_error`: edits per base, for pairs without an estimate.
  Forecaster(std::vector<KernelModel> models, double default_error)
      : models_(std::move(models)), usual_error_(default_error) {}

  std::size_t kernels() const { return models_.size(); }
  // Write the expected microseconds of each kernel for each pair to out[kernels()][count]; infinite if the kernel does
  // not accept the pair.
  void microseconds(const ShapeColumns& pairs, std::int64_t count, double* out) const;
  // Return for each kernel the rows for which it is the fastest; the first kernel wins ties.
  std::vector<Buffer<std::int32_t>> fastest(const ShapeColumns& pairs, std::int64_t count) const;
  // Write to total[kernels()] the expected microseconds of these rows if one kernel is the first for all of them. A
  // kernel tries a pair that it cannot align, and then the best kernel aligns it. Return the expected microseconds if
  // each row starts with its best kernel.
  double totals(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count, double* total) const;
  // Return the kernel with the least total, or -1 if choosing the best kernel for each row is faster even though the
  // choice takes `choosing` microseconds per row.
  std::int64_t for_all(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count, double choosing) const;

 private:
  PairShape shape(const ShapeColumns& pairs, std::int64_t row) const;
  std::size_t best(const PairShape& pair, double& time) const;

  std::vector<KernelModel> models_;
  double usual_error_;
};

}  // namespace wfacli

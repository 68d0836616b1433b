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
  double query, max_length, edits, cells;  // query length, longer length, expected edits, product of the lengths
  bool has_ambiguous;                      // it has bases other than A C G T
};

// Time model of one kernel: microseconds = start + per_base * max_length + per_base_edit * query * edits
// + per_edit * edits + per_edit_squared * edits^2 + per_cell * cells.
struct KernelModel {
  double start, per_base, per_base_edit, per_edit, per_edit_squared, per_cell;
  double min_length, max_length, max_edits;  // longer lengths and edits of the pairs that it accepts
  bool accepts_ambiguous;                    // it accepts bases other than A C G T
  double failed_attempt_factor;              // time of a failed attempt, as a multiple of the model's time

  double microseconds(const PairShape& pair) const {
    const double quadratic = (per_edit + per_edit_squared * pair.edits) * pair.edits;
    return start + per_base * pair.max_length + per_base_edit * pair.query * pair.edits + quadratic +
           per_cell * pair.cells;
  }
  bool accepts(const PairShape& pair) const {
    return pair.max_length >= min_length && pair.max_length <= max_length && pair.edits <= max_edits && (accepts_ambiguous || !pair.has_ambiguous);
  }
};

// Columns of a batch that the choice needs; one value per pair.
struct ShapeColumns {
  const std::int32_t *q_len, *t_len, *est_edits;
  const std::uint8_t* flags;
};

class Forecaster {
 public:
  // `default_error_rate`: edits per base, for pairs without an estimate.
  Forecaster(std::vector<KernelModel> models, double default_error_rate)
      : models_(std::move(models)), default_error_rate_(default_error_rate) {}

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
  // choice takes `choice_microseconds` microseconds per row.
  std::int64_t best_single_kernel(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count,
                                  double choice_microseconds) const;

 private:
  PairShape shape(const ShapeColumns& pairs, std::int64_t row) const;
  std::size_t best(const PairShape& pair, double& time) const;

  std::vector<KernelModel> models_;
  double default_error_rate_;
};

}  // namespace wfacli

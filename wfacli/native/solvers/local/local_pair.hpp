// Two sequences in the form that the kernels of local alignment require: reversed, as codes, classes and profiles.
#pragma once

#include <vector>

#include "solvers/local/local.hpp"

namespace wfacli {

// Scoring scheme: a substitution matrix, and gap costs: a gap of length l costs open + l * extend, which is positive.
struct LocalScheme {
  const std::int8_t* matrix;  // [num_codes][num_codes], by query code (row) and target code
  int num_codes;              // number of codes
  std::int32_t open, extend;
};
constexpr int kMaxLocalCodes = 64;

// A run of aligned symbols of an earlier alignment: first query and target positions, and length.
struct LocalRun {
  std::int64_t query, target, length;
};

class LocalPair {
 public:
  // `query` and `target` are codes of the scheme. Throws std::invalid_argument if a code is not in the scheme, or if
  // scores may exceed 32 bits.
  LocalPair(const std::uint8_t* query, std::int64_t query_len, const std::uint8_t* target, std::int64_t target_len,
            const LocalScheme& scheme, const LocalKernels& kernels);

  std::int64_t rows() const { return rows_; }        // query length
  std::int64_t columns() const { return columns_; }  // target length
  const LocalKernel& kernel() const { return kernel_; }
  std::int32_t match() const { return match_; }  // maximum score of two symbols of the pair, at least 0
  std::int32_t open() const { return open_; }
  std::int32_t extend() const { return extend_; }
  // Exclusive bound on the difference between scores of a tile's cells and inputs; see local_sweep.hpp.
  std::int32_t max_score_difference() const { return max_score_difference_; }

  std::uint8_t row_code(std::int64_t row) const { return row_codes_.data()[row]; }
  std::uint8_t column_code(std::int64_t column) const { return column_codes_.data()[kLocalPad + column]; }
  std::int32_t score(std::uint8_t row_code, std::uint8_t column_code) const {
    return matrix_[row_code * num_codes_ + column_code];
  }

  // Return the strip at `row` whose column 0 is `column`, with the excluded cells of its columns from .. to - 1.
  LocalStrip strip(std::int64_t row, std::int64_t column, std::int64_t from, std::int64_t to) const;
  // Bar cells: forbid to align the symbols of these runs with one another. Throws std::invalid_argument if a run is
  // outside the sequences.
  void exclude(const std::vector<LocalRun>& runs);

 private:
  bool make_classes(const LocalScheme& scheme, const bool (&in_query)[kMaxLocalCodes],
                    const bool (&in_target)[kMaxLocalCodes]);
  void make_profile();
  void exclude(std::vector<ExcludedCell> cells);
  void choose_kernel(const LocalKernels& kernels);

  const std::int64_t rows_, columns_;
  const std::int32_t open_, extend_;
  const int num_codes_;
  std::int32_t match_ = 0, mismatch_ = 0, max_score_difference_ = 0;
  LocalKernel kernel_{};
  std::int8_t matrix_[kMaxLocalCodes * kMaxLocalCodes];
  std::uint8_t row_class_[kMaxLocalCodes], column_class_[kMaxLocalCodes];
  bool in_query_[kMaxLocalCodes] = {};
  bool classes_;                                          // the scores are those of classes
  std::uint8_t profile_row_[kMaxLocalCodes + 1] = {};     // profile of each code; the last entry is for padding rows
  // Padded sequences: rows are followed by kNoRow, columns have kLocalPad bytes on either side.
  Buffer<std::uint8_t> row_codes_, column_codes_, row_classes_, column_classes_;
  Buffer<std::int8_t> profile_;
  std::vector<ExcludedCell> excluded_;        // sorted by strip, then column; rows are relative to the strip
  std::vector<std::int64_t> first_excluded_;  // [strips + 1], index of the first excluded cell of each strip
};

}  // namespace wfacli

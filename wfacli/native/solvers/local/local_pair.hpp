// Two sequences in the form that the kernels of local alignment require: reversed, as codes, classes and profiles.
#pragma once

#include <vector>

#include "solvers/local/local.hpp"

namespace wfacli {

// Scoring scheme: a substitution matrix, and gap costs: a gap of length l costs open + l * extend, which is positive.
struct LocalScheme {
  const std::int8_t* matrix;  // [letters][letters], by query code (row) and target code
  int letters;                // number of codes
  std::int32_t open, extend;
};
constexpr int kMostLocalLetters = 64;

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
  std::int32_t apart() const { return apart_; }

  std::uint8_t row_code(std::int64_t row) const { return row_codes_.data()[row]; }
  std::uint8_t column_code(std::int64_t column) const { return column_codes_.data()[kLocalPad + column]; }
  std::int32_t score(std::uint8_t row_code, std::uint8_t column_code) const {
    return matrix_[row_code * letters_ + column_code];
  }

  // Return the strip at `row` whose column 0 is `column`, with the barred cells of its columns from .. to - 1.
  LocalStrip strip(std::int64_t row, std::int64_t column, std::int64_t from, std::int64_t to) const;
  // Bar cells: forbid to align the symbols of these runs with one another. Throws std::invalid_argument if a run is
  // outside the sequences.
  void bar(const std::vector<LocalRun>& runs);

 private:
  bool make_classes(const LocalScheme& scheme, const bool (&in_query)[kMostLocalLetters],
                    const bool (&in_target)[kMostLocalLetters]);
  void make_profile();
  void bar(std::vector<LocalBarred> cells);
  void choose_kernel(const LocalKernels& kernels);

  const std::int64_t rows_, columns_;
  const std::int32_t open_, extend_;
  const int letters_;
  std::int32_t match_ = 0, mismatch_ = 0, apart_ = 0;
  LocalKernel kernel_{};
  std::int8_t matrix_[kMostLocalLetters * kMostLocalLetters];
  std::uint8_t row_class_[kMostLocalLetters], column_class_[kMostLocalLetters];
  bool in_query_[kMostLocalLetters] = {};
  bool classes_;                                          // the scores are those of classes
  std::uint8_t profile_row_[kMostLocalLetters + 1] = {};  // profile of each code; the last entry is for padding rows
  // Padded sequences: rows are followed by kNoRow, columns have kLocalPad bytes on either side.
  Buffer<std::uint8_t> row_codes_, column_codes_, row_classes_, column_classes_;
  Buffer<std::int8_t> profile_;
  std::vector<LocalBarred> barred_;        // sorted by strip, then column; rows are relative to the strip
  std::vector<std::int64_t> barred_from_;  // [strips + 1], index of the first barred cell of each strip
};

}  // namespace wfacli

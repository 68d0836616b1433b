// Two sequences as the kernels of local alignment take them: reversed, as codes and as classes, with rows of scores.
#pragma once

#include <vector>

#include "solvers/local/local.hpp"

namespace wfacli {

// Scores of letters, costs of gaps: one of length l costs open + l * extend, and something.
struct LocalScheme {
  const std::int8_t* matrix;  // [letters][letters]: a query's code, a target's
  int letters;
  std::int32_t open, extend;
};
constexpr int kMostLocalLetters = 64;

// Letters `length` places long, from these on, that are aligned with one another in an alignment found before.
struct LocalRun {
  std::int64_t query, target, length;
};

class LocalPair {
 public:
  // Codes of both. Throws std::invalid_argument: a code that the scheme lacks, or scores beyond 32 bits.
  LocalPair(const std::uint8_t* query, std::int64_t query_len, const std::uint8_t* target, std::int64_t target_len,
            const LocalScheme& scheme, const LocalKernels& kernels);

  std::int64_t rows() const { return rows_; }        // query letters
  std::int64_t columns() const { return columns_; }  // target letters
  const LocalKernel& kernel() const { return kernel_; }
  std::int32_t match() const { return match_; }  // the best that two letters score, 0 at least
  std::int32_t open() const { return open_; }
  std::int32_t extend() const { return extend_; }
  // Scores of two cells of a tile, or of what it begins with, differ by less; see local_sweep.hpp.
  std::int32_t apart() const { return apart_; }

  std::uint8_t row_code(std::int64_t row) const { return row_codes_.data()[row]; }
  std::uint8_t column_code(std::int64_t column) const { return column_codes_.data()[kLocalPad + column]; }
  std::int32_t score(std::uint8_t row_code, std::uint8_t column_code) const {
    return matrix_[row_code * letters_ + column_code];
  }

  // Rows from `row` on, columns from `column` on; cells that are barred among columns from .. to - 1 are in it.
  LocalStrip strip(std::int64_t row, std::int64_t column, std::int64_t from, std::int64_t to) const;
  // These letters shall not be aligned with one another. Throws std::invalid_argument where there are none such.
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
  bool classes_;                                          // say what letters score
  std::uint8_t profile_row_[kMostLocalLetters + 1] = {};  // of each code, the last one of no row
  // Sequences with what surrounds them: rows with kNoRow behind them, columns with kLocalPad on either side.
  Buffer<std::uint8_t> row_codes_, column_codes_, row_classes_, column_classes_;
  Buffer<std::int8_t> profile_;
  std::vector<LocalBarred> barred_;        // in strips, by strip, then column
  std::vector<std::int64_t> barred_from_;  // of a strip: where its first one is; one more than strips
};

}  // namespace wfacli

#include "solvers/local/local_pair.hpp"

#include <algorithm>
#include <stdexcept>

namespace wfacli {

namespace {

constexpr std::int64_t kMaxScore = std::int64_t{1} << 30;
constexpr int kMaxRows = 512;  // maximum rows of a strip in any instruction set

// Write a sequence to `to`: reversed, mapped by `table`, and padded with `none` by `before` and `behind` bytes.
void reversed(const std::uint8_t* codes, std::int64_t count, const std::uint8_t* table, std::uint8_t none,
              std::int64_t before, std::int64_t behind, Buffer<std::uint8_t>& to) {
  to.resize(static_cast<std::size_t>(before + count + behind));
  std::fill_n(to.data(), before, none);
  for (std::int64_t i = 0; i < count; ++i) to.data()[before + i] = table[codes[count - 1 - i]];
  std::fill_n(to.data() + before + count, behind, none);
}

void mark(const std::uint8_t* codes, std::int64_t count, int num_codes, bool* seen) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (codes[i] >= num_codes) throw std::invalid_argument("the code of a symbol is not one of the scheme's");
    seen[codes[i]] = true;
  }
}

}  // namespace

LocalPair::LocalPair(const std::uint8_t* query, std::int64_t query_len, const std::uint8_t* target,
                     std::int64_t target_len, const LocalScheme& scheme, const LocalKernels& kernels)
    : rows_(query_len),
      columns_(target_len),
      open_(scheme.open),
      extend_(scheme.extend),
      num_codes_(scheme.num_codes) {
  if (num_codes_ < 1 || num_codes_ > kMaxLocalCodes) throw std::invalid_argument("a scheme has 1 to 64 symbols");
  if (open_ < 0 || extend_ < 0 || open_ + extend_ < 1 || open_ > kMaxScore / 4 || extend_ > kMaxScore / 4)
    throw std::invalid_argument("gaps must cost something, and no more than scores of 32 bits hold");
  std::copy_n(scheme.matrix, num_codes_ * num_codes_, matrix_);
  bool in_target[kMaxLocalCodes] = {};
  mark(query, query_len, num_codes_, in_query_);
  mark(target, target_len, num_codes_, in_target);
  for (int a = 0; a < num_codes_; ++a)
    for (int b = 0; b < num_codes_; ++b)
      if (in_query_[a] && in_target[b]) match_ = std::max<std::int32_t>(match_, matrix_[a * num_codes_ + b]);
  if (match_ * std::min(rows_, columns_) >= kMaxScore)
    throw std::invalid_argument("a score of this pair may be 2^30 or more, which is too much");
  classes_ = make_classes(scheme, in_query_, in_target);
  std::uint8_t same[kMaxLocalCodes];
  for (int a = 0; a < kMaxLocalCodes; ++a) same[a] = static_cast<std::uint8_t>(a);
  reversed(query, query_len, same, static_cast<std::uint8_t>(num_codes_), 0, kMaxRows, row_codes_);
  reversed(target, target_len, same, kNoColumn, kLocalPad, kLocalPad, column_codes_);
  if (classes_) {
    reversed(query, query_len, row_class_, kNoRow, 0, kMaxRows, row_classes_);
    reversed(target, target_len, column_class_, kNoColumn, kLocalPad, kLocalPad, column_classes_);
  } else {
    make_profile();
  }
  choose_kernel(kernels);
}

// Assign classes to symbols such that two symbols of one class score match_, and any others mismatch_ < 0. Return
// false if the scheme has no such classes for the symbols of the pair.
bool LocalPair::make_classes(const LocalScheme& scheme, const bool (&in_query)[kMaxLocalCodes],
                             const bool (&in_target)[kMaxLocalCodes]) {
  bool mix64 = false;
  mismatch_ = match_ > 0 ? -1 : 0;
  const auto each = [&](const auto& look) {
    for (int a = 0; a < num_codes_; ++a)
      for (int b = 0; b < num_codes_; ++b)
        if (in_query[a] && in_target[b]) look(a, b, scheme.matrix[a * num_codes_ + b]);
  };
  bool found = false;
  each([&](int, int, std::int32_t score) {
    if (score == match_) return;
    mix64 = mix64 || (found && score != mismatch_);
    mismatch_ = score;
    found = true;
  });
  if (mix64 || mismatch_ >= 0 || match_ <= 0) return false;
  std::fill_n(row_class_, kMaxLocalCodes, kNoRow);
  std::fill_n(column_class_, kMaxLocalCodes, kNoColumn);
  each([&](int a, int b, std::int32_t score) {
    if (score == match_ && column_class_[b] == kNoColumn) column_class_[b] = static_cast<std::uint8_t>(a);
  });
  each([&](int a, int b, std::int32_t score) {
    if (score == match_ && row_class_[a] == kNoRow) row_class_[a] = column_class_[b];
  });
  bool right = true;
  each([&](int a, int b, std::int32_t score) {
    right = right && (row_class_[a] == column_class_[b]) == (score == match_);
  });
  return right;
}

void LocalPair::make_profile() {
  const std::int64_t stride = columns_ + 2 * kLocalPad;
  int rows = 0;
  for (int a = 0; a < num_codes_; ++a)
    if (in_query_[a]) profile_row_[a] = static_cast<std::uint8_t>(rows++);
  profile_row_[num_codes_] = static_cast<std::uint8_t>(rows++);
  profile_.resize(static_cast<std::size_t>(stride * rows));
  for (int a = 0; a <= num_codes_; ++a) {
    if (a < num_codes_ && !in_query_[a]) continue;
    std::int8_t scores[256];
    std::fill_n(scores, 256, std::int8_t{-128});
    if (a < num_codes_) std::copy_n(matrix_ + a * num_codes_, num_codes_, scores);
    std::int8_t* to = profile_.data() + profile_row_[a] * stride;
    for (std::int64_t c = 0; c < stride; ++c) to[c] = scores[column_codes_.data()[c]];
  }
}

// Choose 16-bit scores if they hold the range of a tile. Between two cells H grows by at most match + extend for each
// row or column, plus open; it falls by less. Relevant values of E and F are at most two gap openings below H.
void LocalPair::choose_kernel(const LocalKernels& kernels) {
  const LocalKernel& narrow = kernels.narrow;
  const std::int64_t max_steps = narrow.rows + kTileSteps + 2 * narrow.lanes + 2;
  const std::int64_t max_difference =
      max_steps * (match_ + std::int64_t{extend_}) + 4 * (std::int64_t{open_} + extend_) + 1;
  const bool fits = max_difference + narrow.rows * std::int64_t{match_} < narrow.max_difference;
  kernel_ = fits ? narrow : kernels.wide;
  max_score_difference_ = fits ? static_cast<std::int32_t>(max_difference) : static_cast<std::int32_t>(kMaxScore);
}

LocalStrip LocalPair::strip(std::int64_t row, std::int64_t column, std::int64_t from, std::int64_t to) const {
  LocalStrip strip{};
  const std::int64_t at = kLocalPad + column;
  if (classes_) {
    strip.row_classes = row_classes_.data() + row;
    strip.column_classes = column_classes_.data() + at;
  }
  strip.match = match_;
  strip.mismatch = mismatch_;
  strip.first_gap = open_ + extend_;
  strip.extend = extend_;
  strip.column = column;
  if (!first_excluded_.empty() && row < rows_) {
    const std::int64_t index = row / kernel_.rows;
    const auto first = excluded_.begin() + first_excluded_[static_cast<std::size_t>(index)];
    const auto last = excluded_.begin() + first_excluded_[static_cast<std::size_t>(index + 1)];
    const auto before = [](const ExcludedCell& cell, std::int64_t c) { return cell.column < c; };
    const auto begin = std::lower_bound(first, last, column + from, before);
    const auto end = std::lower_bound(begin, last, column + to, before);
    strip.excluded = excluded_.data() + (begin - excluded_.begin());
    strip.num_excluded = end - begin;
  }
  if (!classes_ || strip.num_excluded) {
    strip.row_codes = row_codes_.data() + row;
    strip.profile_rows = profile_row_;
    strip.stride = columns_ + 2 * kLocalPad;
    strip.profile = profile_.data() + at;
  }
  return strip;
}

void LocalPair::exclude(const std::vector<LocalRun>& runs) {
  std::vector<ExcludedCell> cells;
  for (const LocalRun& run : runs) {
    if (run.query < 0 || run.target < 0 || run.length < 0 || run.length > rows_ - run.query ||
        run.length > columns_ - run.target)
      throw std::invalid_argument("excluded runs are outside the sequences");
    for (std::int64_t x = 0; x < run.length; ++x)
      cells.push_back({rows_ - 1 - run.query - x, columns_ - 1 - run.target - x});
  }
  if (!cells.empty()) exclude(std::move(cells));
}

void LocalPair::exclude(std::vector<ExcludedCell> cells) {
  excluded_ = std::move(cells);
  const std::int64_t rows = kernel_.rows, strips = (rows_ + rows - 1) / rows;
  std::sort(excluded_.begin(), excluded_.end(), [=](const ExcludedCell& a, const ExcludedCell& b) {
    return a.row / rows != b.row / rows ? a.row / rows < b.row / rows : a.column < b.column;
  });
  first_excluded_.assign(static_cast<std::size_t>(strips + 1), 0);
  for (const ExcludedCell& cell : excluded_) {
    if (cell.row < 0 || cell.row >= rows_ || cell.column < 0 || cell.column >= columns_)
      throw std::invalid_argument("a barred cell is outside the matrix");
    ++first_excluded_[static_cast<std::size_t>(cell.row / rows + 1)];
  }
  for (std::size_t x = 1; x < first_excluded_.size(); ++x) first_excluded_[x] += first_excluded_[x - 1];
  for (ExcludedCell& cell : excluded_) cell.row %= rows;
  if (classes_ && profile_.empty() && !excluded_.empty()) make_profile();
}

}  // namespace wfacli

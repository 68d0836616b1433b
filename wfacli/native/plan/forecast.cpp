#include "plan/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wfacli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

PairShape Forecaster::shape(const ShapeColumns& pairs, std::int64_t row) const {
  const std::int32_t q = pairs.q_len[row], t = pairs.t_len[row], estimate = pairs.est_edits[row];
  const double longest = std::max(q, t);
  const double edits =
      estimate >= 0 ? estimate : std::max(static_cast<double>(std::abs(q - t)), default_error_rate_ * longest);
  return {static_cast<double>(q), longest, edits, static_cast<double>(q) * t, (pairs.flags[row] & kNonAcgt) != 0};
}

std::size_t Forecaster::best(const PairShape& pair, double& time) const {
  std::size_t kernel = 0;
  time = kNever;
  for (std::size_t k = 0; k < models_.size(); ++k) {
    if (!models_[k].accepts(pair)) continue;
    const double takes = models_[k].microseconds(pair);
    if (takes < time) {
      time = takes;
      kernel = k;
    }
  }
  return kernel;
}

void Forecaster::microseconds(const ShapeColumns& pairs, std::int64_t count, double* out) const {
  for (std::int64_t row = 0; row < count; ++row) {
    const PairShape pair = shape(pairs, row);
    for (std::size_t k = 0; k < models_.size(); ++k)
      out[static_cast<std::int64_t>(k) * count + row] =
          models_[k].accepts(pair) ? models_[k].microseconds(pair) : kNever;
  }
}

std::vector<Buffer<std::int32_t>> Forecaster::fastest(const ShapeColumns& pairs, std::int64_t count) const {
  std::vector<Buffer<std::int32_t>> rows(models_.size());
  double time;
  for (std::int64_t row = 0; row < count; ++row) {
    Buffer<std::int32_t>& of_kernel = rows[best(shape(pairs, row), time)];
    if (of_kernel.empty()) of_kernel.reserve(static_cast<std::size_t>(count - row));
    of_kernel.push(static_cast<std::int32_t>(row));
  }
  return rows;
}

double Forecaster::totals(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count, double* total) const {
  std::fill_n(total, models_.size(), 0.0);
  double best_total = 0, min_time;
  for (std::int64_t r = 0; r < count; ++r) {
    const PairShape pair = shape(pairs, rows[r]);
    best(pair, min_time);
    best_total += min_time;
    for (std::size_t k = 0; k < models_.size(); ++k) {
      const double takes = models_[k].microseconds(pair);
      total[k] += models_[k].accepts(pair) ? takes : models_[k].failed_attempt_factor * takes + min_time;
    }
  }
  return best_total;
}

std::int64_t Forecaster::best_single_kernel(const ShapeColumns& pairs, const std::int32_t* rows, std::int64_t count,
                                            double choice_microseconds) const {
  std::vector<double> total(models_.size());
  const double chosen = totals(pairs, rows, count, total.data()) + choice_microseconds * static_cast<double>(count);
  const auto found = std::min_element(total.begin(), total.end());
  return *found <= chosen ? found - total.begin() : -1;
}

}  // namespace wfacli

// Bindings of the inputs for the choice of kernels: estimated edits, and time models of kernels.

#include <algorithm>
#include <atomic>
#include <thread>

#include "bind/bind.hpp"
#include "plan/estimate.hpp"
#include "plan/forecast.hpp"
#include "engine/staging.hpp"

namespace wfacli {
namespace {

using Rows = InColumn<std::int32_t>;

constexpr std::int64_t kShare = 16;  // pairs that a thread takes at a time
constexpr std::int64_t kMinShare = 32;  // minimum pairs per thread

using Weights = std::optional<std::tuple<std::int32_t, std::int32_t, std::int32_t>>;  // mismatch, open, extend

using Ends = std::optional<std::tuple<std::int32_t, std::int32_t>>;  // free target bases at the beginning and the end

// Options of estimate_edits and estimate_free_edits, and the number of threads.
struct EstimateOptions {
  EstimateOptions(std::int32_t edits, const Weights& weights, int thread_count, const Ends& free_ends = {})
      : effort(edits), threads(thread_count), has_costs(weights.has_value()), costs{1, 0, 1}, free(free_ends) {
    if (weights) costs = {std::get<0>(*weights), std::get<1>(*weights), std::get<2>(*weights)};
  }
  std::int32_t effort;
  int threads;
  bool has_costs;
  EditCosts costs;
  Ends free;

  std::int32_t estimate(const PairView& pair) const {
    if (free) return estimate_free_edits(pair, std::get<0>(*free), std::get<1>(*free), costs);
    return estimate_edits(pair, effort, has_costs ? &costs : nullptr);
  }
};

// Estimate the edits of pair row(i) for each i below `count`, and assign them to found(i).
template <class Row, class Found>
void estimate_all(const BatchView& batch, std::int64_t count, const EstimateOptions& options, const Row& row,
                  const Found& found) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t first; (first = next.fetch_add(kShare)) < count;)
      for (std::int64_t i = first; i < std::min(first + kShare, count); ++i)
        found(i) = options.estimate(batch.pair(row(i)));
  };
  std::vector<std::jthread> others;
  for (std::int64_t other = 1; other < std::min<std::int64_t>(options.threads, count / kMinShare); ++other)
    others.emplace_back(work);
  work();
}

// Return estimated edits, i32[m], of some rows or of all pairs of a batch, computed by up to `threads` threads.
OutColumn<std::int32_t> estimates(nb::handle batch, std::optional<Rows> rows, std::int32_t effort, Weights costs,
                                  int threads, Ends free) {
  const BatchView view = batch_view(batch);
  if (rows) check_rows(*rows, view.n);
  const std::int64_t count = rows ? static_cast<std::int64_t>(rows->shape(0)) : view.n;
  Buffer<std::int32_t> edits;
  {
    nb::gil_scoped_release release;
    std::int32_t* found = edits.extend(static_cast<std::size_t>(count));
    estimate_all(
        view, count, {effort, costs, threads, free}, [&](std::int64_t i) { return rows ? rows->data()[i] : i; },
        [&](std::int64_t i) -> std::int32_t& { return found[i]; });
  }
  return to_numpy(edits);
}

// Return (bytes, max_length, max_length_difference, non_acgt) of all pairs (RowsSummary); estimated edits: i32[n] with the
// estimate of each `every`-th pair and -1 elsewhere, or None if a sequence is longer than `max_length`; and the rows that
// have an estimate, i32[k].
nb::tuple survey(nb::handle batch, std::int64_t every, std::int32_t max_length, std::int32_t effort, Weights costs,
                 int threads) {
  if (every < 1) throw nb::value_error("every how many pairs?");
  const BatchView view = batch_view(batch);
  const std::size_t n = static_cast<std::size_t>(view.n);
  RowsSummary s;
  Buffer<std::int32_t> edits, rows;
  bool looked = false;
  {
    nb::gil_scoped_release release;
    s = summary_of(view, nullptr, view.n);
    looked = s.max_length <= max_length;
    if (looked) {
      std::int32_t* found = edits.extend(n);
      std::fill_n(found, n, -1);
      estimate_all(
          view, (view.n + every - 1) / every, {effort, costs, threads}, [&](std::int64_t i) { return i * every; },
          [&](std::int64_t i) -> std::int32_t& { return found[i * every]; });
      for (std::int64_t row = 0; row < view.n; row += every)
        if (found[row] >= 0) rows.push(static_cast<std::int32_t>(row));
    }
  }
  const nb::object column = looked ? nb::cast(to_numpy(edits)) : nb::none();
  const nb::tuple extent = nb::make_tuple(s.bytes, s.max_length, s.max_length_difference, s.non_acgt);
  return nb::make_tuple(extent, column, to_numpy(rows));
}

std::int64_t shapes_of(nb::handle batch, ShapeColumns& columns) {
  const std::int64_t n = static_cast<std::int64_t>(nb::cast<Rows>(batch.attr("q_len"), false).shape(0));
  columns = {column<std::int32_t>(batch, "q_len", n), column<std::int32_t>(batch, "t_len", n),
             column<std::int32_t>(batch, "est_edits", n), column<std::uint8_t>(batch, "flags", n)};
  return n;
}

KernelModel model_of(nb::handle row) {
  const auto value = [&](int i) { return nb::cast<double>(row[i]); };
  return {.start = value(0),
          .per_base = value(1),
          .per_base_edit = value(2),
          .per_edit = value(3),
          .per_edit_squared = value(4),
          .per_cell = value(5),
          .min_length = value(6),
          .max_length = value(7),
          .max_edits = value(8),
          .accepts_ambiguous = nb::cast<bool>(row[9]),
          .failed_attempt_factor = value(10)};
}

void make_forecaster(Forecaster* self, nb::sequence rows, double default_error_rate) {
  std::vector<KernelModel> models;
  for (nb::handle row : rows) models.push_back(model_of(row));
  if (models.empty()) throw nb::value_error("no kernels");
  new (self) Forecaster(std::move(models), default_error_rate);
}

OutColumn<double> microseconds(const Forecaster& self, nb::handle batch) {
  ShapeColumns pairs;
  const std::int64_t n = shapes_of(batch, pairs);
  Buffer<double> out;
  self.microseconds(pairs, n, out.extend(self.kernels() * static_cast<std::size_t>(n)));
  return to_numpy(out);
}

nb::list fastest(const Forecaster& self, nb::handle batch) {
  ShapeColumns pairs;
  const std::int64_t n = shapes_of(batch, pairs);
  std::vector<Buffer<std::int32_t>> rows;
  {
    nb::gil_scoped_release release;
    rows = self.fastest(pairs, n);
  }
  nb::list found;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!rows[k].empty()) found.append(nb::make_tuple(k, to_numpy(rows[k])));
  return found;
}

OutColumn<double> totals(const Forecaster& self, nb::handle batch, Rows rows) {
  ShapeColumns pairs;
  check_rows(rows, shapes_of(batch, pairs));
  Buffer<double> out;
  self.totals(pairs, rows.data(), static_cast<std::int64_t>(rows.shape(0)), out.extend(self.kernels()));
  return to_numpy(out);
}

nb::object best_single_kernel(const Forecaster& self, nb::handle batch, Rows rows, double choice_microseconds) {
  ShapeColumns pairs;
  check_rows(rows, shapes_of(batch, pairs));
  const std::int64_t kernel =
      self.best_single_kernel(pairs, rows.data(), static_cast<std::int64_t>(rows.shape(0)), choice_microseconds);
  return kernel < 0 ? nb::none() : nb::object(nb::int_(kernel));
}

}  // namespace

void bind_forecast(nb::module_& m) {
  m.def(
      "estimate_edits", &estimates, nb::arg("batch"), nb::arg("rows") = nb::none(),
      nb::arg("effort") = kDefaultEffort, nb::arg("costs") = nb::none(), nb::arg("threads") = 1,
      nb::arg("free") = nb::none(),
      "Estimated edits of each pair (i32[n]), or of some rows (i32[m]), from a sample of long ones; with costs "
      "(mismatch, open, extend): what these cost, in average edits; with free (bases of the target's begin, end) "
      "that may stay unaligned: the same for such pairs, whatever `effort` is, -1 where it would take too long");
  m.def("survey", &survey, nb::arg("batch"), nb::arg("every"), nb::arg("max_length"),
        nb::arg("effort") = kDefaultEffort, nb::arg("costs") = nb::none(), nb::arg("threads") = 1,
        "As rows_summary of all pairs: (bytes, length of the longest sequence, maximum difference of lengths, pairs "
        "with other symbols); estimates (i32[n], -1: none) of one pair in `every`; None if a sequence is longer "
        "than max_length; and the rows that have one (i32[k])");
  nb::class_<Forecaster>(m, "Forecaster", "Models of kernels' times, in the order of the kernels")
      .def("__init__", &make_forecaster, nb::arg("models"), nb::arg("default_error_rate"))
      .def("microseconds", &microseconds, nb::arg("batch"), "Of each pair for each kernel, f64[kernels * n]")
      .def("fastest", &fastest, nb::arg("batch"), "[(kernel, its rows i32[m])], each row with its fastest kernel")
      .def("totals", &totals, nb::arg("batch"), nb::arg("rows"),
           "Of some rows with each kernel first, f64[kernels]; those that it cannot align with its try and the best "
           "kernel")
      .def("best_single_kernel", &best_single_kernel, nb::arg("batch"), nb::arg("rows"),
           nb::arg("choice_microseconds"),
           "The kernel that is best for all, going by some rows; None where choosing for each is worth its time");
}

}  // namespace wfacli

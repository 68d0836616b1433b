// What kernels are chosen by: estimates of edits, and the models of kernels' times.

#include <algorithm>
#include <atomic>
#include <thread>

#include "bind.hpp"
#include "estimate.hpp"
#include "forecast.hpp"

namespace wfacli {
namespace {

using Rows = InColumn<std::int32_t>;

constexpr std::int64_t kShare = 64;  // pairs that a thread takes at a time

// Edits of some rows, i32[m], or of all pairs of a batch, found by so many threads.
OutColumn<std::int32_t> estimates(nb::handle batch, std::optional<Rows> rows, std::int32_t most,
                                  std::optional<std::tuple<std::int32_t, std::int32_t, std::int32_t>> costs, int threads) {
  const BatchView view = batch_view(batch);
  if (rows) check_rows(*rows, view.n);
  const std::int64_t count = rows ? static_cast<std::int64_t>(rows->shape(0)) : view.n;
  EditCosts each{};
  if (costs) each = {std::get<0>(*costs), std::get<1>(*costs), std::get<2>(*costs)};
  Buffer<std::int32_t> edits;
  {
    nb::gil_scoped_release release;
    std::int32_t* found = edits.extend(static_cast<std::size_t>(count));
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
      for (std::int64_t first; (first = next.fetch_add(kShare)) < count;)
        for (std::int64_t r = first; r < std::min(first + kShare, count); ++r)
          found[r] = estimate_edits(view.pair(rows ? rows->data()[r] : r), most, costs ? &each : nullptr);
    };
    std::vector<std::jthread> others;
    for (std::int64_t other = 1; other < std::min<std::int64_t>(threads, count / kShare); ++other) others.emplace_back(work);
    work();
  }
  return to_numpy(edits);
}

std::int64_t shapes_of(nb::handle batch, ShapeColumns& columns) {
  const std::int64_t n = static_cast<std::int64_t>(nb::cast<Rows>(batch.attr("q_len"), false).shape(0));
  columns = {column<std::int32_t>(batch, "q_len", n), column<std::int32_t>(batch, "t_len", n),
             column<std::int32_t>(batch, "est_edits", n), column<std::uint8_t>(batch, "flags", n)};
  return n;
}

KernelModel model_of(nb::handle row) {
  const auto value = [&](int i) { return nb::cast<double>(row[i]); };
  return {.start = value(0), .letter = value(1), .both = value(2), .edit = value(3), .square = value(4),
          .most_letters = value(5), .most_edits = value(6), .other_letters = nb::cast<bool>(row[7]),
          .tried = value(8)};
}

void make_forecaster(Forecaster* self, nb::sequence rows, double usual_error) {
  std::vector<KernelModel> models;
  for (nb::handle row : rows) models.push_back(model_of(row));
  if (models.empty()) throw nb::value_error("no kernels");
  new (self) Forecaster(std::move(models), usual_error);
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

nb::object for_all(const Forecaster& self, nb::handle batch, Rows rows, double choosing) {
  ShapeColumns pairs;
  check_rows(rows, shapes_of(batch, pairs));
  const std::int64_t kernel = self.for_all(pairs, rows.data(), static_cast<std::int64_t>(rows.shape(0)), choosing);
  return kernel < 0 ? nb::none() : nb::object(nb::int_(kernel));
}

}  // namespace

void bind_forecast(nb::module_& m) {
  m.def("estimate_edits", &estimates, nb::arg("batch"), nb::arg("rows") = nb::none(),
        nb::arg("most") = kUsualEffort, nb::arg("costs") = nb::none(), nb::arg("threads") = 1,
        "Estimated edits of each pair (i32[n]), or of some rows (i32[m]), from about so many of a long one; with costs "
        "(mismatch, open, extend): what these cost, in average edits");
  nb::class_<Forecaster>(m, "Forecaster", "Models of kernels' times, in the order of the kernels")
      .def("__init__", &make_forecaster, nb::arg("models"), nb::arg("usual_error"))
      .def("microseconds", &microseconds, nb::arg("batch"), "Of each pair for each kernel, f64[kernels * n]")
      .def("fastest", &fastest, nb::arg("batch"), "[(kernel, its rows i32[m])], each row with its fastest kernel")
      .def("for_all", &for_all, nb::arg("batch"), nb::arg("rows"), nb::arg("choosing"),
           "The kernel that is best for all, going by some rows; None where choosing for each is worth its time");
}

}  // namespace wfacli

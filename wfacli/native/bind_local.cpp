// The best local alignment of one pair of any length, step by step.
#include <memory>
#include <stdexcept>

#include "bind.hpp"
#include "bind_saved.hpp"
#include "kernels.hpp"
#include "local_solver.hpp"

namespace wfacli {
namespace {

using Matrix = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Runs = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

struct BoundLocal {
  std::unique_ptr<LocalSolver> solver;

  LocalSolver& get() const {
    if (!solver) throw nb::value_error("the solver is closed");
    return *solver;
  }
};

void make(BoundLocal* self, InColumn<std::uint8_t> query, InColumn<std::uint8_t> target, Matrix matrix,
          std::int32_t open, std::int32_t extend, InColumn<std::uint8_t> same, Runs barred, int threads, bool path,
          std::int64_t memory, std::int64_t trace, std::int64_t steps, bool prune, const std::string& isa) {
  const int letters = static_cast<int>(matrix.shape(0));
  if (matrix.shape(1) != matrix.shape(0) || same.shape(0) != matrix.shape(0))
    throw nb::value_error("a scheme has a score for each two letters, and says of each how it is written");
  std::vector<LocalRun> runs;
  for (std::size_t x = 0; x < barred.shape(0); ++x)
    runs.push_back({barred.data()[3 * x], barred.data()[3 * x + 1], barred.data()[3 * x + 2]});
  const LocalScheme scheme{matrix.data(), letters, open, extend};
  const LocalOptions options{threads, path, memory, trace, steps, prune};
  const KernelEntry& entry = kernels_named(isa);
  std::unique_ptr<LocalSolver> solver;
  {
    nb::gil_scoped_release release;
    solver = std::make_unique<LocalSolver>(query.data(), static_cast<std::int64_t>(query.shape(0)), target.data(),
                                           static_cast<std::int64_t>(target.shape(0)), scheme, same.data(), runs,
                                           options, entry.local());
  }
  new (self) BoundLocal{std::move(solver)};
}

bool advance(BoundLocal& self, double seconds) {
  LocalSolver& solver = self.get();
  nb::gil_scoped_release release;
  return solver.advance(seconds);
}

void restore(BoundLocal& self, nb::dict state) {
  LocalSolver& solver = self.get();
  const SavedColumns columns(state, solver.arrays());
  nb::gil_scoped_release release;
  solver.restore(columns.views);
}

nb::tuple position(const BoundLocal& self) {
  const LocalSolver& solver = self.get();
  return nb::make_tuple(solver.score(), solver.scored(), solver.share(), solver.cells());
}

nb::tuple alignment(BoundLocal& self) {
  LocalSolver& solver = self.get();
  if (!solver.ended()) throw nb::value_error("the solver has not come to its end");
  const std::vector<std::int64_t> span = solver.span();
  Buffer<std::uint32_t> cigar = solver.cigar();
  return nb::make_tuple(solver.score(), nb::make_tuple(span[0], span[1], span[2], span[3]), to_numpy(cigar));
}

}  // namespace

void bind_local(nb::module_& m) {
  nb::class_<BoundLocal>(m, "LocalSolver", "The best local alignment of one pair, on its way")
      .def("__init__", &make, nb::arg("query"), nb::arg("target"), nb::arg("matrix"), nb::arg("open"),
           nb::arg("extend"), nb::arg("same"), nb::arg("barred"), nb::arg("threads") = 1, nb::arg("path") = true,
           nb::arg("memory") = std::int64_t{1} << 30, nb::arg("trace") = std::int64_t{1} << 22,
           nb::arg("steps") = kTileSteps, nb::arg("prune") = true, nb::arg("isa") = "",
           "Codes u8; matrix i8[A, A]; same u8[A]; barred i64[., 3]: (query, target, length) of runs of letters")
      .def("advance", &advance, nb::arg("seconds"), "Goes on for about so long; whether the end has been reached")
      .def_prop_ro("position", &position, "(best score so far, whether it is the best, share of the phase, cells)")
      .def("alignment", &alignment, "(score, (q from, q to, t from, t to), cigar u32[]), once, after the end")
      .def(
          "save", [](const BoundLocal& self) { return saved_dict([&] { return self.get().save(); }); },
          "{name: i64[]}")
      .def("restore", &restore, nb::arg("state"), "Raises ValueError")
      .def("close", [](BoundLocal& self) { self.solver.reset(); });
}

}  // namespace wfacli

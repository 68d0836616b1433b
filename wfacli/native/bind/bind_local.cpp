// Bindings of the best local alignment of one pair of any length, computed in steps.
#include <memory>
#include <stdexcept>

#include "bind/bind.hpp"
#include "bind/bind_saved.hpp"
#include "kernels/kernels.hpp"
#include "solvers/local/local_pieces.hpp"
#include "solvers/local/local_solver.hpp"

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

std::vector<LocalRun> runs_of(const Runs& excluded_runs) {
  std::vector<LocalRun> runs;
  for (std::size_t x = 0; x < excluded_runs.shape(0); ++x)
    runs.push_back({excluded_runs.data()[3 * x], excluded_runs.data()[3 * x + 1], excluded_runs.data()[3 * x + 2]});
  return runs;
}

void make(BoundLocal* self, InColumn<std::uint8_t> query, InColumn<std::uint8_t> target, Matrix matrix,
          std::int32_t open, std::int32_t extend, InColumn<std::uint8_t> same, Runs excluded_runs, int threads,
          bool path, std::int64_t memory, std::int64_t trace, std::int64_t steps, bool prune, const std::string& isa) {
  const int num_codes = static_cast<int>(matrix.shape(0));
  if (matrix.shape(1) != matrix.shape(0) || same.shape(0) != matrix.shape(0))
    throw nb::value_error("a scheme must have a score for any two symbols, and say of each whether it equals itself");
  const std::vector<LocalRun> runs = runs_of(excluded_runs);
  const LocalScheme scheme{matrix.data(), num_codes, open, extend};
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

// Speculative traceback in pieces (local_pieces.hpp), through kept rows that the caller supplies.
struct BoundTraceback {
  std::vector<std::uint8_t> same;
  LocalPair pair;
  LocalPath::Options options;
  LocalCrew crew;
};

void make_traceback(BoundTraceback* self, InColumn<std::uint8_t> query, InColumn<std::uint8_t> target, Matrix matrix,
                    std::int32_t open, std::int32_t extend, InColumn<std::uint8_t> same, Runs excluded_runs,
                    std::int64_t memory, std::int64_t trace, const std::string& isa) {
  const int num_codes = static_cast<int>(matrix.shape(0));
  if (matrix.shape(1) != matrix.shape(0) || same.shape(0) != matrix.shape(0))
    throw nb::value_error("a scheme must have a score for any two symbols, and say of each whether it equals itself");
  const LocalScheme scheme{matrix.data(), num_codes, open, extend};
  LocalPath::Options options;
  options.memory = memory;
  options.trace = trace;
  const KernelEntry& entry = kernels_named(isa);
  const std::vector<LocalRun> runs = runs_of(excluded_runs);
  nb::gil_scoped_release release;
  new (self) BoundTraceback{{same.data(), same.data() + num_codes},
                            {query.data(), static_cast<std::int64_t>(query.shape(0)), target.data(),
                             static_cast<std::int64_t>(target.shape(0)), scheme, entry.local()},
                            options,
                            {}};
  self->pair.exclude(runs);
}

using Pieces = nb::ndarray<const std::int64_t, nb::shape<-1, 7>, nb::c_contig, nb::device::cpu>;

nb::tuple trace(BoundTraceback& self, Pieces pieces, InColumn<std::int32_t> h, InColumn<std::int32_t> f, int threads) {
  std::vector<LocalPiece> all;
  std::int64_t used = 0;
  const auto cells = static_cast<std::int64_t>(h.shape(0));
  for (std::size_t x = 0; x < pieces.shape(0); ++x) {
    const std::int64_t* p = pieces.data() + 7 * x;
    const std::int64_t row = p[0], first = p[1], count = p[2];
    if (row < 0 || p[3] < row || p[3] >= self.pair.rows() || first < 0 || p[4] < first ||
        p[4] >= self.pair.columns() || count < 0 || count > cells - used || f.shape(0) != h.shape(0) ||
        (count ? first + count != p[4] + 1 : row != 0 || first != 0) || p[5] < 1 || p[5] > INT32_MAX || p[6] < 0 || p[6] > 2)
      throw nb::value_error("a piece is outside the matrix, or its row is missing");
    const LocalEntry entry{p[3], p[4], static_cast<std::int32_t>(p[5]), p[6] == 1, p[6] == 2};
    all.push_back({row, first, count, h.data() + used, f.data() + used, entry, {}, LocalPiece::kFailed, 0, {}});
    used += count;
  }
  Buffer<std::int64_t> ends, starts;
  Buffer<std::uint32_t> ops;
  {
    nb::gil_scoped_release release;
    self.crew.trace(self.pair, self.same.data(), self.options, threads, all);
    for (LocalPiece& piece : all) {
      const LocalEntry& to = piece.exit;
      for (const std::int64_t value : {to.row, to.column, std::int64_t{to.needed},
                                       std::int64_t{to.down} + 2 * std::int64_t{to.along},
                                       static_cast<std::int64_t>(piece.how), piece.cells})
        ends.push(value);
      starts.push(static_cast<std::int64_t>(ops.size()));
      ops.append(piece.cigar.data(), piece.cigar.size());
    }
    starts.push(static_cast<std::int64_t>(ops.size()));
  }
  return nb::make_tuple(to_numpy(ends), to_numpy(starts), to_numpy(ops));
}

}  // namespace

void bind_local(nb::module_& m) {
  nb::class_<BoundTraceback>(m, "LocalTraceback", "Traceback through rows of one pair's matrix")
      .def("__init__", &make_traceback, nb::arg("query"), nb::arg("target"), nb::arg("matrix"), nb::arg("open"),
           nb::arg("extend"), nb::arg("same"), nb::arg("excluded_runs"), nb::arg("memory") = std::int64_t{1} << 30,
           nb::arg("trace") = std::int64_t{1} << 22, nb::arg("isa") = "", "As LocalSolver")
      .def("trace", &trace, nb::arg("pieces"), nb::arg("h"), nb::arg("f"), nb::arg("threads") = 1,
           "Each by itself. pieces i64[n, 7]: rows from .. on, the row above is given from column .. on, number of "
           "cells, which follow one another in h and f i32[]: scores, and those of gaps into the row below; entered "
           "at row, column, which scores .., in state (0, 1 and 2: in a gap down, along). Returns i64[6 n]: left at "
           "row, column, score, state, how (0 left, 1 ended, 2 failed), cells; i64[n + 1], u32[]: operations");
  nb::class_<BoundLocal>(m, "LocalSolver", "The best local alignment of one pair, on its way")
      .def(
          "__init__", &make, nb::arg("query"), nb::arg("target"), nb::arg("matrix"), nb::arg("open"),
          nb::arg("extend"), nb::arg("same"), nb::arg("excluded_runs"), nb::arg("threads") = 1, nb::arg("path") = true,
          nb::arg("memory") = std::int64_t{1} << 30, nb::arg("trace") = std::int64_t{1} << 22,
          nb::arg("steps") = kTileSteps, nb::arg("prune") = true, nb::arg("isa") = "",
          "Codes u8; matrix i8[A, A]; same u8[A]; excluded_runs i64[., 3]: (query, target, length) of runs of symbols")
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

// Bindings of the edit distance of one pair of any length, computed in steps.
#include <memory>
#include <stdexcept>

#include "bind/bind.hpp"
#include "bind/bind_saved.hpp"
#include "solvers/edit/edit_bits.hpp"
#include "solvers/edit/edit_path.hpp"
#include "solvers/edit/edit_wavefront.hpp"
#include "plan/estimate_long.hpp"
#include "kernels/kernels.hpp"

namespace wfacli {
namespace {

using Symbols = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A solver, and the symbols that it reads.
struct BoundSolver {
  Symbols query, target;
  std::unique_ptr<EditSolver> solver;

  EditSolver& get() const {
    if (!solver) throw nb::value_error("the solver is closed");
    return *solver;
  }
};

EditPair pair_of(const Symbols& query, const Symbols& target) {
  const auto bytes_of = [](const Symbols& symbols) {
    if (symbols.dtype() == nb::dtype<std::uint8_t>()) return 1;
    if (symbols.dtype() == nb::dtype<std::uint32_t>()) return 4;
    throw nb::type_error("symbols are u8 or u32");
  };
  if (bytes_of(query) != bytes_of(target)) throw nb::type_error("the symbols of both sequences must have one type");
  return {query.data(), target.data(), static_cast<std::int64_t>(query.shape(0)),
          static_cast<std::int64_t>(target.shape(0)), bytes_of(query)};
}

void make_wavefront(BoundSolver* self, Symbols query, Symbols target, std::int64_t max_edits, int threads, bool wide,
                    const std::string& isa) {
  const EditPair pair = pair_of(query, target);
  const EditKernels kernels = kernels_named(isa).edit();
  std::unique_ptr<EditSolver> solver;
  {
    nb::gil_scoped_release release;
    if (wide || pair.max_distance() >= kNarrowFront)
      solver = std::make_unique<EditWavefront<std::int64_t>>(pair, max_edits, threads, kernels);
    else
      solver = std::make_unique<EditWavefront<std::int32_t>>(pair, max_edits, threads, kernels);
  }
  new (self) BoundSolver{std::move(query), std::move(target), std::move(solver)};
}

void make_bits(BoundSolver* self, Symbols query, Symbols target, std::int64_t max_edits, int threads,
               const std::string& isa) {
  const EditPair pair = pair_of(query, target);
  if (pair.symbol_bytes != 1) throw nb::type_error("symbols of bit-vectors are u8");
  const EditKernels kernels = kernels_named(isa).edit();
  std::unique_ptr<EditSolver> solver;
  {
    nb::gil_scoped_release release;
    solver = std::make_unique<EditBits>(pair, max_edits, threads, kernels);
  }
  new (self) BoundSolver{std::move(query), std::move(target), std::move(solver)};
}

bool advance(BoundSolver& self, double seconds) {
  EditSolver& solver = self.get();
  nb::gil_scoped_release release;
  return solver.advance(seconds);
}

nb::object distance(const BoundSolver& self) {
  const EditSolver& solver = self.get();
  return solver.ended() && solver.distance() >= 0 ? nb::object(nb::int_(solver.distance())) : nb::none();
}

nb::tuple position(const BoundSolver& self) {
  const EditSolver& solver = self.get();
  double share;
  {
    nb::gil_scoped_release release;
    share = solver.share();
  }
  return nb::make_tuple(solver.lower_bound(), share, solver.cells());
}

nb::dict save(const BoundSolver& self) {
  const EditSolver& solver = self.get();
  return saved_dict([&] { return solver.save(); });
}

void restore(BoundSolver& self, nb::dict state) {
  EditSolver& solver = self.get();
  const SavedColumns columns(state, solver.arrays());
  nb::gil_scoped_release release;
  solver.restore(columns.views);
}

// Return a best path as a CIGAR in BAM's packing, or None if stopped.
nb::object path(const Symbols& query, const Symbols& target, const CancelFlag& stop) {
  const EditPair pair = pair_of(query, target);
  Cigar cigar;
  cigar.begin();
  bool found;
  {
    nb::gil_scoped_release release;
    found = edit_path(pair, stop, cigar);
  }
  return found ? nb::cast(to_numpy(cigar.runs())) : nb::none();
}

double estimated(const Symbols& query, const Symbols& target) {
  const EditPair pair = pair_of(query, target);
  if (pair.symbol_bytes != 1) throw nb::type_error("symbols are u8");
  nb::gil_scoped_release release;
  return estimate_long({static_cast<const std::uint8_t*>(pair.query), static_cast<const std::uint8_t*>(pair.target),
                        pair.query_len, pair.target_len});
}

}  // namespace

void bind_distance(nb::module_& m) {
  m.def("edit_path", &path, nb::arg("query"), nb::arg("target"), nb::arg("stop"),
        "A best path of symbols (u8 or u32 both) as a CIGAR (u32), by fronts that meet; None: stopped");
  m.def("estimate_long", &estimated, nb::arg("query"), nb::arg("target"),
        "About how many edits one pair (u8 both, any length) has, in milliseconds");
  nb::class_<BoundSolver>(m, "EditSolver", "One algorithm on its way through one pair")
      .def("advance", &advance, nb::arg("seconds"), "Goes on for about so long; whether the end has been reached")
      .def_prop_ro("distance", &distance, "After the end: edits; None: more than the most that matter")
      .def_prop_ro("position", &position, "(edits at least, share of the sequences, cells)")
      .def("save", &save, "{name: i64[]}")
      .def("restore", &restore, nb::arg("state"), "Raises ValueError")
      .def("close", [](BoundSolver& self) {
        self.solver.reset();
        self.query = self.target = Symbols();
      });
  struct Wavefront : BoundSolver {};
  struct Bits : BoundSolver {};
  nb::class_<Wavefront, BoundSolver>(m, "EditWavefront", "Two fronts of furthest-reaching points that meet")
      .def(
          "__init__",
          [](Wavefront* self, Symbols query, Symbols target, std::int64_t max_edits, int threads, bool wide,
             const std::string& isa) { make_wavefront(self, query, target, max_edits, threads, wide, isa); },
          nb::arg("query"), nb::arg("target"), nb::arg("max_edits") = -1, nb::arg("threads") = 1,
          nb::arg("wide") = false, nb::arg("isa") = "", "Symbols u8 or u32 both; `max_edits` -1: any number of edits");
  nb::class_<Bits, BoundSolver>(m, "EditBits", "Bit-vectors over the cells that matter")
      .def(
          "__init__",
          [](Bits* self, Symbols query, Symbols target, std::int64_t max_edits, int threads, const std::string& isa) {
            make_bits(self, query, target, max_edits, threads, isa);
          },
          nb::arg("query"), nb::arg("target"), nb::arg("max_edits") = -1, nb::arg("threads") = 1, nb::arg("isa") = "",
          "Symbols u8; `max_edits` -1: any number of edits");
}

}  // namespace wfacli

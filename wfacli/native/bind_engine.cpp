#include "bind.hpp"
#include "engine.hpp"
#include "estimate.hpp"

namespace wfacli {
namespace {

GapPiece piece_of(nb::handle piece) {
  const GapPiece gap{nb::cast<std::int32_t>(piece[0]), nb::cast<std::int32_t>(piece[1])};
  if (gap.open < 0 || gap.extend < 1) throw nb::value_error("penalties out of range");
  return gap;
}

Costs costs_of(std::int32_t mismatch, nb::tuple gaps) {
  Costs c{.mismatch = mismatch, .pieces = static_cast<std::int32_t>(gaps.size())};
  if (c.mismatch < 1 || c.pieces < 1 || c.pieces > 2) throw nb::value_error("penalties out of range");
  for (int g = 0; g < c.pieces; ++g) c.gap[g] = piece_of(gaps[g]);
  return c;
}

Heuristics heuristics_of(nb::tuple h) {
  return {.band = nb::cast<std::int32_t>(h[0]),
          .band_step = nb::cast<std::int32_t>(h[1]),
          .drop = nb::cast<std::int32_t>(h[2]),
          .zdrop = nb::cast<std::int32_t>(h[3])};
}

FreeEnds free_of(nb::tuple letters) {
  return {nb::cast<std::int32_t>(letters[0]), nb::cast<std::int32_t>(letters[1]),
          nb::cast<std::int32_t>(letters[2]), nb::cast<std::int32_t>(letters[3])};
}

Algorithm algorithm_of(const std::string& name) {
  if (name == "wavefront") return Algorithm::Wavefront;
  if (name == "lanes") return Algorithm::Lanes;
  if (name == "stripes") return Algorithm::Stripes;
  if (name == "difference") return Algorithm::Difference;
  if (name == "reads") return Algorithm::Reads;
  throw nb::value_error(("no algorithm is named " + name).c_str());
}

// Edits of each pair of a batch, i32[n].
OutColumn<std::int32_t> estimates(nb::handle batch) {
  const BatchView view = batch_view(batch);
  Buffer<std::int32_t> edits;
  {
    nb::gil_scoped_release release;
    edits.reserve(static_cast<std::size_t>(view.n));
    for (std::int64_t i = 0; i < view.n; ++i) edits.push(estimate_edits(view.pair(i)));
  }
  return to_numpy(edits);
}

nb::tuple align(Aligner& self, nb::handle batch, InColumn<std::int32_t> rows, const AlignOptions& options,
                const CancelFlag& cancelled) {
  const BatchView view = batch_view(batch);
  const std::int64_t count = static_cast<std::int64_t>(rows.shape(0));
  for (std::int64_t r = 0; r < count; ++r)
    if (rows.data()[r] < 0 || rows.data()[r] >= view.n) throw nb::index_error("a row lies outside the batch");
  AlignedRows out;
  {
    nb::gil_scoped_release release;
    self.align(view, rows.data(), count, options, cancelled, out);
  }
  return nb::make_tuple(to_numpy(out.status), to_numpy(out.cut), to_numpy(out.score), to_numpy(out.span),
                        to_numpy(out.cigar.runs()), to_numpy(out.cigar_start));
}

}  // namespace

void bind_engine(nb::module_& m) {
  nb::class_<CancelFlag>(m, "CancelFlag", "Makes running alignments stop, with status DROPPED")
      .def(nb::init<>())
      .def("set", &CancelFlag::set)
      .def_prop_ro("is_set", &CancelFlag::is_set);
  nb::class_<AlignOptions>(m, "AlignOptions")
      .def(
          "__init__",
          [](AlignOptions* self, std::int32_t mismatch, nb::tuple gaps, std::int32_t match, int ambiguous,
             bool extension, nb::tuple free, bool path, nb::tuple heuristics, std::int32_t max_cost,
             const std::string& algorithm, const std::string& memory, std::int32_t words, nb::tuple cap, std::size_t table_bytes, std::size_t checkpoint_bytes) {
            new (self) AlignOptions{.costs = costs_of(mismatch, gaps),
                                    .match = match,
                                    .ambiguous = static_cast<Ambiguous>(ambiguous),
                                    .extension = extension,
                                    .free = free_of(free),
                                    .path = path,
                                    .heuristics = heuristics_of(heuristics),
                                    .max_cost = max_cost,
                                    .algorithm = algorithm_of(algorithm),
                                    .memory = memory == "linear" ? Memory::Linear : Memory::Table,
                                    .words = words,
                                    .cap_base = nb::cast<double>(cap[0]),
                                    .cap_share = nb::cast<double>(cap[1]),
                                    .table_bytes = table_bytes,
                                    .checkpoint_bytes = checkpoint_bytes};
          },
          nb::kw_only(), nb::arg("mismatch"), nb::arg("gaps"), nb::arg("match"), nb::arg("ambiguous"),
          nb::arg("extension"), nb::arg("free"), nb::arg("path"), nb::arg("heuristics"), nb::arg("max_cost"),
          nb::arg("algorithm"), nb::arg("memory"), nb::arg("words"), nb::arg("cap"), nb::arg("table_bytes"), nb::arg("checkpoint_bytes"));
  nb::class_<Aligner>(m, "Aligner", "One thread's CPU kernel and its memory")
      .def(nb::init<const std::string&>(), nb::arg("isa") = "")
      .def_prop_ro("isa", &Aligner::isa)
      .def("align", &align, nb::arg("batch"), nb::arg("rows"), nb::arg("options"), nb::arg("cancelled"),
           "(status u8[m], cut u8[m], score i32[m], span i32[4m], cigar u32[C], cigar_start i64[m+1])");
  m.def("estimate_edits", &estimates, nb::arg("batch"), "Estimated edits of each pair, i32[n]");
  m.def(
      "instruction_sets",
      [] {
        int count = 0;
        const KernelEntry* entries = kernel_table(count);
        nb::list names;
        for (int i = 0; i < count; ++i) names.append(entries[i].name);
        return names;
      },
      "Names of the kernel builds that this machine can run, slowest first");
}

}  // namespace wfacli

#include "bind.hpp"
#include "engine.hpp"

namespace wfacli {
namespace {

AlignOptions options_of(const std::string& metric, nb::tuple penalties, int ambiguous, const std::string& memory,
                        std::size_t table_bytes, std::size_t checkpoint_bytes) {
  AlignOptions o;
  o.metric = metric == "edit" ? Metric::Edit : Metric::Affine;
  if (o.metric == Metric::Affine)
    o.costs = {nb::cast<std::int32_t>(penalties[0]), nb::cast<std::int32_t>(penalties[1]),
               nb::cast<std::int32_t>(penalties[2])};
  if (o.costs.mismatch < 1 || o.costs.open < 0 || o.costs.extend < 1) throw nb::value_error("penalties out of range");
  o.ambiguous = static_cast<Ambiguous>(ambiguous);
  o.memory = memory == "linear" ? Memory::Linear : Memory::Table;
  o.table_bytes = table_bytes;
  o.checkpoint_bytes = checkpoint_bytes;
  return o;
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
  return nb::make_tuple(to_numpy(out.status), to_numpy(out.score), to_numpy(out.span), to_numpy(out.cigar.runs()),
                        to_numpy(out.cigar_start));
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
          [](AlignOptions* self, const std::string& metric, nb::tuple penalties, int ambiguous,
             const std::string& memory, std::size_t table_bytes, std::size_t checkpoint_bytes) {
            new (self) AlignOptions(options_of(metric, penalties, ambiguous, memory, table_bytes, checkpoint_bytes));
          },
          nb::kw_only(), nb::arg("metric"), nb::arg("penalties"), nb::arg("ambiguous"), nb::arg("memory"),
          nb::arg("table_bytes"), nb::arg("checkpoint_bytes"));
  nb::class_<Aligner>(m, "Aligner", "One thread's CPU kernel and its memory")
      .def(nb::init<const std::string&>(), nb::arg("isa") = "")
      .def_prop_ro("isa", &Aligner::isa)
      .def("align", &align, nb::arg("batch"), nb::arg("rows"), nb::arg("options"), nb::arg("cancelled"),
           "(status u8[m], score i32[m], span i32[4m], cigar u32[C], cigar_start i64[m+1])");
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

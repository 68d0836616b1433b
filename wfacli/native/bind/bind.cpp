// wfacli._native: the extension module.
#include "base/allocator.hpp"
#include "bind/bind.hpp"
#include "engine/staging.hpp"
#include "kernels/kernels.hpp"

namespace wfacli {

BatchView batch_view(nb::handle b) {
  BatchView v{};
  v.n = static_cast<std::int64_t>(nb::cast<InColumn<std::int32_t>>(b.attr("q_len"), false).shape(0));
  v.bases = column<std::uint8_t>(b, "bases", -1);
  v.q_start = column<std::int64_t>(b, "q_start", v.n);
  v.t_start = column<std::int64_t>(b, "t_start", v.n);
  v.q_len = column<std::int32_t>(b, "q_len", v.n);
  v.t_len = column<std::int32_t>(b, "t_len", v.n);
  v.flags = column<std::uint8_t>(b, "flags", v.n);
  v.est_edits = column<std::int32_t>(b, "est_edits", v.n);
  return v;
}

BatchView batch_with_records(nb::handle b) {
  BatchView v = batch_view(b);
  const nb::object records = b.attr("records");
  v.text = column<std::uint8_t>(records, "text", -1);
  v.q_name = column<std::int64_t>(records, "q_name", v.n);
  v.t_name = column<std::int64_t>(records, "t_name", v.n);
  v.qual = column<std::int64_t>(records, "qual", v.n);
  v.q_name_len = column<std::int32_t>(records, "q_name_len", v.n);
  v.t_name_len = column<std::int32_t>(records, "t_name_len", v.n);
  const nb::object mapped = b.attr("mapped");
  if (mapped.is_none()) return v;
  v.mapped = {column<std::int64_t>(mapped, "t_offset", v.n),  column<std::int64_t>(mapped, "t_total", v.n),
              column<std::int64_t>(mapped, "read_start", v.n),   column<std::int32_t>(mapped, "clip_begin", v.n),
              column<std::int32_t>(mapped, "clip_end", v.n),  column<std::int32_t>(mapped, "first", v.n),
              column<std::int32_t>(mapped, "sam_flags", v.n), column<std::uint8_t>(mapped, "mapq", v.n),
              column<std::int64_t>(mapped, "tags", v.n),      column<std::int32_t>(mapped, "tags_len", v.n)};
  return v;
}

void check_rows(const InColumn<std::int32_t>& rows, std::int64_t pairs) {
  if (!rows_inside(rows.data(), static_cast<std::int64_t>(rows.shape(0)), pairs))
    throw nb::index_error("a row lies outside the batch");
}

AlignmentView alignment_view(nb::handle a) {
  AlignmentView v{};
  v.n = static_cast<std::int64_t>(nb::cast<InColumn<std::uint8_t>>(a.attr("status"), false).shape(0));
  v.status = column<std::uint8_t>(a, "status", v.n);
  v.cut = column<std::uint8_t>(a, "cut", v.n);
  v.score = column<std::int32_t>(a, "score", v.n);
  const auto span = nb::cast<nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>>(
      a.attr("span"), false);
  if (span.shape(0) != static_cast<std::size_t>(v.n)) throw nb::value_error("span has another length than its batch");
  v.span = span.data();
  v.cigar = column<std::uint32_t>(a, "cigar", -1);
  v.cigar_start = column<std::int64_t>(a, "cigar_start", v.n + 1);
  v.second = a.attr("second").is_none() ? nullptr : column<std::int32_t>(a, "second", v.n);
  return v;
}

}  // namespace wfacli

NB_MODULE(_native, m) {
  // An aligner that lives until the program ends is not a leak, and users should see no warning about it.
  nanobind::set_leak_warnings(false);
  int kernels = 0;
  wfacli::kernel_table(kernels);  // throws, and so fails the import, if this processor can run none
  m.doc() = "Native parts of wfacli: reading, aligning, formatting. Calls that may take long release the GIL.";
  m.def("keep_memory_flat", &wfacli::keep_memory_flat,
        "For the command line: sets the allocator up for batches, for the whole process");
  wfacli::bind_reader(m);
  wfacli::bind_mapped(m);
  wfacli::bind_ends(m);
  wfacli::bind_spans(m);
  wfacli::bind_take(m);
  wfacli::bind_memory(m);
  wfacli::bind_engine(m);
  wfacli::bind_extend(m);
  wfacli::bind_forecast(m);
  wfacli::bind_distance(m);
  wfacli::bind_local(m);
  wfacli::bind_format(m);
  wfacli::bind_bam(m);
  wfacli::bind_dotplot(m);
  wfacli::bind_simulate(m);
  wfacli::bind_exit(m);
}

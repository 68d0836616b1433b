#include "bind/bind_rows.hpp"
#include "engine/engine.hpp"
#include "engine/gather.hpp"
#include "base/symbols.hpp"
#include "engine/staging.hpp"

namespace wfacli {
namespace {

GapPiece piece_of(nb::handle piece) {
  const GapPiece gap{nb::cast<std::int32_t>(piece[0]), nb::cast<std::int32_t>(piece[1])};
  if (gap.open < 0 || gap.extend < 1) throw nb::value_error("penalties out of range");
  return gap;
}

Costs costs_of(std::int32_t mismatch, std::int32_t ambiguous, nb::tuple gaps, std::int32_t skip) {
  Costs c{.mismatch = mismatch, .ambiguous = ambiguous, .pieces = static_cast<std::int32_t>(gaps.size()), .skip = skip};
  if (c.mismatch < 1 || c.ambiguous < 0 || c.ambiguous > c.mismatch || c.pieces < 1 || c.pieces > 2) throw nb::value_error("penalties out of range");
  for (int g = 0; g < c.pieces; ++g) c.gap[g] = piece_of(gaps[g]);
  return c;
}

Heuristics heuristics_of(nb::tuple h) {
  return {.band = nb::cast<std::int32_t>(h[0]),
          .band_step = nb::cast<std::int32_t>(h[1]),
          .drop = nb::cast<std::int32_t>(h[2]),
          .zdrop = nb::cast<std::int32_t>(h[3])};
}

FreeEnds free_of(nb::tuple lengths) {
  return {nb::cast<std::int32_t>(lengths[0]), nb::cast<std::int32_t>(lengths[1]), nb::cast<std::int32_t>(lengths[2]),
          nb::cast<std::int32_t>(lengths[3])};
}

Algorithm algorithm_of(const std::string& name) {
  if (name == "wavefront") return Algorithm::Wavefront;
  if (name == "lanes") return Algorithm::Lanes;
  if (name == "stripes") return Algorithm::Stripes;
  if (name == "inside") return Algorithm::Inside;
  if (name == "difference") return Algorithm::Difference;
  if (name == "reads") return Algorithm::Reads;
  if (name == "gotoh") return Algorithm::Gotoh;
  throw nb::value_error(("no algorithm is named " + name).c_str());
}

// Return the codes of all bytes under a rule for ambiguous bases, u8[512]: 256 for queries, then 256 for targets.
OutColumn<std::uint8_t> symbol_codes(int ambiguous) {
  const Codes& codes = codes_of(static_cast<Ambiguous>(ambiguous));
  Buffer<std::uint8_t> tables;
  tables.reserve(512);
  for (int c = 0; c < 512; ++c) tables.push(c < 256 ? codes.query[c] : codes.target[c - 256]);
  return to_numpy(tables);
}

using Staging = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Return a column of `count` values at `at` in a staging buffer, and advance `at` past it.
template <class T>
T* staged_column(std::uint8_t*& at, std::int64_t count) {
  T* column = reinterpret_cast<T*>(at);
  at += sizeof(T) * static_cast<std::size_t>(count);
  return column;
}

StagedColumns staged_columns(std::uint8_t* at, const Staging& buffer, std::int64_t count) {
  StagedColumns columns;
  columns.query_start = staged_column<std::uint32_t>(at, count);
  columns.target_start = staged_column<std::uint32_t>(at, count);
  columns.query_len = staged_column<std::int32_t>(at, count);
  columns.target_len = staged_column<std::int32_t>(at, count);
  columns.order = staged_column<std::int32_t>(at, count);
  if (at > buffer.data() + buffer.shape(0)) throw nb::value_error("the buffer does not fit");
  return columns;
}

void stage_rows(nb::handle batch, InColumn<std::int32_t> rows, Staging buffer, std::size_t sequence_bytes) {
  const BatchView view = batch_view(batch);
  const std::int64_t count = static_cast<std::int64_t>(rows.shape(0));
  const std::size_t bases = nb::cast<InColumn<std::uint8_t>>(batch.attr("bases"), false).shape(0);
  if (sequence_bytes % 16 != 0) throw nb::value_error("the size of the sequences must be a multiple of 16");
  const StagedColumns columns = staged_columns(buffer.data() + sequence_bytes, buffer, count);
  bool inside = false, fits = false;
  {
    nb::gil_scoped_release release;
    inside = rows_inside(rows.data(), count, view.n);
    fits = inside && stage(view, bases, rows.data(), count, buffer.data(), sequence_bytes, columns);
  }
  if (!inside) throw nb::index_error("a row lies outside the batch");
  if (!fits) throw nb::value_error("the buffer is too small for these rows");
}

void stage_columns_of(nb::handle batch, InColumn<std::int32_t> rows, Staging buffer) {
  const BatchView view = batch_view(batch);
  const std::int64_t count = static_cast<std::int64_t>(rows.shape(0));
  const StagedColumns columns = staged_columns(buffer.data(), buffer, count);
  bool inside = false;
  {
    nb::gil_scoped_release release;
    inside = rows_inside(rows.data(), count, view.n);
    if (inside) stage_columns(view, rows.data(), count, columns);
  }
  if (!inside) throw nb::index_error("a row lies outside the batch");
}

nb::tuple summary_of_rows(nb::handle batch, InColumn<std::int32_t> rows) {
  const BatchView view = batch_view(batch);
  const std::int64_t count = static_cast<std::int64_t>(rows.shape(0));
  bool inside = false;
  RowsSummary s;
  {
    nb::gil_scoped_release release;
    inside = rows_inside(rows.data(), count, view.n);
    if (inside) s = summary_of(view, rows.data(), count);
  }
  if (!inside) throw nb::index_error("a row lies outside the batch");
  return nb::make_tuple(s.bytes, s.max_length, s.max_length_difference, s.min_edits, s.max_edits, s.non_acgt);
}

nb::tuple unstage_rows(nb::handle batch, InColumn<std::int32_t> rows, InColumn<std::int32_t> cost,
                       InColumn<std::uint8_t> status, std::int32_t unit, std::int32_t bonus) {
  const BatchView view = batch_view(batch);
  const std::int64_t count = static_cast<std::int64_t>(rows.shape(0));
  if (cost.shape(0) != rows.shape(0) || status.shape(0) != rows.shape(0))
    throw nb::value_error("the answers are not those of these rows");
  DerivedRows out;
  bool inside = false;
  {
    nb::gil_scoped_release release;
    inside = rows_inside(rows.data(), count, view.n);
    if (inside) unstage(view, rows.data(), count, {cost.data(), status.data()}, unit, bonus, out);
  }
  if (!inside) throw nb::index_error("a row lies outside the batch");
  return nb::make_tuple(to_numpy(out.cut), to_numpy(out.score), to_numpy(out.span));
}

// View the columns of a PartialResult, which must outlive the view.
PartView part_view(nb::handle part, std::uint8_t origin, std::int64_t pairs) {
  const auto rows = nb::cast<InColumn<std::int32_t>>(part.attr("rows"), false);
  check_rows(rows, pairs);
  const std::int64_t m = static_cast<std::int64_t>(rows.shape(0));
  const auto span = nb::cast<nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>>(
      part.attr("span"), false);
  const auto cigar = nb::cast<InColumn<std::uint32_t>>(part.attr("cigar"), false);
  const std::int64_t* start = column<std::int64_t>(part, "cigar_start", m + 1);
  if (static_cast<std::int64_t>(span.shape(0)) != m || start[m] != static_cast<std::int64_t>(cigar.shape(0)))
    throw nb::value_error("columns of a part are not of its rows");
  return {m, rows.data(), column<std::uint8_t>(part, "status", m), column<std::uint8_t>(part, "cut", m),
          column<std::int32_t>(part, "score", m), span.data(), cigar.data(), start, origin};
}

nb::tuple gather_parts(nb::sequence parts, nb::sequence origins, std::int64_t pairs) {
  std::vector<PartView> views;
  for (nb::handle part : parts)
    views.push_back(part_view(part, nb::cast<std::uint8_t>(origins[views.size()]), pairs));
  GatheredRows all;
  std::size_t values = static_cast<std::size_t>(pairs);
  for (const PartView& view : views) values += static_cast<std::size_t>(view.rows + view.cigar_start[view.rows]);
  {
    Unlocked unlocked(values);
    all = gather(views, pairs);
  }
  return nb::make_tuple(to_numpy(all.status), to_numpy(all.cut), to_numpy(all.score), to_numpy(all.span),
                        to_numpy(all.cigar), to_numpy(all.cigar_start), to_numpy(all.origin));
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
          [](AlignOptions* self, std::int32_t mismatch, std::int32_t charge, nb::tuple gaps, std::int32_t match, nb::tuple units,
             int ambiguous, bool extension, nb::tuple free, bool path, nb::tuple heuristics, std::int32_t max_cost,
             const std::string& algorithm, const std::string& memory, std::int32_t words, nb::tuple cap,
             std::size_t table_bytes, std::size_t checkpoint_bytes) {
            new (self) AlignOptions{.costs = costs_of(mismatch, charge, gaps, 0),
                                    .units = costs_of(nb::cast<std::int32_t>(units[0]), nb::cast<std::int32_t>(units[1]),
                                                      nb::cast<nb::tuple>(units[2]), nb::cast<std::int32_t>(units[3])),
                                    .unit = nb::cast<std::int32_t>(units[4]),
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
          nb::kw_only(), nb::arg("mismatch"), nb::arg("ambiguous_penalty"), nb::arg("gaps"), nb::arg("match"), nb::arg("unit_costs"),
          nb::arg("ambiguous"), nb::arg("extension"), nb::arg("free"), nb::arg("path"), nb::arg("heuristics"),
          nb::arg("max_cost"), nb::arg("algorithm"), nb::arg("memory"), nb::arg("words"), nb::arg("cap"),
          nb::arg("table_bytes"), nb::arg("checkpoint_bytes"));
  nb::class_<Aligner> aligner(m, "Aligner", "One thread's CPU kernel and its memory");
  bind_rows<columns_of, Aligner, AlignOptions>(m, aligner, "AlignTask",
                                               "(status u8[m], cut u8[m], score i32[m], span i32[4m], cigar u32[C], "
                                               "cigar_start i64[m+1])");
  m.def("symbol_codes", &symbol_codes, nb::arg("ambiguous"),
        "Codes of symbols under a rule: u8[512], of query symbols, then of target symbols");
  m.def("stage_rows", &stage_rows, nb::arg("batch"), nb::arg("rows"), nb::arg("buffer"), nb::arg("sequence_bytes"),
        "Writes sequences of rows to buffer[:sequence_bytes], and after them query_start, target_start (u32[m], in "
        "units of 16), query_len, target_len and 0..m-1 (i32[m])");
  m.def("stage_columns", &stage_columns_of, nb::arg("batch"), nb::arg("rows"), nb::arg("buffer"),
        "The same columns from the buffer's beginning, for bases that lie elsewhere as they stand in the batch");
  m.def("rows_summary", &summary_of_rows, nb::arg("batch"), nb::arg("rows"),
        "(bytes that stage_rows takes, length of the longest sequence, maximum difference of a pair's lengths, "
        "minimum and maximum of the estimated edits, rows with other symbols than A C G T) of rows i32[m]");
  m.def("unstage_rows", &unstage_rows, nb::arg("batch"), nb::arg("rows"), nb::arg("cost"), nb::arg("status"),
        nb::arg("unit"), nb::arg("bonus"),
        "(cut u8[m], score i32[m], span i32[4m]) of a GPU's results: cost i32[m], status u8[m]");
  m.def("gather_parts", &gather_parts, nb::arg("parts"), nb::arg("origins"), nb::arg("pairs"),
        "(status, cut, score, span i32[4n], cigar, cigar_start, origin) of all rows; the last part that has one counts");
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
  m.def(
      "instruction_set", [] { return kernels_named("").name; },
      "Name of the build that kernels are of unless told otherwise: WFACLI_ISA, else the fastest. Raises ValueError");
}

}  // namespace wfacli

// Bindings of alignment under substitution matrices.
#include <algorithm>

#include "bind/bind_rows.hpp"
#include "engine/distribute.hpp"
#include "engine/staging.hpp"

namespace wfacli {
namespace {

using Matrix = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

SwChoice choice_of(const std::string& name) {
  if (name.empty()) return SwChoice::Fastest;
  if (name == "lanes") return SwChoice::Lanes;
  if (name == "strips") return SwChoice::Strips;
  throw nb::value_error(("no kernel is named " + name).c_str());
}

void make_options(ExtendOptions* self, Matrix matrix, InColumn<std::uint8_t> same, InColumn<std::uint8_t> codes,
                  std::int32_t open, std::int32_t extend, int mode, bool path, bool second_best, nb::tuple heuristics,
                  std::size_t memory_bytes, const std::string& kernel, bool wide) {
  const auto num_codes = static_cast<std::int32_t>(matrix.shape(0));
  if (matrix.shape(1) != matrix.shape(0) || same.shape(0) != matrix.shape(0) || codes.shape(0) != 256)
    throw nb::value_error("a scheme's columns are not of one size");
  for (int c = 0; c < 256; ++c)
    if (codes.data()[c] >= num_codes && codes.data()[c] != kNoCode)
      throw nb::value_error("the code of a symbol is out of range");
  if (mode < 0 || mode > static_cast<int>(ExtendMode::Global)) throw nb::value_error("there is no such mode");
  new (self) ExtendOptions{.scheme = sw_scheme(matrix.data(), num_codes, same.data(), open, extend),
                           .codes = {},
                           .mode = static_cast<ExtendMode>(mode),
                           .path = path,
                           .second_best = second_best,
                           .heuristics = {nb::cast<std::int32_t>(heuristics[0]), nb::cast<std::int32_t>(heuristics[1]),
                                          nb::cast<std::int32_t>(heuristics[2])},
                           .memory_bytes = memory_bytes,
                           .choice = choice_of(kernel),
                           .wide = wide};
  std::memcpy(self->codes, codes.data(), 256);
}

// Return (columns of the rows, second best scores or None).
nb::tuple with_second(AlignedRows& rows) {
  nb::object second = rows.second.empty() ? nb::none() : nb::object(nb::cast(to_numpy(rows.second)));
  return nb::make_tuple(columns_of(rows), second);
}

nb::object find_unknown_symbol(nb::handle batch, InColumn<std::uint8_t> codes) {
  const BatchView view = batch_view(batch);
  if (codes.shape(0) != 256) throw nb::value_error("there must be a code for each of 256 characters");
  std::uint8_t symbol = 0;
  std::int64_t row = -1;
  {
    nb::gil_scoped_release release;
    row = first_uncoded(view, codes.data(), &symbol);
  }
  return row < 0 ? nb::none() : nb::object(nb::make_tuple(row, static_cast<int>(symbol)));
}

nb::tuple distribute_rows_of(nb::handle batch, InColumn<std::int32_t> rows, InColumn<std::uint8_t> step,
                             InColumn<std::uint8_t> build, InColumn<std::int32_t> width, std::int32_t max_narrow,
                             std::int32_t max_length) {
  const BatchView view = batch_view(batch);
  const std::int64_t steps = step.shape(0) ? step.data()[step.shape(0) - 1] + 1 : 0;
  const std::int32_t builds = static_cast<std::int32_t>(width.shape(0));
  if (steps == 0 || static_cast<std::int64_t>(build.shape(0)) != steps * steps) throw nb::value_error("a build for each two steps");
  const bool builds_exist =
      std::all_of(build.data(), build.data() + build.shape(0), [&](std::uint8_t b) { return b < builds; });
  if (!builds_exist || builds > 255) throw nb::index_error("a build that there is not");
  const BuildTable table{
      step.data(), static_cast<std::int64_t>(step.shape(0)), build.data(), steps, width.data(), builds, max_narrow,
      max_length};
  const std::int64_t count = static_cast<std::int64_t>(rows.shape(0));
  bool inside = false;
  DistributedRows shared;
  {
    nb::gil_scoped_release release;
    inside = rows_inside(rows.data(), count, view.n);
    if (inside) shared = distribute_rows(view, rows.data(), count, table);
  }
  if (!inside) throw nb::index_error("a row lies outside the batch");
  nb::list found;
  for (const BuildRows& of : shared.builds)
    found.append(nb::make_tuple(of.build, of.count, of.max_query_length, of.max_target_length));
  return nb::make_tuple(to_numpy(shared.order), found, to_numpy(shared.others), shared.bytes);
}

}  // namespace

void bind_extend(nb::module_& m) {
  nb::class_<ExtendOptions>(m, "ExtendOptions")
      .def("__init__", &make_options, nb::kw_only(), nb::arg("matrix"), nb::arg("same"), nb::arg("codes"),
           nb::arg("open"), nb::arg("extend"), nb::arg("mode"), nb::arg("path"), nb::arg("second_best"),
           nb::arg("heuristics"), nb::arg("memory_bytes"), nb::arg("kernel") = "", nb::arg("wide") = false,
           "matrix i8[A, A], same u8[A], codes u8[256], heuristics (band, X-drop, Z-drop)");
  nb::class_<Extender> extender(m, "Extender", "One thread's CPU kernels for any substitution scores, and their memory");
  bind_rows<with_second, Extender, ExtendOptions>(m, extender, "ExtendTask",
                                                  "(columns as of Aligner.align, second best scores i32[m] or None)");
  m.def("find_unknown_symbol", &find_unknown_symbol, nb::arg("batch"), nb::arg("codes"),
        "(row, symbol) of the first pair with a symbol whose code is 255, or None");
  m.def("distribute_rows", &distribute_rows_of, nb::arg("batch"), nb::arg("rows"), nb::arg("step"), nb::arg("build"),
        nb::arg("width"), nb::arg("max_narrow"), nb::arg("max_length"),
        "(order i32, [(build, count, longest query, longest target)], others i32, bytes of sequences) of rows i32[m]: "
        "places in them by build, of each those with most stripes of `width` columns, then most rows first. step "
        "u8[L]: of each length; build u8[S * S]: of a query's and a target's step. The last build has sequences "
        "longer than max_narrow; others: pairs with an empty sequence or one longer than max_length");
}

}  // namespace wfacli

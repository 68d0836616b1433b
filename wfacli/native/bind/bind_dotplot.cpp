#include "bind/bind.hpp"
#include "format/dotplot.hpp"
#include "format/windows.hpp"

namespace wfacli {
namespace {

template <class Symbol>
DotSequence<Symbol> sequence_of(const InColumn<Symbol>& symbols, const InColumn<std::int64_t>& starts) {
  const std::int64_t records = static_cast<std::int64_t>(starts.shape(0)) - 1;
  if (records < 0 || starts.data()[0] != 0 || starts.data()[records] != static_cast<std::int64_t>(symbols.shape(0)))
    throw nb::value_error("records do not begin at 0 or do not end with the symbols");
  for (std::int64_t r = 0; r < records; ++r)
    if (starts.data()[r] > starts.data()[r + 1]) throw nb::value_error("records are not in order");
  return {symbols.data(), starts.data(), records};
}

void poll_signals() {
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class Symbol>
nb::tuple counts_of(InColumn<Symbol> query, InColumn<Symbol> target, InColumn<std::int64_t> query_starts,
                    InColumn<std::int64_t> target_starts, std::int32_t k, bool literal, std::int32_t sampled,
                    std::int32_t columns, std::int32_t rows, std::int64_t max_pixels) {
  if (k < 1 || k > (literal ? 64 : 32)) throw nb::value_error("k is 1 to 32 nucleotides, or to 64 other symbols");
  if (sampled < 0 || sampled > 30 || max_pixels < 1) throw nb::value_error("a sample or a bound makes no sense");
  if (columns < 1 || rows < 1 || columns > kMaxPixels || rows > kMaxPixels)
    throw nb::value_error("a picture has 1 to 16,384 pixels on a side");
  const DotSequence<Symbol> q = sequence_of(query, query_starts), t = sequence_of(target, target_starts);
  DotCounts counts;
  {
    nb::gil_scoped_release release;
    counts = dot_counts(q, t, {k, literal, sampled, columns, rows, max_pixels}, &poll_signals);
  }
  return nb::make_tuple(to_numpy(counts.forward), to_numpy(counts.reverse), counts.query_kmers, counts.target_kmers,
                        counts.shared, counts.thinned);
}

template <class Symbol>
nb::tuple windows_of(InColumn<Symbol> query, InColumn<Symbol> target, InColumn<std::uint32_t> cigar, bool reverse,
                     bool literal, std::int64_t windows) {
  if (windows < 1) throw nb::value_error("a path has one window at least");
  const PathSequences<Symbol> sequences{query.data(),
                                        target.data(),
                                        static_cast<std::int64_t>(query.shape(0)),
                                        static_cast<std::int64_t>(target.shape(0)),
                                        reverse,
                                        literal};
  PathWindows found;
  {
    nb::gil_scoped_release release;
    found = path_windows(sequences, cigar.data(), static_cast<std::int64_t>(cigar.shape(0)), windows);
  }
  return nb::make_tuple(to_numpy(found.query), to_numpy(found.target), to_numpy(found.matches),
                        to_numpy(found.columns));
}

template <class Symbol>
void bind_for_symbol(nb::module_& m) {
  m.def("dot_counts", &counts_of<Symbol>, nb::arg("query"), nb::arg("target"), nb::arg("query_starts"),
        nb::arg("target_starts"), nb::kw_only(), nb::arg("k"), nb::arg("literal"), nb::arg("sampled"),
        nb::arg("columns"), nb::arg("rows"), nb::arg("max_pixels"),
        "(forward u32[rows * columns], reverse, k-mers of query and target, shared ones, thinned ones)");
  m.def("path_windows", &windows_of<Symbol>, nb::arg("query"), nb::arg("target"), nb::arg("cigar"), nb::kw_only(),
        nb::arg("reverse"), nb::arg("literal"), nb::arg("windows"),
        "(query symbols before each border i64[windows + 1], target symbols, matches i64[windows], columns)");
}

}  // namespace

void bind_dotplot(nb::module_& m) {
  bind_for_symbol<std::uint8_t>(m);
  bind_for_symbol<std::uint32_t>(m);
}

}  // namespace wfacli

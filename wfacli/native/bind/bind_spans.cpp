// Steps that only look at columns. They keep the GIL: to get it back takes up to a millisecond while other threads want it,
// and these take some microseconds. numpy would release it for each operation.
#include "bind/bind.hpp"
#include "refine/spans.hpp"

namespace wfacli {
namespace {

using Spans = nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using OwnSpans = nb::ndarray<std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Rows = InColumn<std::int32_t>;

std::int64_t count_of(const Rows& rows) { return static_cast<std::int64_t>(rows.shape(0)); }

// Throws ValueError unless the array has `n` rows.
template <class Array>
void check_length(const Array& array, std::int64_t n) {
  if (array.shape(0) != static_cast<std::size_t>(n)) throw nb::value_error("columns have different lengths");
}

using OutSpans = nb::ndarray<nb::numpy, std::int32_t, nb::shape<-1, 4>, nb::c_contig>;

// Moves spans into a numpy array, i32[n, 4].
OutSpans as_spans(Buffer<std::int32_t>& spans) {
  const std::size_t n = spans.size() / 4;
  std::int32_t* data = spans.release();
  if (!data) data = static_cast<std::int32_t*>(take_bytes(sizeof(std::int32_t)));
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return OutSpans(data, {n, 4}, owner);
}

OutColumn<std::int32_t> short_of_end(nb::handle found, InColumn<std::uint8_t> at_end, Rows q_len) {
  const AlignmentView view = alignment_view(found);
  check_length(at_end, view.n);
  check_length(q_len, view.n);
  Buffer<std::int32_t> rows = short_of_the_end(view, at_end.data(), q_len.data());
  return to_numpy(rows);
}

OutSpans gone_to_end(nb::handle found, Rows rows, nb::handle whole, Rows q_len, std::int64_t bonus) {
  const AlignmentView view = alignment_view(found), ends = alignment_view(whole);
  check_rows(rows, view.n);
  check_length(rows, ends.n);
  check_length(q_len, ends.n);
  Buffer<std::int32_t> span;
  span.append(view.span, static_cast<std::size_t>(4 * view.n));
  go_to_the_end(view, rows.data(), ends, q_len.data(), bonus, span.data());
  return as_spans(span);
}

OutColumn<std::int32_t> differing(Spans before, Spans after) {
  const auto n = static_cast<std::int64_t>(before.shape(0));
  check_length(after, n);
  Buffer<std::int32_t> rows = rows_that_differ(n, before.data(), after.data());
  return to_numpy(rows);
}

OutSpans shifted(nb::handle found, Spans part) {
  const AlignmentView view = alignment_view(found);
  check_length(part, view.n);
  Buffer<std::int32_t> spans = spans_in_rows(view, part.data());
  return as_spans(spans);
}

OutSpans whole(Rows q_len, Rows t_len) {
  check_length(t_len, count_of(q_len));
  Buffer<std::int32_t> spans = whole_spans(count_of(q_len), q_len.data(), t_len.data());
  return as_spans(spans);
}

OutColumn<std::int32_t> merged(Rows x, Rows y) {
  Buffer<std::int32_t> rows = merged_rows(x.data(), count_of(x), y.data(), count_of(y));
  return to_numpy(rows);
}

RowSpans row_spans(const Rows& rows, const Spans& spans) {
  check_length(spans, count_of(rows));
  return {count_of(rows), rows.data(), spans.data()};
}

nb::tuple limits_of(Spans room, Rows rows, Spans old, Rows doubted, Spans reliable, Rows opened, Rows limited, Spans limits) {
  check_length(room, count_of(rows));
  ExtensionLimits found = extension_limits(row_spans(rows, old), room.data(), row_spans(doubted, reliable), opened.data(),
                                           count_of(opened), row_spans(limited, limits));
  return nb::make_tuple(as_spans(found.inner), as_spans(found.outer), as_spans(found.limit));
}

nb::tuple limits_on_mapped(Spans span, Spans mapped, Spans reach) {
  const auto n = static_cast<std::int64_t>(span.shape(0));
  for (const Spans* spans : {&mapped, &reach}) check_length(*spans, n);
  ExtensionLimits found = limits_from_mapped(n, span.data(), mapped.data(), reach.data());
  return nb::make_tuple(as_spans(found.inner), as_spans(found.outer));
}

OutColumn<std::uint8_t> good_parts_of(InColumn<std::int64_t> score, InColumn<std::int64_t> matches, Rows sam_flags,
                                      std::int64_t least, std::int64_t least_matches, Spans old, OwnSpans span) {
  const std::int64_t n = count_of(sam_flags);
  check_length(score, 2 * n);
  check_length(matches, 2 * n);
  check_length(old, n);
  check_length(span, n);
  const OuterView outside{score.data(), matches.data(), sam_flags.data()};
  Buffer<std::uint8_t> good = good_parts(n, outside, least, least_matches, old.data(), span.data());
  return to_numpy(good);
}

nb::tuple missed_parts_of(Spans mapped, Spans found, Spans limit, Rows sam_flags, std::int64_t least) {
  const std::int64_t n = count_of(sam_flags);
  for (const Spans* spans : {&mapped, &found, &limit}) check_length(*spans, n);
  MissedParts missed = missed_parts(n, mapped.data(), found.data(), limit.data(), sam_flags.data(), least);
  return nb::make_tuple(to_numpy(missed.sides), as_spans(missed.inner), as_spans(missed.outer));
}

}  // namespace

void bind_spans(nb::module_& m) {
  m.def("short_of_the_end", &short_of_end, nb::arg("found"), nb::arg("at_end"), nb::arg("q_len"),
        "Rows (i32[m]) of extensions that may go on to the end of the read, which flanks with at_end (u8[n]) reach; q_len "
        "(i32[n]): lengths of the flanks");
  m.def("gone_to_the_end", &gone_to_end, nb::arg("found"), nb::arg("rows"), nb::arg("whole"), nb::arg("q_len"),
        nb::arg("bonus"),
        "Spans (i32[n, 4]) of extensions, of which rows (i32[m]) have alignments to the end of their flanks (whole) of "
        "lengths q_len (i32[m]), and take them if they score more with the bonus");
  m.def("rows_that_differ", &differing, nb::arg("before"), nb::arg("after"), "Rows (i32[m]) whose spans (i32[n, 4]) differ");
  m.def("spans_in_rows", &shifted, nb::arg("found"), nb::arg("part"),
        "Spans (i32[n, 4]) of alignments of parts (spans i32[n, 4]) of rows, in the rows");
  m.def("whole_spans", &whole, nb::arg("q_len"), nb::arg("t_len"), "Spans (i32[n, 4]) of both sequences (i32[n] each)");
  m.def("merged_rows", &merged, nb::arg("x"), nb::arg("y"), "Rows that are in x or y (i32[...]), all in order");
  m.def("extension_limits", &limits_of, nb::arg("room"), nb::arg("rows"), nb::arg("old"), nb::arg("doubted"),
        nb::arg("reliable"), nb::arg("opened"), nb::arg("limited"), nb::arg("limits"),
        "(inner, outer, limit), i32[n, 4] each: for rows (i32[n], in order) of a batch with rooms and old spans (i32[n, 4]), "
        "where extensions begin, how far they go, and the same if no side stayed. Rows in doubted begin at reliable spans, "
        "rows in opened where they are, on both sides, and rows in limited have limits instead of their room");
  m.def("limits_from_mapped", &limits_on_mapped, nb::arg("span"), nb::arg("mapped"), nb::arg("reach"),
        "(inner, outer), i32[n, 4] each: where extensions begin, and how far they may go, of alignments that are extended "
        "again from the mapped parts on, on the sides whose reach (i32[n, 4]) is not where the span ends");
  m.def("good_parts", &good_parts_of, nb::arg("score"), nb::arg("matches"), nb::arg("sam_flags"), nb::arg("least"),
        nb::arg("least_matches"), nb::arg("old"), nb::arg("span"),
        "Whether sides (u8[2n]) have a good part outside, see outer_ends(), with less than least_matches; with more, span "
        "(i32[n, 4]) gets the old ends");
  m.def("missed_parts", &missed_parts_of, nb::arg("mapped"), nb::arg("found"), nb::arg("limit"), nb::arg("sam_flags"),
        nb::arg("least"),
        "(sides i32[m], inner i32[m, 4], outer i32[m, 4]): parts of mapped spans beside alignments (spans i32[n, 4]), by "
        "2 * row + side, that have at least `least` bases up to them inside limit");
}

}  // namespace wfacli

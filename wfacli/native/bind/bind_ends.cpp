#include "bind/bind.hpp"
#include "engine/staging.hpp"
#include "refine/drops.hpp"
#include "refine/ends.hpp"
#include "refine/inversions.hpp"

namespace wfacli {
namespace {

using Spans = nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Bases = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_count(const Spans& spans, std::int64_t n) {
  if (spans.shape(0) != static_cast<std::size_t>(n)) throw nb::value_error("spans have another length than their batch");
}

// Returns the rows and CIGAR elements of alignments.
std::size_t size_of(const AlignmentView& found) { return static_cast<std::size_t>(found.n + found.cigar_start[found.n]); }

// Throws ValueError unless the span is inside the sequences of a row.
void check_span(const std::int32_t* span, const BatchView& batch, std::int64_t row) {
  if (span[0] < 0 || span[0] > span[1] || span[1] > batch.q_len[row] || span[2] < 0 || span[2] > span[3] ||
      span[3] > batch.t_len[row])
    throw nb::value_error("a span lies outside its sequences");
}

// The same for the spans of all rows.
void check_spans(const Spans& spans, const BatchView& batch) {
  check_count(spans, batch.n);
  for (std::int64_t row = 0; row < batch.n; ++row) check_span(spans.data() + 4 * row, batch, row);
}

nb::dict flank_pairs(nb::handle batch, Spans outer, Spans inner) {
  const BatchView view = batch_with_records(batch);
  check_spans(outer, view);
  check_spans(inner, view);
  Flanks flanks;
  {
    nb::gil_scoped_release release;
    flanks = flanks_of(view, outer.data(), inner.data());
  }
  nb::dict d;
  d["bases"] = to_numpy(flanks.bases);
  d["q_start"] = to_numpy(flanks.q_start);
  d["t_start"] = to_numpy(flanks.t_start);
  d["q_len"] = to_numpy(flanks.q_len);
  d["t_len"] = to_numpy(flanks.t_len);
  d["flags"] = to_numpy(flanks.flags);
  d["side"] = to_numpy(flanks.side);
  d["at_end"] = to_numpy(flanks.at_end);
  return d;
}

void extended_spans(nb::ndarray<std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu> spans,
                    InColumn<std::int32_t> side, Spans extensions) {
  const auto flanks = static_cast<std::int64_t>(side.shape(0)), rows = static_cast<std::int64_t>(spans.shape(0));
  check_count(extensions, flanks);
  bool inside = false;
  {
    Unlocked unlocked(side.shape(0));
    inside = rows_inside(side.data(), flanks, 2 * rows);
    if (inside) extend_spans(flanks, side.data(), extensions.data(), spans.data());
  }
  if (!inside) throw nb::index_error("a side lies outside the spans");
}

std::size_t bytes_of_parts(Spans spans) {
  return parts_bytes(static_cast<std::int64_t>(spans.shape(0)), spans.data());
}

nb::tuple copied_parts(nb::handle batch, Spans spans, Bases bases) {
  const BatchView view = batch_view(batch);
  check_spans(spans, view);
  if (parts_bytes(view.n, spans.data()) > bases.shape(0)) throw nb::value_error("the parts do not fit");
  Buffer<std::int64_t> q_start, t_start;
  q_start.resize(static_cast<std::size_t>(view.n));
  t_start.resize(static_cast<std::size_t>(view.n));
  {
    nb::gil_scoped_release release;
    copy_parts(view, spans.data(), bases.data(), q_start.data(), t_start.data());
  }
  return nb::make_tuple(to_numpy(q_start), to_numpy(t_start));
}

nb::tuple unreliable_ends_of(nb::handle batch, InColumn<std::int32_t> rows, nb::handle alignments,
                             const AlignOptions& scores, std::int32_t max_columns) {
  const BatchView pairs = batch_with_records(batch);
  const AlignmentView view = alignment_view(alignments);
  check_rows(rows, pairs.n);
  if (static_cast<std::int64_t>(rows.shape(0)) != view.n) throw nb::value_error("alignments of other rows");
  for (std::int64_t i = 0; i < view.n; ++i) {
    const std::int32_t *span = view.span + 4 * i, row = rows.data()[i];
    if (span[0] < 0 || span[2] < 0 || span[1] > pairs.q_len[row] || span[3] > pairs.t_len[row])
      throw nb::value_error("a span lies outside its pair");
  }
  UnreliableEnds ends;
  {
    nb::gil_scoped_release release;
    ends = unreliable_ends(pairs, rows.data(), view, scores, max_columns);
  }
  return nb::make_tuple(to_numpy(ends.rows), to_numpy(ends.inner), to_numpy(ends.nearer));
}

OutColumn<std::int64_t> scores_of_paths(nb::handle alignments, const AlignOptions& scores) {
  const AlignmentView view = alignment_view(alignments);
  Buffer<std::int64_t> found;
  {
    Unlocked unlocked(size_of(view));
    found = path_scores(view, scores);
  }
  return to_numpy(found);
}

nb::tuple ends_outside(nb::handle alignments, Spans inner, const AlignOptions& scores) {
  const AlignmentView view = alignment_view(alignments);
  check_count(inner, view.n);
  OuterEnds ends;
  {
    Unlocked unlocked(size_of(view));
    ends = outer_ends(view, inner.data(), scores);
  }
  return nb::make_tuple(to_numpy(ends.score), to_numpy(ends.matches), to_numpy(ends.run));
}

nb::tuple parts_of_paths(nb::handle alignments, InColumn<std::int32_t> rows, InColumn<std::int32_t> run,
                         const AlignOptions& options) {
  const AlignmentView view = alignment_view(alignments);
  const auto count = static_cast<std::int64_t>(rows.shape(0));
  check_rows(rows, view.n);
  if (run.shape(0) != 2 * rows.shape(0)) throw nb::value_error("a part has two ends");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t row = rows.data()[i], *ends = run.data() + 2 * i;
    if (ends[0] < 0 || ends[0] >= ends[1] || ends[1] > view.cigar_start[row + 1] - view.cigar_start[row])
      throw nb::value_error("a part lies outside its alignment");
  }
  PathParts parts;
  {
    Unlocked unlocked(size_of(view));
    parts = path_parts(view, rows.data(), run.data(), count, options);
  }
  return nb::make_tuple(to_numpy(parts.score), to_numpy(parts.span), to_numpy(parts.cigar.runs()),
                        to_numpy(parts.cigar_start));
}

nb::tuple drops_of(nb::handle alignments, std::int64_t zdrop, std::int64_t inversion, std::int64_t extend,
                    const AlignOptions& scores) {
  const AlignmentView view = alignment_view(alignments);
  Drops d;
  {
    nb::gil_scoped_release release;
    d = find_drops(view, {zdrop, inversion, extend}, scores);
  }
  return nb::make_tuple(to_numpy(d.rows), to_numpy(d.run), to_numpy(d.span), to_numpy(d.is_deep));
}

// Throws ValueError unless the drops are parts of their rows' CIGARs, in order.
void check_drops(const ChosenDrops& drops, const AlignmentView& a) {
  for (std::int64_t k = 0; k < drops.n; ++k) {
    const std::int32_t row = drops.rows[k], *run = drops.run + 2 * k;
    const bool follows = k > 0 && drops.rows[k - 1] == row;
    if (row < 0 || row >= a.n || (k > 0 && drops.rows[k - 1] > row) || run[0] < (follows ? run[-1] : 0) ||
        run[1] < run[0] || run[1] > a.cigar_start[row + 1] - a.cigar_start[row])
      throw nb::value_error("a drop lies outside its alignment");
  }
}

nb::tuple split_rows(nb::handle batch, nb::handle alignments, InColumn<std::int32_t> rows, InColumn<std::int32_t> run,
                     Spans room, std::int64_t min_score, const AlignOptions& scores, const AlignOptions& options) {
  const BatchView view = batch_with_records(batch);
  const AlignmentView found = alignment_view(alignments);
  if (!view.is_mapped() || found.n != view.n) throw nb::value_error("alignments of another batch");
  if (run.shape(0) != 2 * rows.shape(0)) throw nb::value_error("a drop has two places");
  check_spans(room, view);
  const ChosenDrops drops{static_cast<std::int64_t>(rows.shape(0)), rows.data(), run.data(), room.data(), min_score};
  check_drops(drops, found);
  Pieces p;
  {
    nb::gil_scoped_release release;
    p = split_at_drops(view, found, drops, scores, options);
  }
  return nb::make_tuple(to_numpy(p.rows), to_numpy(p.is_minor), to_numpy(p.is_split), to_numpy(p.score),
                        to_numpy(p.span), to_numpy(p.cigar.runs()), to_numpy(p.cigar_start), to_numpy(p.outer));
}

nb::dict pairs_of_inversions(nb::handle batch, InColumn<std::int32_t> rows, Spans spans) {
  const BatchView view = batch_view(batch);
  const auto count = static_cast<std::int64_t>(rows.shape(0));
  check_count(spans, count);
  check_rows(rows, view.n);
  for (std::int64_t i = 0; i < count; ++i) check_span(spans.data() + 4 * i, view, rows.data()[i]);
  InvertedPairs pairs;
  {
    nb::gil_scoped_release release;
    pairs = inverted_pairs(view, rows.data(), spans.data(), count);
  }
  nb::dict d;
  d["bases"] = to_numpy(pairs.bases);
  d["q_start"] = to_numpy(pairs.q_start);
  d["t_start"] = to_numpy(pairs.t_start);
  d["q_len"] = to_numpy(pairs.q_len);
  d["t_len"] = to_numpy(pairs.t_len);
  d["flags"] = to_numpy(pairs.flags);
  return d;
}

nb::tuple reads_on_the_opposite_strand(nb::handle batch, InColumn<std::int32_t> rows) {
  const BatchView view = batch_with_records(batch);
  if (!view.is_mapped()) throw nb::value_error("the batch has no mapped reads");
  check_rows(rows, view.n);
  OppositeReads reads;
  {
    nb::gil_scoped_release release;
    reads = opposite_reads(view, rows.data(), static_cast<std::int64_t>(rows.shape(0)));
  }
  return nb::make_tuple(to_numpy(reads.text), to_numpy(reads.read_start), to_numpy(reads.qual));
}

nb::tuple uncovered(nb::handle batch, nb::handle alignments, std::int64_t least, const AlignOptions& scores) {
  const BatchView view = batch_with_records(batch);
  const AlignmentView found = alignment_view(alignments);
  if (!view.is_mapped() || found.n != view.n) throw nb::value_error("alignments of another batch");
  UncoveredRows rows;
  {
    nb::gil_scoped_release release;
    rows = uncovered_secondaries(view, found, least, scores);
  }
  return nb::make_tuple(to_numpy(rows.rows), to_numpy(rows.with_bases));
}

nb::object trim_overlaps_of(nb::handle batch, nb::handle alignments, Spans inner, Spans room, InColumn<std::int32_t> some,
                            std::int64_t least, std::int64_t bonus, const AlignOptions& scores, const AlignOptions& options) {
  const BatchView view = batch_with_records(batch);
  const AlignmentView found = alignment_view(alignments);
  if (!view.is_mapped() || found.n != view.n) throw nb::value_error("alignments of another batch");
  check_spans(inner, view);
  check_spans(room, view);
  check_rows(some, view.n);
  TrimmedOverlaps trimmed;
  {
    nb::gil_scoped_release release;
    const SomeRows of{static_cast<std::int64_t>(some.shape(0)), some.data()};
    trimmed = trim_overlaps(view, found, {inner.data(), room.data()}, of, {least, bonus}, scores, options);
  }
  if (!trimmed.any) return nb::none();
  return nb::make_tuple(to_numpy(trimmed.kept), to_numpy(trimmed.score), to_numpy(trimmed.span),
                        to_numpy(trimmed.cigar.runs()), to_numpy(trimmed.cigar_start), to_numpy(trimmed.rows),
                        to_numpy(trimmed.reach));
}

nb::tuple freed(nb::handle batch, nb::handle alignments, Spans room) {
  const BatchView view = batch_with_records(batch);
  const AlignmentView found = alignment_view(alignments);
  if (!view.is_mapped() || found.n != view.n) throw nb::value_error("alignments of another batch");
  check_spans(room, view);
  FreedEnds ends;
  {
    nb::gil_scoped_release release;
    ends = freed_ends(view, found, room.data());
  }
  return nb::make_tuple(to_numpy(ends.rows), to_numpy(ends.reach));
}

}  // namespace

void bind_ends(nb::module_& m) {
  m.def("flank_pairs", &flank_pairs, nb::arg("batch"), nb::arg("outer"), nb::arg("inner"),
        "Columns of pairs between two spans (i32[n, 4]) on either side of each row, those on the left reversed; side "
        "(i32[m]) is 2 * row, and 1 more on the right; at_end (u8[m]) is 1 if the flank of a mapped read reaches its end");
  m.def("extend_spans", &extended_spans, nb::arg("spans"), nb::arg("side"), nb::arg("extensions"),
        "Extends spans (i32[n, 4]) in place by the spans (i32[m, 4]) of alignments of flanks, see flank_pairs()");
  m.def("parts_bytes", &bytes_of_parts, nb::arg("spans"), "Bytes that copy_parts() fills");
  m.def("copy_parts", &copied_parts, nb::arg("batch"), nb::arg("spans"), nb::arg("bases"),
        "Copies parts of a batch into memory (u8[B]); (q_start, t_start), i64[n] each");
  m.def("unreliable_ends", &unreliable_ends_of, nb::arg("batch"), nb::arg("rows"), nb::arg("alignments"),
        nb::arg("scores"), nb::arg("max_columns"),
        "(rows i32[m], spans i32[4m], nearer i32[4m]): alignments, of these rows (i32[n]) of a batch, with a doubtful end, "
        "their spans without what hangs by it, and without what loses");
  m.def("path_scores", &scores_of_paths, nb::arg("alignments"), nb::arg("scores"), "i64[n], what operations score");
  m.def("outer_ends", &ends_outside, nb::arg("alignments"), nb::arg("inner"), nb::arg("scores"),
        "(score i64[2n], matches i64[2n], run i32[4n]) of the parts of alignments before and after inner spans (i32[n, "
        "4]): the highest score of any part of it, bases in long matches, and the CIGAR elements of that part");
  m.def("path_parts", &parts_of_paths, nb::arg("alignments"), nb::arg("rows"), nb::arg("run"), nb::arg("options"),
        "(score, span i32[4m], cigar, cigar_start): CIGAR elements run (i32[2m]) of the alignments of rows (i32[m])");
  m.def("find_drops", &drops_of, nb::arg("alignments"), nb::arg("zdrop"), nb::arg("inversion"), nb::arg("extend"),
        nb::arg("scores"),
        "(rows i32[m], run i32[2m], span i32[4m], is_deep u8[m]): drops of the score along alignments by more than a "
        "threshold, the numbers of CIGAR elements before their beginnings and ends, and the parts between");
  m.def("split_at_drops", &split_rows, nb::arg("batch"), nb::arg("alignments"), nb::arg("rows"), nb::arg("run"),
        nb::arg("room"), nb::arg("min_score"), nb::arg("scores"), nb::arg("options"),
        "(rows, is_minor, is_split, score, span i32[4m], cigar, cigar_start, outer i32[4k] of the split ones): "
        "alignments split at drops, without pieces of a lower score than min_score. Spans in outer are inside the rows' room "
        "(i32[n, 4])");
  m.def("inverted_pairs", &pairs_of_inversions, nb::arg("batch"), nb::arg("rows"), nb::arg("spans"),
        "Columns of pairs of the reverse complements of parts of queries and parts of targets: spans (i32[m, 4]) of "
        "rows (i32[m])");
  m.def("opposite_reads", &reads_on_the_opposite_strand, nb::arg("batch"), nb::arg("rows"),
        "(text u8[T], read_start i64[m], qual i64[m]): the whole reads of rows (i32[m]) on the opposite strand, and the "
        "offsets of their sequences and quality strings; -1 for rows that have none");
  m.def("uncovered_secondaries", &uncovered, nb::arg("batch"), nb::arg("alignments"), nb::arg("least"),
        nb::arg("scores"),
        "(rows i32[m], with_bases i32[m]): secondary rows of which other rows of their reads align less than half, and "
        "rows of the same reads that have their sequences; supplementary rows that score less than least do not count for one "
        "that has this score");
  m.def("trim_overlaps", &trim_overlaps_of, nb::arg("batch"), nb::arg("alignments"), nb::arg("inner"), nb::arg("room"),
        nb::arg("some"), nb::arg("least"), nb::arg("bonus"), nb::arg("scores"), nb::arg("options"),
        "(kept i32[m], score, span i32[4m], cigar, cigar_start, rows i32[k], reach i32[4k]): the rows without parts of "
        "split reads that add nothing, parts cut where they overlap, which of the m rows were changed, and how far their "
        "ends may go; only of reads that have some rows (i32[...], in order). None if no row is changed or left out");
  m.def("freed_ends", &freed, nb::arg("batch"), nb::arg("alignments"), nb::arg("room"),
        "(rows i32[k], reach i32[4k]): rows of split reads with ends that may go beyond their room (i32[n, 4]), because no "
        "other part aligns the bases there, and how far");
}

}  // namespace wfacli

#include "bind/bind.hpp"
#include "mapped/drops.hpp"
#include "mapped/ends.hpp"

namespace wfacli {
namespace {

using Spans = nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Bases = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_count(const Spans& spans, std::int64_t n) {
  if (spans.shape(0) != static_cast<std::size_t>(n)) throw nb::value_error("spans have another length than their batch");
}

// Throws ValueError unless all spans are inside their sequences.
void check_spans(const Spans& spans, const BatchView& batch) {
  check_count(spans, batch.n);
  const std::int32_t* span = spans.data();
  for (std::int64_t row = 0; row < batch.n; ++row, span += 4)
    if (span[0] < 0 || span[0] > span[1] || span[1] > batch.q_len[row] || span[2] < 0 || span[2] > span[3] ||
        span[3] > batch.t_len[row])
      throw nb::value_error("a span lies outside its sequences");
}

nb::dict flank_pairs(nb::handle batch, Spans outer, Spans inner) {
  const BatchView view = batch_view(batch);
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
  return d;
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

nb::tuple unreliable_ends_of(nb::handle alignments, Spans mapped, const AlignOptions& scores,
                             std::int32_t max_columns) {
  const AlignmentView view = alignment_view(alignments);
  check_count(mapped, view.n);
  UnreliableEnds ends;
  {
    nb::gil_scoped_release release;
    ends = unreliable_ends(view, mapped.data(), scores, max_columns);
  }
  return nb::make_tuple(to_numpy(ends.rows), to_numpy(ends.inner));
}

OutColumn<std::int64_t> scores_of_paths(nb::handle alignments, const AlignOptions& scores) {
  const AlignmentView view = alignment_view(alignments);
  Buffer<std::int64_t> found;
  {
    nb::gil_scoped_release release;
    found = path_scores(view, scores);
  }
  return to_numpy(found);
}

nb::object split_at_drops(nb::handle batch, nb::handle alignments, nb::tuple thresholds, const AlignOptions& scores,
                          const AlignOptions& options) {
  const BatchView view = batch_with_records(batch);
  const AlignmentView found = alignment_view(alignments);
  if (!view.is_mapped() || found.n != view.n) throw nb::value_error("alignments of another batch");
  const SplitThresholds b{nb::cast<std::int64_t>(thresholds[0]), nb::cast<std::int64_t>(thresholds[1]),
                          nb::cast<std::int64_t>(thresholds[2])};
  Pieces p;
  {
    nb::gil_scoped_release release;
    p = split_at_zdrops(view, found, b, scores, options);
  }
  if (!p.any) return nb::none();
  return nb::make_tuple(to_numpy(p.rows), to_numpy(p.is_minor), to_numpy(p.is_split), to_numpy(p.score),
                        to_numpy(p.span), to_numpy(p.cigar.runs()), to_numpy(p.cigar_start), to_numpy(p.outer));
}

nb::object trim_overlaps_of(nb::handle batch, nb::handle alignments, Spans inner, const AlignOptions& scores,
                            const AlignOptions& options) {
  const BatchView view = batch_with_records(batch);
  const AlignmentView found = alignment_view(alignments);
  if (!view.is_mapped() || found.n != view.n) throw nb::value_error("alignments of another batch");
  check_spans(inner, view);
  TrimmedOverlaps trimmed;
  {
    nb::gil_scoped_release release;
    trimmed = trim_overlaps(view, found, inner.data(), scores, options);
  }
  if (!trimmed.any) return nb::none();
  return nb::make_tuple(to_numpy(trimmed.score), to_numpy(trimmed.span), to_numpy(trimmed.cigar.runs()),
                        to_numpy(trimmed.cigar_start));
}

}  // namespace

void bind_ends(nb::module_& m) {
  m.def("flank_pairs", &flank_pairs, nb::arg("batch"), nb::arg("outer"), nb::arg("inner"),
        "Columns of pairs between two spans (i32[n, 4]) on either side of each row, those on the left reversed; side "
        "(i32[m]) is 2 * row, and 1 more on the right");
  m.def("parts_bytes", &bytes_of_parts, nb::arg("spans"), "Bytes that copy_parts() fills");
  m.def("copy_parts", &copied_parts, nb::arg("batch"), nb::arg("spans"), nb::arg("bases"),
        "Copies parts of a batch into memory (u8[B]); (q_start, t_start), i64[n] each");
  m.def("unreliable_ends", &unreliable_ends_of, nb::arg("alignments"), nb::arg("mapped"), nb::arg("scores"),
        nb::arg("max_columns"),
        "(rows i32[m], spans i32[4m]): alignments with a doubtful end, and their spans without what hangs by it");
  m.def("path_scores", &scores_of_paths, nb::arg("alignments"), nb::arg("scores"), "i64[n], what operations score");
  m.def("split_at_drops", &split_at_drops, nb::arg("batch"), nb::arg("alignments"), nb::arg("thresholds"),
        nb::arg("scores"), nb::arg("options"),
        "(rows, lesser, broken, score, span i32[4m], cigar, cigar_start, outer i32[4k] of broken ones): alignments "
        "broken where their score falls by more than thresholds = (Z-drop, extension, minimum score of a piece); "
        "None if no score does");
  m.def("trim_overlaps", &trim_overlaps_of, nb::arg("batch"), nb::arg("alignments"), nb::arg("inner"),
        nb::arg("scores"), nb::arg("options"),
        "(score, span i32[4n], cigar, cigar_start) with parts of split reads cut where they overlap; None where none "
        "do");
}

}  // namespace wfacli

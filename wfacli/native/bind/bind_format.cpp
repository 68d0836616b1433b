#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bind/bind.hpp"
#include "report/figures.hpp"
#include "format/format.hpp"
#include "format/replay.hpp"
#include "format/target_ids.hpp"
#include "io/reference.hpp"
#include "io/sam_names.hpp"

namespace wfacli {
namespace {

FormatOptions options_of(const std::string& format, int ambiguous, bool cigar_m, bool md, bool cs, bool scores,
                         bool heuristic, bool second, bool sort, bool hard_clip, const std::string& read_group,
                         std::tuple<double, double, int> significance,
                         const std::tuple<int, int, int, std::vector<std::pair<int, int>>>& prices) {
  FormatOptions o;
  o.format = format == "bam"      ? Format::Bam
             : format == "paf"    ? Format::Paf
             : format == "tsv"    ? Format::Tsv
             : format == "blast6" ? Format::Blast6
                                  : Format::Sam;
  o.ambiguous = static_cast<Ambiguous>(ambiguous);
  o.cigar_m = cigar_m;
  o.md = md;
  o.cs = cs;
  o.scores_only = scores;
  o.heuristic = heuristic;
  o.second = second;
  o.sort = sort;
  o.hard_clip = hard_clip;
  o.read_group = read_group;
  std::tie(o.lambda, o.log_k, o.score_step) = significance;
  const auto& [match, mismatch, charge, gaps] = prices;
  o.operation_scores.match = match;
  o.operation_scores.mismatch = mismatch;
  o.operation_scores.ambiguous = charge;
  if (gaps.size() > 2) throw nb::value_error("a gap's cost has one or two pieces");
  for (const auto& [open, extend] : gaps) o.operation_scores.gap[o.operation_scores.pieces++] = {open, extend};
  return o;
}

nb::dict to_dict(const Tally& t) {
  nb::dict d;
  d["aligned"] = t.aligned;
  d["matches"] = t.matches;
  d["mismatches"] = t.mismatches;
  d["inserted"] = t.inserted;
  d["deleted"] = t.deleted;
  d["gaps"] = t.gaps;
  d["query_bases"] = t.query_bases;
  d["target_bases"] = t.target_bases;
  d["non_nucleotide"] = t.non_nucleotide;
  d["cells"] = t.cells;
  d["primary"] = t.primary;
  d["unmapped"] = t.unmapped;
  d["secondary"] = t.secondary;
  d["supplementary"] = t.supplementary;
  d["clipped"] = t.clipped;
  return d;
}

OutColumn<std::int64_t> copied(const std::int64_t* values, std::int64_t count) {
  Buffer<std::int64_t> column;
  column.append(values, static_cast<std::size_t>(count));
  return to_numpy(column);
}

nb::dict to_dict(BatchFigures& f) {
  constexpr const char* kHistograms[] = {"query_lengths", "query_bases", "target_lengths", "insertions",
                                         "deletions",     "templates",   "scores",         "costs"};
  static_assert(std::size(kHistograms) == BatchFigures::kLengthHistograms);
  nb::dict d;
  for (int i = 0; i < BatchFigures::kLengthHistograms; ++i) d[kHistograms[i]] = copied(f.histogram(i), kLengthBins);
  d["identity"] = copied(f.identity(), kIdentityBins);
  d["quality"] = copied(f.quality(), kQualityBins);
  d["sums"] = copied(f.sums(), BatchFigures::kSums);
  return d;
}

template <class Options>
nb::object check(nb::handle batch, nb::handle alignments, const Options& options) {
  const BatchView b = batch_with_records(batch);
  const AlignmentView a = alignment_view(alignments);
  std::string fault;
  std::int64_t i = 0;
  {
    nb::gil_scoped_release release;
    for (; options.path && i < b.n && fault.empty(); ++i)
      if (static_cast<Status>(a.status[i]) == Status::Ok) fault = replay_fault(b, a, i, options);
  }
  if (fault.empty()) return nb::none();
  return nb::make_tuple(i - 1, fault);
}

}  // namespace

void bind_format(nb::module_& m) {
  nb::class_<FormatOptions>(m, "FormatOptions")
      .def(
          "__init__",
          [](FormatOptions* self, const std::string& format, int ambiguous, bool cigar_m, bool md, bool cs,
             bool scores_only, bool heuristic, bool second, bool sort, bool hard_clip, const std::string& read_group,
             std::tuple<double, double, int> significance,
             const std::tuple<int, int, int, std::vector<std::pair<int, int>>>& prices) {
            new (self) FormatOptions(options_of(format, ambiguous, cigar_m, md, cs, scores_only, heuristic, second,
                                                sort, hard_clip, read_group, significance, prices));
          },
          nb::kw_only(), nb::arg("format"), nb::arg("ambiguous"), nb::arg("cigar_m"), nb::arg("md"), nb::arg("cs"),
          nb::arg("scores_only"), nb::arg("heuristic"), nb::arg("second") = false, nb::arg("sort") = false,
          nb::arg("hard_clip") = false, nb::arg("read_group"), nb::arg("significance") = std::tuple(0.0, 0.0, 1),
          nb::arg("operation_scores") = std::tuple(0, 0, std::vector<std::pair<int, int>>()));
  nb::class_<BatchFigures>(m, "BatchFigures", "Figures of one batch for a report; format_batch() fills it")
      .def(nb::init<const Reference*>(), nb::arg("reference") = nb::none(), nb::keep_alive<1, 2>())
      .def("absorb", &BatchFigures::absorb, nb::arg("batch"), "Add the figures of a batch, and clear that for another")
      .def("counts", [](BatchFigures& f) { return to_dict(f); }, "Histograms and sums by name, i64[...] each")
      .def(
          "take_places",
          [](BatchFigures& f) { return nb::make_tuple(to_numpy(f.targets), to_numpy(f.begins), to_numpy(f.ends)); },
          "(targets i32[n], begins i64[n], ends i64[n]) of primary and supplementary alignments, once");
  m.def("length_bin", &length_bin, nb::arg("length"), "The bin of a length in the histograms of BatchFigures");
  m.def(
      "format_batch",
      [](nb::handle batch, nb::handle alignments, const FormatOptions& options, const TargetIds* targets,
         BatchFigures* figures) {
        const BatchView b = batch_with_records(batch);
        const AlignmentView a = alignment_view(alignments);
        if (a.n != b.n) throw nb::value_error("the alignments are not this batch's");
        Formatted out;
        {
          nb::gil_scoped_release release;
          out = format_batch(b, a, options, targets, figures);
        }
        return nb::make_tuple(to_numpy(out.text.buffer()), to_dict(out.tally));
      },
      nb::arg("batch"), nb::arg("alignments"), nb::arg("options"), nb::arg("targets") = nb::none(),
      nb::arg("figures") = nb::none(), "(records u8[...], sums over them)");
  m.def("check_batch", &check<AlignOptions>, nb::arg("batch"), nb::arg("alignments"), nb::arg("options"),
        "None, or (row, what is wrong with it)");
  m.def(
      "unfit_query",
      [](nb::handle batch) {
        const BatchView view = batch_with_records(batch);
        nb::gil_scoped_release release;
        return unfit_query(view);
      },
      nb::arg("batch"),
      "The first row whose query's name SAM cannot hold, or -1");
  m.def(
      "unfit_target",
      [](nb::handle batch) {
        const BatchView view = batch_with_records(batch);
        nb::gil_scoped_release release;
        return unfit_target(view);
      },
      nb::arg("batch"), "The first row whose target's name SAM cannot hold, or -1");
  m.def(
      "fits_rname", [](nb::bytes name) { return fits_rname({name.c_str(), name.size()}); }, nb::arg("name"),
      "Whether SAM can hold a target's name");
  m.def("check_batch", &check<ExtendOptions>, nb::arg("batch"), nb::arg("alignments"), nb::arg("options"));
}

}  // namespace wfacli

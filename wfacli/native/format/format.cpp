#include "format/format.hpp"

#include <charconv>
#include <cmath>
#include <numbers>

#include "format/bam_record.hpp"
#include "report/figures.hpp"
#include "format/sam_text.hpp"
#include "format/sorted_frames.hpp"

namespace wfacli {
namespace {

WFACLI_INLINE void add_bounds(Pen& out, std::int64_t begin, std::int64_t end) {
  out.add('\t');
  out.field(begin);
  out.number(end);
}

WFACLI_INLINE void add_paf(Pen& out, const Record& r, const AlignmentView& a, const FormatOptions& o) {
  r.write_mate_name(out);
  out.add('\t');
  out.field(r.read_len());
  if (!r.has_columns() && (!r.aligned || r.read_len() || r.target_len())) {
    out.add("0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n");
    return;
  }
  out.field(r.read_beg());
  out.field(r.read_end());
  out.add(std::string_view(r.reverse() ? "-\t" : "+\t"));
  r.write_target_name(out);
  out.add('\t');
  out.field(r.place.t_total);
  out.field(r.target_beg());
  out.field(r.target_end());
  out.field(r.w.matches);
  out.field(r.w.columns());
  out.number(r.place.mapq);
  TextTags tags(out);
  add_score_tags(tags, r, o);
  if (r.batch.is_mapped()) add_quality_tags(tags, r, a, o);
  add_divergence(tags, r);
  add_type(tags, r);
  tags.fields(r.place.tags);
  tags.text("cg", [&](Pen cg) { return add_cigar(cg, r.w, o.cigar_m); });
  add_cs_tag(tags, r, o);
  out.add('\n');
}

WFACLI_INLINE void add_tsv(Pen& out, const Record& r, const FormatOptions& o) {
  r.write_mate_name(out);
  out.add('\t');
  r.write_target_name(out);
  out.add('\t');
  if (!r.aligned || r.place.flags & kUnmapped) {
    out.add(o.scores_only ? std::string_view("*") : std::string_view("*\t*\t*\t*\t*\t*\t*\t*"));
    if (r.batch.is_mapped()) out.add("\t*\t*");
    if (o.second) out.add("\t*");
    out.add(std::string_view(o.heuristic ? "\t*\n" : "\n"));
    return;
  }
  out.score(r.score);
  if (!o.scores_only) {
    out.add('\t');
    out.number(r.w.edits());
    out.add('\t');
    if (r.w.columns())
      out.fraction(r.w.matches, r.w.columns(), 6);
    else
      out.add("nan");
    add_bounds(out, r.read_beg(), r.read_end());
    add_bounds(out, r.target_beg(), r.target_end());
    out.add('\t');
    if (r.w.operations)
      out = add_cigar(out, r.w, o.cigar_m);
    else
      out.add('*');
  }
  if (r.batch.is_mapped()) {
    out.add(std::string_view(r.reverse() ? "\t-\t" : "\t+\t"));
    out.number(r.place.mapq);
  }
  if (o.second) {
    out.add('\t');
    out.score(r.second);
  }
  if (o.heuristic) out.add(std::string_view(r.cut ? "\t1" : "\t0"));
  out.add('\n');
}

void add_real(Pen& out, double value, std::chars_format form, int decimals) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, form, decimals).ptr;
  out.add(std::string_view(text, static_cast<std::size_t>(end - text)));
}

// Writes E-value and bit score. The search space is the product of the lengths of the pair.
void add_significance(Pen& out, const Record& r, const FormatOptions& o) {
  constexpr double kMinPower = -180;  // BLAST writes smaller E-values as 0.0
  const double bits = (o.lambda * (r.score - r.score % o.score_step) - o.log_k) / std::numbers::ln2;
  const double power = std::log10(static_cast<double>(r.query_len()) * r.target_len()) - bits * std::log10(2.0);
  if (power < kMinPower)
    out.add("0.0");
  else
    add_real(out, std::pow(10.0, power), std::chars_format::scientific, 2);
  out.add('\t');
  add_real(out, bits, std::chars_format::fixed, 1);
}

// Writes the twelve columns of BLAST's -outfmt 6, with 1-based positions. Without Karlin-Altschul parameters, the
// E-value is nan and the last column is the raw score.
WFACLI_INLINE void add_blast6(Pen& out, const Record& r, const FormatOptions& o) {
  if (!r.has_columns()) return;
  r.write_query_name(out);
  out.add('\t');
  r.write_target_name(out);
  out.add('\t');
  out.fraction(100 * r.w.matches, r.w.columns(), 3);
  for (const std::int64_t count : {r.w.columns(), r.w.mismatches, r.w.gaps, std::int64_t{r.span[0]} + 1,
                                   std::int64_t{r.span[1]}, std::int64_t{r.span[2]} + 1, std::int64_t{r.span[3]}}) {
    out.add('\t');
    out.number(count);
  }
  out.add('\t');
  if (o.lambda > 0) {
    add_significance(out, r, o);
  } else {
    out.add("nan\t");
    out.score(r.score);
  }
  out.add('\n');
}

WFACLI_INLINE void count(Tally& tally, const Record& r, std::uint8_t flags) {
  tally.aligned += r.aligned && !(r.place.flags & kUnmapped);
  tally.matches += r.w.matches;
  tally.mismatches += r.w.mismatches;
  tally.inserted += r.w.inserted;
  tally.deleted += r.w.deleted;
  tally.gaps += r.w.gaps;
  tally.query_bases += r.query_len();
  tally.target_bases += r.target_len();
  tally.non_nucleotide += (flags & kNonNucleotide) != 0;
  tally.cells += static_cast<double>(r.query_len()) * r.target_len();
}

// Counts a written record of a mapped read by kind.
WFACLI_INLINE void count_kinds(Tally& tally, const Record& r) {
  const std::int32_t flags = r.place.flags;
  const bool primary = !(flags & (kUnmapped | kSecondary | kSupplementary));
  tally.unmapped += (flags & kUnmapped) != 0;
  tally.secondary += (flags & kSecondary) != 0;
  tally.supplementary += (flags & kSupplementary) != 0;
  tally.primary += primary;
  if (primary) tally.clipped += r.before() + r.after();
}

// Adds a row to the figures. It gets copies, since a record that is referred to from outside of the loop over rows
// would be in memory there, which costs more than the copies.
template <bool kMapped>
[[gnu::noinline]] void add_figures(BatchFigures& figures, const BatchView& batch, std::int64_t i, bool aligned,
                                   const AlignmentView& a, SamAlignment w, Place place) {
  const Record record{batch, i, aligned, a.cut[i] != 0, a.score[i], 0, a.span + 4 * i, w, place};
  if (!kMapped)
    figures.add_pair(record);
  else if (place.fields->written)
    figures.add_mapped(record);
}

// Returns an upper bound of the size of a record in bytes.
WFACLI_INLINE std::size_t max_bytes(const Record& r, const FormatOptions& o) {
  constexpr std::int64_t kFixed = 640;                    // numbers, tabs and names of tags
  constexpr std::int64_t kRun = Pen::kDigits + 1;        // a number and an operation
  std::int64_t bytes = kFixed + r.batch.q_name_len[r.i] + r.batch.t_name_len[r.i] + 2 * r.read_len() +
                       r.w.operations * kRun + static_cast<std::int64_t>(o.read_group.size() + r.place.tags.size());
  // MD has a number and up to two characters per mismatch and per operation, and a character per deleted base; cs has
  // three characters per edit and a number per operation.
  if (o.md) bytes += (r.w.mismatches + r.w.operations + 1) * kRun + r.w.deleted + 2 * r.w.mismatches;
  if (const RecordFields* fields = r.place.fields) {
    bytes += static_cast<std::int64_t>(fields->sa_tag.size());
    for (const std::int64_t row : {fields->next, fields->mapped_mate}) bytes += row < 0 ? 0 : r.batch.t_name_len[row];
  }
  if (o.cs) bytes += 3 * r.w.edits() + r.w.operations * kRun;
  if (r.mate) bytes += (r.mate->operations + 2) * kRun;
  if (o.format == Format::Bam) bytes += BamWriter::kExtra + BamTags::max_bytes(r.place.tags);
  return static_cast<std::size_t>(bytes);
}

// Returns the end of the rows of row i's template.
std::int64_t template_end(const BatchView& batch, std::int64_t i) {
  std::int64_t end = i + 1;
  while (end < batch.n && batch.mapped.first[end] == batch.mapped.first[i]) ++end;
  return end;
}

std::size_t typical_bytes(const BatchView& batch, Format format) {
  constexpr std::int64_t kTypicalBytes = 128;  // typical bytes of a record without its sequences
  std::int64_t bytes = batch.n * kTypicalBytes;
  if (format == Format::Sam || format == Format::Bam)
    for (std::int64_t i = 0; i < batch.n; ++i) bytes += batch.q_len[i] * (batch.qual[i] < 0 ? 1 : 2);
  return static_cast<std::size_t>(bytes);
}

// Formats all rows. `kMapped`: rows are mapped reads, not just pairs; `kFigures`: `figures` receives their figures.
// Decisions that are the same for all rows are template parameters: without figures, records are in registers.
template <Format kFormat, bool kMapped, bool kFigures>
void add_rows(const BatchView& batch, const AlignmentView& a, const FormatOptions& options, const TargetIds* targets,
              Formatted& out, SortColumns& sorting, BatchFigures* figures) {
  Cigar scratch, mate_scratch;
  std::vector<RecordFields> fields;  // rows of the current template; those from `next_row` on are left
  std::size_t next_row = 0;
  TargetFinder finder(targets);
  BamWriter bam(finder);
  constexpr bool kSam = kFormat == Format::Sam || kFormat == Format::Bam;
  constexpr bool kAllRows = kFormat == Format::Tsv;  // TSV has a row for each mapping, aligned or not
  const auto alignment_of = [&](std::int64_t row, Cigar& resolved) {
    return to_sam_alignment(batch.pair(row).part(a.span + 4 * row), a.cigar + a.cigar_start[row],
                            a.cigar_start[row + 1] - a.cigar_start[row],
                            needs_resolving(options.ambiguous, batch.flags[row]), resolved);
  };
  for (std::int64_t i = 0; i < batch.n; ++i) {
    if (kMapped && next_row == fields.size()) {
      fields = resolve_template(batch, a, i, template_end(batch, i), options.ambiguous);
      next_row = 0;
    }
    const RecordFields* own = kMapped ? &fields[next_row++] : nullptr;
    const bool aligned = static_cast<Status>(a.status[i]) == Status::Ok;
    const SamAlignment w = alignment_of(i, scratch);
    const Place place = place_of<kMapped>(batch, i, own);
    Record record{batch, i, aligned, a.cut[i] != 0, a.score[i], a.second ? a.second[i] : 0, a.span + 4 * i, w, place};
    SamAlignment mate;
    if (kMapped && kSam && own->written && own->mate >= 0) {
      mate = alignment_of(own->mate, mate_scratch);
      record.mate = &mate;
    }
    count(out.tally, record, batch.flags[i]);
    if (kMapped && own->written) count_kinds(out.tally, record);
    if constexpr (kFigures) add_figures<kMapped>(*figures, batch, i, aligned, a, w, place);
    if (kMapped && !own->written && !kAllRows) continue;
    Pen pen = out.text.room(max_bytes(record, options));
    if constexpr (kSam) {
      const SamCore core = core_of<kMapped>(record, a, options);
      if constexpr (kFormat == Format::Bam)
        bam.add<kMapped>(pen, core, record, a, options);
      else
        add_sam<kMapped>(pen, core, record, a, options);
      out.text.done(pen);
      if (options.sort)
        sorting.push(sort_key(finder.id(batch, core.target), core.position, core.flags & kReverseStrand),
                     out.text.buffer().size());
    } else {
      if constexpr (kFormat == Format::Paf)
        add_paf(pen, record, a, options);
      else if constexpr (kFormat == Format::Tsv)
        add_tsv(pen, record, options);
      else
        add_blast6(pen, record, options);
      out.text.done(pen);
    }
  }
}

}  // namespace

Formatted format_batch(const BatchView& batch, const AlignmentView& a, const FormatOptions& options,
                       const TargetIds* targets, BatchFigures* figures) {
  Formatted out;
  SortColumns sorting;
  out.text.buffer().reserve(typical_bytes(batch, options.format));
  const auto add = [&]<Format kFormat>() {
    const auto rows = [&]<bool kMapped>() {
      if (figures)
        add_rows<kFormat, kMapped, true>(batch, a, options, targets, out, sorting, figures);
      else
        add_rows<kFormat, kMapped, false>(batch, a, options, targets, out, sorting, figures);
    };
    if (batch.is_mapped())
      rows.template operator()<true>();
    else
      rows.template operator()<false>();
  };
  switch (options.format) {
    case Format::Sam: add.template operator()<Format::Sam>(); break;
    case Format::Bam: add.template operator()<Format::Bam>(); break;
    case Format::Paf: add.template operator()<Format::Paf>(); break;
    case Format::Tsv: add.template operator()<Format::Tsv>(); break;
    case Format::Blast6: add.template operator()<Format::Blast6>(); break;
  }
  if (options.sort) {
    Buffer<char>& text = out.text.buffer();
    text = sorted_frames({text.data(), text.size()}, sorting);
  }
  return out;
}

}  // namespace wfacli

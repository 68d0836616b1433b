#include "format.hpp"

#include "written.hpp"

namespace wfacli {
namespace {

constexpr int kUnmapped = 4, kUnknownQuality = 255;

// A record on its way out: the pair's columns, and its alignment if it has one.
struct Record {
  const BatchView& batch;
  std::int64_t i;
  bool aligned, cut;
  std::int32_t score, second;
  const std::int32_t* span;  // q_beg q_end t_beg t_end
  const Written& w;

  void query_name(Text& out) const { name(out, batch.q_name[i], batch.q_name_len[i]); }
  void target_name(Text& out) const { name(out, batch.t_name[i], batch.t_name_len[i]); }
  std::int32_t query_len() const { return batch.q_len[i]; }
  std::int32_t target_len() const { return batch.t_len[i]; }
  const std::uint8_t* query() const { return batch.bases + batch.q_start[i]; }
  // Whether letters of the sequences are in it: free ends may leave all of them out.
  bool holds_letters() const { return aligned && w.operations > 0; }

 private:
  void name(Text& out, std::int64_t start, std::int32_t len) const {
    if (len == 0)
      out.add('*');
    else
      out.add(batch.text + start, len);
  }
};

void add_tags(Text& out, const Record& r, const FormatOptions& o) {
  out.add("\tNM:i:");
  out.number(r.w.edits());
  out.add("\tAS:i:");
  out.number(r.score);
  if (o.second) {
    out.add("\tXS:i:");
    out.number(r.second);
  }
  if (r.cut) out.add("\txh:i:1");
  if (o.md && r.aligned) {
    out.add("\tMD:Z:");
    add_md(out, r.w);
  }
}

void add_cs_tag(Text& out, const Record& r, const FormatOptions& o) {
  if (!o.cs || !r.aligned) return;
  out.add("\tcs:Z:");
  add_cs(out, r.w);
}

void add_clip(Text& out, std::int32_t letters) {
  if (letters == 0) return;
  out.number(letters);
  out.add('S');
}

void add_sam(Text& out, const Record& r, const FormatOptions& o) {
  // What aligns no letters of either side has no place on a target: SAM calls it unmapped.
  const bool placed = r.aligned && r.span[1] > r.span[0] && r.span[3] > r.span[2];
  r.query_name(out);
  out.add('\t');
  out.number(placed ? 0 : kUnmapped);
  out.add('\t');
  if (placed)
    r.target_name(out);
  else
    out.add('*');
  out.add('\t');
  out.number(placed ? r.span[2] + 1 : 0);
  out.add('\t');
  out.number(placed ? kUnknownQuality : 0);
  out.add('\t');
  if (placed) {
    add_clip(out, r.span[0]);
    add_cigar(out, r.w, o.cigar_m);
    add_clip(out, r.query_len() - r.span[1]);
  } else {
    out.add('*');
  }
  out.add("\t*\t0\t0\t");
  const std::int64_t quality = r.batch.qual[r.i];
  if (r.query_len() > 0) {
    out.add(r.query(), r.query_len());
    out.add('\t');
    if (quality >= 0)
      out.add(r.batch.text + quality, r.query_len());
    else
      out.add('*');
  } else {
    out.add("*\t*");
  }
  if (placed) {
    add_tags(out, r, o);
    add_cs_tag(out, r, o);
  }
  if (!o.read_group.empty()) {
    out.add("\tRG:Z:");
    out.add(o.read_group);
  }
  out.add('\n');
}

void add_bounds(Text& out, const std::int32_t* bounds) {
  out.add('\t');
  out.number(bounds[0]);
  out.add('\t');
  out.number(bounds[1]);
}

void add_paf(Text& out, const Record& r, const FormatOptions& o) {
  r.query_name(out);
  out.add('\t');
  out.number(r.query_len());
  if (!r.holds_letters() && (!r.aligned || r.query_len() || r.target_len())) {
    out.add("\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n");
    return;
  }
  add_bounds(out, r.span);
  out.add("\t+\t");
  r.target_name(out);
  out.add('\t');
  out.number(r.target_len());
  add_bounds(out, r.span + 2);
  out.add('\t');
  out.number(r.w.matches);
  out.add('\t');
  out.number(r.w.columns());
  out.add('\t');
  out.number(kUnknownQuality);
  add_tags(out, r, o);
  const std::int64_t compressed = r.w.matches + r.w.mismatches + r.w.gaps;
  out.add("\tde:f:");
  out.fraction(r.w.mismatches + r.w.gaps, compressed ? compressed : 1, 4);
  out.add("\ttp:A:P\tcg:Z:");
  add_cigar(out, r.w, o.cigar_m);
  add_cs_tag(out, r, o);
  out.add('\n');
}

void add_tsv(Text& out, const Record& r, const FormatOptions& o) {
  r.query_name(out);
  out.add('\t');
  r.target_name(out);
  out.add('\t');
  if (!r.aligned) {
    out.add(o.scores_only ? std::string_view("*") : std::string_view("*\t*\t*\t*\t*\t*\t*\t*"));
    if (o.second) out.add("\t*");
    out.add(std::string_view(o.heuristic ? "\t*\n" : "\n"));
    return;
  }
  out.number(r.score);
  if (!o.scores_only) {
    out.add('\t');
    out.number(r.w.edits());
    out.add('\t');
    if (r.w.columns())
      out.fraction(r.w.matches, r.w.columns(), 6);
    else
      out.add("nan");
    add_bounds(out, r.span);
    add_bounds(out, r.span + 2);
    out.add('\t');
    if (r.w.operations)
      add_cigar(out, r.w, o.cigar_m);
    else
      out.add('*');
  }
  if (o.second) {
    out.add('\t');
    out.number(r.second);
  }
  if (o.heuristic) out.add(std::string_view(r.cut ? "\t1" : "\t0"));
  out.add('\n');
}

// The twelve columns of BLAST's -outfmt 6, positions counted from 1. There are no statistics: nan stands for the e-value,
// and the score is that of the scheme, in no bits.
void add_blast6(Text& out, const Record& r) {
  if (!r.holds_letters()) return;
  r.query_name(out);
  out.add('\t');
  r.target_name(out);
  out.add('\t');
  out.fraction(100 * r.w.matches, r.w.columns(), 3);
  for (const std::int64_t count : {r.w.columns(), r.w.mismatches, r.w.gaps, std::int64_t{r.span[0]} + 1,
                                   std::int64_t{r.span[1]}, std::int64_t{r.span[2]} + 1, std::int64_t{r.span[3]}}) {
    out.add('\t');
    out.number(count);
  }
  out.add("\tnan\t");
  out.number(r.score);
  out.add('\n');
}

void count(Tally& tally, const Record& r, std::uint8_t flags) {
  tally.aligned += r.aligned;
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

// The most bytes that a record can take.
std::size_t most_bytes(const Record& r, const FormatOptions& o) {
  constexpr std::int64_t kFixed = 512;                    // numbers, tabs and tags' names
  constexpr std::int64_t kRun = Text::kDigits + 1;        // a number and a letter
  std::int64_t bytes = kFixed + r.batch.q_name_len[r.i] + r.batch.t_name_len[r.i] + 2 * std::int64_t{r.query_len()} +
                       r.w.operations * kRun + static_cast<std::int64_t>(o.read_group.size());
  // MD has at most a number and two marks a letter, of which runs of matches take part in none; cs three letters.
  if (o.md) bytes += (r.w.mismatches + r.w.operations + 1) * kRun + r.w.deleted + 2 * r.w.mismatches;
  if (o.cs) bytes += 3 * r.w.edits() + r.w.operations * kRun;
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Formatted format_batch(const BatchView& batch, const AlignmentView& a, const FormatOptions& options) {
  Formatted out;
  Cigar scratch;
  constexpr std::int64_t kUsual = 128;  // bytes of a record beside its letters
  std::int64_t usual = batch.n * kUsual;
  if (options.format == Format::Sam)
    for (std::int64_t i = 0; i < batch.n; ++i) usual += batch.q_len[i] * (batch.qual[i] < 0 ? 1 : 2);
  out.text.buffer().reserve(static_cast<std::size_t>(usual));
  for (std::int64_t i = 0; i < batch.n; ++i) {
    const bool aligned = static_cast<Status>(a.status[i]) == Status::Ok;
    const bool split = options.ambiguous == Ambiguous::Wildcard && (batch.flags[i] & kNonAcgt);
    const std::int32_t* span = a.span + 4 * i;
    const Written w = as_written(batch.pair(i).part(span), a.cigar + a.cigar_start[i], a.cigar_start[i + 1] - a.cigar_start[i],
                                 split, scratch);
    const Record record{batch, i, aligned, a.cut[i] != 0, a.score[i],
                        a.second ? a.second[i] : 0, span, w};
    out.text.room(most_bytes(record, options));
    switch (options.format) {
      case Format::Sam: add_sam(out.text, record, options); break;
      case Format::Paf: add_paf(out.text, record, options); break;
      case Format::Tsv: add_tsv(out.text, record, options); break;
      case Format::Blast6: add_blast6(out.text, record); break;
    }
    out.text.done();
    count(out.tally, record, batch.flags[i]);
  }
  return out;
}

}  // namespace wfacli

// Tags of SAM and PAF records, with the meaning that minimap2 gives them, for any way of writing tags (`Tags`: text in
// sam_text.hpp, BAM in bam_record.hpp).
#pragma once

#include "format/record.hpp"
#include "mapped/mappings.hpp"

namespace wfacli {

template <class Tags>
WFACLI_INLINE void add_score_tags(Tags& tags, const Record& r, const FormatOptions& o) {
  tags.integer("NM", r.w.edits());
  tags.score("AS", r.score);
  if (o.second) tags.score("XS", r.second);
  if (r.cut) tags.integer("xh", 1);
  if (o.md && r.aligned) tags.text("MD", [&](Pen out) { return add_md(out, r.w); });
}

template <class Tags>
WFACLI_INLINE void add_cs_tag(Tags& tags, const Record& r, const FormatOptions& o) {
  if (o.cs && r.aligned) tags.text("cs", [&](Pen out) { return add_cs(out, r.w); });
}

// Writes ms (score of the best-scoring part) and nn (ambiguous bases).
template <class Tags>
WFACLI_INLINE void add_quality_tags(Tags& tags, const Record& r, const AlignmentView& a, const FormatOptions& o) {
  if (o.operation_scores.match > 0 && o.operation_scores.pieces > 0)
    tags.integer("ms", best_part(a.cigar + a.cigar_start[r.i], a.cigar_start[r.i + 1] - a.cigar_start[r.i],
                                 o.operation_scores));
  if (o.ambiguous != Ambiguous::Literal)
    tags.integer("nn", r.batch.flags[r.i] & kNonAcgt ? count_ambiguous(r.w) : 0);
}

// Writes de, the gap-compressed divergence: each gap counts as one edit and one column.
template <class Tags>
WFACLI_INLINE void add_divergence(Tags& tags, const Record& r) {
  const std::int64_t compressed = r.w.matches + r.w.mismatches + r.w.gaps;
  tags.fraction("de", r.w.mismatches + r.w.gaps, compressed ? compressed : 1);
}

// Writes tp: primary, secondary, or an inversion of either kind.
template <class Tags>
WFACLI_INLINE void add_type(Tags& tags, const Record& r) {
  const bool secondary = r.place.flags & kSecondary;
  const bool inverted = r.batch.is_mapped() && r.batch.mapped.sam_flags[r.i] & kInversion;
  tags.character("tp", inverted ? (secondary ? 'i' : 'I') : secondary ? 'S' : 'P');
}

WFACLI_INLINE void add_clip(Pen& out, std::int64_t length, char operation) {
  if (length == 0) return;
  out.number(length);
  out.add(operation);
}

// Writes MC and MQ: CIGAR and mapping quality of the mate's primary record.
template <class Tags>
WFACLI_INLINE void add_mate_tags(Tags& tags, const Record& r, const AlignmentView& a, const FormatOptions& o) {
  const std::int64_t row = r.place.fields->mate;
  const MappedView& m = r.batch.mapped;
  tags.text("MC", [&](Pen out) {
    add_clip(out, std::int64_t{m.clip_begin[row]} + a.span[4 * row], 'S');
    out = add_cigar(out, *r.mate, o.cigar_m);
    add_clip(out, std::int64_t{m.clip_end[row]} + r.batch.q_len[row] - a.span[4 * row + 1], 'S');
    return out;
  });
  tags.integer("MQ", m.mapq[row]);
}

// Writes all tags of a SAM record.
template <bool kMapped, class Tags>
WFACLI_INLINE void add_sam_tags(Tags& tags, bool placed, const Record& r, const AlignmentView& a,
                                const FormatOptions& o) {
  const auto copy = [&](const char(&name)[3], std::string_view value) {
    tags.text(name, [&](Pen out) {
      out.add(value);
      return out;
    });
  };
  if (placed) {
    add_score_tags(tags, r, o);
    add_cs_tag(tags, r, o);
    if (kMapped && !r.place.fields->sa_tag.empty()) copy("SA", r.place.fields->sa_tag);
    if (kMapped) {
      add_quality_tags(tags, r, a, o);
      add_divergence(tags, r);
      add_type(tags, r);
    }
  }
  if (kMapped && r.mate) add_mate_tags(tags, r, a, o);
  if (!o.read_group.empty()) copy("RG", o.read_group);
  tags.fields(r.place.tags);
}

}  // namespace wfacli

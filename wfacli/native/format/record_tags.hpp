// Tags with the meaning that minimap2 gives them.
#pragma once

#include "mapped/mappings.hpp"
#include "format/record.hpp"

namespace wfacli {

// Writes ms (score of the best-scoring part) and nn (ambiguous bases).
WFACLI_INLINE void add_quality_tags(Pen& out, const Record& r, const AlignmentView& a, const FormatOptions& o) {
  if (o.operation_scores.match > 0 && o.operation_scores.pieces > 0) {
    out.add("\tms:i:");
    out.number(
        best_part(a.cigar + a.cigar_start[r.i], a.cigar_start[r.i + 1] - a.cigar_start[r.i], o.operation_scores));
  }
  if (o.ambiguous != Ambiguous::Literal) {
    out.add("\tnn:i:");
    out.number(r.batch.flags[r.i] & kNonAcgt ? count_ambiguous(r.w) : 0);
  }
}

// Writes de, the gap-compressed divergence: each gap counts as one edit and one column.
WFACLI_INLINE void add_divergence(Pen& out, const Record& r) {
  const std::int64_t compressed = r.w.matches + r.w.mismatches + r.w.gaps;
  out.add("\tde:f:");
  out.fraction(r.w.mismatches + r.w.gaps, compressed ? compressed : 1, 4);
}

// Writes tp: primary, secondary, or an inversion of either kind.
WFACLI_INLINE void add_type(Pen& out, const Record& r) {
  const bool secondary = r.place.flags & kSecondary;
  const bool inverted = r.batch.is_mapped() && r.batch.mapped.sam_flags[r.i] & kInversion;
  out.add("\ttp:A:");
  out.add(inverted ? (secondary ? 'i' : 'I') : secondary ? 'S' : 'P');
}

}  // namespace wfacli

// The mandatory fields of a SAM record, decided once for text and for BAM.
#pragma once

#include "format/record.hpp"

namespace wfacli {

struct SamCore {
  bool placed = false;  // has a position and a CIGAR of its own
  bool hard = false;    // its clips are hard, so SEQ and QUAL have the aligned part only
  std::int32_t flags = 0, mapq = 0;
  std::int64_t target = -1, position = 0;  // row whose target is RNAME, or -1; POS, from 1, or 0
  std::int64_t next = -1, next_position = 0, template_length = 0;  // the same for RNEXT and PNEXT; TLEN
  std::int64_t clip_begin = 0, clip_end = 0;
  std::int64_t from = 0, to = 0;  // interval of the read that is SEQ
};

// Returns the 1-based reference position of a row's alignment.
WFACLI_INLINE std::int64_t position_of(const BatchView& batch, const AlignmentView& a, std::int64_t row) {
  return batch.mapped.t_offset[row] + a.span[4 * row + 2] + 1;
}

template <bool kMapped>
WFACLI_INLINE SamCore core_of(const Record& r, const AlignmentView& a, const FormatOptions& o) {
  SamCore c;
  // An alignment that is empty on either side has no position on a target, so its record is unmapped.
  c.placed = r.aligned && r.span[1] > r.span[0] && r.span[3] > r.span[2] && !(r.place.flags & kUnmapped);
  c.hard = c.placed && o.hard_clip && (r.place.flags & kSupplementary);
  c.flags = c.placed ? r.place.flags : kUnmapped | r.place.flags;
  c.to = r.read_len();
  if (c.placed) {
    c.mapq = r.place.mapq;
    c.target = r.i, c.position = r.target_beg() + 1;
    c.clip_begin = r.before(), c.clip_end = r.after();
    if (c.hard) c.from += c.clip_begin, c.to -= c.clip_end;
  } else if (kMapped && r.place.fields->mapped_mate >= 0) {
    c.target = r.place.fields->mapped_mate;  // an unmapped read has its mate's position
    c.position = position_of(r.batch, a, c.target);
  }
  if (kMapped && r.place.fields->next >= 0) {
    c.next = r.place.fields->next;
    c.next_position = position_of(r.batch, a, c.next);
    c.template_length = r.place.fields->template_length;
  }
  return c;
}

}  // namespace wfacli

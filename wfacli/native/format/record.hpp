// View of one row of a batch as an output record.
#pragma once

#include "format/record_fields.hpp"
#include "format/sam_alignment.hpp"

namespace wfacli {

inline constexpr int kUnknownQuality = 255;

// Position of a row in its read and on the reference; rows that are not mapped reads cover both sequences.
struct Place {
  std::int64_t t_offset = 0, t_total = 0;
  std::int32_t clip_begin = 0, clip_end = 0;  // bases of the read before and after the query, on the aligned strand
  std::int32_t flags = 0, mapq = kUnknownQuality;
  const std::uint8_t *bases = nullptr, *quality = nullptr;  // of the whole read, on the aligned strand
  const RecordFields* fields = nullptr;
  std::string_view tags;  // tags of the read itself
};

template <bool kMapped>
WFACLI_INLINE Place place_of(const BatchView& batch, std::int64_t i, const RecordFields* fields) {
  Place p;
  const auto text = [&](std::int64_t at) { return at < 0 ? nullptr : batch.text + at; };
  p.quality = text(batch.qual[i]);
  if (!kMapped) {
    p.t_total = batch.t_len[i];
    if (batch.q_len[i] > 0) p.bases = batch.bases + batch.q_start[i];
    return p;
  }
  const MappedView& m = batch.mapped;
  p.t_offset = m.t_offset[i], p.t_total = m.t_total[i];
  p.clip_begin = m.clip_begin[i], p.clip_end = m.clip_end[i];
  p.flags = fields->flags, p.mapq = m.mapq[i];
  const std::int64_t length = std::int64_t{p.clip_begin} + batch.q_len[i] + p.clip_end;
  if (length > 0) p.bases = text(m.read_start[i]);
  if (!fields->read.empty()) {
    p.bases = reinterpret_cast<const std::uint8_t*>(fields->read.data());
    if (fields->read.size() > static_cast<std::size_t>(length)) p.quality = p.bases + length;
  }
  p.fields = fields;
  p.tags = {reinterpret_cast<const char*>(batch.text) + m.tags[i], static_cast<std::size_t>(m.tags_len[i])};
  return p;
}

// Output record: the columns of a pair, and its alignment if `aligned`.
struct Record {
  const BatchView& batch;
  std::int64_t i;
  bool aligned, cut;
  std::int32_t score, second;
  const std::int32_t* span;  // q_beg q_end t_beg t_end
  const SamAlignment& w;
  const Place& place;
  const SamAlignment* mate = nullptr;  // alignment of the mate's primary record; null if that is unmapped

  WFACLI_INLINE void write_query_name(Pen& out) const { name(out, batch.q_name[i], batch.q_name_len[i]); }
  // Writes the query name, with /1 or /2 for mates, in formats without flags.
  WFACLI_INLINE void write_mate_name(Pen& out) const {
    write_query_name(out);
    if (place.flags & kPaired) out.add(std::string_view(place.flags & kFirstMate ? "/1" : "/2"));
  }
  WFACLI_INLINE void write_target_name(Pen& out) const { write_target_name(out, i); }
  WFACLI_INLINE void write_target_name(Pen& out, std::int64_t row) const {
    name(out, batch.t_name[row], batch.t_name_len[row]);
  }
  std::int32_t query_len() const { return batch.q_len[i]; }
  std::int32_t target_len() const { return batch.t_len[i]; }
  // Length of the whole read, and of its unaligned ends, on the aligned strand.
  std::int64_t read_len() const { return std::int64_t{place.clip_begin} + query_len() + place.clip_end; }
  std::int64_t before() const { return std::int64_t{place.clip_begin} + span[0]; }
  std::int64_t after() const { return read_len() - place.clip_begin - span[1]; }
  bool reverse() const { return place.flags & kReverseStrand; }
  // The aligned part, in coordinates of the read as sequenced.
  std::int64_t read_beg() const { return reverse() ? after() : before(); }
  std::int64_t read_end() const { return read_len() - (reverse() ? before() : after()); }
  std::int64_t target_beg() const { return place.t_offset + span[2]; }
  std::int64_t target_end() const { return place.t_offset + span[3]; }
  // True unless the alignment is empty, which free ends allow.
  bool has_columns() const { return aligned && w.operations > 0; }

 private:
  WFACLI_INLINE void name(Pen& out, std::int64_t start, std::int32_t len) const {
    if (len == 0)
      out.add('*');
    else
      out.add_short(batch.text + start, len);
  }
};

}  // namespace wfacli

// A record on its way out: what columns of a batch say of one row.
#pragma once

#include "format/splits.hpp"
#include "format/written.hpp"

namespace wfacli {

inline constexpr int kUnknownQuality = 255;

// Where a pair lies that is a part of a read and a window of a target; of other pairs, the whole of both.
struct Place {
  std::int64_t t_offset = 0, t_total = 0;
  std::int32_t clip_begin = 0, clip_end = 0;  // letters of the read beside the pair's, on the strand that is aligned
  std::int32_t flags = 0, mapq = kUnknownQuality;
  const std::uint8_t *letters = nullptr, *quality = nullptr;  // of the whole read on that strand
  const Fate* fate = nullptr;
  std::string_view tags;  // of the read's own
};

template <bool kMapped>
WFACLI_INLINE Place place_of(const BatchView& batch, std::int64_t i, const Fate* fate) {
  Place p;
  const auto text = [&](std::int64_t at) { return at < 0 ? nullptr : batch.text + at; };
  p.quality = text(batch.qual[i]);
  if (!kMapped) {
    p.t_total = batch.t_len[i];
    if (batch.q_len[i] > 0) p.letters = batch.bases + batch.q_start[i];
    return p;
  }
  const MappedView& m = batch.mapped;
  p.t_offset = m.t_offset[i], p.t_total = m.t_total[i];
  p.clip_begin = m.clip_begin[i], p.clip_end = m.clip_end[i];
  p.flags = fate->flags, p.mapq = m.mapq[i];
  if (p.clip_begin + batch.q_len[i] + p.clip_end > 0) p.letters = text(m.letters[i]);
  p.fate = fate;
  p.tags = {reinterpret_cast<const char*>(batch.text) + m.tags[i], static_cast<std::size_t>(m.tags_len[i])};
  return p;
}

// A record on its way out: the pair's columns, and its alignment if it has one.
struct Record {
  const BatchView& batch;
  std::int64_t i;
  bool aligned, cut;
  std::int32_t score, second;
  const std::int32_t* span;  // q_beg q_end t_beg t_end
  const Written& w;
  const Place& place;
  const Written* mate = nullptr;  // of its mate's primary record, where that is on a target

  WFACLI_INLINE void query_name(Pen& out) const { name(out, batch.q_name[i], batch.q_name_len[i]); }
  // Where no flag says which mate it is.
  WFACLI_INLINE void told_name(Pen& out) const {
    query_name(out);
    if (place.flags & kPaired) out.add(std::string_view(place.flags & kFirstMate ? "/1" : "/2"));
  }
  WFACLI_INLINE void target_name(Pen& out) const { target_name(out, i); }
  WFACLI_INLINE void target_name(Pen& out, std::int64_t row) const { name(out, batch.t_name[row], batch.t_name_len[row]); }
  std::int32_t query_len() const { return batch.q_len[i]; }
  std::int32_t target_len() const { return batch.t_len[i]; }
  // Of the whole read, and its letters before and after what is aligned, on the strand that is.
  std::int64_t read_len() const { return std::int64_t{place.clip_begin} + query_len() + place.clip_end; }
  std::int64_t before() const { return std::int64_t{place.clip_begin} + span[0]; }
  std::int64_t after() const { return read_len() - place.clip_begin - span[1]; }
  bool reverse() const { return place.flags & kReverseStrand; }
  // The aligned part of the read as it came.
  std::int64_t read_beg() const { return reverse() ? after() : before(); }
  std::int64_t read_end() const { return read_len() - (reverse() ? before() : after()); }
  std::int64_t target_beg() const { return place.t_offset + span[2]; }
  std::int64_t target_end() const { return place.t_offset + span[3]; }
  // Whether letters of the sequences are in it: free ends may leave all of them out.
  bool holds_letters() const { return aligned && w.operations > 0; }

 private:
  WFACLI_INLINE void name(Pen& out, std::int64_t start, std::int32_t len) const {
    if (len == 0)
      out.add('*');
    else
      out.add_short(batch.text + start, len);
  }
};

}  // namespace wfacli

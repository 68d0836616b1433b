// SAM records and tags as text.
#pragma once

#include <algorithm>
#include <bit>

#include "base/symbols.hpp"
#include "format/record_tags.hpp"
#include "format/sam_core.hpp"

namespace wfacli {

// Tags as SAM and PAF have them.
class TextTags {
 public:
  explicit TextTags(Pen& out) : out_(out) {}
  WFACLI_INLINE void integer(const char (&name)[3], std::int64_t value) {
    begin(name, 'i');
    out_.number(value);
  }
  WFACLI_INLINE void score(const char (&name)[3], std::int32_t value) {
    begin(name, 'i');
    out_.score(value);
  }
  WFACLI_INLINE void fraction(const char (&name)[3], std::int64_t part, std::int64_t whole) {
    begin(name, 'f');
    out_.fraction(part, whole, 4);
  }
  WFACLI_INLINE void character(const char (&name)[3], char value) {
    begin(name, 'A');
    out_.add(value);
  }
  // write: takes a Pen and returns it behind the value.
  template <class Write>
  WFACLI_INLINE void text(const char (&name)[3], Write write) {
    begin(name, 'Z');
    out_ = write(out_);
  }
  // Adds tab-separated SAM fields.
  WFACLI_INLINE void fields(std::string_view sam) {
    if (sam.empty()) return;
    out_.add('\t');
    out_.add(sam);
  }

 private:
  WFACLI_INLINE void begin(const char (&name)[3], char type) {
    // Integers, since GCC does not merge the stores of a constant array of chars.
    static_assert(std::endian::native == std::endian::little);
    const auto at = [](char c, int place) { return static_cast<std::uint32_t>(c) << 8 * place; };
    const std::uint32_t head = at('\t', 0) | at(name[0], 1) | at(name[1], 2) | at(':', 3);
    const auto tail = static_cast<std::uint16_t>(at(type, 0) | at(':', 1));
    out_.add(std::string_view(reinterpret_cast<const char*>(&head), sizeof head));
    out_.add(std::string_view(reinterpret_cast<const char*>(&tail), sizeof tail));
  }
  Pen& out_;
};

// Replaces symbols that are invalid in SEQ (SAM specification, section 1.4), such as gaps and stops, by N, as BAM does.
inline void replace_invalid_symbols(char* symbols, std::int64_t count) {
  const auto stays = [](char c) { return static_cast<std::uint8_t>((c | 32) - 'a') < 26 || c == '=' || c == '.'; };
  bool all = true;
  for (std::int64_t i = 0; i < count; ++i) all &= stays(symbols[i]);
  if (!all) std::replace_if(symbols, symbols + count, [&](char c) { return !stays(c); }, 'N');
}

// Writes SEQ and QUAL.
template <bool kMapped>
WFACLI_INLINE void add_sequence(Pen& out, const SamCore& c, const Record& r) {
  if (!r.place.bases) {
    out.add("*\t*");
    return;
  }
  const std::int64_t length = c.to - c.from;
  out.add(r.place.bases + c.from, length);
  // The flags of mapped rows describe the aligned part only, so whole reads are always checked.
  if (kMapped || r.batch.flags[r.i] & kNonNucleotide) replace_invalid_symbols(out.position() - length, length);
  out.add('\t');
  if (r.place.quality)
    out.add(r.place.quality + c.from, length);
  else
    out.add('*');
}

template <bool kMapped>
WFACLI_INLINE void add_sam(Pen& out, const SamCore& c, const Record& r, const AlignmentView& a,
                           const FormatOptions& o) {
  r.write_query_name(out);
  out.add('\t');
  out.field(c.flags);
  if (c.target >= 0) {
    r.write_target_name(out, c.target);
    out.add('\t');
    out.field(c.position);
  } else {
    out.add("*\t0\t");
  }
  out.field(c.mapq);
  if (c.placed) {
    add_clip(out, c.clip_begin, c.hard ? 'H' : 'S');
    out = add_cigar(out, r.w, o.cigar_m);
    add_clip(out, c.clip_end, c.hard ? 'H' : 'S');
  } else {
    out.add('*');
  }
  if (kMapped && c.next >= 0) {
    out.add('\t');
    if (r.batch.target_name(c.target) == r.batch.target_name(c.next))
      out.add('=');
    else
      r.write_target_name(out, c.next);
    out.add('\t');
    out.field(c.next_position);
    out.field(c.template_length);
  } else {
    out.add("\t*\t0\t0\t");
  }
  add_sequence<kMapped>(out, c, r);
  TextTags tags(out);
  add_sam_tags<kMapped>(tags, c.placed, r, a, o);
  out.add('\n');
}

}  // namespace wfacli

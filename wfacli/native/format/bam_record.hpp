// SAM records and tags as BAM has them (SAM specification, section 4.2). The bytes are those that htslib makes of the
// record's text.
#pragma once

#include "format/record_tags.hpp"
#include "format/sam_core.hpp"
#include "format/target_ids.hpp"

namespace wfacli {

// Tags in BAM's encoding.
class BamTags {
 public:
  explicit BamTags(Pen& out) : out_(out) {}
  WFACLI_INLINE void integer(const char (&name)[3], std::int64_t value) {
    begin(name);
    out_ = add_integer(out_, value);
  }
  WFACLI_INLINE void score(const char (&name)[3], std::int32_t value) { integer(name, value); }
  WFACLI_INLINE void fraction(const char (&name)[3], std::int64_t part, std::int64_t whole) {
    begin(name);
    out_ = add_fraction(out_, part, whole);
  }
  WFACLI_INLINE void character(const char (&name)[3], char value) {
    begin(name);
    out_.add('A');
    out_.add(value);
  }
  template <class Write>
  WFACLI_INLINE void text(const char (&name)[3], Write write) {
    begin(name);
    out_.add('Z');
    out_ = write(out_);
    out_.add('\0');
  }
  // Adds tab-separated SAM fields, for which is_tag() holds.
  WFACLI_INLINE void fields(std::string_view sam) {
    if (!sam.empty()) out_ = add_fields(out_, sam);
  }
  // Returns an upper bound of the bytes that fields() writes: an array has up to four bytes for two characters.
  static std::size_t max_bytes(std::string_view sam) { return 2 * sam.size() + 8; }

  // Writes the smallest integer type that holds a value of -2^31 to 2^32 - 1, and the value.
  static Pen add_integer(Pen out, std::int64_t value);

 private:
  WFACLI_INLINE void begin(const char (&name)[3]) { out_.add(std::string_view(name, 2)); }
  static Pen add_fraction(Pen out, std::int64_t part, std::int64_t whole);
  static Pen add_fields(Pen out, std::string_view sam);
  Pen& out_;
};

// Writes the records of a batch.
class BamWriter {
 public:
  // Bytes of a record in addition to those of its text: fixed fields, and a placeholder for a long CIGAR.
  static constexpr std::size_t kExtra = 64;

  explicit BamWriter(TargetFinder& targets) : targets_(targets) {}

  // Throws std::overflow_error for a record that BAM cannot hold.
  template <bool kMapped>
  WFACLI_INLINE void add(Pen& out, const SamCore& core, const Record& r, const AlignmentView& a,
                         const FormatOptions& o) {
    char* const begin = out.position();
    out = add_core(out, core, r, o);
    BamTags tags(out);
    add_sam_tags<kMapped>(tags, core.placed, r, a, o);
    out = end(out, begin, r);
  }

 private:
  Pen add_core(Pen out, const SamCore& core, const Record& r, const FormatOptions& o);
  // Writes the operations, or a placeholder for more than 65,535 of them, and returns their number.
  std::uint32_t add_operations(Pen& out, const SamCore& core, const Record& r, std::int64_t bases,
                               const FormatOptions& o);
  // Writes the tag CG if there is a placeholder, and the size of the record.
  Pen end(Pen out, char* begin, const Record& r);

  TargetFinder& targets_;
  Buffer<std::uint32_t> cigar_;
};

}  // namespace wfacli

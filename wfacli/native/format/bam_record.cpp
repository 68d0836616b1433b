#include "format/bam_record.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/symbols.hpp"
#include "mapped/bam_bytes.hpp"

namespace wfacli {
namespace {

static_assert(std::endian::native == std::endian::little, "BAM's numbers are written as they are");

constexpr std::int64_t kMaxOperations = 65535;     // that the field for their number holds
constexpr std::int64_t kMaxRun = (1 << 28) - 1;    // length of one operation
constexpr std::uint32_t kSkip = 3, kSoft = 4, kHard = 5;  // operations N, S, H
constexpr std::uint8_t kNoQuality = 0xff, kFirstQuality = 33;

template <class T>
WFACLI_INLINE void put(Pen& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.add(std::string_view(bytes, sizeof bytes));
}

[[noreturn]] void refuse(const Record& r, const char* what) {
  const auto* name = reinterpret_cast<const char*>(r.batch.text) + r.batch.q_name[r.i];
  throw std::overflow_error(std::string(name, static_cast<std::size_t>(r.batch.q_name_len[r.i])) + ": " + what +
                            ", which BAM cannot hold; SAM can");
}

// Codes of bases in BAM's SEQ. What is not IUPAC is N, as replace_invalid_symbols() has it.
struct BaseCodes {
  std::uint8_t code[256];
  BaseCodes() {
    for (int c = 0; c < 256; ++c) code[c] = kSymbols.iupac[c] ? kSymbols.iupac[c] : c == '=' ? 0 : 15;
  }
};

Pen add_bases(Pen out, const std::uint8_t* bases, std::int64_t count) {
  static const BaseCodes kCodes;
  const std::uint8_t* code = kCodes.code;
  char* to = out.position();
  std::int64_t i = 0;
  for (; i + 1 < count; i += 2) *to++ = static_cast<char>(code[bases[i]] << 4 | code[bases[i + 1]]);
  if (i < count) *to++ = static_cast<char>(code[bases[i]] << 4);
  return Pen(to);
}

Pen add_qualities(Pen out, const std::uint8_t* quality, std::int64_t count) {
  char* to = out.position();
  // In SAM, the quality '*' of a read of one base means that there is none.
  if (!quality || (count == 1 && quality[0] == '*'))
    std::memset(to, kNoQuality, static_cast<std::size_t>(count));
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<char>(quality[i] - kFirstQuality);
  return Pen(to + count);
}

// Returns the bin of an interval (SAM specification, section 5.3), cut to its 16 bits beyond 2^29 as htslib does.
std::uint16_t bin_of(std::int64_t begin, std::int64_t end) {
  constexpr int kLevels = 5, kShift = 14;
  int shift = kShift, first = ((1 << 3 * kLevels) - 1) / 7;
  --end;
  for (int level = kLevels; level > 0; --level, shift += 3, first -= 1 << 3 * level)
    if (begin >> shift == end >> shift) return static_cast<std::uint16_t>(first + (begin >> shift));
  return 0;
}

double real_of(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

std::int64_t integer_of(std::string_view text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); }

void put_element(Pen& out, char type, std::string_view text) {
  switch (type) {
    case 'c': case 'C': return put(out, static_cast<std::uint8_t>(integer_of(text)));
    case 's': case 'S': return put(out, static_cast<std::uint16_t>(integer_of(text)));
    case 'f': return put(out, static_cast<float>(real_of(text)));
    default: return put(out, static_cast<std::uint32_t>(integer_of(text)));
  }
}

void put_array(Pen& out, std::string_view value) {
  const char type = value[0];
  value.remove_prefix(1);
  out.add('B');
  out.add(type);
  put(out, static_cast<std::uint32_t>(std::count(value.begin(), value.end(), ',')));
  while (!value.empty()) {
    value.remove_prefix(1);  // the comma
    const std::string_view element = value.substr(0, value.find(','));
    put_element(out, type, element);
    value.remove_prefix(element.size());
  }
}

void put_field(Pen& out, std::string_view field) {
  out.add(field.substr(0, 2));
  const char type = field[3];
  const std::string_view value = field.substr(5);
  if (type == 'B') return put_array(out, value);
  if (type == 'i') {
    out = BamTags::add_integer(out, integer_of(value));
    return;
  }
  out.add(type);
  if (type == 'f') return put(out, static_cast<float>(real_of(value)));
  out.add(value);
  if (type != 'A') out.add('\0');
}

}  // namespace

Pen BamTags::add_integer(Pen out, std::int64_t value) {
  if (value < 0) {
    if (value >= INT8_MIN) {
      out.add('c');
      put(out, static_cast<std::int8_t>(value));
    } else if (value >= INT16_MIN) {
      out.add('s');
      put(out, static_cast<std::int16_t>(value));
    } else {
      out.add('i');
      put(out, static_cast<std::int32_t>(value));
    }
  } else if (value <= UINT8_MAX) {
    out.add('C');
    put(out, static_cast<std::uint8_t>(value));
  } else if (value <= UINT16_MAX) {
    out.add('S');
    put(out, static_cast<std::uint16_t>(value));
  } else {
    out.add('I');
    put(out, static_cast<std::uint32_t>(value));
  }
  return out;
}

// Rounds to four decimals first, since SAM has these.
Pen BamTags::add_fraction(Pen out, std::int64_t part, std::int64_t whole) {
  constexpr std::int64_t kScale = 10'000;
  out.add('f');
  put(out, static_cast<float>(static_cast<double>((2 * part * kScale + whole) / (2 * whole)) / kScale));
  return out;
}

Pen BamTags::add_fields(Pen out, std::string_view sam) {
  while (!sam.empty()) {
    const std::string_view field = sam.substr(0, sam.find('\t'));
    put_field(out, field);
    sam.remove_prefix(std::min(field.size() + 1, sam.size()));
  }
  return out;
}

std::uint32_t BamWriter::add_operations(Pen& out, const SamCore& core, const Record& r, std::int64_t bases,
                                        const FormatOptions& o) {
  cigar_.clear();
  if (!core.placed) return 0;
  const auto add_clip = [&](std::int64_t length) {
    if (length > kMaxRun) refuse(r, "it has a clip of more than 2^28 bases");
    if (length) cigar_.push(static_cast<std::uint32_t>(length) << 4 | (core.hard ? kHard : kSoft));
  };
  add_clip(core.clip_begin);
  add_written_runs(r.w, o.cigar_m, cigar_);
  add_clip(core.clip_end);
  if (cigar_.size() <= kMaxOperations) {
    out.add(reinterpret_cast<const std::uint8_t*>(cigar_.data()),
            static_cast<std::int64_t>(cigar_.size() * sizeof(std::uint32_t)));
    return static_cast<std::uint32_t>(cigar_.size());
  }
  const std::int64_t span = r.w.columns() - r.w.inserted;
  if (bases > kMaxRun || span > kMaxRun) refuse(r, "it has more than 65,535 operations over more than 2^28 bases");
  put(out, static_cast<std::uint32_t>(bases) << 4 | kSoft);
  put(out, static_cast<std::uint32_t>(span) << 4 | kSkip);
  return 2;
}

Pen BamWriter::add_core(Pen out, const SamCore& core, const Record& r, const FormatOptions& o) {
  const std::int64_t bases = r.place.bases ? core.to - core.from : 0;
  const std::int64_t position = core.position - 1;
  const std::int64_t span = core.placed ? r.w.columns() - r.w.inserted : 1;
  if (std::max(position, core.next_position - 1) > INT32_MAX) refuse(r, "its position is beyond 2^31");
  Pen fixed = out;
  out = Pen(out.position() + 4 + BamBytes::kFixed);
  const std::int32_t id = targets_.id(r.batch, core.target);
  const char* name = out.position();
  r.write_query_name(out);
  out.add('\0');
  const auto name_bytes = static_cast<std::uint8_t>(out.position() - name);
  const std::uint32_t operations = add_operations(out, core, r, bases, o);
  if (bases) {
    out = add_bases(out, r.place.bases + core.from, bases);
    out = add_qualities(out, r.place.quality ? r.place.quality + core.from : nullptr, bases);
  }
  put(fixed, std::uint32_t{0});  // the size, which end() fills in
  put(fixed, id);
  put(fixed, static_cast<std::int32_t>(position));
  put(fixed, name_bytes);
  put(fixed, static_cast<std::uint8_t>(core.mapq));
  put(fixed, bin_of(position, position + span));
  put(fixed, static_cast<std::uint16_t>(operations));
  put(fixed, static_cast<std::uint16_t>(core.flags));
  put(fixed, static_cast<std::int32_t>(bases));
  put(fixed, targets_.id(r.batch, core.next));
  put(fixed, static_cast<std::int32_t>(core.next_position - 1));
  put(fixed, static_cast<std::int32_t>(core.template_length));
  return out;
}

Pen BamWriter::end(Pen out, char* begin, const Record& r) {
  if (cigar_.size() > kMaxOperations) {
    out.add("CGBI");
    put(out, static_cast<std::uint32_t>(cigar_.size()));
    out.add(reinterpret_cast<const std::uint8_t*>(cigar_.data()),
            static_cast<std::int64_t>(cigar_.size() * sizeof(std::uint32_t)));
  }
  const std::int64_t bytes = out.position() - begin - 4;
  if (bytes > INT32_MAX) refuse(r, "its record has more than 2 GiB");
  const auto size = static_cast<std::uint32_t>(bytes);
  std::memcpy(begin, &size, sizeof size);
  return out;
}

}  // namespace wfacli

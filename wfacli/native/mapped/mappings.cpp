#include "mapped/mappings.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <vector>

namespace wfacli {
namespace {

constexpr char kNoCigar[] = "has no CIGAR, so the mapped part of the read is unknown (PAF has it)";
constexpr int kPafColumns = 12, kSamColumns = 11;
constexpr std::int64_t kMaxRun = std::int64_t{1} << 32;         // of CIGAR operations, so that sums cannot overflow
constexpr std::int64_t kLargest = (std::int64_t{1} << 62) - 1;  // of numeric fields; doubled, it does not overflow

// Splits off up to `max_columns` columns and returns how many; `line` keeps the rest.
int columns_of(std::string_view& line, std::string_view* columns, int max_columns) {
  for (int count = 0; count < max_columns; ++count) {
    const std::size_t tab = line.find('\t');
    columns[count] = line.substr(0, tab);
    if (tab == line.npos) {
      line = {};
      return count + 1;
    }
    line.remove_prefix(tab + 1);
  }
  return max_columns;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

MappingKind kind_of_type(char type) {
  if (type == 0) return MappingKind::Unknown;
  return type == 'P' || type == 'I' ? MappingKind::Primary : MappingKind::Secondary;
}

}  // namespace

void MappingReader::refuse_intron() const {
  fail("has an intron (N in its CIGAR): spliced mappings are not aligned here; minimap2 -ax splice aligns them itself");
}

void MappingReader::fail(const std::string& message) const { throw InputFault(message, lines_.number(), read_); }

std::int64_t MappingReader::number(std::string_view text, const char* what) const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0 || value > kLargest)
    fail(std::string(what) + " is '" + std::string(text) + "', which is no number");
  return value;
}

std::uint8_t MappingReader::mapping_quality(std::string_view text) const {
  constexpr std::int64_t kMaximum = 255;
  const std::int64_t value = number(text, "the mapping quality");
  if (value > kMaximum) fail("the mapping quality is " + std::to_string(value) + "; 0 to 255 are allowed, 255 if it is not known");
  return static_cast<std::uint8_t>(value);
}

void MappingReader::place(std::string_view target, std::int64_t length, Mapping& m) {
  // Most mappings have the same target as the previous one.
  if (last_target_ < 0 || target != reference_.name(last_target_)) last_target_ = reference_.find(target);
  m.target = last_target_;
  if (m.target < 0) fail("maps to " + std::string(target) + ", which is not in the reference");
  const std::int64_t there = reference_.length(m.target);
  const auto number = static_cast<std::size_t>(m.target);
  const std::vector<std::int64_t>& in_header = begun_by_ ? begun_by_->header_lengths_ : header_lengths_;
  if (length < 0 && number < in_header.size()) length = in_header[number];
  if (length >= 0 && length != there)
    fail(std::string(target) + " has " + std::to_string(there) + " bases in the reference, and " +
         std::to_string(length) + " here: is this another reference?");
}

void MappingReader::store_length(std::string_view target, std::int64_t length) {
  const std::int32_t number = reference_.find(target);
  if (number < 0) return;  // place() fails for its mappings, if any
  if (header_lengths_.empty()) header_lengths_.assign(static_cast<std::size_t>(reference_.size()), -1);
  header_lengths_[static_cast<std::size_t>(number)] = length;
}

// Parses a SAM header line; only @SQ is used.
void MappingReader::header_line(std::string_view line) {
  if (line.substr(0, 4) != "@SQ\t") return;
  std::string_view name;
  std::int64_t length = -1;
  for (std::string_view rest = line.substr(4), field; !rest.empty();) {
    columns_of(rest, &field, 1);
    const std::string_view value = field.substr(std::min<std::size_t>(3, field.size()));
    if (field.substr(0, 3) == "SN:") name = value;
    if (field.substr(0, 3) == "LN:") length = number(value, "a target's length in the header");
  }
  store_length(name, length);
}

void MappingReader::check_spans(const Mapping& m, std::string_view target) const {
  if (m.q_beg >= m.q_end || m.q_end > m.q_len)
    fail("maps bases " + std::to_string(m.q_beg) + " to " + std::to_string(m.q_end) + " of a read of " +
         std::to_string(m.q_len));
  const std::int64_t there = reference_.length(m.target);
  if (m.t_beg >= m.t_end || m.t_end > there)
    fail("maps to bases " + std::to_string(m.t_beg) + " to " + std::to_string(m.t_end) + " of " + std::string(target) +
         ", which has " + std::to_string(there));
}

void MappingReader::paf(std::string_view line, Mapping& m) {
  std::string_view c[kPafColumns];
  const int count = columns_of(line, c, kPafColumns);
  if (count < kPafColumns) fail("has " + std::to_string(count) + " columns, and PAF has 12 at least");
  m.q_len = number(c[1], "the read's length");
  m.tags = parse_sam_tags(line);
  if (c[4] == "*" && c[5] == "*") {
    m.kind = MappingKind::Unmapped;
    return;
  }
  if (c[4] != "+" && c[4] != "-") fail("the strand is '" + std::string(c[4]) + "', and not + or -");
  m.reverse = c[4] == "-";
  m.q_beg = number(c[2], "the read's begin");
  m.q_end = number(c[3], "the read's end");
  place(c[5], number(c[6], "the target's length"), m);
  m.t_beg = number(c[7], "the target's begin");
  m.t_end = number(c[8], "the target's end");
  m.matches = number(c[9], "the number of matches");
  m.mapq = mapping_quality(c[11]);
  if (m.tags.intron) refuse_intron();
  m.kind = kind_of_type(m.tags.type);
  check_spans(m, c[5]);
}

bool RunSums::add(char operation, std::int64_t length) {
  switch (operation) {
    case 'H': hard += length; [[fallthrough]];
    case 'S': (query ? after : before) += length; return true;
    case 'M': case '=': case 'X': query += length, target += length; return true;
    case 'I': query += length; return true;
    case 'D': target += length; return true;
    case 'N': intron = true; return true;
    case 'P': return true;
    default: return false;
  }
}

void MappingReader::set_spans(const RunSums& sums, std::size_t sequence_length, Mapping& m) const {
  if (sums.intron) refuse_intron();
  m.q_len = sums.before + sums.query + sums.after;
  if (const auto own = static_cast<std::size_t>(m.q_len - sums.hard); sequence_length && sequence_length != own)
    fail("the CIGAR is of " + std::to_string(own) + " bases, and SEQ has " + std::to_string(sequence_length));
  m.q_beg = m.reverse ? sums.after : sums.before;
  m.q_end = m.q_beg + sums.query;
  m.t_end = m.t_beg + sums.target;
}

bool MappingReader::take_flag(std::int64_t flag, Mapping& m) const {
  constexpr std::int32_t kPairs = kPaired | kProper | kMateUnmapped | kMateReverse | kFirstMate | kLastMate;
  m.flags = static_cast<std::int32_t>(flag) & (kFailed | kDuplicate | (flag & kPaired ? kPairs : 0));
  if (flag & kUnmapped) {
    m.kind = MappingKind::Unmapped;
    return false;
  }
  if (flag & kPaired && !(flag & kFirstMate) == !(flag & kLastMate))
    fail("is of several reads (flag 1), and neither the first (64) nor the last (128) of two; mates are aligned in pairs");
  m.reverse = flag & kReverseStrand;
  m.kind = flag & kSecondary ? MappingKind::Secondary : flag & kSupplementary ? MappingKind::Supplementary
                                                                              : MappingKind::Primary;
  return true;
}

void MappingReader::sam(std::string_view line, Mapping& m) {
  std::string_view c[kSamColumns];
  if (columns_of(line, c, kSamColumns) < kSamColumns) fail("has too few columns for SAM");
  const std::int64_t position = number(c[3], "the position");
  m.tags = parse_sam_tags(line);
  if (!take_flag(number(c[1], "the flag") | (c[2] == "*" ? kUnmapped : 0), m)) return;
  m.mapq = mapping_quality(c[4]);
  place(c[2], -1, m);
  if (position == 0) fail("has no position");
  if (c[5] == "*") fail(kNoCigar);
  m.t_beg = position - 1;
  RunSums sums;
  for (std::string_view cigar = c[5]; !cigar.empty();) {
    std::int64_t length = 0;
    const auto [end, error] = std::from_chars(cigar.data(), cigar.data() + cigar.size(), length);
    const auto digits = static_cast<std::size_t>(end - cigar.data());
    if (error != std::errc() || digits == cigar.size() || length < 0 || length > kMaxRun ||
        !sums.add(cigar[digits], length))
      fail("the CIGAR is none");
    cigar.remove_prefix(digits + 1);
  }
  set_spans(sums, c[9] == "*" ? 0 : c[9].size(), m);
  check_spans(m, c[2]);
}

void MappingReader::continue_after(const MappingReader& other) {
  begun_by_ = &other;
  form_ = other.form_;
  header_inside_ = false;
  length_.clear();
}

// Discards the remaining input and fails, so that nothing follows the error.
void MappingReader::end_with(const char* message) {
  lines_.skip(lines_.unread().size(), 1);
  form_ = Form::Bam;
  read_.clear();
  fail(message);
}

ParseResult MappingReader::bam_header() {
  form_ = Form::BamHeader;
  const std::size_t bytes =
      bam_header_.take(lines_.unread(), max_line_bytes, [&](std::string_view name, std::uint32_t length) {
        bam_targets_.emplace_back(name);
        store_length(name, length);
      });
  lines_.skip(bytes, 0);
  if (bam_header_.name_bytes() > max_line_bytes) throw_too_long("a target's name in BAM's header", 0);
  if (!bam_header_.whole()) {
    if (!lines_.closed()) return ParseResult::NeedInput;
    end_with("the file ends inside BAM's header");
  }
  form_ = Form::Bam;
  return ParseResult::Item;
}

ParseResult MappingReader::bam(Mapping& m, std::string_view& read) {
  const BamBytes all(lines_.unread());
  const std::size_t bytes = all.record();
  if (all.size() == 0 && lines_.closed()) return ParseResult::End;
  if (all.size_without_sequence() > max_line_bytes)
    throw_too_long("a BAM record, without its sequence and quality,", lines_.number() + 1);
  if (bytes == 0) {
    if (!lines_.closed()) return ParseResult::NeedInput;
    end_with("the file ends inside a BAM record");
  }
  const std::size_t size = bytes - 4;
  set_place(lines_.offset());
  const BamBytes b(all.text(4, size));
  lines_.skip(bytes, 1);
  read_.clear();
  if (size < BamBytes::kFixed) fail("a BAM record is too short");
  const std::size_t name = b.u8(8), runs = b.u16(12), cigar = BamBytes::kFixed + name;
  const std::size_t sequence_length = b.u32(16), rest = cigar + 4 * runs + (sequence_length + 1) / 2 + sequence_length;
  if (name == 0 || size < rest) fail("a BAM record is shorter than it says");
  read = b.text(BamBytes::kFixed, name - 1);
  read_ = read;
  m = Mapping();
  m.line = lines_.number();
  m.tags = parse_bam_tags(b.text(rest, size - rest));
  const auto target = static_cast<std::int32_t>(b.u32(0)), position = static_cast<std::int32_t>(b.u32(4));
  if (!take_flag(std::int64_t{b.u16(14)} | (target < 0 ? kUnmapped : 0), m)) return ParseResult::Item;
  m.mapq = static_cast<std::uint8_t>(b.u8(9));
  if (static_cast<std::size_t>(target) >= bam_targets_.size()) fail("lies on a target that the header lacks");
  const std::string& on = bam_targets_[static_cast<std::size_t>(target)];
  place(on, -1, m);
  if (position < 0) fail("has no position");
  m.t_beg = position;
  if (runs == 0) fail(kNoCigar);
  RunSums sums;
  const auto [from, count] = b.cigar(cigar, runs, sequence_length, rest);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t run = b.u32(from + 4 * i);
    if ((run & 15) > 8) fail("the CIGAR is none");
    sums.add("MIDNSHP=X"[run & 15], run >> 4);
  }
  set_spans(sums, sequence_length, m);
  check_spans(m, on);
  return ParseResult::Item;
}

ParseResult MappingReader::next(Mapping& m, std::string_view& read) {
  if (form_ == Form::BamHeader)
    if (const ParseResult got = bam_header(); got != ParseResult::Item) return got;
  if (form_ == Form::Unknown && lines_.number() == 0) {  // only the first bytes of a file identify BAM
    const std::string_view start = lines_.unread();
    if (start.size() < BamBytes::kMagic.size() && !lines_.closed()) return ParseResult::NeedInput;
    if (start.substr(0, BamBytes::kMagic.size()) == BamBytes::kMagic)
      if (const ParseResult got = bam_header(); got != ParseResult::Item) return got;
  }
  return form_ == Form::Bam ? bam(m, read) : next_line(m, read);
}

ParseResult MappingReader::next_line(Mapping& m, std::string_view& read) {
  for (;;) {
    std::string_view line;
    if (length_.exceeds(lines_.partial_line())) throw_too_long("a line", lines_.number() + 1);
    const std::int64_t at = lines_.offset();
    if (const ParseResult got = lines_.take_row(line); got != ParseResult::Item) return got;
    length_.clear();
    if (line.empty()) continue;
    read_.clear();
    if (line.find('\0') != line.npos) fail("has a NUL byte, so it is neither PAF nor SAM");
    if (line[0] == '@' && form_ != Form::Paf && line.size() > 3 && line[3] == '\t') {
      form_ = Form::Sam;
      header_inside_ = begun_by_ != nullptr;
      if (header_inside_) return ParseResult::End;
      header_line(line);
      continue;
    }
    if (line[0] == '#' && form_ != Form::Sam) continue;
    set_place(at);
    read = line.substr(0, line.find('\t'));
    read_ = read;
    if (lines_.ended_inside()) fail("the last line has no end: is the file complete?");
    if (form_ == Form::Unknown) {
      std::string_view rest = line, c[5];
      const bool five = columns_of(rest, c, 5) == 5;
      form_ = five && is_number(c[1]) && is_number(c[3]) && is_number(c[4]) ? Form::Sam : Form::Paf;
    }
    mapped_ = true;
    m = Mapping();
    m.line = lines_.number();
    if (form_ == Form::Sam)
      sam(line, m);
    else
      paf(line, m);
    return ParseResult::Item;
  }
}

void classify_mappings(Mapping* mappings, std::size_t count) {
  if (count > 0 && std::none_of(mappings, mappings + count,
                                [](const Mapping& m) { return m.kind == MappingKind::Unknown; })) {
    // Of several mappings marked primary, the first is primary; the others are parts of a split read.
    bool primary = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (mappings[i].kind != MappingKind::Primary) continue;
      if (primary) mappings[i].kind = MappingKind::Supplementary;
      primary = true;
    }
    return;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&](std::size_t i) { return mappings[i].q_end - mappings[i].q_beg; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (mappings[a].matches != mappings[b].matches) return mappings[a].matches > mappings[b].matches;
    return length(a) > length(b);
  });
  for (std::size_t i = 0; i < count; ++i) {
    Mapping& m = mappings[order[i]];
    m.kind = i == 0 ? MappingKind::Primary : MappingKind::Supplementary;
    for (std::size_t j = 0; j < i; ++j) {
      const Mapping& better = mappings[order[j]];
      const std::int64_t shared = std::min(m.q_end, better.q_end) - std::max(m.q_beg, better.q_beg);
      if (better.kind != MappingKind::Secondary && 2 * shared > length(order[i])) m.kind = MappingKind::Secondary;
    }
  }
}

}  // namespace wfacli

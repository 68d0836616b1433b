#include "io/records.hpp"

#include <cstdio>
#include <cstring>

#include "base/bytes.hpp"

namespace wfacli {
namespace {

std::string shown(std::uint8_t byte) {
  char text[32];
  if (byte > 0x20 && byte < 0x7f)
    std::snprintf(text, sizeof text, "'%c'", byte);
  else
    std::snprintf(text, sizeof text, byte == ' ' ? "a blank" : byte == 0 ? "a NUL byte" : "byte 0x%02x", byte);
  return text;
}

// Describes the start of a line for an error message; some editors write a byte order mark.
std::string first_of(std::string_view line) {
  return line.starts_with("\xef\xbb\xbf") ? "a byte order mark" : shown(static_cast<std::uint8_t>(line[0]));
}

// True if all eight bytes are above ' '; bit trick on a 64-bit word. Bytes >= 0x80 pass.
bool all_above_blank(const char* text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ull;
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  return ((word - kOnes * ('!')) & ~word & (kOnes << 7)) == 0;
}

}  // namespace

std::string_view name_of(std::string_view header, std::int64_t line) {
  std::size_t name = header.size();
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i + 8 <= header.size() && all_above_blank(header.data() + i)) {
      i += 7;
      continue;
    }
    const char c = header[i];
    if (static_cast<std::uint8_t>(c) > ' ') continue;
    if (c == ' ' || c == '\t') {
      if (i < name) name = i;
      continue;
    }
    if (c == '\r')
      throw InputFault("a carriage return inside a header (lines end with a line feed, or with both)", line, {});
    throw InputFault(shown(static_cast<std::uint8_t>(c)) + " in a header", line, {});
  }
  return header.substr(0, name);
}

void throw_too_long(const char* what, std::int64_t line) {
  InputFault fault(std::string(what) + " is longer than " + std::to_string(max_line_bytes) +
                       " bytes; --max-line allows longer ones",
                   line, {});
  fault.fatal = true;
  throw fault;
}

void add_checked_sequence(RecordParts& out, std::string_view sequence, std::int64_t line) {
  std::uint8_t bad = 0;
  if (!out.sequence(sequence, bad)) throw InputFault(shown(bad) + " in the sequence", line, out.current_name());
  if (out.sequence_length() > INT32_MAX)
    throw InputFault("the sequence is longer than 2,147,483,647 symbols", line, out.current_name());
}

void RecordReader::fail(const std::string& message, const RecordBuilder& out) const {
  throw InputFault(message, lines_.number(), out.current_name());
}

void RecordReader::fail_truncated(const RecordBuilder& out) const {
  fail("the file ends inside a FASTQ record", out);
}

// Throws if the next line, which is buffered until complete, exceeds max_line_bytes.
void RecordReader::check_length(const char* what) {
  if (lines_.partial_line().size() > max_line_bytes) throw_too_long(what, lines_.number() + 1);
}

// Detects the format from the first character of the file.
ParseResult RecordReader::start() {
  std::string_view line;
  for (;;) {
    const int c = lines_.peek();
    if (c == Lines::kNeedInput) return ParseResult::NeedInput;
    if (c == Lines::kEnd) return ParseResult::End;
    if (c == '>' || c == '@') {
      mark_ = static_cast<char>(c);
      state_ = State::Header;
      return ParseResult::Item;
    }
    check_length("a line before the first header");
    if (const ParseResult got = lines_.take(line); got != ParseResult::Item) return got;
    if (!line.empty())
      throw InputFault("sequence before a header: FASTA starts with '>', FASTQ with '@', this file with " +
                           first_of(line),
                       lines_.number(), {});
  }
}

// Takes the header line of the next record. Sets `done` to false if the file ends or input is missing.
ParseResult RecordReader::header(RecordBuilder& out, bool& done) {
  done = false;
  std::string_view line;
  for (;;) {
    header_at_ = lines_.position();
    header_line_ = lines_.number();
    check_length("a header");
    if (const ParseResult got = lines_.take(line); got != ParseResult::Item) return got;
    if (!line.empty()) break;
  }
  if (line[0] != mark_)
    throw InputFault(std::string("expected a header that starts with '") + mark_ + "', found " +
                         shown(static_cast<std::uint8_t>(line[0])) +
                         (mark_ == '@' ? " (a FASTQ record has four lines)" : ""),
                     lines_.number(), out.current_name());
  out.name(name_of(line.substr(1), lines_.number()), line.size() - 1);
  length_ = 0;
  state_ = mark_ == '>' ? State::FastaSequence : State::FastqSequence;
  done = true;
  return ParseResult::Item;
}

// Fast path: takes a record that is completely buffered and has its sequence in one line, as most reads have. Returns
// false, and takes nothing, for any other record.
bool RecordReader::whole_record(RecordBuilder& out) {
  const std::string_view text = lines_.unread();
  if (!out.references_allowed() || text.empty() || text[0] != mark_) return false;
  const std::size_t first = lines_.partial_line().size();
  if (first == text.size() || first > max_line_bytes) return false;
  return mark_ == '>' ? whole_fasta(out, text, first) : whole_fastq(out, text, first);
}

bool RecordReader::whole_fasta(RecordBuilder& out, std::string_view text, std::size_t first) {
  const std::size_t second = text.find('\n', first + 1);
  if (second == text.npos || second + 1 == text.size() || text[second + 1] != '>') return false;
  // Leave trailing whitespace, empty sequences and overlong sequences to the general path.
  if (text[first - 1] <= ' ' || text[second - 1] <= ' ' || text[first + 1] == '>' || second > INT32_MAX) return false;
  const std::string_view name = name_of(text.substr(1, first - 1), lines_.number() + 1);
  if (!out.add(lines_.buffered().data(), name, first - 1, text.substr(first + 1, second - first - 1), nullptr))
    return false;
  lines_.skip(second + 1, 2);
  return true;
}

bool RecordReader::whole_fastq(RecordBuilder& out, std::string_view text, std::size_t first) {
  if (text[first - 1] <= ' ') return false;
  const std::size_t second = text.find('\n', first + 1);
  if (second == text.npos || text[second - 1] <= ' ' || second + 1 == text.size() || text[second + 1] != '+') return false;
  const std::size_t third = text.find('\n', second + 1), length = second - first - 1;
  if (third == text.npos || third - second - 1 > max_line_bytes) return false;  // reported by the general path
  if (text.size() - third - 1 <= length || text[third + 1 + length] != '\n') return false;
  const char* quality = text.data() + third + 1;
  if (second > INT32_MAX || !only_visible(quality, length)) return false;  // the general path reports the error
  const std::string_view name = name_of(text.substr(1, first - 1), lines_.number() + 1);
  if (!out.add(lines_.buffered().data(), name, first - 1, text.substr(first + 1, length), quality)) return false;
  lines_.skip(third + length + 2, 4);
  return true;
}

// Takes one line of a FASTA sequence. Returns true if the record is complete or input is missing; `got` tells which.
bool RecordReader::fasta_sequence(RecordBuilder& out, ParseResult& got) {
  const int c = lines_.inside() ? 0 : lines_.peek();
  if (c == '>' || c == Lines::kEnd) {
    out.end_record();
    state_ = State::Header;
    got = ParseResult::Item;
    return true;
  }
  std::string_view line;
  bool whole;
  got = lines_.take_part(line, whole);
  if (got != ParseResult::Item) return true;
  add_checked_sequence(out, line, lines_.number());
  return false;
}

// Takes a part of a quality line. Returns true if the quality is complete.
bool RecordReader::take_quality(RecordBuilder& out, std::string_view part, bool whole) {
  const bool first = quality_ == 0;
  quality_ += static_cast<std::int64_t>(part.size());
  if (whole && quality_ != length_)
    fail("the quality has " + std::to_string(quality_) + " characters, the sequence " + std::to_string(length_), out);
  if (quality_ <= length_) {
    if (!only_visible(part.data(), part.size()))
      for (const char c : part)
        if (c < '!' || c > '~') fail(shown(static_cast<std::uint8_t>(c)) + " in the quality", out);
    if (first)
      out.quality(part);
    else
      out.more_quality(part);
  }
  if (whole) state_ = State::Header;
  return whole;
}

ParseResult RecordReader::next(RecordBuilder& out) {
  std::string_view line;
  bool whole = true;
  ParseResult got;
  for (;;) {
    switch (state_) {
      case State::Start:
        if (got = start(); got != ParseResult::Item) return got;
        break;
      case State::Header: {
        if (whole_record(out)) return ParseResult::Item;
        bool done;
        got = header(out, done);
        if (!done) return got;
        break;
      }
      case State::FastaSequence:
        if (fasta_sequence(out, got)) return got;
        break;
      case State::FastqSequence:
        if (got = lines_.take_part(line, whole); got == ParseResult::NeedInput) return got;
        if (got == ParseResult::End) fail_truncated(out);
        length_ += static_cast<std::int64_t>(line.size());
        add_checked_sequence(out, line, lines_.number());
        if (whole) state_ = State::Plus;
        break;
      case State::Plus:
        check_length("the '+' line of a FASTQ record");
        if (got = lines_.take(line); got == ParseResult::NeedInput) return got;
        if (got == ParseResult::End) fail_truncated(out);
        if (line.empty() || line[0] != '+')
          fail("expected the '+' line of a FASTQ record (sequences over several lines are not FASTQ here)", out);
        quality_ = 0;
        state_ = State::Quality;
        break;
      case State::Quality:
        if (got = lines_.take_part(line, whole); got == ParseResult::NeedInput) return got;
        if (got == ParseResult::End) {
          if (length_ > 0) fail_truncated(out);
          line = {};
        }
        if (!take_quality(out, line, whole)) break;
        out.end_record();
        return ParseResult::Item;
    }
  }
}

void RecordReader::continue_at(std::size_t bytes, char mark) {
  lines_.skip(bytes, 0);
  mark_ = mark;
  state_ = State::Header;
}

bool RecordReader::end_before_record() {
  if (!lines_.unread().empty()) return false;
  if (state_ == State::FastaSequence) state_ = State::Header;
  return state_ == State::Header;
}

}  // namespace wfacli

#include "records.hpp"

#include <cstdio>

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

}  // namespace

std::string_view name_of(std::string_view header, std::int64_t line) {
  std::size_t name = header.size();
  for (std::size_t i = 0; i < header.size(); ++i) {
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

void add_letters(BatchBuilder& out, std::string_view letters, std::int64_t line) {
  std::uint8_t bad = 0;
  if (!out.letters(letters, bad)) throw InputFault(shown(bad) + " in the sequence", line, out.current_name());
  if (out.letters_so_far() > INT32_MAX)
    throw InputFault("the sequence is longer than 2,147,483,647 letters", line, out.current_name());
}

void RecordReader::fail(const std::string& message, const BatchBuilder& out) const {
  throw InputFault(message, lines_.number(), out.current_name());
}

void RecordReader::fail_truncated(const BatchBuilder& out) const {
  fail("the file ends inside a FASTQ record", out);
}

// Finds out what the file is from its first letter.
Got RecordReader::start() {
  std::string_view line;
  for (;;) {
    const int c = lines_.peek();
    if (c == Lines::kNeedInput) return Got::NeedInput;
    if (c == Lines::kEnd) return Got::End;
    if (c == '>' || c == '@') {
      mark_ = static_cast<char>(c);
      state_ = State::Header;
      return Got::Item;
    }
    if (const Got got = lines_.take(line); got != Got::Item) return got;
    if (!line.empty())
      throw InputFault("sequence before a header: FASTA starts with '>', FASTQ with '@', this file with " +
                           shown(static_cast<std::uint8_t>(line[0])),
                       lines_.number(), {});
  }
}

// Takes the header line of the next record; done is false where the file ends or input is missing.
Got RecordReader::header(BatchBuilder& out, bool& done) {
  done = false;
  std::string_view line;
  for (;;) {
    if (const Got got = lines_.take(line); got != Got::Item) return got;
    if (!line.empty()) break;
  }
  if (line[0] != mark_)
    throw InputFault(std::string("expected a header that starts with '") + mark_ + "', found " +
                         shown(static_cast<std::uint8_t>(line[0])) +
                         (mark_ == '@' ? " (a FASTQ record has four lines)" : ""),
                     lines_.number(), out.current_name());
  out.name(name_of(line.substr(1), lines_.number()));
  length_ = 0;
  state_ = mark_ == '>' ? State::FastaLetters : State::FastqLetters;
  done = true;
  return Got::Item;
}

// Takes a FASTA record of two lines that lies before us whole, as most do in files of reads; false, and nothing
// is taken, for any other.
bool RecordReader::short_record(BatchBuilder& out) {
  const std::string_view text = lines_.unread();
  if (text.empty() || text[0] != '>') return false;
  const std::size_t first = text.find('\n');
  if (first == text.npos) return false;
  if (first + 1 < text.size() && text[first + 1] == '>') return false;  // a record without letters
  const std::size_t second = text.find('\n', first + 1);
  if (second == text.npos || second + 1 == text.size() || text[second + 1] != '>') return false;
  if (text[first - 1] <= ' ' || text[second - 1] <= ' ') return false;  // ends to be trimmed, or no letters
  out.name(name_of(text.substr(1, first - 1), lines_.number() + 1));
  add_letters(out, text.substr(first + 1, second - first - 1), lines_.number() + 2);
  lines_.skip(second + 1, 2);
  return true;
}

// Takes one line of a FASTA sequence; true when the record is complete or input is missing (`got`).
bool RecordReader::fasta_letters(BatchBuilder& out, Got& got) {
  const int c = lines_.peek();
  if (c == '>' || c == Lines::kEnd) {
    state_ = State::Header;
    got = Got::Item;
    return true;
  }
  std::string_view line;
  got = lines_.take(line);
  if (got != Got::Item) return true;
  add_letters(out, line, lines_.number());
  return false;
}

void RecordReader::take_quality(BatchBuilder& out, std::string_view line) {
  if (static_cast<std::int64_t>(line.size()) != length_)
    fail("the quality has " + std::to_string(line.size()) + " letters, the sequence " + std::to_string(length_), out);
  for (const char c : line)
    if (c < '!' || c > '~') fail(shown(static_cast<std::uint8_t>(c)) + " in the quality", out);
  out.quality(line);
  state_ = State::Header;
}

Got RecordReader::next(BatchBuilder& out) {
  std::string_view line;
  Got got;
  for (;;) {
    switch (state_) {
      case State::Start:
        if (got = start(); got != Got::Item) return got;
        break;
      case State::Header: {
        if (short_record(out)) return Got::Item;
        bool done;
        got = header(out, done);
        if (!done) return got;
        break;
      }
      case State::FastaLetters:
        if (fasta_letters(out, got)) return got;
        break;
      case State::FastqLetters:
        if (got = lines_.take(line); got == Got::NeedInput) return got;
        if (got == Got::End) fail_truncated(out);
        length_ = static_cast<std::int64_t>(line.size());
        add_letters(out, line, lines_.number());
        state_ = State::Plus;
        break;
      case State::Plus:
        if (got = lines_.take(line); got == Got::NeedInput) return got;
        if (got == Got::End) fail_truncated(out);
        if (line.empty() || line[0] != '+')
          fail("expected the '+' line of a FASTQ record (sequences over several lines are not FASTQ here)", out);
        state_ = State::Quality;
        break;
      case State::Quality:
        if (got = lines_.take(line); got == Got::NeedInput) return got;
        if (got == Got::End) {
          if (length_ > 0) fail_truncated(out);
          line = {};
        }
        take_quality(out, line);
        return Got::Item;
    }
  }
}

Got RecordReader::skip() {
  BatchBuilder nothing(false);
  return next(nothing);
}

}  // namespace wfacli

// FASTA and FASTQ parser: a state machine that can pause for input at any line.
#pragma once

#include <stdexcept>
#include <string>

#include "io/builder.hpp"
#include "io/lines.hpp"

namespace wfacli {

// Error in an input file. `stream` is 0 for the query file (or the only one), 1 for the target file.
struct InputFault : std::runtime_error {
  InputFault(const std::string& message, std::int64_t line_number, std::string_view record_name)
      : std::runtime_error(message), line(line_number), record(record_name) {}
  std::int64_t line;  // 0 if not attributable to a line
  bool fatal = false;  // parsing cannot continue after it
  std::string record;
  int stream = 0;
};

// Returns the name in a header: the part before the first blank. Throws InputFault for control characters in the
// header.
std::string_view name_of(std::string_view header, std::int64_t line);

// Throws InputFault for a line longer than max_line_bytes; `what` names the kind of line.
[[noreturn]] void throw_too_long(const char* what, std::int64_t line);

// Adds sequence to `out`. Throws InputFault for bytes that are invalid in a sequence, and for sequences over 2^31 - 1.
void add_checked_sequence(RecordParts& out, std::string_view sequence, std::int64_t line);

class RecordReader {
 public:
  Lines& lines() { return lines_; }
  // Offset of the next line in the stream, and the number of lines before it.
  std::int64_t offset() const { return lines_.offset(); }
  std::int64_t line_number() const { return lines_.number(); }
  // Adds one record to `out`. Throws InputFault. On NeedInput, part of a record may have been added; the next call
  // continues it.
  ParseResult next(RecordBuilder& out);

  // Returns the first character of records, '>' or '@'; 0 before the first record.
  char mark() const { return mark_; }
  // Skips `bytes` bytes and continues at the start of a record there; line numbers count from that record.
  void continue_at(std::size_t bytes, char mark);
  // After NeedInput: true if the bytes so far are complete records, provided that the next bytes begin a record. A
  // FASTA record at the end is then treated as complete.
  bool end_before_record();
  // After NeedInput: offset in lines().buffered() of the incomplete record, and the number of lines before it.
  std::size_t rest_at() const { return state_ == State::Header ? lines_.position() : header_at_; }
  std::int64_t lines_before_rest() const { return state_ == State::Header ? lines_.number() : header_line_; }

 private:
  enum class State { Start, Header, FastaSequence, FastqSequence, Plus, Quality };
  ParseResult start();
  ParseResult header(RecordBuilder& out, bool& done);
  bool whole_record(RecordBuilder& out);
  // Fast paths of whole_record(); `first` is the offset of the header's line feed in `text`.
  bool whole_fasta(RecordBuilder& out, std::string_view text, std::size_t first);
  bool whole_fastq(RecordBuilder& out, std::string_view text, std::size_t first);
  bool fasta_sequence(RecordBuilder& out, ParseResult& got);
  void check_length(const char* what);
  bool take_quality(RecordBuilder& out, std::string_view part, bool whole);
  [[noreturn]] void fail(const std::string& message, const RecordBuilder& out) const;
  [[noreturn]] void fail_truncated(const RecordBuilder& out) const;

  Lines lines_;
  State state_ = State::Start;
  char mark_ = 0;
  std::int64_t length_ = 0;
  std::int64_t quality_ = 0;  // bytes of the current quality so far
  std::size_t header_at_ = 0;
  std::int64_t header_line_ = 0;
};

}  // namespace wfacli

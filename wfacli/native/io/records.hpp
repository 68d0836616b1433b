// FASTA and FASTQ records out of lines, as a state machine that can pause for input at any line.
#pragma once

#include <stdexcept>
#include <string>

#include "io/builder.hpp"
#include "io/lines.hpp"

namespace wfacli {

// Something wrong in an input; `stream` 0 is the query's file (or the only one), 1 the target's.
struct InputFault : std::runtime_error {
  InputFault(const std::string& message, std::int64_t line_number, std::string_view record_name)
      : std::runtime_error(message), line(line_number), record(record_name) {}
  std::int64_t line;  // 0 when no line is to blame
  bool fatal = false;  // whether nothing behind it can be read
  std::string record;
  int stream = 0;
};

// A header up to its first blank: the name. Throws the fault of a control character in the header.
std::string_view name_of(std::string_view header, std::int64_t line);

// Throws the fault of a line that is longer than longest_line: `what` it is.
[[noreturn]] void throw_too_long(const char* what, std::int64_t line);

// Adds letters, or throws the fault of a byte that cannot stand in a sequence.
void add_letters(RecordParts& out, std::string_view letters, std::int64_t line);

class RecordReader {
 public:
  Lines& lines() { return lines_; }
  // Adds one record to `out`. Throws InputFault. Where input is missing, a part of a record may be there; the next call
  // goes on with it.
  Got next(RecordBuilder& out);

  // '>' or '@', what records begin with; 0 as long as none has come.
  char mark() const { return mark_; }
  // Goes on where a record begins, so many bytes behind the lines taken; they are counted from there.
  void continue_at(std::size_t bytes, char mark);
  // Where input is missing: whether all that came are whole records, if what follows begins a record. The last one then
  // counts as such.
  bool end_before_record();
  // Where input is missing: where in lines().held() the record that is not whole begins, and how many lines come before.
  std::size_t rest_at() const { return state_ == State::Header ? lines_.position() : header_at_; }
  std::int64_t lines_before_rest() const { return state_ == State::Header ? lines_.number() : header_line_; }

 private:
  enum class State { Start, Header, FastaLetters, FastqLetters, Plus, Quality };
  Got start();
  Got header(RecordBuilder& out, bool& done);
  bool whole_record(RecordBuilder& out);
  // `first`: where the header ends.
  bool whole_fasta(RecordBuilder& out, std::string_view text, std::size_t first);
  bool whole_fastq(RecordBuilder& out, std::string_view text, std::size_t first);
  bool fasta_letters(RecordBuilder& out, Got& got);
  void check_length(const char* what);
  bool take_quality(RecordBuilder& out, std::string_view part, bool whole);
  [[noreturn]] void fail(const std::string& message, const RecordBuilder& out) const;
  [[noreturn]] void fail_truncated(const RecordBuilder& out) const;

  Lines lines_;
  State state_ = State::Start;
  char mark_ = 0;
  std::int64_t length_ = 0;
  std::int64_t quality_ = 0;  // bytes of a quality whose end has not come
  std::size_t header_at_ = 0;
  std::int64_t header_line_ = 0;
};

}  // namespace wfacli

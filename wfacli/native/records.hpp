// FASTA and FASTQ records out of lines, as a state machine that can pause for input at any line.
#pragma once

#include <stdexcept>
#include <string>

#include "builder.hpp"
#include "lines.hpp"

namespace wfacli {

// Something wrong in an input; `stream` 0 is the query's file (or the only one), 1 the target's.
struct InputFault : std::runtime_error {
  InputFault(const std::string& message, std::int64_t line_number, std::string_view record_name)
      : std::runtime_error(message), line(line_number), record(record_name) {}
  std::int64_t line;  // 0 when no line is to blame
  std::string record;
  int stream = 0;
};

// A header up to its first blank: the name. Throws the fault of a control character in the header.
std::string_view name_of(std::string_view header, std::int64_t line);

// Adds letters, or throws the fault of a byte that cannot stand in a sequence.
void add_letters(BatchBuilder& out, std::string_view letters, std::int64_t line);

class RecordReader {
 public:
  Lines& lines() { return lines_; }
  // Adds one record's name, letters and quality to `out` (not its end). Throws InputFault.
  Got next(BatchBuilder& out);
  // Takes one record and keeps nothing.
  Got skip();

 private:
  enum class State { Start, Header, FastaLetters, FastqLetters, Plus, Quality };
  Got start();
  Got header(BatchBuilder& out, bool& done);
  bool short_record(BatchBuilder& out);
  bool fasta_letters(BatchBuilder& out, Got& got);
  void take_quality(BatchBuilder& out, std::string_view line);
  [[noreturn]] void fail(const std::string& message, const BatchBuilder& out) const;
  [[noreturn]] void fail_truncated(const BatchBuilder& out) const;

  Lines lines_;
  State state_ = State::Start;
  char mark_ = 0;  // '>' or '@'
  std::int64_t length_ = 0;
};

}  // namespace wfacli

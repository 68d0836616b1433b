// Checks that mates are in the order in which mappers pair them: record i of one file with record i of another, or
// consecutive records of one file.
#pragma once

#include <string>
#include <string_view>

#include "base/hashing.hpp"
#include "mapped/mates.hpp"
#include "io/records.hpp"

namespace wfacli {

// Receives each record of one file, or alternately of the first file (stream 0) and the second file (stream 2), and
// the end of the second file. Throws InputFault if records are not a pair, or if the second mate comes first.
class MateOrder {
 public:
  explicit MateOrder(bool two_files) : two_files_(two_files) {}

  // Returns the stream of the next record.
  int next() const { return expects_second_ ? 2 : 0; }

  // Checks a record. `seen`: names of all earlier records.
  void read(int stream, std::string_view name, NameSet& seen) {
    if (two_files_)
      read_two_files(stream, name);
    else
      read_interleaved(name, seen);
  }

  void ended(int stream) const {
    if (stream == 2 && expects_second_)
      fail("has no mate here: this file of the pairs ends before the other one", stream, previous_);
  }

 private:
  void read_interleaved(std::string_view name, NameSet& seen) {
    const int suffix = mate_of_name(name);
    const std::string_view base = without_mate(name);
    const bool is_mate = without_mate(previous_) == base;
    if (is_mate ? mate_of_name(previous_) == 2 : seen.has(suffix ? with_mate(base, 3 - suffix) : std::string(name)))
      fail((is_mate ? "follows its second mate" : "its mate stands elsewhere") + std::string(kOrder), 0, name);
    previous_ = name;
  }

  void read_two_files(int stream, std::string_view name) {
    const int mate = stream == 0 ? 1 : 2;
    if (const int suffix = mate_of_name(name); suffix != 0 && suffix != mate)
      fail(suffix == 1 ? "is the first mate by its name, and second ones are read here"
                       : "is the second mate by its name, and first ones are read here",
           stream, name);
    if (mate == 1) {
      previous_ = without_mate(name);
      expects_second_ = true;
      return;
    }
    if (!expects_second_) fail("has no mate: the other file of the pairs has ended", stream, name);
    if (previous_ != without_mate(name))
      fail("stands where the mate of " + previous_ +
               " should: both files have the same pairs in the same order, and names of "
               "mates are alike up to /1 and /2",
           stream, name);
    expects_second_ = false;
  }

  [[noreturn]] static void fail(const std::string& message, int stream, std::string_view name) {
    InputFault fault(message, 0, name);
    fault.stream = stream;
    throw fault;
  }

  static constexpr std::string_view kOrder =
      ": mates follow one another, the first one first (in BAM, by samtools collate), or second ones have their own file "
      "(--mates)";
  bool two_files_;
  bool expects_second_ = false;  // two files: the first one is one record ahead
  std::string previous_;  // two files: name of that record without /1 or /2; one file: name of the previous record
};

}  // namespace wfacli

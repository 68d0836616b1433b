// Mappings of reads out of PAF, SAM or BAM: which part of a read lies where, without its alignment.
#pragma once

#include <string>
#include <vector>

#include "io/records.hpp"
#include "io/reference.hpp"
#include "mapped/bam_bytes.hpp"
#include "mapped/mapping_length.hpp"
#include "mapped/said.hpp"

namespace wfacli {

enum class MappingKind : std::uint8_t { Unknown, Primary, Secondary, Supplementary, Unmapped };

struct Mapping {
  std::int64_t q_len = 0, q_beg = 0, q_end = 0;  // on the read as it came; half open
  std::int64_t t_beg = 0, t_end = 0;             // on the target's forward strand
  std::int64_t matches = 0;                      // PAF's column 10, a guess
  std::int64_t line = 0;
  std::int32_t target = -1;  // of the reference
  std::int32_t flags = 0;    // of SAM's those that are carried to the record: what says of mates, failed, duplicate
  std::uint8_t mapq = 255;
  bool reverse = false;
  MappingKind kind = MappingKind::Unknown;
  Said said;
};

// Letters of a CIGAR's runs, on the target's strand.
struct RunSums {
  std::int64_t before = 0, query = 0, target = 0, after = 0;  // before and after: clipped
  std::int64_t hard = 0;  // of what is clipped, letters that SEQ does not have
  // False for an operation that no read's CIGAR has.
  bool add(char operation, std::int64_t letters);
  bool intron = false;
};

// Beside SAM's flags: the mapping is of a part that is inverted (tp:A:I).
inline constexpr std::int32_t kInversion = 1 << 16;

class MappingReader {
 public:
  explicit MappingReader(const Reference& reference) : reference_(reference) {}
  Lines& lines() { return lines_; }
  // Takes one mapping and the name of its read, which is valid until lines() changes. Throws InputFault, behind the
  // line at fault.
  Got next(Mapping& mapping, std::string_view& read);
  bool is_paf() const { return form_ == Form::Paf; }

 private:
  enum class Form { Unknown, Paf, Sam, BamHeader, Bam };
  Got next_line(Mapping& mapping, std::string_view& read);
  void paf(std::string_view line, Mapping& mapping);
  void sam(std::string_view line, Mapping& mapping);
  Got bam_header();
  Got bam(Mapping& mapping, std::string_view& read);
  // Whether SAM's flag is that of a mapping, which then has its strand and kind; flags that are carried in any case.
  bool take_flag(std::int64_t flag, Mapping& mapping) const;
  // `letters`: of SEQ, 0 where there is none.
  void set_spans(const RunSums& sums, std::size_t letters, Mapping& mapping) const;
  // `length`: what the mapping says of its target's; -1 where only a header may have said it.
  void place(std::string_view target, std::int64_t length, Mapping& mapping);
  // Keeps a target's length out of a header, against which its mappings are checked.
  void keep_length(std::string_view target, std::int64_t length);
  void header_line(std::string_view line);
  void check_spans(const Mapping& mapping, std::string_view target) const;
  [[noreturn]] void refuse_intron() const;
  std::int64_t number(std::string_view text, const char* what) const;
  std::uint8_t mapping_quality(std::string_view text) const;
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void end_with(const char* message);

  const Reference& reference_;
  Lines lines_;
  Form form_ = Form::Unknown;
  std::string read_;  // of the line that is looked at, for faults
  std::int32_t last_target_ = -1;
  MappingLength length_;
  BamHeader bam_header_;
  std::vector<std::string> bam_targets_;
  std::vector<std::int64_t> header_lengths_;  // by the reference's numbers, as far as there are any; -1: not said
};

// Says of mappings of one read, of which none says what it is, which is primary: the one with most matches (then the
// longest, then the first). Of the others those that lie by more than half within a better one's part of the read are
// secondary, the rest supplementary.
void tell_kinds(Mapping* mappings, std::size_t count);

}  // namespace wfacli

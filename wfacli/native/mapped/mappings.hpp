// Parser of mappings in PAF, SAM or BAM: positions of reads on the reference, without their alignments.
#pragma once

#include <string>
#include <vector>

#include "io/records.hpp"
#include "io/reference.hpp"
#include "mapped/bam_bytes.hpp"
#include "mapped/mapping_length.hpp"
#include "mapped/mapping_tags.hpp"

namespace wfacli {

enum class MappingKind : std::uint8_t { Unknown, Primary, Secondary, Supplementary, Unmapped };

struct Mapping {
  std::int64_t q_len = 0, q_beg = 0, q_end = 0;  // on the read as sequenced; half open
  std::int64_t t_beg = 0, t_end = 0;             // on the target's forward strand
  std::int64_t matches = 0;                      // column 10 of PAF, an estimate
  std::int64_t line = 0;
  std::int32_t target = -1;  // index in the reference
  std::int32_t flags = 0;    // SAM flags copied to the record: about mates, failed, duplicate
  std::uint8_t mapq = 255;
  bool reverse = false;
  MappingKind kind = MappingKind::Unknown;
  MappingTags tags;
};

// Sums over the operations of a CIGAR, in bases, on the target's strand.
struct RunSums {
  std::int64_t before = 0, query = 0, target = 0, after = 0;  // before, after: clipped bases
  std::int64_t hard = 0;  // hard-clipped bases, which SEQ does not include
  // Adds an operation; returns false if it is invalid in a CIGAR.
  bool add(char operation, std::int64_t length);
  bool intron = false;
};

// Flag outside the bits of SAM: the mapping is an inversion (tp:A:I or tp:A:i).
inline constexpr std::int32_t kInversion = 1 << 16;
// Flag of rows for which the mapper has no mapping: pieces of a split alignment, and alignments that have left what is mapped.
inline constexpr std::int32_t kPiece = 1 << 17;

class MappingReader {
 public:
  explicit MappingReader(const Reference& reference) : reference_(reference) {}
  Lines& lines() { return lines_; }
  // Parses one mapping and the name of its read, which is valid until lines() changes. Throws InputFault after
  // consuming the faulty line.
  ParseResult next(Mapping& mapping, std::string_view& read);
  bool is_paf() const { return form_ == Form::Paf; }
  // Offset in the stream of the mapping that next() returned last, and of what follows it.
  std::int64_t place_of_last() const { return last_at_; }
  std::int64_t end() const { return lines_.offset(); }
  // Offset of the first mapping, behind the header if there is one; 0 if there is no mapping so far.
  std::int64_t first_at() const { return first_at_ < 0 ? 0 : first_at_; }

  // True if the first mapping of a file of lines was read, so that another reader can continue after it.
  bool is_after_header() const { return form_ == Form::Paf || (form_ == Form::Sam && mapped_); }
  // Continues after the header that `other` has read. It must outlive this reader, and read no other header line.
  void continue_after(const MappingReader& other);
  // True if next() has returned End because a header line follows the mappings that another reader has begun.
  bool header_inside() const { return header_inside_; }

 private:
  enum class Form { Unknown, Paf, Sam, BamHeader, Bam };
  ParseResult next_line(Mapping& mapping, std::string_view& read);
  void paf(std::string_view line, Mapping& mapping);
  void sam(std::string_view line, Mapping& mapping);
  ParseResult bam_header();
  ParseResult bam(Mapping& mapping, std::string_view& read);
  // Sets the flags that are copied to the record. Returns false for an unmapped record; otherwise sets strand and kind
  // too.
  bool take_flag(std::int64_t flag, Mapping& mapping) const;
  void set_place(std::int64_t offset) {
    if (first_at_ < 0) first_at_ = offset;
    last_at_ = offset;
  }
  // Sets the spans from the CIGAR. `sequence_length`: length of SEQ, 0 if there is none.
  void set_spans(const RunSums& sums, std::size_t sequence_length, Mapping& mapping) const;
  // Finds the target in the reference and checks its length. `length` is -1 if only the header may state it.
  void place(std::string_view target, std::int64_t length, Mapping& mapping);
  // Stores the length of a target from a header; place() checks it.
  void store_length(std::string_view target, std::int64_t length);
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
  std::int64_t first_at_ = -1, last_at_ = 0;  // offsets of the first mapping and of the last one
  std::string read_;  // name of the read on the current line, for error messages
  std::int32_t last_target_ = -1;
  MappingLength length_;
  BamHeader bam_header_;
  std::vector<std::string> bam_targets_;
  std::vector<std::int64_t> header_lengths_;  // by index in the reference, -1: not stated; empty without a header
  const MappingReader* begun_by_ = nullptr;   // reader that has read the header
  bool mapped_ = false;                       // a line with a mapping was read
  bool header_inside_ = false;
};

// Sets the kinds of all mappings of a read if any of them is Unknown. Primary is the one with the most matches (ties:
// the longest, then the first). Others of which more than half overlaps a better, non-secondary mapping on the read
// are secondary; the rest are supplementary. If all kinds are known, all primary mappings but the first become
// supplementary.
void classify_mappings(Mapping* mappings, std::size_t count);

}  // namespace wfacli

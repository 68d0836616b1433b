// Whether mappings of a read follow one another in a file, and the same file with them in that order.
#pragma once

#include <string>
#include <unordered_map>

#include "mapped/bam_bytes.hpp"
#include "base/hashing.hpp"
#include "mapped/mapping_length.hpp"

namespace wfacli {

// Takes a file's bytes from its beginning: PAF or SAM, or BAM.
class MappingGroups {
 public:
  // With `places` false only grouped() can be asked for.
  explicit MappingGroups(bool places) : places_(places) {}
  std::uint8_t* prepare(std::size_t bytes) { return lines_.prepare(bytes); }
  void commit(std::size_t bytes);
  bool grouped() const { return grouped_; }
  // Whether a line or a record was longer than they may be: nothing behind it was taken.
  bool too_long() const { return too_long_; }
  // Whether the file has ended in mid-line.
  bool ended_inside() const { return !bam_ && lines_.ended_inside(); }
  // Writes `text`, which was taken, to a descriptor: what comes before mappings, then those of the read that is first to
  // have any, and so on. Throws std::system_error.
  void write(const std::uint8_t* text, std::size_t bytes, int descriptor);

 private:
  void take(std::string_view name, std::size_t bytes);
  bool take_bam_header();
  bool take_bam_record();
  bool take_line();

  bool places_, grouped_ = true, bam_ = false, begun_ = false, too_long_ = false;
  bool mapped_ = false;  // whether a mapping was taken, so that no header follows
  BamHeader bam_header_;
  MappingLength length_;
  Lines lines_;
  std::size_t header_ = 0, taken_ = 0;
  std::string last_;
  NameSet seen_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  Buffer<std::size_t> start_;
  Buffer<std::uint32_t> group_;
};

}  // namespace wfacli

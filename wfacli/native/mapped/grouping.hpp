// Checks whether the mappings of each read are consecutive in a file, and rewrites the file so that they are.
#pragma once

#include <string>
#include <unordered_map>

#include "mapped/bam_bytes.hpp"
#include "base/hashing.hpp"
#include "mapped/mapping_length.hpp"

namespace wfacli {

// Scanner of a PAF, SAM or BAM file, fed from its beginning with prepare() and commit().
class MappingGroups {
 public:
  // With `places` false, write() is not available.
  explicit MappingGroups(bool places) : places_(places) {}
  std::uint8_t* prepare(std::size_t bytes) { return lines_.prepare(bytes); }
  void commit(std::size_t bytes);
  bool grouped() const { return grouped_; }
  // True if a line or record exceeded max_line_bytes; scanning stopped there.
  bool too_long() const { return too_long_; }
  // True if the file ended without a line feed.
  bool ended_inside() const { return !bam_ && lines_.ended_inside(); }
  // Writes the scanned file, whose bytes are `text`, to a descriptor with its mappings grouped: the header, then the
  // mappings of each read, in the order in which reads first appear. Throws std::system_error.
  void write(const std::uint8_t* text, std::size_t bytes, int descriptor);

 private:
  void take(std::string_view name, std::size_t bytes);
  bool take_bam_header();
  bool take_bam_record();
  bool take_line();

  bool places_, grouped_ = true, bam_ = false, begun_ = false, too_long_ = false;
  bool mapped_ = false;  // a mapping was seen, so that no header lines follow
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

// Checks in parallel whether the mappings of each read are consecutive in a file of lines.
#pragma once

#include <cstddef>

namespace wfacli {

enum class GroupingAnswer {
  Grouped,
  NotGrouped,
  Unknown,  // a line is longer than max_line_bytes, the file cannot be read, or is BAM: MappingGroups tells
};

// Scans a PAF or SAM file, uncompressed, in blocks of `block` bytes by `threads` threads. The answer is that of
// MappingGroups::grouped().
GroupingAnswer scan_grouping(int descriptor, int threads, std::size_t block);

}  // namespace wfacli

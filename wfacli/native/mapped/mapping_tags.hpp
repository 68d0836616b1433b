// Tags of mappings in SAM, BAM and PAF that are copied to records, and whether there are introns.
#pragma once

#include <string>
#include <string_view>

namespace wfacli {

struct MappingTags {
  std::string fields;      // cm, s1, s2 and rl as SAM fields, tab-separated
  std::string group;       // the read group as a SAM field, such as RG:Z:run1
  char type = 0;           // tp: P, S, I or i; 0 if absent
  bool intron = false;     // the tag cg has an N, or cs a ~
};

// Parses tab-separated SAM fields.
MappingTags parse_sam_tags(std::string_view fields);
// Parses the optional fields of a BAM record; stops at a malformed field.
MappingTags parse_bam_tags(std::string_view fields);

}  // namespace wfacli

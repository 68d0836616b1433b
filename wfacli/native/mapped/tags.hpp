// SAM optional fields (tags) in the comments of reads.
#pragma once

#include <string>
#include <string_view>

namespace wfacli {

// Selection of the tags that are copied.
enum class TagSelection {
  All,
  NoGroup,   // all but RG, since the record gets another one
  GroupOnly  // only RG
};

// True if the field is a valid SAM optional field, TAG:TYPE:VALUE.
bool is_tag(std::string_view field);
// Appends the SAM fields of a comment to `out`, tab-separated. Leaves out other fields, and tags that describe an
// alignment or the mate's, since the record has its own or that alignment no longer applies.
void add_tags(std::string_view comment, TagSelection selection, std::string& out);
// True if tab-separated fields contain a read group.
bool has_group(std::string_view fields);

}  // namespace wfacli

// SAM's optional fields in the comments of reads.
#pragma once

#include <string>
#include <string_view>

namespace wfacli {

// Which fields of a comment are kept.
enum class KeptTags {
  All,
  NoGroup,    // all but RG, since the record gets one
  GroupAlone  // RG
};

// Whether a field is one of SAM's, TAG:TYPE:VALUE.
bool is_tag(std::string_view field);
// The fields of a comment that are SAM's, with tabs between them. Others are left out, and so are those that speak of an
// alignment or of the mate's, since the record has its own or that one is gone.
void add_tags(std::string_view comment, KeptTags kept, std::string& out);
// Whether fields have a read group.
bool has_group(std::string_view fields);

}  // namespace wfacli

// SAM's optional fields in the comments of reads.
#pragma once

#include <string>
#include <string_view>

namespace wfacli {

// The fields of a comment that are SAM's, TAG:TYPE:VALUE, with tabs between them. Others are left out, and so are those
// that speak of an alignment, since the record has its own: NM, AS, MD, cs, SA and xh; and RG where the record gets one.
void add_tags(std::string_view comment, bool read_group, std::string& out);

}  // namespace wfacli

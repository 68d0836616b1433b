// Names that SAM can hold (SAM specification, 1.2.1 and 1.4).
#pragma once

#include <string_view>

#include "base/types.hpp"

namespace wfacli {

// QNAME: 1 to 254 characters '!' to '~' without '@'. "*" would say that there is no name.
bool fits_qname(std::string_view name);
// RNAME: characters '!' to '~' without the backslash, comma, quotation marks and brackets, and no '*' or '=' at the front.
bool fits_rname(std::string_view name);

// The first row whose query's or target's name does not fit, or -1. Empty names are no fault here, since records have "*" for
// them; nor are those of targets without letters, which no record names.
std::int64_t unfit_query(const BatchView& batch);
std::int64_t unfit_target(const BatchView& batch);

}  // namespace wfacli

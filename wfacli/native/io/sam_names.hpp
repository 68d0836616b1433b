// Validity of names in SAM (SAM specification, sections 1.2.1 and 1.4).
#pragma once

#include <string_view>

#include "base/types.hpp"

namespace wfacli {

// QNAME: 1 to 254 characters '!' to '~' other than '@'. "*" is invalid, since it means that there is no name.
bool fits_qname(std::string_view name);
// RNAME: characters '!' to '~' other than backslash, comma, quotation marks and brackets, not starting with '*' or '='.
bool fits_rname(std::string_view name);

// Return the first row whose query or target has an invalid name, or -1. Empty names are accepted, since records have
// "*" for them, and so are names of empty targets, which no record mentions.
std::int64_t unfit_query(const BatchView& batch);
std::int64_t unfit_target(const BatchView& batch);

}  // namespace wfacli

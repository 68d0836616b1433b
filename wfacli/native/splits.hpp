// What becomes of the rows of one read when they are written: which are, with what flags, and what they say of one
// another.
#pragma once

#include <string>
#include <vector>

#include "format.hpp"

namespace wfacli {

struct Fate {
  bool written = true;
  std::int32_t flags = 0;
  std::string other_parts;  // SAM's SA, or nothing
};

// Whether letters of both sides are aligned; what aligns none has no place on a target.
bool is_placed(const AlignmentView& alignments, std::int64_t row);

// Fates of the rows from `first` to `end`, which are all of a read. Where some are placed the others are not written, and
// the first of those (not secondary, if it can be) becomes primary where the one that was is not placed. Where none are,
// one is written, unmapped. SA has the other parts of a split read, the primary one first, with CIGARs in short: what is
// clipped, aligned, and the difference in length.
std::vector<Fate> fates_of(const BatchView& batch, const AlignmentView& alignments, std::int64_t first, std::int64_t end,
                           Ambiguous rule);

}  // namespace wfacli

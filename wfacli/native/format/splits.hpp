// What becomes of the rows of one read, or of a pair, when they are written: which are, with what flags, and what they say of one
// another.
#pragma once

#include <string>
#include <vector>

#include "format/format.hpp"

namespace wfacli {

struct Fate {
  bool written = true;
  std::int32_t flags = 0;
  std::string other_parts;  // SAM's SA, or nothing
  // Rows: where the mate lies (RNEXT, PNEXT), and where what is unmapped stands, beside its mate; -1 for nowhere.
  std::int64_t next = -1, beside = -1;
  std::int64_t mate = -1;  // the row of the mate's primary record, where that is on a target
  std::int64_t template_length = 0;  // TLEN
};

// Whether letters of both sides are aligned; what aligns none has no place on a target.
bool is_placed(const AlignmentView& alignments, std::int64_t row);

// Fates of the rows from `first` to `end`, which are all of a read, or of two mates one after the other. Of a read, where some are placed the others are not written, and
// the first of those (not secondary, if it can be) becomes primary where the one that was is not placed. Where none are,
// one is written, unmapped. SA has the other parts of a split read, the primary one first, with CIGARs in short: what is
// clipped, aligned, and the difference in length.
//
// Mates name each other's primary record (SAM specification, 1.4 and 2.1): an unmapped one stands where its mate does. A
// template is as long as from its leftmost to its rightmost aligned letter.
std::vector<Fate> fates_of(const BatchView& batch, const AlignmentView& alignments, std::int64_t first, std::int64_t end,
                           Ambiguous rule);

}  // namespace wfacli

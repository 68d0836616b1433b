// Resolution of the rows of a template into SAM records: which rows are written, their flags, and the fields that
// refer to other records (SA, RNEXT, PNEXT, TLEN).
#pragma once

#include <string>
#include <vector>

#include "format/format.hpp"

namespace wfacli {

// How a row is written.
struct RecordFields {
  bool written = true;
  std::int32_t flags = 0;
  std::string sa_tag;  // value of the tag SA; empty if not split
  // Bases of the whole read, on the aligned strand, and quality behind them if it has any; empty if the row has its own.
  std::string read;
  // Rows, or -1: `next` gives RNEXT and PNEXT; `beside` gives RNAME and POS of an unmapped record with a mapped mate.
  std::int64_t next = -1, mapped_mate = -1;
  std::int64_t mate = -1;  // row of the mate's primary record, -1 if unmapped
  std::int64_t template_length = 0;  // TLEN
};

// True if the row has an alignment with bases of both sequences; otherwise it has no position on a target.
bool is_placed(const AlignmentView& alignments, std::int64_t row);

// Returns the record fields of rows [first, end), which are all rows of a read, or of two mates one after the other.
// If some rows of a read are placed, the others are not written; if the primary row is not placed, the first placed
// row becomes primary, preferably one that is not secondary, with the bases of the read. If none is placed, one row is written, unmapped. SA lists
// the other parts of a split read, the primary one first, with short CIGARs: clips, aligned bases, and the difference
// in length.
//
// Mates refer to each other's primary record (SAM specification, sections 1.4 and 2.1); an unmapped mate has the
// position of the mapped one. TLEN extends from the leftmost to the rightmost aligned base of the template.
std::vector<RecordFields> resolve_template(const BatchView& batch, const AlignmentView& alignments, std::int64_t first,
                                           std::int64_t end, Ambiguous rule);

}  // namespace wfacli

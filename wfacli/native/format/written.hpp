// One alignment as it is written: operations by SAM's rule, and what follows from them.
#pragma once

#include "format/format.hpp"

namespace wfacli {

struct Written {
  PairView pair;  // the aligned parts
  const std::uint32_t* cigar = nullptr;  // = X I D
  std::int64_t operations = 0;
  std::int64_t matches = 0, mismatches = 0, inserted = 0, deleted = 0, gaps = 0;

  std::int64_t edits() const { return mismatches + inserted + deleted; }
  std::int64_t columns() const { return matches + edits(); }
};

// Makes '=' and 'X' say what SAM means by them, whatever the score counted as a match.
void split_runs(Written& w, Cigar& scratch);
// Counts what the operations hold.
void count_runs(Written& w);

// Whether '=' of the kernels may hold letters that are not equal by SAM's rule, in a pair with such flags.
WFACLI_INLINE bool splits_matches(Ambiguous rule, std::uint8_t flags) {
  return rule == Ambiguous::Wildcard && (flags & kNonAcgt);
}

// `operations` runs at `cigar` align `pair`. Where wildcards took part, '=' runs are split (into `scratch`).
WFACLI_INLINE Written as_written(const PairView& pair, const std::uint32_t* cigar, std::int64_t operations,
                                 bool split_wildcards, Cigar& scratch) {
  Written w{.pair = pair, .cigar = cigar, .operations = operations};
  if (split_wildcards) split_runs(w, scratch);
  count_runs(w);
  return w;
}

// Letters of either side that are aligned and are none of A C G T U: of a column, one.
std::int64_t count_ambiguous(const Written& w);

// The score of the part of an alignment that has the greatest; runs are the kernel's, whose '=' are what counted as matches.
std::int64_t best_part(const std::uint32_t* cigar, std::int64_t operations, const Prices& prices);

Pen add_cigar(Pen out, const Written& w, bool cigar_m);
Pen add_md(Pen out, const Written& w);
Pen add_cs(Pen out, const Written& w);

}  // namespace wfacli

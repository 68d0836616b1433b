// An alignment as written: operations with the meaning of SAM, their counts, and CIGAR, MD and cs strings.
#pragma once

#include "format/format.hpp"

namespace wfacli {

struct SamAlignment {
  PairView pair{};  // the aligned parts of query and target
  const std::uint32_t* cigar = nullptr;  // = X I D
  std::int64_t operations = 0;
  std::int64_t matches = 0, mismatches = 0, inserted = 0, deleted = 0, gaps = 0;

  std::int64_t edits() const { return mismatches + inserted + deleted; }
  std::int64_t columns() const { return matches + edits(); }
};

// Rewrites '=' and 'X' as SAM defines them, independent of what scored as a match. The new CIGAR is in `scratch`.
void resolve_matches(SamAlignment& w, Cigar& scratch);
// Counts matches, mismatches, inserted and deleted bases, and gaps.
void count_operations(SamAlignment& w);

// True if '=' of the kernels may include symbols that SAM does not consider equal, in a pair with these flags.
WFACLI_INLINE bool needs_resolving(Ambiguous rule, std::uint8_t flags) {
  return matches_by_bits(rule) && (flags & kNonAcgt);
}

// Returns the alignment of `pair` by the `operations` elements at `cigar`. With split_wildcards, '=' and 'X' are
// rewritten into `scratch` (see resolve_matches).
WFACLI_INLINE SamAlignment to_sam_alignment(const PairView& pair, const std::uint32_t* cigar, std::int64_t operations,
                                            bool split_wildcards, Cigar& scratch) {
  SamAlignment w{.pair = pair, .cigar = cigar, .operations = operations};
  if (split_wildcards) resolve_matches(w, scratch);
  count_operations(w);
  return w;
}

// Returns the number of columns with a symbol other than A C G T U on either side.
std::int64_t count_ambiguous(const SamAlignment& w);

// Returns the score of the best-scoring part of an alignment. `cigar` is the kernel's, in which '=' is what scored as
// a match.
std::int64_t best_part(const std::uint32_t* cigar, std::int64_t operations, const OperationScores& prices);

// Adds the elements of the CIGAR as written: with cigar_m, neighbouring '=' and 'X' are one M.
void add_written_runs(const SamAlignment& w, bool cigar_m, Buffer<std::uint32_t>& out);
Pen add_cigar(Pen out, const SamAlignment& w, bool cigar_m);
Pen add_md(Pen out, const SamAlignment& w);
Pen add_cs(Pen out, const SamAlignment& w);

}  // namespace wfacli

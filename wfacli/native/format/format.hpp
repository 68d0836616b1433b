// Alignments as text: SAM records, PAF lines, TSV rows, lines as BLAST tabulates them.
#pragma once

#include <string>

#include "base/letters.hpp"
#include "base/text.hpp"

namespace wfacli {

enum class Format : std::uint8_t { Sam, Paf, Tsv, Blast6 };

// What operations of an alignment earn and cost; a gap of l letters costs the cheaper piece's open + l * extend.
struct Prices {
  std::int32_t match = 0, mismatch = 0, pieces = 0;
  GapPiece gap[2];
};

struct FormatOptions {
  Format format = Format::Sam;
  Ambiguous ambiguous = Ambiguous::Mismatch;
  bool cigar_m = false;     // M instead of = and X
  bool md = false, cs = false;
  bool scores_only = false;  // there are no CIGARs
  bool heuristic = false;    // alignments may be marked as found by a heuristic
  bool second = false;       // there are second best scores
  bool hard_clip = false;    // supplementary records hold only what of the read they align
  std::string read_group;   // its ID; empty for none
  Prices prices;            // of operations; no pieces where nobody asked
  // Karlin and Altschul's parameters of the scores, for BLAST's table: lambda (0 where there are none), ln K, and of which
  // number scores are to be multiples.
  double nats = 0, log_k = 0;
  int score_step = 1;
};

// Sums over the records that were written.
struct Tally {
  std::int64_t aligned = 0, matches = 0, mismatches = 0, inserted = 0, deleted = 0, gaps = 0;
  std::int64_t query_bases = 0, target_bases = 0, non_nucleotide = 0;
  double cells = 0;
  // Of reads on a reference: records by what they are, and letters of primary ones beside what they align.
  std::int64_t primary = 0, unmapped = 0, secondary = 0, supplementary = 0, clipped = 0;
};

struct Formatted {
  Text text;
  Tally tally;
};

Formatted format_batch(const BatchView& batch, const AlignmentView& alignments, const FormatOptions& options);

}  // namespace wfacli

// Formatting of alignments as SAM, PAF, TSV or BLAST tabular text, or as BAM.
#pragma once

#include <string>

#include "base/symbols.hpp"
#include "base/text.hpp"

namespace wfacli {

class BatchFigures;
class TargetIds;

enum class Format : std::uint8_t { Sam, Bam, Paf, Tsv, Blast6 };

// Scores of operations: match bonus, mismatch and gap costs. A gap of length l costs open + l * extend of the cheaper
// piece.
struct OperationScores {
  std::int32_t match = 0, mismatch = 0, ambiguous = 0, pieces = 0;
  GapPiece gap[2];
};

struct FormatOptions {
  Format format = Format::Sam;
  Ambiguous ambiguous = Ambiguous::Mismatch;
  bool cigar_m = false;     // write M instead of = and X
  bool md = false, cs = false;
  bool scores_only = false;  // alignments have no CIGARs
  bool heuristic = false;    // a heuristic was on, so TSV rows have a column for it
  bool second = false;       // second-best scores are available
  bool sort = false;         // SAM and BAM: return sorted frames (sorted_frames.hpp)
  bool hard_clip = false;    // hard-clip supplementary records, which then contain only the aligned part of the read
  std::string read_group;   // ID; empty: none
  OperationScores operation_scores;  // for the tag ms; operation_scores.pieces is 0 if not requested
  // Karlin-Altschul parameters for BLAST tabular output: lambda (0 if unknown) and ln K. Scores are rounded down to a
  // multiple of score_step.
  double lambda = 0, log_k = 0;
  int score_step = 1;
};

// Totals over the batch.
struct Tally {
  std::int64_t aligned = 0, matches = 0, mismatches = 0, inserted = 0, deleted = 0, gaps = 0;
  std::int64_t query_bases = 0, target_bases = 0, non_nucleotide = 0;
  double cells = 0;
  // Mapped reads: written records by kind, and clipped bases of primary records.
  std::int64_t primary = 0, unmapped = 0, secondary = 0, supplementary = 0, clipped = 0;
};

struct Formatted {
  Text text;
  Tally tally;
};

// `targets`: sequences of the header, which BAM and sorted records require; null if neither is written. Throws
// std::overflow_error for a record that BAM cannot hold, and std::invalid_argument for one of an unknown target.
// `figures`: receives the figures of the written records; null if they are not wanted.
Formatted format_batch(const BatchView& batch, const AlignmentView& alignments, const FormatOptions& options,
                       const TargetIds* targets, BatchFigures* figures = nullptr);

}  // namespace wfacli

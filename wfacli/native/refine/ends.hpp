// Ends of alignments of mapped reads: flanks to extend into, unreliable ends, and the breakpoints of split reads.
//
// Spans are i32[n, 4]: q_beg, q_end, t_beg, t_end, half open.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// Which sequences a CIGAR operation has bases of.
inline bool in_query(std::uint32_t op) { return op != kDeletion; }
inline bool in_target(std::uint32_t op) { return op != kInsertion; }
inline bool is_gap(std::uint32_t op) { return op == kInsertion || op == kDeletion; }

// Pairs to extend rows with: the flanks between an outer and an inner span; left flanks are reversed.
struct Flanks {
  Buffer<std::uint8_t> bases, flags;
  Buffer<std::int64_t> q_start, t_start;
  Buffer<std::int32_t> q_len, t_len;
  Buffer<std::int32_t> side;  // 2 * row for left flanks, 2 * row + 1 for right flanks
  Buffer<std::uint8_t> at_end;  // 1 if the flank reaches the end of a mapped read
};

// Returns the flanks of all rows. Flanks in which either sequence is empty are left out.
Flanks flanks_of(const BatchView& batch, const std::int32_t* outer, const std::int32_t* inner);

// Extends spans by alignments of flanks: query and target extend from the inner span, so that their ends are lengths.
void extend_spans(std::int64_t flanks, const std::int32_t* side, const std::int32_t* extension, std::int32_t* span);

// Returns the bytes that copy_parts() needs for these spans.
std::size_t parts_bytes(std::int64_t n, const std::int32_t* span);
// Copies the parts of the batch inside the spans to `bases`, aligned to 16 bytes, and writes their offsets.
void copy_parts(const BatchView& batch, const std::int32_t* span, std::uint8_t* bases, std::int64_t* q_start,
                std::int64_t* t_start);

// Alignments with an unreliable end. Walking inwards from an end, a place is doubtful if the score of the path up to
// it is negative and a new minimum, or if it follows a gap of at least 16 bases, or of at least 4 bases that is longer
// than half the aligned bases before it minus 32. If a gap lies within 64 aligned bases of an end, so is each place up to a
// match of 16 bases behind these. If the path loses much more within `max_columns` aligned bases of an end than it does on
// average, so is each place up to the last match of 16 bases there; if the target has a tandem repeat at an end, each place up
// to the first such match behind it. A gap further inside is doubtful if it may as well be within `max_columns`, behind a copy
// of its bases. `inner` is the row's span without its doubtful ends: up to the last doubtful place from either end, within
// `max_columns` and half of all aligned bases. Alignments whose doubtful ends would cross, at a gap in the middle, are omitted.
struct UnreliableEnds {
  Buffer<std::int32_t> rows, inner;
  Buffer<std::int32_t> nearer;  // the same up to the last places where the score is negative and a new minimum
};
// The alignments are of these rows of the batch.
UnreliableEnds unreliable_ends(const BatchView& batch, const std::int32_t* rows, const AlignmentView& alignments,
                               const AlignOptions& scores, std::int32_t max_columns);

// Returns the score of each row's CIGAR operations.
Buffer<std::int64_t> path_scores(const AlignmentView& alignments, const AlignOptions& scores);

// Parts of alignments before and after an inner span, [n, 2] each.
struct OuterEnds {
  Buffer<std::int64_t> score;    // highest score of any part of it
  Buffer<std::int64_t> matches;  // bases in long matches, which are unlikely in a wrong place
  Buffer<std::int32_t> run;      // [n, 2, 2]: CIGAR elements of that part
};
OuterEnds outer_ends(const AlignmentView& alignments, const std::int32_t* inner, const AlignOptions& scores);

// Parts of alignments: scores, spans and CIGARs of m parts.
struct PathParts {
  Buffer<std::int32_t> score, span;
  Cigar cigar;
  Buffer<std::int64_t> cigar_start;
};
// Returns parts of the alignments of m rows: CIGAR elements run[2k] to run[2k + 1].
PathParts path_parts(const AlignmentView& alignments, const std::int32_t* rows, const std::int32_t* run, std::int64_t m,
                     const AlignOptions& options);

// Secondary rows of which other rows of the read align less than half, and a row of the read that has its sequence.
struct UncoveredRows {
  Buffer<std::int32_t> rows, with_bases;
};
// Rows that are found first count as aligned for the next. Supplementary rows that score less than `least` do not count for a
// row that has this score. Reads without a primary or supplementary row are left out.
UncoveredRows uncovered_secondaries(const BatchView& batch, const AlignmentView& alignments, std::int64_t least,
                                    const AlignOptions& scores);

// Alignments after trimming overlaps between parts of split reads, and gaps at the ends.
struct TrimmedOverlaps {
  bool any = false;  // false: no row was changed or left out, and the other fields are empty
  Buffer<std::int32_t> kept;  // the rows that are not left out, in order; the other fields are about these
  Buffer<std::int32_t> score, span;
  Cigar cigar;
  Buffer<std::int64_t> cigar_start;
  Buffer<std::int32_t> rows;   // k of the rows in `kept` that were changed, by their numbers in it, in order
  Buffer<std::int32_t> reach;  // [k, 4], how far trimmed ends may go without an overlap; other ends stay
};

// What the ends of records are worth: the minimum score of a record, and the bonus for reaching the end of the read.
struct EndWorth {
  std::int64_t least, bonus;
};

// Rows of a batch, in order.
struct SomeRows {
  std::int64_t n;
  const std::int32_t* rows;
};

// Spans of all rows: the mapped parts, and what extensions may reach.
struct MappedSpans {
  const std::int32_t *inner, *room;
};

// Removes gaps at the ends of alignments, ends that lose more than the bonus that they may have (poor_end()), and all but the
// best part of those that score nothing (Path::keep_best_part); and trims neighbouring non-secondary parts of a read that
// overlap on it. The breakpoint is the base that maximises the score under `scores` of what remains of both parts; ties are
// broken in favour of the longest primary part, then of the first base on the read as sequenced. The breakpoint lies between
// the middles of the mapped parts. If one of these contains the other, neither is trimmed. A supplementary part is left out if a
// neighbour goes through its middle and both neighbours, trimmed, score no less without it; if it shares 7 of 8 bases with
// another part, on the read and on the reference; or if the mapper has no mapping for it, and half of its bases are in a mapped
// part that scores more. So is a secondary row with the place of another row. `options` has the scores of the alignments, for
// the scores that are returned. Reads that have none of `some` rows stay as they are.
TrimmedOverlaps trim_overlaps(const BatchView& batch, const AlignmentView& alignments, const MappedSpans& mapped,
                              const SomeRows& some, const EndWorth& worth, const AlignOptions& scores,
                              const AlignOptions& options);

// Rows with ends that may extend beyond their room, because other parts of the read that limited it were left out or align
// less than their mapped parts, and how far: [k, 4], into the next part. Other ends stay.
struct FreedEnds {
  Buffer<std::int32_t> rows, reach;
};
FreedEnds freed_ends(const BatchView& batch, const AlignmentView& alignments, const std::int32_t* room);

}  // namespace wfacli

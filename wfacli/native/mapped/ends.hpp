// Ends of mapped reads: pairs to extend by, ends that were extended from a place that is in doubt, and where parts of a split
// read meet.
//
// Spans are four a row: q_beg, q_end, t_beg, t_end, half open.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// Pairs that extend rows: what lies between an outer and an inner span, the left ones reversed.
struct Flanks {
  Buffer<std::uint8_t> bases, flags;
  Buffer<std::int64_t> q_start, t_start;
  Buffer<std::int32_t> q_len, t_len;
  Buffer<std::int32_t> side;  // 2 * row, and 1 more of those on the right
};

// Sides on which one of the sequences has nothing left over are not there.
Flanks flanks_of(const BatchView& batch, const std::int32_t* outer, const std::int32_t* inner);

// Bytes of the parts of a batch that spans name.
std::size_t parts_bytes(std::int64_t n, const std::int32_t* span);
// Copies those parts, each to a multiple of 16, and says where they are.
void copy_parts(const BatchView& batch, const std::int32_t* span, std::uint8_t* bases, std::int64_t* q_start,
                std::int64_t* t_start);

// Alignments of which an end hangs by a place that may be wrong: the path scores less than nothing up to there, or has a gap
// there of more than half the bases before it. For each such row, its span up to the last such places, no further than
// `most` aligned bases from either end, half of all, and the middle of the mapped part.
struct Doubts {
  Buffer<std::int32_t> rows, inner;
};
Doubts doubts_of(const AlignmentView& alignments, const std::int32_t* mapped, const AlignOptions& scores, std::int32_t most);

// What the operations of each row score.
Buffer<std::int64_t> path_scores(const AlignmentView& alignments, const AlignOptions& scores);

// Alignments cut where parts of a split read overlap, and at their ends.
struct Met {
  bool any = false;  // else there is nothing else here
  Buffer<std::int32_t> score, span;
  Cigar cigar;
  Buffer<std::int64_t> cigar_start;
};

// Drops gaps at the ends of alignments, and cuts neighbouring parts of a read, which are not secondary, where they overlap on it: at the base where what is left of both
// scores most under `scores`, of several the one that leaves the primary part most, else the first one on the read as it was
// sequenced. `inner` has the mapped parts: each
// keeps the half of its own that is on its side, and where one lies inside the other both are left as they are. `options`
// has the scores of the alignments.
Met meet(const BatchView& batch, const AlignmentView& alignments, const std::int32_t* inner, const AlignOptions& scores,
         const AlignOptions& options);

}  // namespace wfacli

// Rows of mapped reads as parts of their reads.
#pragma once

#include <cstdint>

#include "engine/engine.hpp"
#include "mapped/mates.hpp"

namespace wfacli {

// Returns the row behind those of the read that has `first` as its first row.
inline std::int64_t end_of_read(const BatchView& batch, std::int64_t first) {
  const MappedView& m = batch.mapped;
  std::int64_t end = first + 1;
  while (end < batch.n && m.first[end] == m.first[first] &&
         mate_of_flags(m.sam_flags[end]) == mate_of_flags(m.sam_flags[first]))
    ++end;
  return end;
}

// Where the query of a row is on the read.
struct OnRead {
  bool reverse;
  std::int64_t length;  // of the whole read
  std::int64_t clip;    // bases before the row's query, on the strand that is aligned

  OnRead(const BatchView& batch, std::int64_t row)
      : reverse((batch.mapped.sam_flags[row] & kReverseStrand) != 0),
        length(std::int64_t{batch.mapped.clip_begin[row]} + batch.q_len[row] + batch.mapped.clip_end[row]),
        clip(batch.mapped.clip_begin[row]) {}
  // Convert a position on the read, as sequenced, to one in the row's query, and back.
  std::int64_t in_row(std::int64_t place) const { return (reverse ? length - place : place) - clip; }
  std::int64_t on_read(std::int64_t place) const { return reverse ? length - (place + clip) : place + clip; }
};

// Part of a read, as sequenced.
struct ReadPart {
  std::int64_t beg, end;
};

// Returns the part of the read that a span of a row covers.
inline ReadPart part_on_read(const OnRead& row, const std::int32_t* span) {
  return {row.on_read(span[row.reverse ? 1 : 0]), row.on_read(span[row.reverse ? 0 : 1])};
}

}  // namespace wfacli

#include "refine/ends.hpp"

#include <algorithm>

#include "io/builder.hpp"
#include "format/record_fields.hpp"
#include "refine/walk.hpp"

namespace wfacli {
namespace {


// Appends `count` bases, optionally reversed, at a multiple of 16 bytes; returns their offset.
std::int64_t add_bases(const std::uint8_t* from, std::int32_t count, bool reversed, Buffer<std::uint8_t>& bases) {
  const std::size_t at = bases.size();
  std::uint8_t* to = bases.extend(aligned(static_cast<std::size_t>(count)));
  if (reversed)
    std::reverse_copy(from, from + count, to);
  else
    std::copy_n(from, count, to);
  return static_cast<std::int64_t>(at);
}

}  // namespace

Flanks flanks_of(const BatchView& batch, const std::int32_t* outer, const std::int32_t* inner) {
  Flanks out;
  for (std::int64_t row = 0; row < batch.n; ++row, outer += 4, inner += 4) {
    const PairView pair = batch.pair(row);
    for (std::int32_t right = 0; right < 2; ++right) {
      const std::int32_t q = right ? inner[1] : outer[0], t = right ? inner[3] : outer[2];
      const std::int32_t q_len = right ? outer[1] - q : inner[0] - q, t_len = right ? outer[3] - t : inner[2] - t;
      if (q_len <= 0 || t_len <= 0) continue;
      out.side.push(static_cast<std::int32_t>(2 * row) + right);
      out.q_start.push(add_bases(pair.query + q, q_len, !right, out.bases));
      out.t_start.push(add_bases(pair.target + t, t_len, !right, out.bases));
      out.q_len.push(q_len);
      out.t_len.push(t_len);
      out.flags.push(batch.flags[row]);
      const auto at_end = [&] {
        const MappedView& m = batch.mapped;
        return right ? m.clip_end[row] + batch.q_len[row] - outer[1] == 0 : m.clip_begin[row] + outer[0] == 0;
      };
      out.at_end.push(batch.is_mapped() && at_end());
    }
  }
  out.bases.extend(kOverread);
  return out;
}

void extend_spans(std::int64_t flanks, const std::int32_t* side, const std::int32_t* extension, std::int32_t* span) {
  for (; flanks > 0; --flanks, ++side, extension += 4) {
    std::int32_t* const to = span + 4 * (*side >> 1);
    const std::int32_t right = *side & 1, sign = right ? 1 : -1;
    to[right] += sign * extension[1];
    to[2 + right] += sign * extension[3];
  }
}

std::size_t parts_bytes(std::int64_t n, const std::int32_t* span) {
  std::size_t bytes = kOverread;
  for (std::int64_t row = 0; row < n; ++row, span += 4)
    bytes += aligned(static_cast<std::size_t>(span[1] - span[0])) + aligned(static_cast<std::size_t>(span[3] - span[2]));
  return bytes;
}

void copy_parts(const BatchView& batch, const std::int32_t* span, std::uint8_t* bases, std::int64_t* q_start,
                std::int64_t* t_start) {
  std::size_t at = 0;
  const auto add = [&](const std::uint8_t* from, std::int32_t count) {
    std::copy_n(from, count, bases + at);
    const std::size_t first = at;
    at += aligned(static_cast<std::size_t>(count));
    return static_cast<std::int64_t>(first);
  };
  for (std::int64_t row = 0; row < batch.n; ++row, span += 4) {
    const PairView part = batch.pair(row).part(span);
    q_start[row] = add(part.query, part.query_len);
    t_start[row] = add(part.target, part.target_len);
  }
}

Buffer<std::int64_t> path_scores(const AlignmentView& a, const AlignOptions& scores) {
  Buffer<std::int64_t> out;
  for (std::int64_t row = 0; row < a.n; ++row) {
    std::int64_t score = 0;
    for (std::int64_t k = a.cigar_start[row]; k < a.cigar_start[row + 1]; ++k)
      score += score_of(a.cigar[k] & 15, a.cigar[k] >> 4, scores);
    out.push(score);
  }
  return out;
}

namespace {

// The part of a path that is outside of an inner span, read inwards.
struct OuterEnd {
  std::int64_t score = 0, matches = 0;
  std::int64_t first = 0, behind = 0;  // elements of its best part
};

// Reads up to `bases` bases of the query.
OuterEnd outer_end(InwardWalk walk, std::int64_t bases, const AlignOptions& scores) {
  OuterEnd end;
  std::int64_t score = 0, first = 0;
  for (std::int64_t k = 0; bases > 0 && walk.next(); ++k) {
    const std::int64_t length = in_query(walk.op) ? std::min(walk.length, bases) : walk.length;
    if (walk.op == kEqual) end.matches += std::max<std::int64_t>(0, length - kSeed);
    score += score_of(walk.op, length, scores);
    if (score <= 0) score = 0, first = k + 1;
    if (score > end.score) end.score = score, end.first = first, end.behind = k + 1;
    if (in_query(walk.op)) bases -= length;
  }
  return end;
}

}  // namespace

OuterEnds outer_ends(const AlignmentView& a, const std::int32_t* inner, const AlignOptions& scores) {
  OuterEnds out;
  for (std::int64_t row = 0; row < a.n; ++row, inner += 4) {
    const std::int32_t* span = a.span + 4 * row;
    const std::uint32_t *first = a.cigar + a.cigar_start[row], *behind = a.cigar + a.cigar_start[row + 1];
    const std::int64_t count = behind - first;
    const OuterEnd begin = outer_end(InwardWalk(first, count, 1), inner[0] - span[0], scores),
                   end = outer_end(InwardWalk(behind - 1, count, -1), span[1] - inner[1], scores);
    for (const OuterEnd& one : {begin, end}) {
      out.score.push(one.score);
      out.matches.push(one.matches);
    }
    for (const std::int64_t element : {begin.first, begin.behind, count - end.behind, count - end.first})
      out.run.push(static_cast<std::int32_t>(element));
  }
  return out;
}

PathParts path_parts(const AlignmentView& a, const std::int32_t* rows, const std::int32_t* run, std::int64_t m,
                     const AlignOptions& options) {
  PathParts out;
  out.cigar_start.push(0);
  for (std::int64_t i = 0; i < m; ++i, run += 2) {
    const std::uint32_t* cigar = a.cigar + a.cigar_start[rows[i]];
    const std::int32_t* span = a.span + 4 * rows[i];
    std::int64_t query = span[0], target = span[2], score = 0;
    std::int32_t* part = out.span.extend(4);
    for (std::int32_t k = 0; k < run[1]; ++k) {
      if (k == run[0]) part[0] = static_cast<std::int32_t>(query), part[2] = static_cast<std::int32_t>(target);
      const std::uint32_t op = cigar[k] & 15, length = cigar[k] >> 4;
      query += in_query(op) ? length : 0;
      target += in_target(op) ? length : 0;
      if (k >= run[0]) score += score_of(op, length, options);
    }
    part[1] = static_cast<std::int32_t>(query);
    part[3] = static_cast<std::int32_t>(target);
    out.score.push(static_cast<std::int32_t>(score));
    out.cigar.runs().append(cigar + run[0], static_cast<std::size_t>(run[1] - run[0]));
    out.cigar_start.push(static_cast<std::int64_t>(out.cigar.runs().size()));
  }
  return out;
}

}  // namespace wfacli

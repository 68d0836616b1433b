// Secondary rows that other rows of their reads do not cover.
#include <algorithm>
#include <utility>
#include <vector>

#include "format/record_fields.hpp"
#include "refine/ends.hpp"
#include "mapped/mates.hpp"

namespace wfacli {
namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;

// Returns the aligned part of a row's read, as sequenced.
Interval on_read(const BatchView& batch, const AlignmentView& a, std::int64_t row) {
  const MappedView& m = batch.mapped;
  const std::int32_t* span = a.span + 4 * row;
  if (m.sam_flags[row] & kReverseStrand) {
    const std::int64_t end = std::int64_t{m.clip_end[row]} + batch.q_len[row];
    return {end - span[1], end - span[0]};
  }
  return {std::int64_t{m.clip_begin[row]} + span[0], std::int64_t{m.clip_begin[row]} + span[1]};
}

// Returns the bases of `one` in the union of `others`.
std::int64_t covered(const Interval& one, std::vector<Interval>& others) {
  std::sort(others.begin(), others.end());
  std::int64_t at = one.first, bases = 0;
  for (const auto& [begin, end] : others) {
    const std::int64_t from = std::max(begin, at), to = std::min(end, one.second);
    if (to <= from) continue;
    bases += to - from;
    at = to;
  }
  return bases;
}

}  // namespace

UncoveredRows uncovered_secondaries(const BatchView& batch, const AlignmentView& a) {
  UncoveredRows out;
  const MappedView& m = batch.mapped;
  std::vector<Interval> aligned;
  for (std::int64_t first = 0, end; first < batch.n; first = end) {
    bool any = false;
    std::int64_t with_bases = -1;
    aligned.clear();
    for (end = first; end < batch.n && m.first[end] == m.first[first] &&
                      mate_of_flags(m.sam_flags[end]) == mate_of_flags(m.sam_flags[first]);
         ++end) {
      if (with_bases < 0 && m.read_start[end] >= 0) with_bases = end;
      if (m.sam_flags[end] & kSecondary)
        any = true;
      else if (is_placed(a, end))
        aligned.push_back(on_read(batch, a, end));
    }
    if (!any || aligned.empty()) continue;
    for (std::int64_t row = first; row < end; ++row) {
      if (!(m.sam_flags[row] & kSecondary) || !is_placed(a, row)) continue;
      const Interval own = on_read(batch, a, row);
      if (2 * covered(own, aligned) >= own.second - own.first) continue;
      aligned.push_back(own);
      out.rows.push(static_cast<std::int32_t>(row));
      out.with_bases.push(static_cast<std::int32_t>(std::max(with_bases, first)));
    }
  }
  return out;
}

}  // namespace wfacli

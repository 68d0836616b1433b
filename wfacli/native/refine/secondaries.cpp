// Secondary rows that other rows of their reads do not cover.
#include <algorithm>
#include <vector>

#include "format/record_fields.hpp"
#include "refine/ends.hpp"
#include "refine/path.hpp"
#include "refine/reads.hpp"

namespace wfacli {
namespace {

// Aligned part of a read, and what it scores.
struct Scored {
  ReadPart part;
  std::int64_t score;
};

// Returns the bases of `one` in the union of others, in order of their beginnings; of those that score `least` if it does.
std::int64_t covered(const Scored& one, const std::vector<Scored>& others, std::int64_t least) {
  std::int64_t at = one.part.beg, bases = 0;
  for (const auto& [part, score] : others) {
    const std::int64_t from = std::max(part.beg, at), to = std::min(part.end, one.part.end);
    if (to <= from || (score < least && one.score >= least)) continue;
    bases += to - from;
    at = to;
  }
  return bases;
}

}  // namespace

UncoveredRows uncovered_secondaries(const BatchView& batch, const AlignmentView& a, std::int64_t least,
                                    const AlignOptions& scores) {
  UncoveredRows out;
  const MappedView& m = batch.mapped;
  std::vector<Scored> aligned;
  const auto add = [&](const Scored& one) {
    const auto before = [](const Scored& x, const Scored& y) { return x.part.beg < y.part.beg; };
    aligned.insert(std::upper_bound(aligned.begin(), aligned.end(), one, before), one);
  };
  const auto scored = [&](std::int64_t row) {
    const std::int64_t score = score_of_runs({a.cigar + a.cigar_start[row], a.cigar + a.cigar_start[row + 1]}, scores);
    return Scored{part_on_read(OnRead(batch, row), a.span + 4 * row), score};
  };
  for (std::int64_t first = 0, end; first < batch.n; first = end) {
    bool any = false;
    std::int64_t with_bases = -1;
    aligned.clear();
    end = end_of_read(batch, first);
    for (std::int64_t row = first; row < end; ++row) {
      if (with_bases < 0 && m.read_start[row] >= 0) with_bases = row;
      if (m.sam_flags[row] & kSecondary) {
        any = true;
      } else if (is_placed(a, row)) {
        Scored other = scored(row);
        if (!(m.sam_flags[row] & kSupplementary)) other.score = INT64_MAX;
        add(other);
      }
    }
    if (!any || aligned.empty()) continue;
    for (std::int64_t row = first; row < end; ++row) {
      if (!(m.sam_flags[row] & kSecondary) || !is_placed(a, row)) continue;
      const Scored own = scored(row);
      if (2 * covered(own, aligned, least) >= own.part.end - own.part.beg) continue;
      add(own);
      out.rows.push(static_cast<std::int32_t>(row));
      out.with_bases.push(static_cast<std::int32_t>(std::max(with_bases, first)));
    }
  }
  return out;
}

}  // namespace wfacli

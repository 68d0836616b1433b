// Secondary rows that other rows of their reads do not cover.
#include <algorithm>
#include <vector>

#include "format/record_fields.hpp"
#include "refine/ends.hpp"
#include "refine/reads.hpp"

namespace wfacli {
namespace {

// Returns the bases of `one` in the union of `others`.
std::int64_t covered(const ReadPart& one, std::vector<ReadPart>& others) {
  std::sort(others.begin(), others.end(), [](const ReadPart& x, const ReadPart& y) { return x.beg < y.beg; });
  std::int64_t at = one.beg, bases = 0;
  for (const auto& [begin, end] : others) {
    const std::int64_t from = std::max(begin, at), to = std::min(end, one.end);
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
  std::vector<ReadPart> aligned;
  const auto on_read = [&](std::int64_t row) { return part_on_read(OnRead(batch, row), a.span + 4 * row); };
  for (std::int64_t first = 0, end; first < batch.n; first = end) {
    bool any = false;
    std::int64_t with_bases = -1;
    aligned.clear();
    end = end_of_read(batch, first);
    for (std::int64_t row = first; row < end; ++row) {
      if (with_bases < 0 && m.read_start[row] >= 0) with_bases = row;
      if (m.sam_flags[row] & kSecondary)
        any = true;
      else if (is_placed(a, row))
        aligned.push_back(on_read(row));
    }
    if (!any || aligned.empty()) continue;
    for (std::int64_t row = first; row < end; ++row) {
      if (!(m.sam_flags[row] & kSecondary) || !is_placed(a, row)) continue;
      const ReadPart own = on_read(row);
      if (2 * covered(own, aligned) >= own.end - own.beg) continue;
      aligned.push_back(own);
      out.rows.push(static_cast<std::int32_t>(row));
      out.with_bases.push(static_cast<std::int32_t>(std::max(with_bases, first)));
    }
  }
  return out;
}

}  // namespace wfacli

#include "gather.hpp"

#include <algorithm>

namespace wfacli {
namespace {

// Where a row's answer is; `part` -1 for nowhere.
struct Place {
  std::int32_t part;
  std::int64_t at;
};

std::int64_t runs_of(const PartView& part, std::int64_t at) { return part.cigar_start[at + 1] - part.cigar_start[at]; }

}  // namespace

GatheredRows gather(const std::vector<PartView>& parts, std::int64_t n) {
  Buffer<Place> places;
  const std::size_t rows = static_cast<std::size_t>(n);
  std::fill_n(places.extend(rows), rows, Place{-1, 0});
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::int64_t at = 0; at < parts[p].rows; ++at)
      places[static_cast<std::size_t>(parts[p].row[at])] = {static_cast<std::int32_t>(p), at};
  GatheredRows out;
  std::uint8_t *status = out.status.extend(rows), *cut = out.cut.extend(rows), *origin = out.origin.extend(rows);
  std::int32_t *score = out.score.extend(rows), *span = out.span.extend(4 * rows);
  std::int64_t *start = out.cigar_start.extend(rows + 1), runs = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    start[r] = runs;
    if (places[r].part < 0) {
      status[r] = cut[r] = origin[r] = 0;
      score[r] = 0;
      std::fill_n(span + 4 * r, 4, 0);
      continue;
    }
    const PartView& part = parts[static_cast<std::size_t>(places[r].part)];
    const std::int64_t at = places[r].at;
    status[r] = part.status[at];
    cut[r] = part.cut[at];
    origin[r] = part.origin;
    score[r] = part.score[at];
    std::copy_n(part.span + 4 * at, 4, span + 4 * r);
    runs += runs_of(part, at);
  }
  start[rows] = runs;
  out.cigar.reserve(static_cast<std::size_t>(runs));
  for (std::size_t r = 0; r < rows && runs > 0; ++r) {
    if (places[r].part < 0) continue;
    const PartView& part = parts[static_cast<std::size_t>(places[r].part)];
    const std::int64_t at = places[r].at;
    out.cigar.append(part.cigar + part.cigar_start[at], static_cast<std::size_t>(runs_of(part, at)));
  }
  return out;
}

}  // namespace wfacli

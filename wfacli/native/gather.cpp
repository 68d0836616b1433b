#include "gather.hpp"

#include <algorithm>

namespace wfacli {
namespace {

// Where a row's answer is: its place in a part, with the part's number above it. Rows that lie side by side in a part as
// in the batch have places that follow each other.
using Place = std::int64_t;
constexpr int kPlaceBits = 40;
constexpr Place kNowhere = -1;

Buffer<Place> places_of(const std::vector<PartView>& parts, std::size_t rows) {
  Buffer<Place> places;
  std::fill_n(places.extend(rows), rows, kNowhere);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Place first = static_cast<Place>(p) << kPlaceBits;
    for (std::int64_t at = 0; at < parts[p].rows; ++at) places[static_cast<std::size_t>(parts[p].row[at])] = first + at;
  }
  return places;
}

// Copies rows that follow each other in a part; returns how many operations they have.
std::int64_t copy_rows(const PartView& part, std::int64_t at, std::size_t r, std::size_t count, std::int64_t runs,
                       GatheredRows& out) {
  std::copy_n(part.status + at, count, out.status.data() + r);
  std::copy_n(part.cut + at, count, out.cut.data() + r);
  std::fill_n(out.origin.data() + r, count, part.origin);
  std::copy_n(part.score + at, count, out.score.data() + r);
  std::copy_n(part.span + 4 * at, 4 * count, out.span.data() + 4 * r);
  const std::int64_t* from = part.cigar_start + at;
  std::int64_t* start = out.cigar_start.data() + r;
  for (std::size_t i = 0; i < count; ++i) start[i] = runs + (from[i] - from[0]);
  out.cigar.append(part.cigar + from[0], static_cast<std::size_t>(from[count] - from[0]));
  return from[count] - from[0];
}

}  // namespace

GatheredRows gather(const std::vector<PartView>& parts, std::int64_t n) {
  const std::size_t rows = static_cast<std::size_t>(n);
  const Buffer<Place> places = places_of(parts, rows);
  GatheredRows out;
  out.status.extend(rows), out.cut.extend(rows), out.origin.extend(rows), out.score.extend(rows);
  out.span.extend(4 * rows), out.cigar_start.extend(rows + 1);
  std::int64_t most = 0, runs = 0;
  for (const PartView& part : parts) most += part.cigar_start[part.rows];
  out.cigar.reserve(static_cast<std::size_t>(most));
  for (std::size_t r = 0, end; r < rows; r = end) {
    end = r + 1;
    if (places[r] == kNowhere) {
      out.status[r] = out.cut[r] = out.origin[r] = 0;
      out.score[r] = 0;
      std::fill_n(out.span.data() + 4 * r, 4, 0);
      out.cigar_start[r] = runs;
      continue;
    }
    while (end < rows && places[end] == places[end - 1] + 1) ++end;
    const std::size_t p = static_cast<std::size_t>(places[r] >> kPlaceBits);
    runs += copy_rows(parts[p], places[r] - (static_cast<Place>(p) << kPlaceBits), r, end - r, runs, out);
  }
  out.cigar_start[rows] = runs;
  return out;
}

}  // namespace wfacli

#include "engine/gather.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace wfacli {
namespace {

// Location of a row's result: its index in a part, with the part's number in the bits above. Rows that are adjacent
// both in a part and in the batch have consecutive places.
using Place = std::int64_t;
constexpr int kPlaceBits = 40;
constexpr Place kNowhere = -1;

// Rows that are consecutive both in a part and in the batch, or that are in no part.
struct Run {
  std::size_t row, count;
  Place place;
  std::int64_t operations = 0;  // CIGAR elements of all earlier rows

  std::int64_t at() const { return place & ((Place{1} << kPlaceBits) - 1); }
  const PartView& part(const std::vector<PartView>& parts) const {
    return parts[static_cast<std::size_t>(place >> kPlaceBits)];
  }
};

constexpr std::size_t kMaxRun = 1 << 14;           // rows; long runs are split so that threads share them
constexpr std::int64_t kWorthThreads = 1 << 18;    // CIGAR elements from which several threads copy
constexpr int kThreads = 4;
constexpr std::size_t kRunsAtATime = 16;

class Runs {
 public:
  void add(std::size_t row, std::size_t count, Place place) {
    for (std::size_t more; count; row += more, count -= more, place += place == kNowhere ? 0 : static_cast<Place>(more)) {
      more = std::min(count, kMaxRun);
      runs_.push_back({row, more, place});
    }
  }
  std::vector<Run> take() { return std::move(runs_); }

 private:
  std::vector<Run> runs_;
};

Place place_of(std::size_t part, std::int64_t at) { return (static_cast<Place>(part) << kPlaceBits) + at; }

// Return the runs of parts with any rows in any order.
std::vector<Run> runs_by_row(const std::vector<PartView>& parts, std::size_t rows) {
  Buffer<Place> places;
  std::fill_n(places.extend(rows), rows, kNowhere);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::int64_t at = 0; at < parts[p].rows; ++at) places[static_cast<std::size_t>(parts[p].row[at])] = place_of(p, at);
  Runs runs;
  for (std::size_t r = 0, end; r < rows; r = end) {
    for (end = r + 1; end < rows && places[end] == places[end - 1] + (places[r] != kNowhere);) ++end;
    runs.add(r, end - r, places[r]);
  }
  return runs.take();
}

// Add the runs of a first part with ascending rows and of other parts, which have its missing rows and may replace
// some. Return false if a row is in no part.
bool runs_between(const std::vector<PartView>& parts, std::size_t rows, Runs& runs) {
  const PartView& largest = parts[0];
  std::vector<std::pair<std::size_t, Place>> others;
  for (std::size_t p = 1; p < parts.size(); ++p)
    for (std::int64_t at = 0; at < parts[p].rows; ++at)
      others.emplace_back(static_cast<std::size_t>(parts[p].row[at]), place_of(p, at));
  std::ranges::sort(others);  // among entries of the same row, the last part's is last
  std::size_t at = 0;         // index in `largest` of the row where the next run begins
  const auto has = [&](std::size_t place, std::size_t row) {
    return place < static_cast<std::size_t>(largest.rows) && static_cast<std::size_t>(largest.row[place]) == row;
  };
  // Rows ascend, so if the first and the last row of a range are in place, all between them are.
  const auto up_to = [&](std::size_t row, std::size_t end) {
    if (row == end) return true;
    if (!has(at, row) || !has(at + (end - row) - 1, end - 1)) return false;
    runs.add(row, end - row, place_of(0, static_cast<std::int64_t>(at)));
    at += end - row;
    return true;
  };
  std::size_t row = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::size_t next = others[i].first;
    if (i + 1 < others.size() && others[i + 1].first == next) continue;
    if (!up_to(row, next)) return false;
    runs.add(next, 1, others[i].second);
    at += has(at, next);
    row = next + 1;
  }
  return up_to(row, rows);
}

bool rises(const PartView& part) {
  bool falls = false;
  for (std::int64_t at = 1; at < part.rows; ++at) falls |= part.row[at] <= part.row[at - 1];
  return !falls;
}

std::vector<Run> runs_of(const std::vector<PartView>& parts, std::size_t rows) {
  std::int64_t others = 0;
  for (std::size_t p = 1; p < parts.size(); ++p) others += parts[p].rows;
  const bool few = !parts.empty() && others <= static_cast<std::int64_t>(rows / 8);
  if (Runs runs; few && rises(parts[0]) && runs_between(parts, rows, runs)) return runs.take();
  return runs_by_row(parts, rows);
}

void copy(const Run& run, const std::vector<PartView>& parts, GatheredRows& out) {
  const std::size_t r = run.row, count = run.count;
  std::int64_t* start = out.cigar_start.data() + r;
  if (run.place == kNowhere) {
    std::fill_n(out.status.data() + r, count, 0);
    std::fill_n(out.cut.data() + r, count, 0);
    std::fill_n(out.origin.data() + r, count, 0);
    std::fill_n(out.score.data() + r, count, 0);
    std::fill_n(out.span.data() + 4 * r, 4 * count, 0);
    std::fill_n(start, count, run.operations);
    return;
  }
  const PartView& part = run.part(parts);
  const std::int64_t at = run.at();
  std::copy_n(part.status + at, count, out.status.data() + r);
  std::copy_n(part.cut + at, count, out.cut.data() + r);
  std::fill_n(out.origin.data() + r, count, part.origin);
  std::copy_n(part.score + at, count, out.score.data() + r);
  std::copy_n(part.span + 4 * at, 4 * count, out.span.data() + 4 * r);
  const std::int64_t* from = part.cigar_start + at;
  for (std::size_t i = 0; i < count; ++i) start[i] = run.operations + (from[i] - from[0]);
  std::copy_n(part.cigar + from[0], from[count] - from[0], out.cigar.data() + run.operations);
}

}  // namespace

GatheredRows gather(const std::vector<PartView>& parts, std::int64_t n) {
  const std::size_t rows = static_cast<std::size_t>(n);
  std::vector<Run> runs = runs_of(parts, rows);
  std::int64_t operations = 0;
  for (Run& run : runs) {
    run.operations = operations;
    if (run.place == kNowhere) continue;
    const std::int64_t* start = run.part(parts).cigar_start + run.at();
    operations += start[run.count] - start[0];
  }
  GatheredRows out;
  out.status.extend(rows), out.cut.extend(rows), out.origin.extend(rows), out.score.extend(rows);
  out.span.extend(4 * rows), out.cigar_start.extend(rows + 1), out.cigar.extend(static_cast<std::size_t>(operations));
  out.cigar_start[rows] = operations;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t first; (first = next.fetch_add(kRunsAtATime)) < runs.size();)
      for (std::size_t i = first; i < std::min(first + kRunsAtATime, runs.size()); ++i) copy(runs[i], parts, out);
  };
  std::vector<std::jthread> others;
  if (operations >= kWorthThreads)
    for (int other = 1; other < kThreads; ++other) others.emplace_back(work);
  work();
  others.clear();
  return out;
}

}  // namespace wfacli

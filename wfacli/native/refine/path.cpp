#include "refine/path.hpp"

#include <algorithm>

#include "format/record_fields.hpp"
#include "refine/ends.hpp"

namespace wfacli {
namespace {

// Elements [from, to) of a CIGAR, and what they score.
struct RunRange {
  std::int64_t score = 0;
  std::size_t from = 0, to = 0;
};

// Returns the elements among [first, end) that score most together; none, at `first`, if there is no match.
RunRange best_of(const std::vector<std::uint32_t>& runs, std::size_t first, std::size_t end, const AlignOptions& scores) {
  RunRange best{0, first, first};
  std::int64_t score = 0;
  std::size_t from = first;
  for (std::size_t k = first; k < end; ++k) {
    if (score <= 0) score = 0, from = k;
    score += score_of(runs[k] & 15, runs[k] >> 4, scores);
    if (score > best.score) best = {score, from, k + 1};
  }
  return best;
}

}  // namespace

void Path::drop(std::int64_t bases, bool front) {
  while (!runs.empty()) {
    std::uint32_t& run = front ? runs.front() : runs.back();
    const std::uint32_t op = run & 15;
    const std::int64_t length = run >> 4;
    const std::int64_t taken = is_gap(op) ? length : std::min(length, bases);
    if (taken == 0) return;
    const std::int32_t sign = front ? 1 : -1;
    if (in_query(op)) span[front ? 0 : 1] += sign * static_cast<std::int32_t>(taken);
    if (in_target(op)) span[front ? 2 : 3] += sign * static_cast<std::int32_t>(taken);
    if (in_query(op)) bases = std::max<std::int64_t>(0, bases - taken);
    if (taken < length) {
      run -= static_cast<std::uint32_t>(taken) << 4;
      return;
    }
    runs.erase(front ? runs.begin() : runs.end() - 1);
  }
}

void Path::keep_best_part(const AlignOptions& scores, std::int64_t least) {
  const RunRange all = best_of(runs, 0, runs.size(), scores);
  for (const RunRange& other : {best_of(runs, 0, all.from, scores), best_of(runs, all.to, runs.size(), scores)})
    if (other.score >= least) return;
  const auto advance = [&](std::size_t first, std::size_t last, int side, std::int32_t sign) {
    for (std::size_t k = first; k < last; ++k) {
      const std::uint32_t op = runs[k] & 15;
      const auto length = sign * static_cast<std::int32_t>(runs[k] >> 4);
      if (in_query(op)) span[side] += length;
      if (in_target(op)) span[2 + side] += length;
    }
  };
  advance(all.to, runs.size(), 1, -1);
  advance(0, all.from, 0, 1);
  runs.resize(all.to);
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(all.from));
}

std::int64_t score_of_runs(std::span<const std::uint32_t> runs, const AlignOptions& scores) {
  std::int64_t score = 0;
  for (const std::uint32_t run : runs) score += score_of(run & 15, run >> 4, scores);
  return score;
}

PoorEnd poor_end(std::span<const std::uint32_t> runs, bool front, const AlignOptions& scores, std::int64_t least) {
  PoorEnd end;
  std::int64_t score = 0, bases = 0;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::uint32_t run = runs[front ? k : runs.size() - 1 - k], op = run & 15;
    score += score_of(op, run >> 4, scores);
    if (in_query(op)) bases += run >> 4;
    if (score + end.loss >= least) break;  // since the lowest place so far
    if (score < -end.loss) end = {bases, -score};
  }
  return end;
}

std::vector<std::int64_t> scores_after_cut(const Path& path, bool before, std::int64_t low, std::int64_t high,
                                           const AlignOptions& scores) {
  std::vector<std::int64_t> found(static_cast<std::size_t>(high - low + 1), 0);
  std::int64_t at = before ? path.span[0] : path.span[1], score = 0, gaps = 0;
  const std::int64_t step = before ? 1 : -1, count = static_cast<std::int64_t>(path.runs.size());
  const auto put = [&] {
    if (low <= at && at <= high) found[static_cast<std::size_t>(at - low)] = score;
  };
  put();
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint32_t run = path.runs[static_cast<std::size_t>(before ? k : count - 1 - k)], op = run & 15;
    const std::int64_t length = run >> 4, each = is_gap(op) ? 0 : score_of(op, 1, scores);
    if (is_gap(op)) gaps += score_of(op, length, scores);
    if (op == kDeletion) continue;
    for (std::int64_t base = 0; base < length; ++base) {
      if (op != kInsertion) score += each + gaps, gaps = 0;
      at += step;
      put();
    }
  }
  return found;
}

}  // namespace wfacli

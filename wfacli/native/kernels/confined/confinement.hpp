// Diagonals of all cheapest paths of a noisy part, by what rows cost away from a known path.
//
// Let C be a path, and P a cheapest one. From a diagonal step that both take (or the start) to the next such step (or the
// end), P takes no match of C, and costs no more than C, which could replace it there. What P costs at least:
// - In rows between two steps of C, what their blocks cost with any slope, and the slope times the diagonals between the
//   steps (block_costs.hpp). If that is more than what C costs, P takes a step of C between them. A slope pays for a long
//   gap of C: P has to reach the same diagonal.
// - If P goes l diagonals further than C goes anywhere, and back, two gaps of l.
// - If P is on some diagonal in a section of rows, the blocks and diagonals from C to there, with one slope, and those from
//   there back to C, with another. So P goes the farther, the nearer it is to rows where C is expensive.
// Blocks of random symbols cost more than C up to about 15% errors. A part in which C inserts more than it deletes is
// confined with query and target exchanged: slopes tell little about inserted symbols.
#pragma once

#include "kernels/confined/block_costs.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class Confinement {
 public:
  Confinement(const KernelTask& part, CertainMemory& memory) : t_(part), m_(memory), paid_(t_, memory) {}

  // Adds the diagonals of all cheapest paths to memory.corridors, and returns their number. `limits`: those of all paths that
  // cost no more than C. C's runs are those of memory.runs from row i and column j on, where the part begins.
  std::int32_t find(std::int32_t i, std::int32_t j, const Diagonals& limits) {
    limits_ = limits;
    clip(i, j);
    const bool exchanged = inserts();
    if (exchanged) exchange();
    paid_.count(m_.clipped, limits_);
    find_absences();
    const std::size_t first = m_.corridors.size(), count = m_.absences.size();
    m_.corridors.resize(first + 2 * count);
    Diagonals* const all = m_.corridors.data() + first;
    set_path(all + count, count);
    set_all(all, all + count, count);
    limit_sections(all, count);
    if (exchanged)
      for (std::size_t c = 0; c < count; ++c) all[c] = {-all[c].high, -all[c].low};
    m_.corridors.resize(first + count);
    return static_cast<std::int32_t>(count);
  }

 private:
  static constexpr int kSlopes = PaidBlocks::kSlopes;
  static constexpr std::int32_t kLongGap = 16;  // symbols; shorter ones balance each other
  static constexpr std::int32_t kSection = 128;  // rows
  static constexpr std::int32_t kBeside = 2;  // anti-diagonals by which ranges may be off
  static constexpr std::int64_t kFar = INT64_MAX / 4;
  static constexpr Diagonals kNone{INT32_MAX, INT32_MIN};

  // Sets m_.clipped to the runs of the part.
  void clip(std::int32_t i, std::int32_t j) {
    const std::int32_t end = i + t_.query_len;
    m_.clipped.clear();
    for (std::size_t r = 0; r < m_.runs.size(); ++r) {
      const ExactRun& run = m_.runs[r];
      if (run.i + run.length < i || run.j + run.length < j || run.i > end || run.j > j + t_.target_len) continue;
      const std::int32_t before = larger(0, i - run.i), behind = larger(0, run.i + run.length - end);
      m_.clipped.push({run.i + before - i, run.j + before - j, run.length - before - behind, run.cost});
    }
  }

  // Returns true if C has more symbols in long insertions than in long deletions.
  bool inserts() const {
    std::int64_t sum = 0;
    for (std::size_t r = 1; r < m_.clipped.size(); ++r) {
      const ExactRun &run = m_.clipped[r], &before = m_.clipped[r - 1];
      const std::int64_t gap = (std::int64_t{run.j} - run.i) - (std::int64_t{before.j} - before.i);
      if (gap > kLongGap || gap < -kLongGap) sum += gap;
    }
    return sum < 0;
  }
  void exchange() {
    std::swap(t_.query, t_.target);
    std::swap(t_.query_len, t_.target_len);
    limits_ = {-limits_.high, -limits_.low};
    for (std::size_t r = 0; r < m_.clipped.size(); ++r) std::swap(m_.clipped[r].i, m_.clipped[r].j);
  }

  // Twice the cost of C up to a run, less a slope's share of its diagonal.
  std::int64_t twice(int s, const ExactRun& run) const {
    return 2 * (run.cost - paid_.slope(s) * (std::int64_t{run.j} - run.i));
  }
  static std::int32_t end_of(const ExactRun& run) { return run.i + run.length; }

  // Sets m_.absences: the widest one of the runs that end in each range of rows.
  void find_absences() {
    m_.absences.resize(static_cast<std::size_t>((t_.query_len + t_.target_len) / Corridor::kRows) + 1);
    for (std::size_t c = 0; c < m_.absences.size(); ++c) m_.absences[c] = {SIZE_MAX, 0};
    std::int64_t least[kSlopes];
    for (int s = 0; s < kSlopes; ++s) {
      least[s] = INT64_MAX;
      m_.paid.least_before[s].resize(m_.clipped.size());
    }
    for (std::size_t r = 0; r < m_.clipped.size(); ++r) {
      const ExactRun& run = m_.clipped[r];
      if (r > 0) {
        const std::size_t first = smaller(first_departure(r), r - 1);
        Absence& absence = m_.absences[range_behind(run)];
        absence.first = smaller(absence.first, first);
        absence.cost = larger(absence.cost, run.cost - m_.clipped[first].cost);
      }
      for (int s = 0; s < kSlopes; ++s) {
        least[s] = smaller(least[s], twice(s, run) - paid_.before(s, end_of(run)));
        m_.paid.least_before[s][r] = least[s];
      }
    }
  }
  // Returns the earliest run from whose end on the blocks cost no more than C, up to run r.
  std::size_t first_departure(std::size_t r) const {
    std::size_t first = 0;
    for (int s = 0; s < kSlopes; ++s) {
      const std::int64_t here = twice(s, m_.clipped[r]) - paid_.until(s, m_.clipped[r].i);
      for (std::size_t behind = r; first < behind;) {
        const std::size_t middle = (first + behind) / 2;
        if (m_.paid.least_before[s][middle] <= here)
          behind = middle;
        else
          first = middle + 1;
      }
    }
    return first;
  }

  // Ranges of rows of the beginning and of the end of a run. The first one begins behind row 0 or 1 (Within).
  std::size_t range_before(const ExactRun& run) const {
    return static_cast<std::size_t>(larger(0, run.i + run.j - kBeside) / Corridor::kRows);
  }
  std::size_t range_behind(const ExactRun& run) const {
    const std::size_t range = static_cast<std::size_t>((run.i + run.j + 2 * run.length + kBeside) / Corridor::kRows);
    return smaller(range, m_.absences.size() - 1);
  }

  static void unite(Diagonals& into, const Diagonals& other) {
    into = {smaller(into.low, other.low), larger(into.high, other.high)};
  }

  // Sets the diagonals of C's runs in each range of rows; none where low exceeds high.
  void set_path(Diagonals* path, std::size_t count) const {
    for (std::size_t c = 0; c < count; ++c) path[c] = kNone;
    for (std::size_t r = 0; r < m_.clipped.size(); ++r) {
      const ExactRun& run = m_.clipped[r];
      const std::int32_t k = run.j - run.i;
      for (std::size_t c = range_before(run); c <= range_behind(run); ++c) unite(path[c], {k, k});
    }
  }

  // Sets the diagonals of all cheapest paths in each range of rows, by their absences.
  void set_all(Diagonals* all, const Diagonals* path, std::size_t count) const {
    for (std::size_t c = 0; c < count; ++c) all[c] = path[c];
    for (std::size_t c = 0; c < count; ++c) {
      if (m_.absences[c].first == SIZE_MAX) continue;
      Diagonals around = kNone;
      const std::size_t first = range_before(m_.clipped[m_.absences[c].first]);
      for (std::size_t x = first; x <= c; ++x) unite(around, path[x]);
      const std::int64_t beyond = longest_beyond(m_.absences[c].cost);
      around.low = static_cast<std::int32_t>(larger<std::int64_t>(limits_.low, around.low - beyond));
      around.high = static_cast<std::int32_t>(smaller<std::int64_t>(limits_.high, around.high + beyond));
      for (std::size_t x = first; x <= c; ++x) unite(all[x], around);
    }
    for (std::size_t c = 0; c < count; ++c)
      if (all[c].low > all[c].high) all[c] = limits_;
  }

  // Returns the greatest length of which two gaps cost no more than this.
  std::int64_t longest_beyond(std::int64_t cost) const {
    std::int64_t most = 0;
    for (int g = 0; g < t_.costs.pieces; ++g) {
      const std::int64_t open = t_.costs.gap[g].open, extend = t_.costs.gap[g].extend;
      if (extend <= 0) return INT32_MAX;
      if (cost >= 2 * open) most = larger(most, (cost / 2 - open) / extend);
    }
    return most;
  }

  // Limits the diagonals by what a path costs from C to a diagonal in some section of rows, and from there back to C.
  void limit_sections(Diagonals* all, std::size_t count) {
    const std::int32_t sections = t_.query_len / kSection + 1;
    m_.paid.there.resize(static_cast<std::size_t>(sections) * kSlopes);
    set_there(sections);
    m_.paid.limited.resize(count);
    for (std::size_t c = 0; c < count; ++c) m_.paid.limited[c] = kNone;
    std::int64_t behind[kSlopes];  // the most that C costs up to a run behind the section, less what a way back to it costs
    for (int s = 0; s < kSlopes; ++s) behind[s] = -kFar;
    std::size_t r = m_.clipped.size();
    for (std::int32_t x = sections; x-- > 0;) {
      const std::int32_t begin = x * kSection, end = begin + kSection;
      for (; r > 0 && m_.clipped[r - 1].i >= end; --r)
        for (int s = 0; s < kSlopes; ++s)
          behind[s] = larger(behind[s], twice(s, m_.clipped[r - 1]) - paid_.until(s, m_.clipped[r - 1].i));
      std::int64_t back[kSlopes];
      for (int s = 0; s < kSlopes; ++s) {
        back[s] = behind[s] + paid_.before(s, end);
        for (std::size_t in = r; in > 0 && end_of(m_.clipped[in - 1]) >= begin; --in)
          back[s] = larger(back[s], twice(s, m_.clipped[in - 1]));
      }
      limit_section(begin, limits_of(m_.paid.there.data() + static_cast<std::size_t>(x) * kSlopes, back), count);
    }
    for (std::size_t c = 0; c < count; ++c) {
      const Diagonals& limited = m_.paid.limited[c];
      if (limited.low <= limited.high) all[c] = {larger(all[c].low, limited.low), smaller(all[c].high, limited.high)};
    }
  }

  // Sets m_.paid.there, by section and slope: the negative of the least that C costs up to a run in it or before it, with what
  // a way from there to the section costs.
  void set_there(std::int32_t sections) {
    std::int64_t before[kSlopes];
    for (int s = 0; s < kSlopes; ++s) before[s] = kFar;
    std::size_t r = 0;
    for (std::int32_t x = 0; x < sections; ++x) {
      const std::int32_t begin = x * kSection, end = begin + kSection;
      for (; r < m_.clipped.size() && end_of(m_.clipped[r]) <= begin; ++r)
        for (int s = 0; s < kSlopes; ++s)
          before[s] = smaller(before[s], twice(s, m_.clipped[r]) - paid_.before(s, end_of(m_.clipped[r])));
      for (int s = 0; s < kSlopes; ++s) {
        std::int64_t least = before[s] + paid_.until(s, begin);
        for (std::size_t in = r; in < m_.clipped.size() && m_.clipped[in].i < end; ++in)
          least = smaller(least, twice(s, m_.clipped[in]));
        m_.paid.there[static_cast<std::size_t>(x) * kSlopes + s] = -least;
      }
    }
  }

  // Returns the diagonals on which ways there and back with any slopes p and q leave something: on diagonal k, the way there
  // costs at least p k more than there[p] says, and the way back -q k.
  Diagonals limits_of(const std::int64_t* there, const std::int64_t* back) const {
    const auto down = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); };
    std::int64_t low = limits_.low, high = limits_.high;
    for (int p = 0; p < kSlopes; ++p)
      for (int q = 0; q < kSlopes; ++q) {
        const std::int64_t slope = 2 * (paid_.slope(p) - paid_.slope(q));
        if (slope > 0) high = smaller(high, down(there[p] + back[q], slope));
        if (slope < 0) low = larger(low, -down(there[p] + back[q], -slope));
      }
    return {static_cast<std::int32_t>(smaller<std::int64_t>(low, INT32_MAX)),
            static_cast<std::int32_t>(larger<std::int64_t>(high, INT32_MIN))};
  }

  // Adds the limits of a section to the ranges of anti-diagonals that it has cells on.
  void limit_section(std::int32_t begin, const Diagonals& limits, std::size_t count) {
    if (limits.low > limits.high) return;
    const std::int64_t first = 2 * std::int64_t{begin}, last = first + 2 * kSection;
    const std::int64_t from = larger<std::int64_t>(0, first + limits.low - kBeside) / Corridor::kRows;
    const std::int64_t to = larger<std::int64_t>(0, last + limits.high + kBeside) / Corridor::kRows;
    for (std::int64_t c = from; c <= smaller<std::int64_t>(to, static_cast<std::int64_t>(count) - 1); ++c) {
      const std::int64_t lowest = c * Corridor::kRows - kBeside, highest = lowest + Corridor::kRows + 2 * kBeside;
      const std::int64_t low = larger<std::int64_t>(limits.low, lowest - last);
      const std::int64_t high = smaller<std::int64_t>(limits.high, highest - first);
      if (low <= high) unite(m_.paid.limited[c], {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high)});
    }
  }

  KernelTask t_;  // query and target may be exchanged
  CertainMemory& m_;
  PaidBlocks paid_;
  Diagonals limits_{};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

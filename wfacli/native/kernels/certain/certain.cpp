#include "kernels/certain/certain.hpp"

#include <algorithm>

namespace wfacli {
namespace {

constexpr std::int32_t kMaxSeed = 15, kRarity = 16;
// Least number of matches that divide a pair, or of query rows of the part that they end.
constexpr std::int32_t kMinMatches = 64, kMinPart = 128;

class Certain {
 public:
  Certain(const KernelTask& task, const SeedCharge& charge, CertainMemory& memory) : t_(task), c_(charge), m_(memory) {}

  bool find(bool proves) {
    find_seeds(t_, c_, m_.seeds, m_.places);
    const std::size_t max_runs = t_.checkpoint_bytes / (sizeof(ExactRun) + sizeof(Front));
    if (!chain_path(t_, c_, m_.seeds, m_.places, m_.anchors, m_.stops, m_.runs, max_runs)) return false;
    m_.k = c_.k;
    const std::size_t count = m_.runs.size();
    from_.resize(count);
    to_.resize(count);
    for (std::size_t r = 0; r < count; ++r) from_[r] = INT32_MAX, to_[r] = -1;
    // Parts may cost no more than C's, which the whole may not.
    if (proves && m_.runs.back().cost <= t_.max_score) {
      charged_seeds();
      prove();
    }
    divide();
    return true;
  }

 private:
  // Lists the seeds that a path matches only together with C: those that do not occur, and those that occur only where C
  // matches them.
  void charged_seeds() {
    m_.starts.clear();
    std::size_t r = 0;
    for (std::size_t s = 0; s < m_.seeds.size(); ++s) {
      if (m_.seeds[s].place < 0) continue;
      const std::int32_t i = static_cast<std::int32_t>(s) * c_.period;
      const std::int32_t j = m_.places[static_cast<std::size_t>(m_.seeds[s].place)].target;
      if (j == kRepeated) continue;
      if (j >= 0) {
        while (r + 1 < m_.runs.size() && m_.runs[r].i + m_.runs[r].length < i + c_.k) ++r;
        const ExactRun& run = m_.runs[r];
        if (i < run.i || i + c_.k > run.i + run.length || j - i != run.j - run.i) continue;
      }
      m_.starts.push(i);
    }
  }

  // A path that leaves C from row y1 to y2 costs no more than C only if both potentials at y2, less the charges of seeds that
  // end there, are at least those at y1, less the charges of seeds that begin before it.
  void prove() {
    const std::size_t count = m_.runs.size();
    m_.fronts.resize(count);
    Front least;
    std::int64_t begun = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const Potential x = potential(m_.runs[r]);
      least.add_least(less(x, seeds_before(m_.runs[r].i, begun)));
      m_.fronts[r] = least;
      least.add_least(less(x, seeds_before(m_.runs[r].i + m_.runs[r].length, begun)));
    }
    Front greatest;
    std::int64_t ended = static_cast<std::int64_t>(m_.starts.size());
    for (std::size_t r = count; r-- > 0;) {
      const Potential x = potential(m_.runs[r]);
      greatest.add_greatest(less(x, seeds_until(m_.runs[r].i + m_.runs[r].length, ended)));
      set_rows(r, x, m_.fronts[r], greatest);
      greatest.add_greatest(less(x, seeds_until(m_.runs[r].i, ended)));
    }
  }

  Potential potential(const ExactRun& run) const {
    const std::int64_t cost = SeedCharge::kScale * run.cost, diagonal = std::int64_t{run.j} - run.i;
    return {cost - c_.deletion * diagonal, cost + c_.insertion * diagonal};
  }
  Potential less(Potential x, std::int64_t seeds) const {
    return {x.deletion - c_.charge * seeds, x.insertion - c_.charge * seeds};
  }
  // Returns the number of charged seeds that begin before row y; `count` is the result for an earlier row.
  std::int64_t seeds_before(std::int32_t y, std::int64_t& count) const {
    while (count < static_cast<std::int64_t>(m_.starts.size()) && m_.starts[count] < y) ++count;
    return count;
  }
  // Returns the number of charged seeds that end at row y or before; `count` is the result for a later row.
  std::int64_t seeds_until(std::int32_t y, std::int64_t& count) const {
    while (count > 0 && m_.starts[count - 1] + c_.k > y) --count;
    return count;
  }

  // Sets the certain rows of run r with potentials x. before: least potentials of rows up to its begin; after: greatest ones
  // of rows from its end on.
  void set_rows(std::size_t r, Potential x, const Front& before, const Front& after) {
    const ExactRun& run = m_.runs[r];
    const std::int32_t end = run.i + run.length;
    from_[r] = INT32_MAX;
    to_[r] = -1;
    if (run.length < c_.k || after.reaches(before)) return;  // a path may avoid the whole run
    // A path takes a step of the run before the row at which enough seeds have ended,
    const std::int64_t needed = before.excess_over(x) / c_.charge + 1;
    if (needed > static_cast<std::int64_t>(m_.starts.size())) return;
    from_[r] = std::max(run.i + 1, m_.starts[needed - 1] + c_.k);
    // and one from the last row on before which few enough have begun.
    const std::int64_t few = (after.lack_under(x) + c_.charge - 1) / c_.charge - 1;
    if (few < 0) return;
    const bool all = few >= static_cast<std::int64_t>(m_.starts.size());
    to_[r] = std::min(end - 1, all ? end : m_.starts[few]);
  }

  void divide() {
    m_.parts.clear();
    std::int32_t i = 0, j = 0;
    std::int64_t cost = 0;
    for (std::size_t r = 0; r < m_.runs.size(); ++r) {
      const std::int32_t matches = to_[r] - from_[r], rows = from_[r] - i;
      if (to_[r] < from_[r] || (matches < kMinMatches && rows < kMinPart)) continue;
      const ExactRun& run = m_.runs[r];
      const std::int32_t column = from_[r] + run.j - run.i;
      m_.parts.push({i, j, rows, column - j, run.cost - cost, matches});
      i = to_[r], j = column + matches, cost = run.cost;
    }
    m_.parts.push({i, j, t_.query_len - i, t_.target_len - j, m_.runs.back().cost - cost, 0});
  }

  const KernelTask& t_;
  const SeedCharge& c_;
  CertainMemory& m_;
  Buffer<std::int32_t>& from_ = m_.from;
  Buffer<std::int32_t>& to_ = m_.to;
};

}  // namespace

void Front::add(Potential x, int sign) {
  const auto covers = [sign](const Potential& a, const Potential& b) {
    return sign * (b.deletion - a.deletion) >= 0 && sign * (b.insertion - a.insertion) >= 0;
  };
  int kept = 0;
  for (int k = 0; k < count_; ++k) {
    if (covers(at_[k], x)) return;
    if (!covers(x, at_[k])) at_[kept++] = at_[k];
  }
  count_ = kept;
  if (count_ == kMost) {
    const Potential other = at_[--count_];
    x.deletion = sign > 0 ? std::min(x.deletion, other.deletion) : std::max(x.deletion, other.deletion);
    x.insertion = sign > 0 ? std::min(x.insertion, other.insertion) : std::max(x.insertion, other.insertion);
    return add(x, sign);
  }
  at_[count_++] = x;
}

bool Front::reaches(const Front& least) const {
  for (int k = 0; k < count_; ++k)
    for (int l = 0; l < least.count_; ++l)
      if (at_[k].deletion >= least.at_[l].deletion && at_[k].insertion >= least.at_[l].insertion) return true;
  return false;
}

std::int64_t Front::excess_over(Potential x) const {
  std::int64_t most = INT64_MIN;
  for (int k = 0; k < count_; ++k)
    most = std::max(most, std::min(x.deletion - at_[k].deletion, x.insertion - at_[k].insertion));
  return most;
}

std::int64_t Front::lack_under(Potential x) const {
  std::int64_t least = INT64_MAX;
  for (int k = 0; k < count_; ++k)
    least = std::min(least, std::max(x.deletion - at_[k].deletion, x.insertion - at_[k].insertion));
  return least;
}

bool find_certain(const KernelTask& task, bool proves, CertainMemory& memory) {
  std::int32_t k = 4;
  while (k < kMaxSeed && (std::int64_t{1} << 2 * k) < std::int64_t{task.target_len} * kRarity) ++k;
  if (task.query_len < 8 * k || (std::int64_t{1} << 2 * k) < task.target_len) return false;
  SeedCharge charge;
  return charge.set(task.costs, k) && Certain(task, charge, memory).find(proves);
}

}  // namespace wfacli

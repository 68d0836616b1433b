#include "kernels/certain/certain.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/kmers.hpp"

namespace wfacli {
namespace {

constexpr std::int32_t kMaxSeed = 15, kRarity = 16;
// Least number of matches that divide a pair, or of query rows of the part that they end.
constexpr std::int32_t kMinMatches = 64, kMinPart = 128;

// Zones beside C: the wider, the longer seeds must be to occur rarely in it by chance.
struct Zone {
  std::int32_t reach, k;  // diagonals on either side; symbols of a seed
};
constexpr Zone kZones[] = {{48, 5}, {320, 7}, {16384, 9}};

// Returns the length of seeds that rarely occur in a target by chance, or 0 if they would be too long for the pair.
std::int32_t rare_seed(const KernelTask& task) {
  std::int32_t k = 4;
  while (k < kMaxSeed && (std::int64_t{1} << 2 * k) < std::int64_t{task.target_len} * kRarity) ++k;
  return task.query_len < 8 * k || (std::int64_t{1} << 2 * k) < task.target_len ? 0 : k;
}

class Certain {
 public:
  Certain(const KernelTask& task, CertainMemory& memory) : t_(task), m_(memory) {}

  bool find() {
    const std::int32_t k = rare_seed(t_);
    if (!k || !c_.set(t_.costs, k)) return false;
    find_seeds(t_, c_, m_.seeds, m_.places, m_.hashes);
    const std::size_t max_runs = t_.checkpoint_bytes / (sizeof(ExactRun) + sizeof(Front));
    if (!chain_path(t_, c_, m_.seeds, m_.places, m_.anchors, m_.stops, m_.runs, max_runs)) return false;
    m_.k = c_.k;
    nothing_certain();
    // Parts may cost no more than C's, which the whole may not.
    if (mostly_present() && m_.runs.back().cost <= t_.max_score) {
      charged_seeds();
      prove();
    }
    m_.parts.clear();
    divide({0, 0, 0, 0, 0, 0}, m_.parts);
    return true;
  }

  void find_beside(const CertainPart& whole, Buffer<CertainPart>& parts) {
    nothing_certain();
    if (charge_near(kZones[0])) prove();
    std::int32_t reach = kZones[0].reach;  // paths that stay so near are known not to avoid the certain rows
    for (std::size_t z = 1; z < std::size(kZones) && any_certain() && goes_beyond(reach); ++z) {
      if (!charge_near(kZones[z])) continue;
      drop_avoidable(reach);
      reach = kZones[z].reach;
    }
    if (any_certain() && goes_beyond(reach)) {
      charge_everywhere();
      drop_avoidable(reach);
    }
    divide(whole, parts);
  }

 private:
  void nothing_certain() {
    const std::size_t count = m_.runs.size();
    from_.resize(count);
    to_.resize(count);
    for (std::size_t r = 0; r < count; ++r) from_[r] = INT32_MAX, to_[r] = -1;
  }

  // Returns true if most seeds occur in the target. Otherwise a path through them hardly costs less than its charges.
  bool mostly_present() const {
    std::size_t absent = 0;
    for (std::size_t s = 0; s < m_.seeds.size(); ++s)
      absent += m_.seeds[s].place >= 0 && m_.places[static_cast<std::size_t>(m_.seeds[s].place)].target == kAbsent;
    return 20 * absent < 9 * m_.seeds.size();
  }

  bool any_certain() const {
    bool any = false;
    for (std::size_t r = 0; r < m_.runs.size(); ++r) any |= to_[r] >= from_[r];
    return any;
  }

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

  // Charges seeds of a zone. Returns false, and charges none, if costs allow no charge.
  bool charge_near(const Zone& zone) {
    m_.starts.clear();
    if (!c_.set_high(t_.costs, zone.k)) return false;
    seeds_near(zone.reach);
    return true;
  }
  // Charges seeds of the whole target, or none.
  void charge_everywhere() {
    m_.starts.clear();
    const std::int32_t k = rare_seed(t_);
    if (!k || !c_.set_high(t_.costs, k)) return nothing_certain();
    find_seeds(t_, c_, m_.seeds, m_.places, m_.hashes);
    charged_seeds();
  }

  // Lists the seeds that a path matches only together with C, if it begins to match them at most `reach` diagonals beside
  // C's (that of the last run that begins before the seed, or with it).
  void seeds_near(std::int32_t reach) {
    const std::size_t unknown = std::size_t{1} << 2 * c_.k;  // place of the k-mers with other symbols
    m_.kmers.resize(static_cast<std::size_t>(t_.target_len));
    std::int32_t* const kmers = m_.kmers.data();
    std::fill_n(kmers, t_.target_len, static_cast<std::int32_t>(unknown));
    each_kmer(t_.target, t_.target_len, c_.k,
              [&](std::uint32_t kmer, std::int32_t j) { kmers[j] = static_cast<std::int32_t>(kmer); });
    m_.counts.resize(unknown + 1);
    std::uint16_t* const counts = m_.counts.data();
    std::memset(counts, 0, m_.counts.size() * sizeof(counts[0]));
    std::int32_t lo = 0, hi = 0;  // columns whose k-mers are counted
    m_.starts.resize(static_cast<std::size_t>(t_.query_len / c_.period) + 1);
    std::int32_t* start = m_.starts.data();
    std::size_t r = 0;
    for (std::int32_t i = 0; i + c_.k <= t_.query_len; i += c_.period) {
      while (r + 1 < m_.runs.size() && m_.runs[r + 1].i <= i) ++r;
      const ExactRun& run = m_.runs[r];
      std::uint32_t kmer;
      if (!kmer_at(t_.query + i, c_.k, kmer)) continue;
      const std::int32_t j = i + run.j - run.i;
      const std::int32_t from = std::clamp(j - reach, 0, t_.target_len);
      const std::int32_t to = std::clamp(j + reach + 1, 0, t_.target_len);
      while (hi < to) ++counts[kmers[hi++]];
      while (lo < from) --counts[kmers[lo++]];
      while (lo > from) ++counts[kmers[--lo]];
      while (hi > to) --counts[kmers[--hi]];
      const bool on_path = i + c_.k <= run.i + run.length;
      *start = i;  // without a branch, which would often be mispredicted
      start += counts[kmer] == (on_path ? 1 : 0);
    }
    m_.starts.resize(static_cast<std::size_t>(start - m_.starts.data()));
  }

  // Returns true if a path that leaves C, goes more than `reach` diagonals beside it, and returns to it, may cost no more
  // than C, whatever seeds it matches.
  bool goes_beyond(std::int32_t reach) {
    if (reach >= t_.target_len) return false;
    if (SeedCharge::kScale * m_.runs.back().cost >= (c_.deletion + c_.insertion) * (std::int64_t{reach} + 1)) return true;
    m_.starts.clear();
    bool any = false;
    each_avoidable(reach, [&](std::size_t) { any = true; });
    return any;
  }

  // Drops the certain rows of runs that a path avoids which goes beyond `reach`.
  void drop_avoidable(std::int32_t reach) {
    each_avoidable(reach, [&](std::size_t r) { from_[r] = INT32_MAX, to_[r] = -1; });
  }

  // Calls visit(r) for each run that a path avoids which leaves C, begins to match a seed more than `reach` diagonals
  // beside it, and returns to it, and may cost no more than C. It deletes the symbols up to that diagonal and inserts
  // those from there on, or the other way round.
  template <class Visit>
  void each_avoidable(std::int32_t reach, Visit visit) {
    const std::int64_t both = c_.deletion + c_.insertion, beyond = both * (std::int64_t{reach} + 1);
    const std::size_t count = m_.runs.size();
    const auto diagonal = [&](std::size_t r) { return both * (m_.runs[r].j - m_.runs[r].i); };
    m_.departures.resize(count);
    Departure from{kFar, kFar, kFar, kFar};
    std::int64_t begun = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const Potential x = less(potential(m_.runs[r]), seeds_before(m_.runs[r].i + m_.runs[r].length, begun));
      from.deletion = std::min(from.deletion, x.deletion);
      from.insertion = std::min(from.insertion, x.insertion);
      from.above = std::min(from.above, from.deletion + diagonal(r));
      from.below = std::min(from.below, from.insertion - diagonal(r));
      m_.departures[r] = from;
    }
    Departure back{-kFar, -kFar, -kFar, -kFar};  // the same of returns, the greatest
    std::int64_t ended = static_cast<std::int64_t>(m_.starts.size());
    for (std::size_t r = count; r-- > 0;) {
      const Potential x = less(potential(m_.runs[r]), seeds_until(m_.runs[r].i, ended));
      back.insertion = std::max(back.insertion, x.insertion);
      back.deletion = std::max(back.deletion, x.deletion);
      back.above = std::max(back.above, back.insertion - diagonal(r));
      back.below = std::max(back.below, back.deletion + diagonal(r));
      from = m_.departures[r];
      if (back.insertion >= from.above + beyond || back.above >= from.deletion + beyond ||
          back.deletion >= from.below + beyond || back.below >= from.insertion + beyond)
        visit(r);
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

  // Adds the parts of a part, which is the task's.
  void divide(const CertainPart& whole, Buffer<CertainPart>& parts) {
    std::int32_t i = 0, j = 0;
    std::int64_t cost = 0;
    for (std::size_t r = 0; r < m_.runs.size(); ++r) {
      const std::int32_t matches = to_[r] - from_[r], rows = from_[r] - i;
      if (to_[r] < from_[r] || (matches < kMinMatches && rows < kMinPart)) continue;
      const ExactRun& run = m_.runs[r];
      const std::int32_t column = from_[r] + run.j - run.i;
      parts.push({whole.i + i, whole.j + j, rows, column - j, run.cost - cost, matches});
      i = to_[r], j = column + matches, cost = run.cost;
    }
    const std::int64_t rest = m_.runs.back().cost - cost;
    parts.push({whole.i + i, whole.j + j, t_.query_len - i, t_.target_len - j, rest, whole.matches});
  }

  static constexpr std::int64_t kFar = INT64_MAX / 4;

  const KernelTask& t_;
  SeedCharge c_;
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

void RunBuilder::add(Op op, std::int32_t length) {
  const auto begin = [&](std::int32_t rows, std::int32_t columns, std::int64_t cost) {
    const ExactRun last = runs_.back();
    runs_.push({last.i + last.length + rows, last.j + last.length + columns, 0, last.cost + cost});
  };
  if (op == kEqual) {
    runs_.back().length += length;
  } else if (op == kInsertion) {
    begin(length, 0, gap_cost(costs_, length));
  } else if (op == kDeletion) {
    begin(0, length, gap_cost(costs_, length));
  } else {
    for (std::int32_t x = 0; x < length; ++x) begin(1, 1, op == kMatch ? costs_.ambiguous : costs_.mismatch);
  }
}

bool find_certain(const KernelTask& task, CertainMemory& memory) {
  return Certain(task, memory).find();
}

void find_certain_beside(const KernelTask& task, const CertainPart& whole, CertainMemory& memory,
                         Buffer<CertainPart>& parts) {
  Certain(task, memory).find_beside(whole, parts);
}

}  // namespace wfacli

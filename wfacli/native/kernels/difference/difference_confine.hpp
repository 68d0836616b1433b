// Diagonals of all cheapest paths of a noisy part, by what rows cost away from a known path.
//
// Let C be a path, and P a cheapest one. From a diagonal step that both take (or the start) to the next such step (or the
// end), P takes no match of C, and costs no more than C, which could replace it there. Blocks of rows, with rows between
// them, show what P costs at least:
// - In the rows of a block, P has at least D indels, where a mismatch counts as two: D is the least number for the block's
//   symbols and any part of the target, without the matches of C (difference_blocks.hpp). Of all ways to have D, mismatches
//   alone or a single gap are the cheapest, since gap costs are concave. An insertion may end in one block and begin in
//   another: half of its opening counts in each, and a block inside of it has the extensions alone.
// - If P goes l diagonals further than C goes anywhere, and back, two gaps of l.
// So if blocks between two steps of C cost more than C does, P takes a step of C between them. Otherwise what C costs
// between both limits l, for the rows between them alone. Blocks of random symbols cost more than C up to about 15% errors.
// Long gaps of C may cost more: far around one, P may be on other diagonals.
#pragma once

#include "kernels/certain/certain.hpp"
#include "kernels/difference/difference_blocks.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class Confinement {
 public:
  Confinement(const KernelTask& part, CertainMemory& memory) : t_(part), m_(memory) {}

  // Adds the diagonals of all cheapest paths to memory.corridors, and returns their number. `limits`: those of all paths that
  // cost no more than C. C's runs are those of memory.runs from row i and column j on, where the part begins.
  std::int32_t find(std::int32_t i, std::int32_t j, const Diagonals& limits) {
    limits_ = limits;
    clip(i, j);
    set_period();
    count_indels();
    find_absences();
    const std::size_t first = m_.corridors.size(), count = m_.absences.size();
    m_.corridors.resize(first + 2 * count);
    Diagonals* const all = m_.corridors.data() + first;
    set_path(all + count, count);
    set_all(all, all + count, count);
    m_.corridors.resize(first + count);
    return static_cast<std::int32_t>(count);
  }

 private:
  static constexpr std::int32_t kTypical = 30;  // indels of a block of random symbols
  static constexpr std::int32_t kMaxPeriod = 128;
  static constexpr std::int32_t kBeside = 2;  // anti-diagonals by which ranges may be off
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
  std::int64_t cost_of_path() const { return m_.clipped.back().cost - m_.clipped[0].cost; }

  // Sets the distance between blocks: they should cost 1.4 times what C costs.
  void set_period() {
    const std::int64_t path = larger<std::int64_t>(1, 14 * cost_of_path());
    const std::int64_t rows = 5 * twice_the_cost(kTypical) * t_.query_len / path;
    period_ = static_cast<std::int32_t>(larger<std::int64_t>(BlockIndels::kBlock, smaller<std::int64_t>(rows, kMaxPeriod)));
  }

  // Sets m_.paid: twice what the blocks before each block cost at least.
  void count_indels() {
    constexpr std::int32_t kBlock = BlockIndels::kBlock, kBlocks = BlockIndels::kBlocks;
    const std::int32_t blocks = t_.query_len < kBlock ? 0 : (t_.query_len - kBlock) / period_ + 1;
    m_.paid.resize(static_cast<std::size_t>(blocks) + 1);
    m_.paid[0] = 0;
    std::size_t r = 0;
    BlockIndels indels;
    for (std::int32_t b = 0; b < blocks; b += kBlocks) {
      if (t_.cancelled->is_set()) return m_.paid.resize(static_cast<std::size_t>(b) + 1);
      const std::int32_t first = b * period_, end = first + kBlocks * period_;
      indels.set(t_, first, period_);
      std::int32_t j = larger(0, first + limits_.low);
      const auto go_to = [&](std::int32_t column) {
        for (; j < column; ++j) indels.take(t_.target[j]);
      };
      while (r < m_.clipped.size() && m_.clipped[r].i + m_.clipped[r].length <= first) ++r;
      for (std::size_t x = r; x < m_.clipped.size() && m_.clipped[x].i < end; ++x) {
        const ExactRun& run = m_.clipped[x];
        std::int32_t i = larger(run.i, first);
        go_to(run.j + i - run.i);
        for (const std::int32_t behind = smaller(end, run.i + run.length); i < behind;) {
          const std::int32_t block = (i - first) / period_, begin = first + block * period_;
          indels.choose_block(block);
          for (; i < smaller(behind, begin + kBlock); ++i, ++j) indels.take_beside(t_.target[j], i - begin);
          const std::int32_t rest = smaller(behind, begin + period_) - i;
          go_to(j + rest);
          i += rest;
        }
      }
      go_to(smaller(t_.target_len, end + limits_.high));
      for (std::int32_t x = b; x < smaller(blocks, b + kBlocks); ++x)
        m_.paid[x + 1] = m_.paid[x] + twice_the_cost(indels.least(x - b));
    }
  }

  // Returns twice what a block costs at least that has this number of indels.
  std::int64_t twice_the_cost(std::int64_t count) const {
    const Costs& c = t_.costs;
    std::int64_t least = std::int64_t{c.mismatch} * count, extend = c.gap[0].extend;
    for (int g = 0; g < c.pieces; ++g) {
      least = smaller<std::int64_t>(least, c.gap[g].open + 2 * c.gap[g].extend * count);
      extend = smaller<std::int64_t>(extend, c.gap[g].extend);
    }
    return count > 0 ? smaller(least, 2 * extend * BlockIndels::kBlock) : 0;
  }
  // Twice what the blocks cost that end at row y or before, and those that begin before row y.
  std::int64_t paid_until(std::int32_t y) const {
    return m_.paid[y < BlockIndels::kBlock ? 0 : smaller<std::size_t>((y - BlockIndels::kBlock) / period_ + 1, blocks())];
  }
  std::int64_t paid_before(std::int32_t y) const {
    return m_.paid[smaller<std::size_t>((y + period_ - 1) / period_, blocks())];
  }
  std::size_t blocks() const { return m_.paid.size() - 1; }

  // Sets m_.absences: the widest one of the runs that end in each range of rows.
  void find_absences() {
    m_.absences.resize(static_cast<std::size_t>((t_.query_len + t_.target_len) / Corridor::kRows) + 1);
    for (std::size_t c = 0; c < m_.absences.size(); ++c) m_.absences[c] = {SIZE_MAX, 0};
    m_.least_before.resize(m_.clipped.size());
    std::int64_t least = INT64_MAX;
    for (std::size_t r = 0; r < m_.clipped.size(); ++r) {
      const ExactRun& run = m_.clipped[r];
      const std::int64_t here = 2 * run.cost - paid_until(run.i);
      std::size_t first = 0;  // the earliest run from whose end on the blocks cost no more than C
      for (std::size_t behind = r; first < behind;) {
        const std::size_t middle = (first + behind) / 2;
        if (m_.least_before[middle] <= here)
          behind = middle;
        else
          first = middle + 1;
      }
      if (r > 0) {
        first = smaller(first, r - 1);
        Absence& absence = m_.absences[range_behind(run)];
        absence.first = smaller(absence.first, first);
        absence.cost = larger(absence.cost, run.cost - m_.clipped[first].cost);
      }
      least = smaller(least, 2 * run.cost - paid_before(run.i + run.length));
      m_.least_before[r] = least;
    }
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

  // Sets the diagonals of all cheapest paths in each range of rows.
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

  const KernelTask& t_;
  CertainMemory& m_;
  Diagonals limits_{};
  std::int32_t period_ = 0;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

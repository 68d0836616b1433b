// What blocks of query rows cost at least in a path that takes no match of a known one, C.
//
// In the rows of a block, a path has at least D indels, where a mismatch counts as two: D is the least number for the block's
// symbols and any part of the target, without the matches of C (block_indels.hpp). It also has an error in each of G
// seeds of the block, which occur nowhere but where C matches them. Ambiguous symbols count as matches in D, but not in
// seeds. The least cost of errors that amount to both follows from
// a table. An insertion may begin in one block and end in another: half of its opening counts in each, and a block inside of
// it has the extensions alone. A deletion between blocks belongs to none.
//
// All costs are also taken with a slope: a path that goes d diagonals up deletes d symbols more than it inserts. So it costs
// at least s times d, and what its blocks cost if each deleted symbol is s cheaper, and each inserted one s more expensive,
// as long as |s| is no more than what another symbol of a gap costs.
#pragma once

#include "kernels/certain/certain.hpp"
#include "kernels/confined/block_indels.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Least costs of errors in a block by slope, D and G, all of them doubled.
class BlockCosts {
 public:
  static constexpr int kSlopes = PaidMemory::kSlopes;
  static constexpr std::int32_t kSeed = 8, kSeeds = BlockIndels::kBlock / kSeed;  // symbols of a seed, seeds of a block

  explicit BlockCosts(PaidMemory& memory) : m_(memory) {}

  void set(const Costs& c) {
    if (m_.table.size() && same(c, m_.costs)) return;
    m_.costs = c;
    m_.table.resize(kSlopes * kSize);
    const std::int64_t extend = SeedCharge::least_extend(c);
    const std::int64_t slopes[kSlopes] = {0, extend, -extend, extend / 2, -(extend / 2)};
    for (int s = 0; s < kSlopes; ++s) {
      m_.slopes[s] = slopes[s];
      fill(c, slopes[s], m_.table.data() + s * kSize);
    }
  }

  std::int64_t slope(int s) const { return m_.slopes[s]; }
  std::int64_t twice(int s, std::int32_t indels, std::int32_t seeds) const {
    return m_.table[static_cast<std::size_t>(s * kSize + indels * (kSeeds + 1) + seeds)];
  }

 private:
  static constexpr std::int32_t kMost = BlockIndels::kBlock;  // indels
  static constexpr int kSize = (kMost + 1) * (kSeeds + 1);
  static constexpr std::int64_t kNone = INT64_MAX / 4;

  static bool same(const Costs& a, const Costs& b) {
    bool all = a.mismatch == b.mismatch && a.ambiguous == b.ambiguous && a.pieces == b.pieces;
    for (int g = 0; all && g < a.pieces; ++g) all = a.gap[g].open == b.gap[g].open && a.gap[g].extend == b.gap[g].extend;
    return all;
  }
  static std::int32_t seeds_in(std::int32_t rows) { return 1 + (rows + kSeed - 2) / kSeed; }  // that an insertion may touch

  // Sets the costs with a slope: from fewer indels and seeds to more of them, by another error.
  static void fill(const Costs& c, std::int64_t slope, std::int64_t* least) {
    const auto at = [&](std::int32_t d, std::int32_t g) -> std::int64_t& {
      return least[larger(0, d) * (kSeeds + 1) + larger(0, g)];
    };
    at(0, 0) = 0;
    for (std::int32_t d = 0; d <= kMost; ++d)
      for (std::int32_t g = d > 0 ? 0 : 1; g <= kSeeds; ++g) {
        std::int64_t best = 2 * std::int64_t{c.mismatch} + at(d - 2, g - 1);
        if (g > 0) best = smaller(best, 2 * std::int64_t{c.ambiguous} + at(d, g - 1));
        for (std::int32_t l = 1; l <= larger(1, d); ++l) {
          best = smaller(best, 2 * (gap_cost(c, l) - slope * l) + at(d - l, g - 1));
          best = smaller(best, 2 * (gap_cost(c, l) + slope * l) + at(d - l, g - seeds_in(l)));
        }
        at(d, g) = best;
      }
    for (int end = 0; end < 2; ++end)  // an insertion across an end of the block, or one across each
      for (std::int32_t d = kMost; d >= 0; --d)
        for (std::int32_t g = kSeeds; g >= 0; --g)
          for (std::int32_t l = 1; l <= kMost; ++l)
            at(d, g) = smaller(at(d, g), half_open(c, slope, l) + at(d - l, g - seeds_in(l)));
    for (int x = 1; x < kSize; ++x) least[x] = smaller(least[x], inserted(c, slope, kMost));
  }
  // Return twice the cost of an insertion of l symbols that begins or ends elsewhere, or of one that does both.
  static std::int64_t half_open(const Costs& c, std::int64_t slope, std::int64_t l) {
    std::int64_t least = kNone;
    for (int g = 0; g < c.pieces; ++g) least = smaller<std::int64_t>(least, c.gap[g].open + 2 * (c.gap[g].extend + slope) * l);
    return least;
  }
  static std::int64_t inserted(const Costs& c, std::int64_t slope, std::int64_t l) {
    std::int64_t least = kNone;
    for (int g = 0; g < c.pieces; ++g) least = smaller<std::int64_t>(least, 2 * (c.gap[g].extend + slope) * l);
    return least;
  }

  PaidMemory& m_;
};

// Blocks of a part, with rows between them.
class PaidBlocks {
 public:
  static constexpr int kSlopes = BlockCosts::kSlopes;

  PaidBlocks(const KernelTask& part, CertainMemory& memory)
      : t_(part), m_(memory.paid), certain_(memory), table_(memory.paid) {}

  // Counts the blocks' errors. `path`: C's runs; `limits`: of the diagonals of all paths that count.
  void count(const Buffer<ExactRun>& path, const Diagonals& limits) {
    table_.set(t_.costs);
    set_period(path[path.size() - 1].cost - path[0].cost);
    const std::int32_t blocks = t_.query_len < kBlock ? 0 : (t_.query_len - kBlock) / period_ + 1;
    find_seeds(path, blocks);
    for (int s = 0; s < kSlopes; ++s) {
      m_.until[s].clear();
      m_.until[s].push(0);
    }
    count_indels(path, limits, blocks);
  }

  std::int64_t slope(int s) const { return table_.slope(s); }
  // Twice what the blocks cost that end at row y or before, and those that begin before row y.
  std::int64_t until(int s, std::int32_t y) const {
    return m_.until[s][y < kBlock ? 0 : smaller<std::size_t>((y - kBlock) / period_ + 1, m_.until[s].size() - 1)];
  }
  std::int64_t before(int s, std::int32_t y) const {
    return m_.until[s][smaller<std::size_t>((larger(0, y) + period_ - 1) / period_, m_.until[s].size() - 1)];
  }

 private:
  static constexpr std::int32_t kBlock = BlockIndels::kBlock, kBlocks = BlockIndels::kBlocks;
  static constexpr std::int32_t kTypical = 14;  // indels of a block of random symbols
  static constexpr std::int32_t kMaxPeriod = 128;

  // Sets the distance between blocks: they should cost one and a half times what C costs.
  void set_period(std::int64_t cost) {
    const std::int64_t rows = table_.twice(0, kTypical, 0) * t_.query_len / larger<std::int64_t>(1, 3 * cost);
    period_ = static_cast<std::int32_t>(larger<std::int64_t>(kBlock, smaller<std::int64_t>(rows, kMaxPeriod)));
  }

  // Sets m_.seeds: the number of each block's seeds that no path matches without C.
  void find_seeds(const Buffer<ExactRun>& path, std::int32_t blocks) {
    constexpr std::int32_t kSeed = BlockCosts::kSeed;
    Buffer<std::uint16_t>& counts = certain_.counts;
    counts.resize(std::size_t{1} << 2 * kSeed);
    std::memset(counts.data(), 0, counts.size() * sizeof(counts[0]));
    each_kmer(t_.target, t_.target_len, kSeed, [&](std::uint32_t kmer, std::int32_t) {
      counts[kmer] = static_cast<std::uint16_t>(counts[kmer] + (counts[kmer] < 2));
    });
    m_.seeds.resize(blocks);
    std::size_t r = 0;
    for (std::int32_t b = 0; b < blocks; ++b) {
      m_.seeds[b] = 0;
      for (std::int32_t x = 0; x < BlockCosts::kSeeds; ++x) {
        const std::int32_t i = b * period_ + x * kSeed;
        std::uint32_t kmer;
        if (!kmer_at(t_.query + i, kSeed, kmer)) continue;
        while (r + 1 < path.size() && path[r + 1].i <= i) ++r;
        const bool on_path = path[r].i <= i && i + kSeed <= path[r].i + path[r].length;
        m_.seeds[b] += counts[kmer] == (on_path ? 1 : 0);
      }
    }
  }

  // Appends to m_.until what the blocks cost; stops where the task is cancelled.
  void count_indels(const Buffer<ExactRun>& path, const Diagonals& limits, std::int32_t blocks) {
    std::size_t r = 0;
    BlockIndels indels;
    for (std::int32_t b = 0; b < blocks && !t_.cancelled->is_set(); b += kBlocks) {
      const std::int32_t first = b * period_, end = first + kBlocks * period_;
      indels.set(t_, first, period_);
      std::int32_t j = larger(0, first + limits.low);
      const auto go_to = [&](std::int32_t column) {
        for (; j < column; ++j) indels.take(t_.target[j]);
      };
      while (r < path.size() && path[r].i + path[r].length <= first) ++r;
      for (std::size_t x = r; x < path.size() && path[x].i < end; ++x) {
        const ExactRun& run = path[x];
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
      go_to(smaller(t_.target_len, end + limits.high));
      for (std::int32_t x = b; x < smaller(blocks, b + kBlocks); ++x)
        for (int s = 0; s < kSlopes; ++s)
          m_.until[s].push(m_.until[s].back() + table_.twice(s, indels.least(x - b), m_.seeds[x]));
    }
  }

  const KernelTask& t_;
  PaidMemory& m_;
  CertainMemory& certain_;
  BlockCosts table_;
  std::int32_t period_ = 0;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

#include "kernels/certain/chain.hpp"

#include <algorithm>

#include "kernels/kmers.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kLookBack = 16;  // anchors before an anchor that may precede it on a chain

class SeedTable {
 public:
  SeedTable(Buffer<SeedPlace>& places, Buffer<std::uint64_t>& hashes) : places_(places), hashes_(hashes) {}

  void clear(std::int32_t seeds) {
    bits_ = 4;
    while ((std::int64_t{1} << bits_) < 2 * std::int64_t{seeds}) ++bits_;
    places_.resize(std::size_t{1} << bits_);
    for (std::size_t x = 0; x < places_.size(); ++x) places_[x].used = false;
    hashes_.resize(places_.size() * kBits / 64);
    for (std::size_t x = 0; x < hashes_.size(); ++x) hashes_[x] = 0;
  }

  std::int32_t add(std::uint32_t kmer) {
    const std::size_t at = find(kmer), bit = hash(kmer) >> (32 - bits_ - kMoreBits);
    if (!places_[at].used) places_[at] = {kmer, kAbsent, true};
    hashes_[bit / 64] |= std::uint64_t{1} << bit % 64;
    return static_cast<std::int32_t>(at);
  }

  void occurs(std::uint32_t kmer, std::int32_t j) {
    const std::size_t bit = hash(kmer) >> (32 - bits_ - kMoreBits);
    if (!(hashes_[bit / 64] >> bit % 64 & 1)) return;  // most k-mers of a target are no seeds
    SeedPlace& place = places_[find(kmer)];
    if (place.used) place.target = place.target == kAbsent ? j : kRepeated;
  }

 private:
  static constexpr int kMoreBits = 4, kBits = 1 << kMoreBits;  // bits of `hashes` for each place

  static std::uint32_t hash(std::uint32_t kmer) { return kmer * 0x9E3779B1u; }
  std::size_t find(std::uint32_t kmer) const {
    const std::size_t mask = (std::size_t{1} << bits_) - 1;
    std::size_t at = hash(kmer) >> (32 - bits_);
    while (places_[at].used && places_[at].kmer != kmer) at = (at + 1) & mask;
    return at;
  }

  Buffer<SeedPlace>& places_;
  Buffer<std::uint64_t>& hashes_;  // a bit is set if the k-mer of some place has it as its hash
  int bits_ = 0;
};

// Writes the runs of a path.
class RunWriter {
 public:
  RunWriter(const KernelTask& task, Buffer<ExactRun>& runs, std::size_t max_runs)
      : t_(task), runs_(runs), max_runs_(max_runs) {
    runs_.clear();
    runs_.push({0, 0, 0, 0});
  }

  // Adds a path from the end of the last run to (i2, j2): matches, one gap where it costs least, and matches; or an
  // insertion and a deletion between matches, if that costs less, as for an inverted part. Returns false if there might be
  // too many runs.
  bool go_to(std::int32_t i2, std::int32_t j2) {
    std::int32_t i = end_i(), j = end_j();
    const std::int32_t room = std::min(i2 - i, j2 - j);
    std::int32_t first = 0, behind = 0;
    while (first < room && t_.query[i + first] == t_.target[j + first]) ++first;
    while (behind < room - first && t_.query[i2 - 1 - behind] == t_.target[j2 - 1 - behind]) ++behind;
    runs_.back().length += first;
    i += first, j += first, i2 -= behind, j2 -= behind;
    const std::int32_t length = std::min(i2 - i, j2 - j);
    if (runs_.size() + static_cast<std::size_t>(length) + 1 > max_runs_) return false;
    const std::int32_t split = (i2 - i) == (j2 - j) ? length : best_split(i, j, i2, j2);
    const std::int64_t cost = last().cost + gap_cost(t_.costs, i2 - i) + gap_cost(t_.costs, j2 - j);
    const std::size_t runs = runs_.size();
    const ExactRun before = last();
    diagonal(split);
    gap(i2 - length + split, j2 - length + split);
    diagonal(length - split);
    if (last().cost > cost) {
      runs_.resize(runs);
      runs_.back() = before;
      runs_.push({i2, j2, 0, cost});
    }
    runs_.back().length += behind;
    return true;
  }

  void matches(std::int32_t count) { runs_.back().length += count; }

 private:
  std::int32_t end_i() const { return last().i + last().length; }
  std::int32_t end_j() const { return last().j + last().length; }
  const ExactRun& last() const { return runs_[runs_.size() - 1]; }

  // Returns how many symbols are aligned before the gap so that the fewest of them and of those after it differ.
  std::int32_t best_split(std::int32_t i, std::int32_t j, std::int32_t i2, std::int32_t j2) const {
    const std::int32_t length = std::min(i2 - i, j2 - j);
    const std::uint8_t *q = t_.query + i, *t = t_.target + j;
    const std::uint8_t *q2 = t_.query + (i2 - length), *t2 = t_.target + (j2 - length);
    std::int32_t change = 0, least = 0, best = 0;
    for (std::int32_t x = 0; x < length; ++x) {
      change += (q[x] != t[x]) - (q2[x] != t2[x]);
      if (change < least) least = change, best = x + 1;
    }
    return best;
  }

  void diagonal(std::int32_t length) {
    for (std::int32_t x = 0; x < length; ++x) {
      const std::int32_t i = end_i(), j = end_j();
      if (t_.query[i] == t_.target[j])
        ++runs_.back().length;
      else
        runs_.push({i + 1, j + 1, 0, last().cost + difference(t_.query[i] | t_.target[j])});
    }
  }

  // Returns the cost of aligning two codes that differ, and whose bits these are.
  std::int32_t difference(int bits) const { return bits & kAmbiguousCodes ? t_.costs.ambiguous : t_.costs.mismatch; }

  void gap(std::int32_t i, std::int32_t j) {
    const std::int32_t length = (i - end_i()) + (j - end_j());
    if (length > 0) runs_.push({i, j, 0, last().cost + gap_cost(t_.costs, length)});
  }

  const KernelTask& t_;
  Buffer<ExactRun>& runs_;
  const std::size_t max_runs_;
};

std::int64_t shift_cost(const Costs& costs, std::int64_t shift) { return gap_cost(costs, shift < 0 ? -shift : shift); }

// Sets `a` to the best chain that ends with it; `best`: the anchor with the best chain of those too far back, or -1.
void connect(const KernelTask& task, std::int32_t k, Buffer<Anchor>& anchors, std::size_t number, std::int32_t best) {
  Anchor& a = anchors[number];
  const auto consider = [&](std::int32_t b) {
    const Anchor& before = anchors[static_cast<std::size_t>(b)];
    if (before.j + k > a.j) return;
    const std::int64_t shift = std::int64_t{a.j} - a.i - before.j + before.i;
    const std::int64_t score = before.score - shift_cost(task.costs, shift);
    if (score > a.score) a.score = score, a.from = b;
  };
  a.from = -1;
  a.score = -shift_cost(task.costs, std::int64_t{a.j} - a.i);
  const std::size_t first = number < kLookBack ? 0 : number - kLookBack;
  for (std::size_t b = number; b-- > first;) consider(static_cast<std::int32_t>(b));
  if (best >= 0) consider(best);
}

}  // namespace

void find_seeds(const KernelTask& task, const SeedCharge& charge, Buffer<Seed>& seeds, Buffer<SeedPlace>& places,
                Buffer<std::uint64_t>& hashes) {
  const std::int32_t count = std::max(0, (task.query_len + charge.period - charge.k) / charge.period);
  SeedTable table(places, hashes);
  table.clear(count);
  seeds.resize(static_cast<std::size_t>(count));
  for (std::int32_t s = 0; s < count; ++s) {
    std::uint32_t kmer;
    seeds[s].place = kmer_at(task.query + s * charge.period, charge.k, kmer) ? table.add(kmer) : -1;
  }
  each_kmer(task.target, task.target_len, charge.k, [&](std::uint32_t kmer, std::int32_t j) { table.occurs(kmer, j); });
}

bool chain_path(const KernelTask& task, const SeedCharge& charge, const Buffer<Seed>& seeds,
                const Buffer<SeedPlace>& places, Buffer<Anchor>& anchors, Buffer<Stop>& stops, Buffer<ExactRun>& runs,
                std::size_t max_runs) {
  anchors.clear();
  stops.clear();
  std::int32_t best = -1;
  // About what other symbols would cost in its place. Its charge, a lower bound, is less than a short gap between two seeds,
  // which would leave most seeds of a noisy pair out.
  const std::int64_t other = std::min<std::int64_t>(task.costs.mismatch, 2 * gap_cost(task.costs, 1));
  const std::int64_t seed = other * charge.k / 2;
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    const std::int32_t j = seeds[s].place < 0 ? kAbsent : places[static_cast<std::size_t>(seeds[s].place)].target;
    if (j < 0) continue;
    anchors.push({static_cast<std::int32_t>(s) * charge.period, j, -1, 0});
    const std::size_t number = anchors.size() - 1;
    if (number > kLookBack) {
      const std::size_t left = number - kLookBack - 1;
      if (best < 0 || anchors[left].score > anchors[static_cast<std::size_t>(best)].score)
        best = static_cast<std::int32_t>(left);
    }
    connect(task, charge.k, anchors, number, best);
    anchors[number].score += seed;
  }
  // The last anchor of the best chain, then all of it, from its end.
  const std::int64_t end = std::int64_t{task.target_len} - task.query_len;
  std::int64_t score = -shift_cost(task.costs, end);
  std::int32_t at = -1;
  for (std::size_t a = 0; a < anchors.size(); ++a) {
    const std::int64_t whole = anchors[a].score - shift_cost(task.costs, end - anchors[a].j + anchors[a].i);
    if (whole > score) score = whole, at = static_cast<std::int32_t>(a);
  }
  std::int32_t next = -1;
  while (at >= 0) {  // turns the links round
    const std::int32_t before = anchors[static_cast<std::size_t>(at)].from;
    anchors[static_cast<std::size_t>(at)].from = next;
    next = at;
    at = before;
  }
  RunWriter writer(task, runs, max_runs);
  for (at = next; at >= 0; at = anchors[static_cast<std::size_t>(at)].from) {
    const Anchor& anchor = anchors[static_cast<std::size_t>(at)];
    if (!writer.go_to(anchor.i, anchor.j)) return false;
    stops.push({anchor.i, anchor.j});
    writer.matches(charge.k);
  }
  return writer.go_to(task.query_len, task.target_len);
}

}  // namespace wfacli

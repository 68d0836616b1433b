// Lower bounds of the cost of the rest of a path, from parts of the query that do not occur in the target.
//
// Seeds are k symbols of the query, one seed every k + g symbols. A path cannot match a seed that does not occur in the
// target as a whole, so it has a mismatch, an inserted symbol, or a deletion inside the seed. A mismatch and a deletion
// lie in at most one seed; an insertion of l symbols touches at most 1 + (l + k - 2) / (k + g) seeds, so that a short one
// touches two only without the distance g. For a charge p <= mismatch, and slopes such that for all l
//   gap_cost(l) >= p + deletion * l     gap_cost(l) >= p * (1 + (l + k - 2) / (k + g)) + insertion * l,
// a path costs at least p * absent seeds + deletion * deleted symbols + insertion * inserted symbols. The bound without
// slopes is the seed heuristic of A*PA (R. Groot Koerkamp, P. Ivanov, Bioinformatics 2024), there for edit distance; the
// slopes are what remains for leaving the diagonal and returning to it.
#pragma once

#include "kernels/difference/difference_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// 0 to 3 for A C G T in any coding (symbols.hpp), 4 for others.
struct Digits {
  std::uint8_t of[256];
  constexpr Digits() : of{} {
    for (std::uint8_t& d : of) d = 4;
    for (std::uint8_t d = 0; d < 4; ++d) of[d + 1] = of[static_cast<std::uint8_t>("ACGT"[d])] = d;
  }
};
inline constexpr Digits kDigits{};

class SeedBound {
 public:
  static constexpr std::int64_t kScale = 64;  // slopes are multiples of 1 / kScale

  // Counts the seeds of the query that do not occur in the target. Returns false if no bound results that narrows a band:
  // for short, very long or wildcard sequences, and for costs under which gaps cost too little.
  bool count(const KernelTask& task, DifferenceMemory& memory) {
    // A seed should be as short as possible, but rarely occur in a target by chance.
    k_ = 4;
    while (k_ < kMaxLength && (std::int64_t{1} << 2 * k_) < std::int64_t{task.target_len} * kRarity) ++k_;
    if (task.wildcard || task.query_len < 8 * k_ || (std::int64_t{1} << 2 * k_) < task.target_len) return false;
    if (!set_charge(task.costs)) return false;
    Buffer<std::uint64_t>& present = memory.kmers;
    const std::size_t words = std::size_t{1} << larger(0, 2 * k_ - 6);
    if (present.size() < words) {
      present.resize(words);
      std::memset(present.data(), 0, words * sizeof(std::uint64_t));
    }
    each_kmer(task, [&](std::uint32_t kmer) { present[kmer >> 6] |= std::uint64_t{1} << (kmer & 63); });
    suffix(task, present, memory.absent_seeds);
    // All words stay 0 between pairs.
    each_kmer(task, [&](std::uint32_t kmer) { present[kmer >> 6] = 0; });
    absent_ = memory.absent_seeds.data();
    return absent_[0] > 0;
  }

  // Charge for the seeds after the first i symbols of the query, and slopes per symbol; all times kScale.
  WFACLI_INLINE std::int64_t charge(std::int32_t i) const { return charge_ * absent_[(i + period_ - 1) / period_]; }
  // Lower bound of the cost of a path that ends on this diagonal.
  std::int64_t min_cost(std::int64_t end) const {
    return rounded_up(charge(0) + (end < 0 ? -end * insertion_ : end * deletion_), kScale);
  }
  std::int64_t deletion() const { return deletion_; }
  std::int64_t insertion() const { return insertion_; }

 private:
  static constexpr std::int32_t kMaxLength = 14, kRarity = 16, kMaxDistance = 4;
  static constexpr std::int32_t kGapLengths = 256;  // gap lengths whose costs are compared one by one

  static WFACLI_INLINE std::uint32_t digit(std::uint8_t code) { return kDigits.of[code]; }

  // Sets the charge, the slopes that it allows, and the distance of seeds. Returns false if there are none. A charge above
  // the cost of opening a gap leaves no slope for gaps of length 1.
  bool set_charge(const Costs& c) {
    std::int64_t extend = c.gap[0].extend, open = c.gap[0].open;
    if (c.pieces == 2) {
      extend = smaller<std::int64_t>(extend, c.gap[1].extend);
      open = smaller<std::int64_t>(open, c.gap[1].open);
    }
    const std::int64_t p = smaller<std::int64_t>(c.mismatch, gap_cost(c, 1) - extend);
    if (p <= 0) return false;
    charge_ = kScale * p;
    // Longer gaps than kGapLengths cost at least open + extend * l.
    deletion_ = kScale * extend - rounded_up(kScale * larger<std::int64_t>(0, p - open), kGapLengths);
    for (std::int64_t l = 1; l <= kGapLengths; ++l)
      deletion_ = smaller(deletion_, -rounded_up(kScale * (p - gap_cost(c, l)), l));
    for (std::int32_t distance = 0; distance <= kMaxDistance; ++distance) {
      period_ = k_ + distance;
      // Longer insertions touch at most 2 + l / period seeds.
      const std::int64_t longest = kScale * extend - rounded_up(kScale * p, period_);
      insertion_ = longest - rounded_up(kScale * larger<std::int64_t>(0, 2 * p - open), kGapLengths);
      for (std::int64_t l = 1; l <= kGapLengths; ++l) {
        const std::int64_t touched = 1 + (l + k_ - 2) / period_;
        insertion_ = smaller(insertion_, -rounded_up(kScale * (p * touched - gap_cost(c, l)), l));
      }
      if (4 * insertion_ >= 3 * longest) break;
    }
    return deletion_ > 0 && insertion_ > 0;
  }
  // Returns a / b rounded up.
  static std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0); }

  // Calls `visit` with each k-mer of the target that consists of A, C, G and T.
  template <class Visit>
  void each_kmer(const KernelTask& task, Visit visit) const {
    const std::uint32_t mask = static_cast<std::uint32_t>((std::int64_t{1} << 2 * k_) - 1);
    std::uint32_t kmer = 0;
    std::int32_t length = 0;
    for (std::int32_t j = 0; j < task.target_len; ++j) {
      const std::uint32_t d = digit(task.target[j]);
      kmer = (kmer << 2 | (d & 3)) & mask;
      length = d < 4 ? length + 1 : 0;
      if (length >= k_) visit(kmer);
    }
  }

  // Sets absent[b] to the number of absent seeds from seed b on. Seeds with other symbols than A, C, G and T do not count.
  void suffix(const KernelTask& task, const Buffer<std::uint64_t>& present, Buffer<std::int32_t>& absent) const {
    const std::int32_t seeds = (task.query_len + period_ - k_) / period_;
    absent.resize(static_cast<std::size_t>(seeds + 2));
    absent[seeds] = absent[seeds + 1] = 0;
    for (std::int32_t b = seeds - 1; b >= 0; --b) {
      std::uint32_t kmer = 0, other = 0;
      for (std::int32_t i = b * period_; i < b * period_ + k_; ++i) {
        const std::uint32_t d = digit(task.query[i]);
        kmer = kmer << 2 | (d & 3);
        other |= d & 4;
      }
      absent[b] = absent[b + 1] + (!other && !(present[kmer >> 6] >> (kmer & 63) & 1));
    }
  }

  std::int32_t k_ = 0, period_ = 0;  // length of a seed, and of a seed with the distance to the next one
  std::int64_t charge_ = 0, deletion_ = 0, insertion_ = 0;
  const std::int32_t* absent_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

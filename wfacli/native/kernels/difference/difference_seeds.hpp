// Lower bounds of the cost of the rest of a path, from seeds of the query that do not occur in the target: no path
// matches them (seed_charge.hpp).
#pragma once

#include "kernels/difference/difference_rows.hpp"
#include "kernels/kmers.hpp"
#include "kernels/seed_charge.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class SeedBound {
 public:
  static constexpr std::int64_t kScale = SeedCharge::kScale;

  // Counts the seeds of the query that do not occur in the target. Returns false if no bound results that narrows a band:
  // for short, very long or wildcard sequences, and for costs under which gaps cost too little.
  bool count(const KernelTask& task, DifferenceMemory& memory) {
    // A seed should be as short as possible, but rarely occur in a target by chance.
    std::int32_t k = 4;
    while (k < kMaxLength && (std::int64_t{1} << 2 * k) < std::int64_t{task.target_len} * kRarity) ++k;
    if (task.wildcards || task.query_len < 8 * k || (std::int64_t{1} << 2 * k) < task.target_len) return false;
    if (!c_.set(task.costs, k)) return false;
    Buffer<std::uint64_t>& present = memory.kmers;
    const std::size_t words = std::size_t{1} << larger(0, 2 * k - 6);
    if (present.size() < words) {
      present.resize(words);
      std::memset(present.data(), 0, words * sizeof(std::uint64_t));
    }
    each_kmer(task.target, task.target_len, k,
              [&](std::uint32_t kmer, std::int32_t) { present[kmer >> 6] |= std::uint64_t{1} << (kmer & 63); });
    suffix(task, present, memory.absent_seeds);
    // All words stay 0 between pairs.
    each_kmer(task.target, task.target_len, k, [&](std::uint32_t kmer, std::int32_t) { present[kmer >> 6] = 0; });
    absent_ = memory.absent_seeds.data();
    return absent_[0] > 0;
  }

  // Charge for the seeds after the first i symbols of the query, and slopes per symbol; all times kScale.
  WFACLI_INLINE std::int64_t charge(std::int32_t i) const {
    return c_.charge * absent_[(i + c_.period - 1) / c_.period];
  }
  // Lower bound of the cost of a path that ends on this diagonal.
  std::int64_t min_cost(std::int64_t end) const {
    return SeedCharge::rounded_up(charge(0) + (end < 0 ? -end * c_.insertion : end * c_.deletion), kScale);
  }
  std::int64_t deletion() const { return c_.deletion; }
  std::int64_t insertion() const { return c_.insertion; }

 private:
  static constexpr std::int32_t kMaxLength = 14, kRarity = 16;

  // Sets absent[b] to the number of absent seeds from seed b on. Seeds with other symbols than A, C, G and T do not count.
  void suffix(const KernelTask& task, const Buffer<std::uint64_t>& present, Buffer<std::int32_t>& absent) {
    const std::int32_t seeds = (task.query_len + c_.period - c_.k) / c_.period;
    absent.resize(static_cast<std::size_t>(seeds + 2));
    absent[seeds] = absent[seeds + 1] = 0;
    for (std::int32_t b = seeds - 1; b >= 0; --b) {
      std::uint32_t kmer;
      const bool known = kmer_at(task.query + b * c_.period, c_.k, kmer);
      absent[b] = absent[b + 1] + (known && !(present[kmer >> 6] >> (kmer & 63) & 1));
    }
  }

  SeedCharge c_;
  const std::int32_t* absent_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Tandem repeats in a sequence, and copies in another.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/buffer.hpp"
#include "kernels/kmers.hpp"

namespace wfacli {

// Finds parts that have many k-mers in common.
class RepeatFinder {
 public:
  static constexpr std::int32_t kK = 12, kMany = 24;
  static constexpr std::int64_t kNearEnd = 64, kMaxBases = 2'048, kMaxCopied = 256;

  // Returns where the tandem repeat ends that begins within the first kNearEnd bases; 0 if there is none. Looks at the first
  // kMaxBases bases.
  std::int64_t end_of_repeat(const std::uint8_t* codes, std::int64_t length) {
    slots_.fill({});
    spans_.clear();
    each_kmer(codes, static_cast<std::int32_t>(std::min(length, kMaxBases)), kK,
              [&](std::uint32_t kmer, std::int32_t at) { enter(kmer, at); });
    std::int64_t end = kNearEnd, before = 0;
    std::int32_t inside = 0;
    while (before < end) {  // spans are in the order of their ends, and each may join others to the repeat
      before = end;
      inside = 0;
      for (std::size_t k = 0; k < spans_.size(); ++k)
        if (spans_[k].begin <= end) end = std::max<std::int64_t>(end, spans_[k].end), ++inside;
    }
    return inside >= kMany ? end : 0;
  }

  // Returns whether at least a 16th of the k-mers of `other` are in `codes`: with 15% errors a seventh of them is left. Of either
  // sequence, no more than kMaxBases and kMaxCopied bases are looked at.
  bool is_copy(const std::uint8_t* codes, std::int64_t length, const std::uint8_t* other, std::int64_t other_length) {
    slots_.fill({});
    spans_.clear();
    const auto count = static_cast<std::int32_t>(std::min(other_length, kMaxCopied));
    each_kmer(codes, static_cast<std::int32_t>(std::min(length, kMaxBases)), kK,
              [&](std::uint32_t kmer, std::int32_t at) { enter(kmer, at); });
    std::int32_t found = 0;
    each_kmer(other, count, kK, [&](std::uint32_t kmer, std::int32_t) { found += slots_[slot_of(kmer)].entry != 0; });
    return 16 * found > std::max(count - kK, 0);
  }

 private:
  struct Slot {
    std::uint32_t entry = 0;  // k-mer + 1, or 0
    std::int32_t last = 0;    // where it was seen last
  };
  struct Span {
    std::int32_t begin, end;  // from one occurrence of a k-mer to the end of the next
  };
  static constexpr std::uint32_t kBits = 12;  // twice as many slots as k-mers
  static constexpr std::uint32_t kSlots = 1u << kBits, kMultiplier = 2'654'435'769u;  // of Fibonacci hashing

  // Returns the slot of a k-mer, which is empty if it was not entered.
  std::uint32_t slot_of(std::uint32_t kmer) const {
    std::uint32_t k = kmer * kMultiplier >> (32 - kBits);
    while (slots_[k].entry != 0 && slots_[k].entry != kmer + 1) k = (k + 1) & (kSlots - 1);
    return k;
  }

  void enter(std::uint32_t kmer, std::int32_t at) {
    const std::uint32_t k = slot_of(kmer);
    if (slots_[k].entry != 0) spans_.push({slots_[k].last, at + kK});
    slots_[k] = {kmer + 1, at};
  }

  std::array<Slot, kSlots> slots_;
  Buffer<Span> spans_;
};

}  // namespace wfacli

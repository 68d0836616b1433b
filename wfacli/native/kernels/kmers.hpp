// K-mers of A, C, G and T in a sequence of symbol codes.
#pragma once

#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// 0 to 3 for A C G T in any coding in which they match only themselves (symbols.hpp), 4 for others. Where they are bits, the
// last two have changed places.
struct Digits {
  std::uint8_t of[256];
  constexpr Digits() : of{} {
    for (std::uint8_t& d : of) d = 4;
    for (std::uint8_t d = 0; d < 4; ++d) of[d + 1] = of[static_cast<std::uint8_t>("ACGT"[d])] = d;
    of[8] = 2;
  }
};
inline constexpr Digits kDigits{};

// Calls visit(kmer, begin) for each k-mer of the sequence that consists of A, C, G and T; k is at most 15.
template <class Visit>
WFACLI_INLINE void each_kmer(const std::uint8_t* codes, std::int32_t length, std::int32_t k, Visit visit) {
  const std::uint32_t mask = static_cast<std::uint32_t>((std::int64_t{1} << 2 * k) - 1);
  std::uint32_t kmer = 0;
  std::int32_t known = 0;
  for (std::int32_t i = 0; i < length; ++i) {
    const std::uint32_t d = kDigits.of[codes[i]];
    kmer = (kmer << 2 | (d & 3)) & mask;
    known = d < 4 ? known + 1 : 0;
    if (known >= k) visit(kmer, i + 1 - k);
  }
}

// Sets `kmer` to the k-mer at `codes`. Returns false if it has other symbols than A, C, G and T.
WFACLI_INLINE bool kmer_at(const std::uint8_t* codes, std::int32_t k, std::uint32_t& kmer) {
  std::uint32_t other = 0;
  kmer = 0;
  for (std::int32_t i = 0; i < k; ++i) {
    const std::uint32_t d = kDigits.of[codes[i]];
    kmer = kmer << 2 | (d & 3);
    other |= d & 4;
  }
  return !other;
}

}  // namespace wfacli

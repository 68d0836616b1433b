// Byte permutation with sign extension, which __byte_perm does not provide.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

// Nibble k of the selector chooses byte k of the result: 0 to 7 takes that byte of `high`:`low`, n >= 8 replicates the
// top bit of byte n - 8.
WFACLI_DEVICE std::uint32_t permuted(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDACC__
  std::uint32_t out;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(low), "r"(high), "r"(selector));
  return out;
#else
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t out = 0;
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t nibble = selector >> 4 * k & 15;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> 8 * (nibble & 7)) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    out |= byte << 8 * k;
  }
  return out;
#endif
}

}  // namespace wfacli

// Where the band of bits.cu lies, and what it proves.
//
// Coordinates: i counts letters of the reversed query (rows), j letters of the reversed target (columns). Bit b of
// column j is row j + b - origin, so a diagonal keeps its bit. Rows at and above 0 hold H(i, j) = j - i, which the
// recurrence keeps up whatever letters it sees there, and which makes row 0 what it should be.
//
// What the band leaves out counts as unreachable from above, and as one edit from the diagonal before it below: all
// values are costs of real paths, thus never too low. A path that leaves the band takes at least (room + 1) gap
// letters more in either direction than the pair's lengths ask for (E. Ukkonen, "Algorithms for approximate string
// matching", Information and Control 1985), so a distance below |n - m| + 2 (room + 1) is true, and each cell of each
// cheapest path has its true value, which makes the path canonical as well.
#pragma once

#include "common/letters.cuh"

namespace wfacli {

constexpr std::int32_t kBitsLongest = 1 << 30;  // letters of a sequence

// A band of `diagonals` for a pair of n query and m target letters.
struct BitsBand {
  std::int32_t diagonals, n, m;

  WFACLI_DEVICE std::int32_t apart() const { return n > m ? n - m : m - n; }
  // Of the diagonal that begins in (0, 0), and of the one that ends in (n, m).
  WFACLI_DEVICE std::int32_t origin() const { return (diagonals - 1 - (n - m)) / 2; }
  WFACLI_DEVICE std::int32_t end() const { return origin() + (n - m); }
  // Distances below it are proved.
  WFACLI_DEVICE std::int32_t provable() const {
    const std::int32_t above = min(origin(), end()), below = diagonals - 1 - max(origin(), end());
    return apart() + 2 * (min(above, below) + 1);
  }
};

struct BitPlanes {
  std::uint32_t low, high;
};

// 16 letters' low bits in the lower half, their high bits in the upper one.
WFACLI_DEVICE std::uint32_t parted(std::uint32_t letters) {
  auto swap = [&letters](int by, std::uint32_t mask) {
    const std::uint32_t differ = (letters ^ letters >> by) & mask;
    letters ^= differ ^ differ << by;
  };
  swap(1, 0x22222222u);
  swap(2, 0x0c0c0c0cu);
  swap(4, 0x00f000f0u);
  swap(8, 0x0000ff00u);
  return letters;
}

// The planes of the reversed letters from r on, the first in bit 0; of letters that there are not, anything.
WFACLI_DEVICE BitPlanes planes_from(const Packed& sequence, std::int32_t r) {
  const std::int32_t first = sequence.length - 32 - r;  // in the file's order
  const std::int32_t word = min(max(first >> 4, -3), (sequence.length >> 4) + 1);
  const std::uint32_t skip = 2 * (static_cast<std::uint32_t>(first) & 15), middle = sequence.words[word + 1];
  const std::uint32_t a = parted(__funnelshift_r(sequence.words[word], middle, skip));
  const std::uint32_t b = parted(__funnelshift_r(middle, sequence.words[word + 2], skip));
  return {__brev(__byte_perm(a, b, 0x5410)), __brev(__byte_perm(a, b, 0x7632))};
}

}  // namespace wfacli

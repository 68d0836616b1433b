// Geometry of the band of bits.cu, and the distances that it proves.
//
// Coordinates: row i counts bases of the reversed query, column j bases of the reversed target. Bit b of column j is
// row j + b - origin, so a diagonal keeps its bit. Rows at and above 0 hold H(i, j) = j - i, which the recurrence
// preserves whatever bases it sees there, and which gives row 0 its right values.
//
// Cells above the band count as unreachable, cells below it as one edit more than the previous cell of their diagonal.
// So all values are costs of real paths, and never too low. A path that leaves the band needs at least (room + 1) gap
// bases in either direction beyond those that the lengths require (E. Ukkonen, "Algorithms for approximate string
// matching", Information and Control 1985). So a distance below |n - m| + 2 (room + 1) is exact, and every cell of
// every cheapest path has its exact value, which makes the path canonical as well.
#pragma once

#include "common/symbols.cuh"

namespace wfacli {

constexpr std::int32_t kBitsLongest = 1 << 30;  // bases of a sequence

// A band of `diagonals` diagonals for a pair of n query and m target bases.
struct BitsBand {
  std::int32_t diagonals, n, m;

  WFACLI_DEVICE std::int32_t length_difference() const { return n > m ? n - m : m - n; }
  // Bits of the diagonal that begins in (0, 0), and of the one that ends in (n, m).
  WFACLI_DEVICE std::int32_t origin() const { return (diagonals - 1 - (n - m)) / 2; }
  WFACLI_DEVICE std::int32_t end() const { return origin() + (n - m); }
  // Distances below this are proved.
  WFACLI_DEVICE std::int32_t provable() const {
    const std::int32_t above = min(origin(), end()), below = diagonals - 1 - max(origin(), end());
    return length_difference() + 2 * (min(above, below) + 1);
  }
};

struct BitPlanes {
  std::uint32_t low, high;
};

// Return the low bits of 16 bases in the lower half, their high bits in the upper half.
WFACLI_DEVICE std::uint32_t split_planes(std::uint32_t bases) {
  auto swap = [&bases](int by, std::uint32_t mask) {
    const std::uint32_t differ = (bases ^ bases >> by) & mask;
    bases ^= differ ^ differ << by;
  };
  swap(1, 0x22222222u);
  swap(2, 0x0c0c0c0cu);
  swap(4, 0x00f000f0u);
  swap(8, 0x0000ff00u);
  return bases;
}

// Return the planes of 32 reversed bases from r on, the first in bit 0. Those outside the sequence are arbitrary.
WFACLI_DEVICE BitPlanes planes_from(const Packed& sequence, std::int32_t r) {
  const std::int32_t first = sequence.length - 32 - r;  // in input order
  const std::int32_t word = min(max(first >> 4, -3), (sequence.length >> 4) + 1);
  const std::uint32_t skip = 2 * (static_cast<std::uint32_t>(first) & 15), middle = sequence.words[word + 1];
  const std::uint32_t a = split_planes(__funnelshift_r(sequence.words[word], middle, skip));
  const std::uint32_t b = split_planes(__funnelshift_r(middle, sequence.words[word + 2], skip));
  return {__brev(__byte_perm(a, b, 0x5410)), __brev(__byte_perm(a, b, 0x7632))};
}

}  // namespace wfacli

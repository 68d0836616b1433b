// Bit planes of bases: all bases of a row of the band are compared in a few operations.
#pragma once

#include "common/symbols.cuh"

namespace wfacli::dp {

// Return the even bits of a word, in order, in the low half.
WFACLI_DEVICE std::uint32_t even_bits(std::uint32_t x) {
  x &= 0x55555555u;
  x = (x | x >> 1) & 0x33333333u;
  x = (x | x >> 2) & 0x0f0f0f0fu;
  x = (x | x >> 4) & 0x00ff00ffu;
  return (x | x >> 8) & 0xffffu;
}

// Return bit `bit` of each of four bytes in bits 3 to 0, the lowest byte first.
WFACLI_DEVICE std::uint32_t bit_of_bytes(std::uint32_t bytes, int bit) {
  return (bytes >> bit & 0x01010101u) * 0x08040201u >> 24 & 15;
}

// A C G T, two planes.
struct PackedPlanes {
  static constexpr int kPlanes = 2;
  Packed symbols;

  WFACLI_DEVICE static PackedPlanes query(const AlignTask& task, std::int32_t row) {
    return {Packed::query(task.seq, row)};
  }
  WFACLI_DEVICE static PackedPlanes target(const AlignTask& task, std::int32_t row) {
    return {Packed::target(task.seq, row)};
  }
  // Read 16 reversed bases from r on into the low halves, the first in bit 15. Those outside the sequence are
  // arbitrary.
  WFACLI_DEVICE void read(std::int32_t r, std::uint32_t (&planes)[kPlanes]) const {
    const std::uint32_t window = symbols.window(min(max(r, -16), symbols.length));
    planes[0] = even_bits(window);
    planes[1] = even_bits(window >> 1);
  }
  WFACLI_DEVICE static std::uint32_t differ(const std::uint32_t (&query)[kPlanes],
                                            const std::uint32_t (&target)[kPlanes], bool) {
    return (query[0] ^ target[0]) | (query[1] ^ target[1]);
  }
};

// Any symbols, one plane per bit of their codes.
struct CodedPlanes {
  static constexpr int kPlanes = 8;
  Coded symbols;

  WFACLI_DEVICE static CodedPlanes query(const AlignTask& task, std::int32_t row) {
    return {Coded::query(task.seq, row)};
  }
  WFACLI_DEVICE static CodedPlanes target(const AlignTask& task, std::int32_t row) {
    return {Coded::target(task.seq, row)};
  }
  WFACLI_DEVICE void read(std::int32_t r, std::uint32_t (&planes)[kPlanes]) const {
    for (int p = 0; p < kPlanes; ++p) planes[p] = 0;
    for (std::int32_t from = 0; from < 16; from += 4) {
      std::uint32_t four = 0;
#pragma unroll
      for (std::int32_t k = 0; k < 4; ++k) {
        const std::int32_t at = r + from + k;
        if (at >= 0 && at < symbols.length) four |= symbols.code(at) << 8 * k;
      }
#pragma unroll
      for (int p = 0; p < kPlanes; ++p) planes[p] = planes[p] << 4 | bit_of_bytes(four, p);
    }
  }
  WFACLI_DEVICE static std::uint32_t differ(const std::uint32_t (&query)[kPlanes],
                                            const std::uint32_t (&target)[kPlanes], bool wildcard) {
    std::uint32_t differing = 0, common = 0;
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      differing |= query[p] ^ target[p];
      common |= query[p] & target[p];
    }
    return wildcard ? ~common : differing;
  }
};

// The bases that 16 rows of a band of kWidth diagonals compare, for one pair.
template <class Planes, int kWidth>
struct Strip {
  static constexpr int kPlanes = Planes::kPlanes;
  static constexpr int kMasks = kWidth < 32 ? 1 : kWidth / 32;  // words of 32 diagonals
  static constexpr int kWords = kWidth < 32 ? 1 : kMasks + 1;   // words of 32 bases, the first in the top bit

  Planes query, target;
  std::uint32_t rows[kPlanes];             // 16 query bases, the first in the top bit
  std::uint32_t columns[kPlanes][kWords];  // the target bases that they are compared with

  // Shift by 16 bases and append the next 16.
  WFACLI_DEVICE void push(std::int32_t r) {
    std::uint32_t next[kPlanes];
    target.read(r, next);
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      if (kWidth < 32) {
        columns[p][0] = columns[p][0] << 16 | next[p];
      } else {
#pragma unroll
        for (int w = 0; w + 1 < kWords; ++w) columns[p][w] = __funnelshift_l(columns[p][w + 1], columns[p][w], 16);
        columns[p][kWords - 1] = next[p] << 16;
      }
    }
  }
  // Prepare for the rows of query bases 0 to 15, of a band whose first diagonal is `low`.
  WFACLI_DEVICE void begin(std::int32_t low) {
#pragma unroll
    for (int p = 0; p < kPlanes; ++p)
#pragma unroll
      for (int w = 0; w < kWords; ++w) columns[p][w] = 0;
    for (std::int32_t r = 0; r < kWidth; r += 16) push(low + r);
  }
  // Enter the rows of query bases `base` to base + 15; `base` is 0, 16, 32, ...
  WFACLI_DEVICE void enter(std::int32_t base, std::int32_t low) {
    push(low + base + kWidth);
    query.read(base, rows);
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) rows[p] <<= 16;
  }
  // Set bit 31 - c of word w if row `row` of the 16 has different bases on diagonal 32 * w + c.
  WFACLI_DEVICE void differ(std::int32_t row, bool wildcard, std::uint32_t (&masks)[kMasks]) const {
    std::uint32_t row_symbol[kPlanes], column_symbols[kPlanes];
#pragma unroll
    for (int p = 0; p < kPlanes; ++p)
      row_symbol[p] = static_cast<std::uint32_t>(static_cast<std::int32_t>(rows[p] << row) >> 31);
#pragma unroll
    for (int w = 0; w < kMasks; ++w) {
#pragma unroll
      for (int p = 0; p < kPlanes; ++p)
        column_symbols[p] = kWidth < 32 ? columns[p][0] << row
                                        : __funnelshift_l(columns[p][min(w + 1, kWords - 1)], columns[p][w], row);
      masks[w] = Planes::differ(row_symbol, column_symbols, wildcard);
    }
  }
};

// The bases that 16 steps of two anti-diagonals each compare, on the 2 * kSpan diagonals of a lane. In step s,
// diagonals 2 x and 2 x + 1 of the band are in the row of query base s - x - 1.
template <class Planes, int kSpan>
struct Crossing {
  static_assert(kSpan <= 16);
  static constexpr int kPlanes = Planes::kPlanes;

  Planes query, target;
  std::int32_t ahead, beyond;      // of the lane's first diagonal: query position at step 0, and target position
  std::uint32_t rows[kPlanes];     // 32 query bases, in descending order
  std::uint32_t columns[kPlanes];  // 32 target bases, in ascending order

  // Prepare for the steps from `step` on, of a band whose first diagonal is `low`.
  WFACLI_DEVICE void begin(std::int32_t lane, std::int32_t low, std::int32_t step) {
    ahead = -lane * kSpan;
    beyond = lane * kSpan + low;
    query.read(step + ahead - 16, rows);
    target.read(step + beyond - 1, columns);
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) rows[p] = __brev(rows[p]);
  }
  // Enter the next 16 steps, from `step` on.
  WFACLI_DEVICE void enter(std::int32_t step) {
    std::uint32_t next[kPlanes];
    query.read(step + ahead, next);
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) rows[p] = rows[p] >> 16 | __brev(next[p]);
    target.read(step + beyond + 15, next);
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) columns[p] = columns[p] << 16 | next[p];
  }
  // Bit 31 - x: whether step r of the 16 compares different bases on the lane's diagonal 2 x + odd.
  WFACLI_DEVICE std::uint32_t differ(std::int32_t r, int odd, bool wildcard) const {
    std::uint32_t of_rows[kPlanes], of_columns[kPlanes];
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      of_rows[p] = rows[p] << (16 - r);
      of_columns[p] = columns[p] << (r + odd);
    }
    return Planes::differ(of_rows, of_columns, wildcard);
  }
};

}  // namespace wfacli::dp

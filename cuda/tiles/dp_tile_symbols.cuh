// Substitution scores of a row and a column of the matrix, for two pairs at a time, one in each 16-bit half of a word.
#pragma once

#include "common/permute.cuh"
#include "common/symbols.cuh"

namespace wfacli::dp {

// Values of a match and of a mismatch, each a signed 8-bit value.
struct MatchValues {
  std::int32_t match, mismatch;
};

// A, C, G, T only. A row is a profile: one byte for each of the four bases that a column may have, in one word per
// pair. A column is a selector of permuted(), which picks the byte of each pair's target base and sign-extends it to
// 16 bits.
struct PackedTiles {
  using Sequence = Packed;
  struct Row {
    std::uint32_t values[2];
  };

  std::uint32_t mismatch;    // the mismatch value in all four bytes
  std::uint32_t match_xor;   // turns one byte of it into the match value
  std::uint32_t windows[2];  // query bases of the next rows, the next one in the top two bits

  WFACLI_DEVICE static PackedTiles of(const AlignTask&, MatchValues values) {
    PackedTiles symbols;
    symbols.mismatch = static_cast<std::uint32_t>(values.mismatch & 0xff) * 0x01010101u;
    symbols.match_xor = static_cast<std::uint32_t>((values.mismatch ^ values.match) & 0xff);
    symbols.windows[0] = symbols.windows[1] = 0;
    return symbols;
  }
  // 16 reversed bases from r on, in 2 bits each; bits of positions outside the sequence are unspecified.
  WFACLI_DEVICE static std::uint32_t window(const Packed& sequence, std::int32_t r) {
    return sequence.window(min(max(r, -16), sequence.length));
  }
  // Return the selectors of kColumns columns, from reversed position r of each target on.
  template <int kColumns>
  WFACLI_DEVICE void columns(const Packed (&target)[2], const std::int32_t (&r)[2],
                             std::uint32_t (&out)[kColumns]) const {
    static_assert(kColumns <= 16);
    const std::uint32_t a = window(target[0], r[0]), b = window(target[1], r[1]);
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      out[j] = (a >> (30 - 2 * j) & 3) * 0x0011u + (b >> (30 - 2 * j) & 3) * 0x1100u + 0xc480u;
  }
  // Load the next 16 rows, from reversed position r of each query on.
  WFACLI_DEVICE void enter(const Packed (&query)[2], const std::int32_t (&r)[2]) {
    windows[0] = window(query[0], r[0]);
    windows[1] = window(query[1], r[1]);
  }
  WFACLI_DEVICE Row next() {
    Row row;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      row.values[x] = mismatch ^ match_xor << (windows[x] >> 27 & 24);
      windows[x] <<= 2;
    }
    return row;
  }
  WFACLI_DEVICE std::uint32_t value(const Row& row, std::uint32_t column) const {
    return permuted(row.values[0], row.values[1], column);
  }
};

// Any symbols. A row and a column are 8-bit codes, one in each 16-bit half.
struct CodedTiles {
  using Sequence = Coded;
  using Row = std::uint32_t;

  std::uint32_t match, difference;       // value of a match; mismatch minus match, as a 16-bit factor
  std::uint32_t wildcard, flip;          // all ones and 1 in each half if codes that share a bit match, else 0
  const std::uint8_t* ahead[2];          // one past the code of the next row; rows read downwards in memory
  std::int32_t remaining[2], before[2];  // codes left, and rows before the first code

  WFACLI_DEVICE static CodedTiles of(const AlignTask& task, MatchValues values) {
    CodedTiles symbols{};
    symbols.match = static_cast<std::uint32_t>(values.match & 0xffff) * 0x00010001u;
    symbols.difference = static_cast<std::uint32_t>((values.mismatch - values.match) & 0xffff);
    symbols.wildcard = task.wildcard ? 0xffffffffu : 0;
    symbols.flip = task.wildcard ? 0x00010001u : 0;
    return symbols;
  }
  WFACLI_DEVICE static std::uint32_t code(const Coded& sequence, std::int32_t r) {
    return r >= 0 && r < sequence.length ? sequence.code(r) : 0;
  }
  template <int kColumns>
  WFACLI_DEVICE void columns(const Coded (&target)[2], const std::int32_t (&r)[2],
                             std::uint32_t (&out)[kColumns]) const {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) out[j] = code(target[0], r[0] + j) | code(target[1], r[1] + j) << 16;
  }
  WFACLI_DEVICE void enter(const Coded (&query)[2], const std::int32_t (&r)[2]) {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t from = min(max(r[x], 0), query[x].length);
      ahead[x] = query[x].codes + query[x].length - from;
      remaining[x] = query[x].length - from;
      before[x] = from - r[x];
    }
  }
  WFACLI_DEVICE Row next() {
    std::uint32_t row = 0;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      if (before[x]-- <= 0 && remaining[x]-- > 0) row |= static_cast<std::uint32_t>(*--ahead[x]) << 16 * x;
    }
    return row;
  }
  WFACLI_DEVICE std::uint32_t value(Row row, std::uint32_t column) const {
    const std::uint32_t common = row & column, different = row ^ column;
    const std::uint32_t mismatched = __vmins2((common & wildcard) | (different & ~wildcard), 0x00010001u) ^ flip;
    return __vadd2(mismatched * difference, match);
  }
};

}  // namespace wfacli::dp

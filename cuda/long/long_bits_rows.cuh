// Rows of a lane that match the symbol of a column, for long_bits.cuh: rows are symbols of the query, 32 in a word.
//
// Columns are processed kStep at a time. Their symbols are bits of the lowest byte of one word per plane
// (common/planes.cuh), the first column in the lowest bit.
#pragma once

#include "common/planes.cuh"

namespace wfacli {

// For small alphabets: a table in shared memory has, for each symbol, a word of the rows that match it. Matches are
// loaded instead of computed, and do not depend on previous columns.
template <int Planes, int Words>
class RowsInTable {
 public:
  struct alignas(16) Memory {  // per warp
    std::uint32_t words[(1 << Planes) * Words * 32];
  };

  WFACLI_DEVICE explicit RowsInTable(Memory& memory)
      : own_(reinterpret_cast<std::uint8_t*>(memory.words + (threadIdx.x & 31) * kVector)) {}

  // Set the symbols of word w, and which of its rows have one.
  WFACLI_DEVICE void set(int w, const std::uint32_t (&planes)[Planes], std::uint32_t rows) {
#pragma unroll
    for (int symbol = 0; symbol < 1 << Planes; ++symbol) {
      std::uint32_t equal = rows;
#pragma unroll
      for (int p = 0; p < Planes; ++p) equal &= symbol >> p & 1 ? planes[p] : ~planes[p];
      std::uint32_t* const words = reinterpret_cast<std::uint32_t*>(own_ + symbol * kStride);
      words[w / kVector * 32 * kVector + w % kVector] = equal;
    }
  }
  // Return the rows that match column k of a step.
  WFACLI_DEVICE void matching(const std::uint32_t (&planes)[Planes], int k, std::uint32_t (&equal)[Words]) const {
    std::uint32_t at = 0;
#pragma unroll
    for (int p = 0; p < Planes; ++p) at += (planes[p] & 1u << k) * ((kStride << p) >> k);
    const std::uint8_t* const words = own_ + at;
    if constexpr (Words == 1) {
      equal[0] = *reinterpret_cast<const std::uint32_t*>(words);
    } else if constexpr (Words == 2) {
      const uint2 both = *reinterpret_cast<const uint2*>(words);
      equal[0] = both.x, equal[1] = both.y;
    } else {
#pragma unroll
      for (int w = 0; w < Words; w += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(words + 128 * w);
        equal[w] = four.x, equal[w + 1] = four.y, equal[w + 2] = four.z, equal[w + 3] = four.w;
      }
    }
  }

 private:
  static constexpr int kVector = Words < 4 ? Words : 4;          // words that are read at once, contiguous
  static constexpr std::uint32_t kStride = Words * 32 * 4;  // bytes per symbol; a power of two, at least 128

  std::uint8_t* own_;
};

// For any alphabet: symbols of the rows are compared plane by plane.
template <int Planes, int Words>
class RowsInPlanes {
 public:
  struct Memory {};

  WFACLI_DEVICE explicit RowsInPlanes(Memory&) {}

  WFACLI_DEVICE void set(int w, const std::uint32_t (&planes)[Planes], std::uint32_t rows) {
#pragma unroll
    for (int p = 0; p < Planes; ++p) planes_[p][w] = planes[p];
    rows_[w] = rows;
  }
  WFACLI_DEVICE void matching(const std::uint32_t (&planes)[Planes], int k, std::uint32_t (&equal)[Words]) const {
    std::uint32_t differ[Words] = {};
#pragma unroll
    for (int p = 0; p < Planes; ++p) {
      const auto symbol_bit = static_cast<std::uint32_t>(static_cast<std::int32_t>(planes[p] << (31 - k)) >> 31);
#pragma unroll
      for (int w = 0; w < Words; ++w) differ[w] |= planes_[p][w] ^ symbol_bit;
    }
#pragma unroll
    for (int w = 0; w < Words; ++w) equal[w] = ~differ[w] & rows_[w];
  }

 private:
  std::uint32_t planes_[Planes][Words], rows_[Words];
};

template <int Planes, int Words>
struct RowsOf {
  using Type = RowsInTable<Planes, Words>;
};
template <int Words>
struct RowsOf<8, Words> {
  using Type = RowsInPlanes<8, Words>;
};

}  // namespace wfacli

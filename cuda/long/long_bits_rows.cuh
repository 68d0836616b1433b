// Which of a lane's rows match a column's letter, for long_bits.cuh: rows are letters of the query, 32 in a word.
//
// Columns come kStep at a time; their letters are bits of the lowest byte of a word for each plane (common/planes.cuh),
// the first column's the lowest.
#pragma once

#include "common/planes.cuh"

namespace wfacli {

// Few letters: shared memory has, for each, a word of the rows that have it. So what matches is read and not computed,
// and does not depend on what came before.
template <int Planes, int Words>
class RowsInTable {
 public:
  struct alignas(16) Memory {  // of a warp
    std::uint32_t words[(1 << Planes) * Words * 32];
  };

  WFACLI_DEVICE explicit RowsInTable(Memory& memory)
      : own_(reinterpret_cast<std::uint8_t*>(memory.words + (threadIdx.x & 31) * kVector)) {}

  // Word w's letters, and which of its rows have any.
  WFACLI_DEVICE void set(int w, const std::uint32_t (&planes)[Planes], std::uint32_t rows) {
#pragma unroll
    for (int letter = 0; letter < 1 << Planes; ++letter) {
      std::uint32_t equal = rows;
#pragma unroll
      for (int p = 0; p < Planes; ++p) equal &= letter >> p & 1 ? planes[p] : ~planes[p];
      std::uint32_t* const words = reinterpret_cast<std::uint32_t*>(own_ + letter * kStride);
      words[w / kVector * 32 * kVector + w % kVector] = equal;
    }
  }
  // Column k of a step.
  WFACLI_DEVICE void matching(const std::uint32_t (&letters)[Planes], int k, std::uint32_t (&equal)[Words]) const {
    std::uint32_t at = 0;
#pragma unroll
    for (int p = 0; p < Planes; ++p) at += (letters[p] & 1u << k) * ((kStride << p) >> k);
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
  static constexpr int kVector = Words < 4 ? Words : 4;          // words that are read at once, neighbours in memory
  static constexpr std::uint32_t kStride = Words * 32 * 4;  // bytes of a letter; a power of two, 128 at least

  std::uint8_t* own_;
};

// Any letters: those of the rows are compared, plane by plane.
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
  WFACLI_DEVICE void matching(const std::uint32_t (&letters)[Planes], int k, std::uint32_t (&equal)[Words]) const {
    std::uint32_t differ[Words] = {};
#pragma unroll
    for (int p = 0; p < Planes; ++p) {
      const auto letter = static_cast<std::uint32_t>(static_cast<std::int32_t>(letters[p] << (31 - k)) >> 31);
#pragma unroll
      for (int w = 0; w < Words; ++w) differ[w] |= planes_[p][w] ^ letter;
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

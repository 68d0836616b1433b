// Scores of two symbols for vectors of cells: by comparing classes, or from profiles. Included by local_tile.hpp only.
#pragma once

#include "solvers/local/local_lanes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Row of the strip for row `deep` of a lane. A lane has kDeep consecutive rows; the topmost rows are in the last lane.
template <class L, int kDeep>
constexpr int lane_row(int lane, int deep) {
  return (L::kCount - 1 - lane) * kDeep + deep;
}

// Symbols of the same class score `match`, all others `mismatch`.
template <class L, int kDeep>
class EqualScores {
 public:
  using Vector = typename L::Vector;

  WFACLI_INLINE EqualScores(const LocalStrip& strip, const LocalTile&)
      : columns_(strip.column_classes - (L::kCount - 1)), match_(L::all(strip.match)), other_(L::all(strip.mismatch)) {
    for (int d = 0; d < kDeep; ++d)
      for (int l = 0; l < L::kCount; ++l) rows_[d][l] = strip.row_classes[lane_row<L, kDeep>(l, d)];
  }
  WFACLI_INLINE void block(std::int64_t) {}
  WFACLI_INLINE void step(std::int64_t s) { now_ = L::widened(columns_ + s); }
  WFACLI_INLINE Vector score(int d) const { return L::pick(L::same(rows_[d], now_), match_, other_); }

 private:
  const std::uint8_t* columns_;
  Vector match_, other_, now_, rows_[kDeep];
};

// Any scores: the profiles of the rows are transposed into the order of lanes, kLocalBlock steps at a time.
template <class L, int kDeep>
class ProfileScores {
 public:
  using Vector = typename L::Vector;
  using Lane = typename L::Lane;

  WFACLI_INLINE ProfileScores(const LocalStrip& strip, const LocalTile&) : strip_(strip) {
    for (int row = 0; row < kDeep * L::kCount; ++row)
      rows_[row] = strip.profile + strip.profile_rows[strip.row_codes[row]] * strip.stride;
  }
  WFACLI_INLINE void block(std::int64_t s) {
#if defined(__AVX2__)
    if constexpr (L::kNarrow)
      for (int d = 0; d < kDeep; d += 2) fill_two(s, d);
    else
#endif
      for (int d = 0; d < kDeep; ++d) fill(s, d);
    exclude(s);
    at_ = scores_ - kDeep * L::kCount;
  }
  WFACLI_INLINE void step(std::int64_t) { at_ += kDeep * L::kCount; }
  WFACLI_INLINE Vector score(int d) const { return L::load(at_ + d * L::kCount); }

 private:
  typedef std::uint8_t Bytes __attribute__((vector_size(L::kBytes)));

  // Scores of row d of lane l in steps from s on.
  WFACLI_INLINE const std::int8_t* row(int l, int d, std::int64_t s) const {
    return rows_[lane_row<L, kDeep>(l, d)] + s - (L::kCount - 1 - l);
  }
  WFACLI_INLINE void fill(std::int64_t s, int d) {
    for (int l = 0; l < L::kCount; ++l) {
      const std::int8_t* from = row(l, d, s);
      for (int x = 0; x < kLocalBlock; ++x) scores_[(x * kDeep + d) * L::kCount + l] = from[x];
    }
  }
#if defined(__AVX2__)
  // Fill sixteen steps of rows d and d + 1 of all lanes. The rows are loaded side by side into sixteen vectors, which
  // four rounds of interleaving transpose, so that each holds one step of all lanes.
  WFACLI_INLINE void fill_two(std::int64_t s, int d) {
    Bytes square[2][16];
#pragma GCC unroll 16
    for (int l = 0; l < 16; ++l) square[0][l] = side_by_side(l, d, s);
#pragma GCC unroll 4
    for (int turn = 0; turn < 4; ++turn) {
      const Bytes* from = square[turn & 1];
      Bytes* to = square[~turn & 1];
#pragma GCC unroll 8
      for (int x = 0; x < 8; ++x) {
        to[2 * x] = interleave_low(from[x], from[x + 8]);
        to[2 * x + 1] = interleave_high(from[x], from[x + 8]);
      }
    }
#pragma GCC unroll 16
    for (int x = 0; x < kLocalBlock; ++x) store_step(scores_ + (x * kDeep + d) * L::kCount, square[0][x]);
  }
  WFACLI_INLINE __m128i sixteen(int lane, int d, std::int64_t s) const {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row(lane, d, s)));
  }
#if defined(__AVX512BW__)
  WFACLI_INLINE Bytes side_by_side(int l, int d, std::int64_t s) const {
    __m512i all = _mm512_castsi128_si512(sixteen(l, d, s));
    all = _mm512_inserti32x4(all, sixteen(l + 16, d, s), 1);
    all = _mm512_inserti32x4(all, sixteen(l, d + 1, s), 2);
    return (Bytes)_mm512_inserti32x4(all, sixteen(l + 16, d + 1, s), 3);
  }
  // Store rows d and d + 1 of a step.
  static WFACLI_INLINE void store_step(Lane* to, Bytes step) {
    // The masked forms avoid warnings of GCC 12 about its own headers.
    L::store(to, (Vector)_mm512_cvtepi8_epi16(_mm512_maskz_extracti64x4_epi64(0xff, (__m512i)step, 0)));
    L::store(to + L::kCount, (Vector)_mm512_cvtepi8_epi16(_mm512_maskz_extracti64x4_epi64(0xff, (__m512i)step, 1)));
  }
  // Interleave the bytes of a and b from the lower, or the upper, half of each 16 bytes.
  static WFACLI_INLINE Bytes interleave_low(Bytes a, Bytes b) {
    return (Bytes)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
  }
  static WFACLI_INLINE Bytes interleave_high(Bytes a, Bytes b) {
    return (Bytes)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b);
  }
#else
  WFACLI_INLINE Bytes side_by_side(int l, int d, std::int64_t s) const {
    return (Bytes)_mm256_inserti128_si256(_mm256_castsi128_si256(sixteen(l, d, s)), sixteen(l, d + 1, s), 1);
  }
  static WFACLI_INLINE void store_step(Lane* to, Bytes step) {
    L::store(to, (Vector)_mm256_cvtepi8_epi16(_mm256_castsi256_si128((__m256i)step)));
    L::store(to + L::kCount, (Vector)_mm256_cvtepi8_epi16(_mm256_extracti128_si256((__m256i)step, 1)));
  }
  static WFACLI_INLINE Bytes interleave_low(Bytes a, Bytes b) {
    return (Bytes)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
  }
  static WFACLI_INLINE Bytes interleave_high(Bytes a, Bytes b) {
    return (Bytes)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
  }
#endif
#endif
  // Set the scores of excluded cells so low that no path aligns their symbols.
  WFACLI_INLINE void exclude(std::int64_t s) {
    for (std::int64_t x = 0; x < strip_.num_excluded; ++x) {
      const ExcludedCell& cell = strip_.excluded[x];
      const int lane = L::kCount - 1 - static_cast<int>(cell.row) / kDeep, d = static_cast<int>(cell.row) % kDeep;
      const std::int64_t step = cell.column - strip_.column + (L::kCount - 1 - lane) - s;
      if (step < 0 || step >= kLocalBlock) continue;
      scores_[(step * kDeep + d) * L::kCount + lane] = static_cast<Lane>(L::kNever);
    }
  }

  const LocalStrip& strip_;
  const std::int8_t* rows_[kDeep * L::kCount];
  const Lane* at_ = nullptr;
  alignas(64) Lane scores_[kLocalBlock * kDeep * L::kCount];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

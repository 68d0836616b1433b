// Blocks of 64 rows, one per lane, and the update from one column to the next.
// Included by the units of bit-vector kernels only; everything here exists once per instruction set.
//
// Source: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM
// 1999, in the form of H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003.
#pragma once

#include "base/shuffle.hpp"
#include "kernels/bits/bits_vector.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Bit vectors of deltas of +1 and of -1.
struct Deltas {
  V plus, minus;
};

// Advances a block's vertical deltas by one column. `differ` marks rows whose symbol differs from the column's; bit 0
// of `above` is the horizontal delta of the row above the block. Returns the horizontal deltas of the block's rows.
WFACLI_INLINE Deltas next_column(Deltas& vertical, V differ, Deltas above) {
  const V pv = vertical.plus, mv = vertical.minus;
  const V stays = mv | ~differ, from = above.minus | ~differ;
  const V zero = xor_or((from & pv) + pv, pv, from);
  const Deltas horizontal = {or_neither(mv, zero, pv), pv & zero};
  const V ph = (horizontal.plus + horizontal.plus) | above.plus;
  const V mh = (horizontal.minus + horizontal.minus) | above.minus;
  vertical = {or_neither(mh, stays, ph), ph & stays};
  return horizontal;
}

// Compares the rows of each lane's block with the symbol of its current column, and returns the rows that differ.
// `columns` holds planes whose topmost bit is the current symbol; they advance to the next column.
template <int P>
WFACLI_INLINE V unequal_rows(const V (&rows)[P], V (&columns)[P]) {
  V differ = rows[0] ^ top_bit_everywhere(columns[0]);
  columns[0] += columns[0];
  for (int p = 1; p < P; ++p) {
    differ = or_differ(differ, rows[p], top_bit_everywhere(columns[p]));
    columns[p] += columns[p];
  }
  return differ;
}

// Shifts lanes up by one: lane l gets the value of lane l - 1, and lane 0 that of the last lane of `before`.
WFACLI_INLINE V next_lane(V v, V before) {
#if defined(__AVX512BW__)
  return (V)_mm512_alignr_epi64((__m512i)v, (__m512i)before, 7);
#else
  return reordered(before, v, [](int lane) { return lane + kLanes - 1; });
#endif
}

// Collects the top bits of 64 words; that of word k goes to bit k.
WFACLI_INLINE Word top_bits(const Word* words) {
  Word all = 0;
#if defined(__AVX512BW__)
  for (int k = 0; k < 8; ++k) all |= Word{_mm512_movepi64_mask((__m512i)load(words + 8 * k))} << 8 * k;
#elif defined(__AVX2__)
  for (int k = 0; k < 64; k += 4)
    all |= static_cast<Word>(_mm256_movemask_pd((__m256d)load(words + k))) << k;
#elif defined(__x86_64__)
  for (int k = 0; k < 64; k += 2) all |= static_cast<Word>(_mm_movemask_pd((__m128d)load(words + k))) << k;
#else
  for (int k = 0; k < 64; ++k) all |= words[k] >> 63 << k;
#endif
  return all;
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Furthest-reaching points under unit costs: one row for each number of edits, several rows at a time.
// Included by edit_isa.cpp only; everything here exists once per instruction set.
//
// E. Ukkonen, "Algorithms for approximate string matching", Information and Control 1985; E. Myers, "An O(ND)
// difference algorithm and its variations", Algorithmica 1986. Rows are computed in parallelograms, as in other
// stencils, so that the symbols at the points of a diagonal stay in the cache from row to row.
#pragma once

#include <cstring>

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "base/buffer.hpp"
#include "solvers/edit/edit.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Offset, class Symbol, bool FromEnd>
class EditFront {
 public:
  explicit EditFront(const FrontTask<Offset>& task)
      : t_(task),
        query_len_(task.pair.query_len),
        target_len_(task.pair.target_len),
        query_(static_cast<const Symbol*>(task.pair.query) + (FromEnd ? query_len_ : 0)),
        target_(static_cast<const Symbol*>(task.pair.target) + (FromEnd ? target_len_ : 0)) {}

  void begin() { t_.rows[0][0] = matched(0, 0, 0); }

  int advance(std::int64_t score, std::int64_t count) {
    int from = 0;
    while (count > 0) {
      const int rows = count < kRows ? static_cast<int>(count) : kRows;
      parallelograms(score, rows, from);
      from = (from + rows) & 1;
      score += rows;
      count -= rows;
    }
    return from;
  }

 private:
  // Size of a parallelogram; diagonals per check for the ends of the sequences.
  static constexpr int kRows = 16, kDiagonals = 256, kBlock = 64;
  static constexpr int kWord = 8 / sizeof(Symbol);  // symbols compared at once

  // Each row of a parallelogram lies one diagonal further left than the row before, so its inputs exist: those on the
  // left are from the previous parallelogram, those on the right from its own rows. Two alternating arrays suffice: no
  // point is overwritten before its last use.
  void parallelograms(std::int64_t score, int rows, int from) {
    const std::int64_t end = t_.reach.widest(score + rows) + rows;
    for (std::int64_t begin = t_.reach.first(score + 1) + 1; begin <= end; begin += kDiagonals) {
      for (int t = 1; t <= rows; ++t) {
        const std::int64_t lo = t_.reach.first(score + t), hi = t_.reach.last(score + t);
        const std::int64_t left = begin - t, right = left + kDiagonals - 1;
        row(t_.rows[(from + t - 1) & 1], t_.rows[(from + t) & 1], left > lo ? left : lo, right < hi ? right : hi);
      }
    }
  }

  // Compute diagonals first .. last of a row from the row before it.
  WFACLI_INLINE void row(const Offset* before, Offset* made, std::int64_t first, std::int64_t last) const {
    for (; first + kBlock - 1 <= last; first += kBlock) block(before, made, first, kBlock);
    if (first <= last) block(before, made, first, static_cast<int>(last - first + 1));
  }

  // Compute `count` diagonals. Only if a word may reach beyond an end, each run of matches is extended with checks.
  WFACLI_INLINE void block(const Offset* before, Offset* made, std::int64_t first, int count) const {
    Offset* at = made + first;
    if (one_edit_more(before + first, at, first, count) >= kWord) extend(at, first, count);
    else
      for (int x = 0; x < count; ++x) at[x] = matched(at[x], first + x, 0);
  }

  // Extend points by their runs of matches; each has room for a word. Most runs are shorter than a word.
  WFACLI_INLINE void extend(Offset* at, std::int64_t first, int count) const {
    const Symbol* q = FromEnd ? query_ + first : query_ - first;
    int x = 0;
#if defined(__AVX512BW__)
    if constexpr (sizeof(Offset) == 4 && sizeof(Symbol) == 1)
      for (; x + 16 <= count; x += 16) extend_16(at + x, FromEnd ? q + x : q - x, first + x);
#endif
    for (; x < count; ++x) {
      const std::int64_t j = at[x];
      const std::uint64_t differ = differences(FromEnd ? q + x - j : q - x + j, FromEnd ? target_ - j : target_ + j);
      if (__builtin_expect(differ != 0, 1))
        at[x] = static_cast<Offset>(j + equal_symbols(differ));
      else at[x] = matched(j, first + x, kWord);
    }
  }

#if defined(__AVX512BW__)
  template <class Vector>
  static WFACLI_INLINE __m512i four_symbols(Vector at, const Symbol* from) {
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, (__m512i)at, from, 1);
  }
  template <class Vector>
  static WFACLI_INLINE Vector leading_zeros(Vector v) {
    return (Vector)_mm512_maskz_lzcnt_epi32(0xffff, (__m512i)v);
  }
  // Extend sixteen diagonals by up to four symbols each, and longer runs one by one.
  WFACLI_INLINE void extend_16(Offset* at, const Symbol* q, std::int64_t first) const {
    typedef std::uint32_t Sixteen __attribute__((vector_size(64)));
    const Sixteen j = (Sixteen)_mm512_loadu_si512(at);
    const Sixteen i = j - Sixteen{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Sixteen a = (Sixteen)four_symbols(FromEnd ? -i : i, FromEnd ? q - 4 : q);
    const Sixteen b = (Sixteen)four_symbols(FromEnd ? -j : j, FromEnd ? target_ - 4 : target_);
    const Sixteen differ = a ^ b;
    // Number of equal bits above the highest bit that differs (from the end), or below the lowest one.
    const Sixteen bits = FromEnd ? leading_zeros(differ) : 32 - leading_zeros(~differ & (differ - 1));
    _mm512_storeu_si512(at, (__m512i)(j + (bits >> 3)));
    for (__mmask16 more = _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); more; more &= more - 1) {
      const int x = __builtin_ctz(more);
      at[x] = matched(at[x], first + x, 0);
    }
  }
#endif

  // Compute the points that one more edit reaches, within the matrix. Return the minimum of the symbols left after
  // them, at most kWord.
  WFACLI_INLINE Offset one_edit_more(const Offset* __restrict o, Offset* __restrict at, std::int64_t first,
                                     int count) const {
    const Offset columns = static_cast<Offset>(target_len_), end = static_cast<Offset>(query_len_ + first);
    Offset room = kWord;
    for (int x = 0; x < count; ++x) {
      Offset j = (o[x - 1] > o[x] ? o[x - 1] : o[x]) + 1;
      j = j > o[x + 1] ? j : o[x + 1];
      const Offset bound = end + x < columns ? end + x : columns;
      j = j < bound ? j : bound;
      room = room < bound - j ? room : bound - j;
      at[x] = j;
    }
    return room;
  }

  // XOR of the words of symbols at q and t, or before them for the front from the end.
  static WFACLI_INLINE std::uint64_t differences(const Symbol* q, const Symbol* t) {
    std::uint64_t a, b;
    std::memcpy(&a, FromEnd ? q - kWord : q, 8);
    std::memcpy(&b, FromEnd ? t - kWord : t, 8);
    return a ^ b;
  }
  static WFACLI_INLINE int equal_symbols(std::uint64_t differ) {
    return (FromEnd ? __builtin_clzll(differ) : __builtin_ctzll(differ)) / (64 / kWord);
  }

  // Return the column after the run of matches from column j of diagonal k. `run` of its matches are known. Reads no
  // symbols beyond the ends.
  __attribute__((noinline)) Offset matched(std::int64_t j, std::int64_t k, std::int64_t run) const {
    const std::int64_t i = j - k, rows = query_len_ - i, columns = target_len_ - j;
    const std::int64_t room = rows < columns ? rows : columns;
    const Symbol* q = FromEnd ? query_ - i : query_ + i;
    const Symbol* t = FromEnd ? target_ - j : target_ + j;
    for (; run + kWord <= room; run += kWord) {
      const std::uint64_t differ = FromEnd ? differences(q - run, t - run) : differences(q + run, t + run);
      if (differ) return static_cast<Offset>(j + run + equal_symbols(differ));
    }
    while (run < room && (FromEnd ? q[-1 - run] == t[-1 - run] : q[run] == t[run])) ++run;
    return static_cast<Offset>(j + run);
  }

  const FrontTask<Offset>& t_;
  const std::int64_t query_len_, target_len_;
  const Symbol *query_, *target_;  // where the front starts: first symbols, or one past the last ones if FromEnd
};

// Return true if two points on a diagonal overlap. Costs never fall along a diagonal, so the paths of both fronts can
// then be joined. A row holds what at most its number of edits reaches, so the result is true exactly if the distance
// is at most the sum of both.
template <class Offset>
bool fronts_meet(const EditPair& pair, const Offset* ahead, const Offset* behind, std::int64_t first,
                 std::int64_t last) {
  const Offset* from_end = behind + pair.last_diagonal();
  Offset furthest = 0;
  for (std::int64_t k = first; k <= last; ++k) {
    const Offset sum = ahead[k] + from_end[-k];
    furthest = furthest > sum ? furthest : sum;
  }
  return furthest >= pair.target_len;
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

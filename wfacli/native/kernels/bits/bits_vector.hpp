// Vectors of 64-bit lanes at the instruction set's full width, and operations that GCC's vector extensions lack.
// Everything here exists once per instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/buffer.hpp"
#include "base/vector_width.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wfacli {
namespace WFACLI_ISA {

using Word = std::uint64_t;

constexpr int kLanes = kVectorBytes / 8;

typedef Word V __attribute__((vector_size(kVectorBytes), may_alias));
typedef std::int64_t SignedV __attribute__((vector_size(kVectorBytes), may_alias));

WFACLI_INLINE V zeros() { return V{}; }
WFACLI_INLINE V ones() { return ~V{}; }

// Aligned accesses; memory comes from aligned_words.
WFACLI_INLINE V load(const Word* from) { return *reinterpret_cast<const V*>(from); }
WFACLI_INLINE void store(Word* to, V v) { *reinterpret_cast<V*>(to) = v; }

// Returns all ones in lanes whose top bit is set, else zero.
WFACLI_INLINE V top_bit_everywhere(V v) {
#if defined(__AVX512BW__)
  return (V)((SignedV)v >> 63);
#else
  return (V)((SignedV)v < 0);
#endif
}

// AVX-512 has one instruction for any logic function of three operands, which GCC 12 finds only in simple cases. Bit 4
// a + 2 b + c of `table` is the result for operand bits a, b, c; `plain` is the expression for other instruction sets.
#if defined(__AVX512BW__)
#define WFACLI_LOGIC(table, a, b, c, plain) \
  (V) _mm512_ternarylogic_epi64((__m512i)(a), (__m512i)(b), (__m512i)(c), table)
#else
#define WFACLI_LOGIC(table, a, b, c, plain) (plain)
#endif
WFACLI_INLINE V or_xor(V a, V b, V c) { return WFACLI_LOGIC(0x1e, a, b, c, a ^ (b | c)); }
WFACLI_INLINE V xor_or(V a, V b, V c) { return WFACLI_LOGIC(0xbe, a, b, c, (a ^ b) | c); }
WFACLI_INLINE V or_neither(V a, V b, V c) { return WFACLI_LOGIC(0xf1, a, b, c, a | ~(b | c)); }
WFACLI_INLINE V or_only(V a, V b, V c) { return WFACLI_LOGIC(0xf4, a, b, c, a | (b & ~c)); }
// a | (b ^ c): a is set, or b and c differ.
WFACLI_INLINE V or_differ(V a, V b, V c) { return WFACLI_LOGIC(0xf6, a, b, c, a | (b ^ c)); }
WFACLI_INLINE V or_both(V a, V b, V c) { return WFACLI_LOGIC(0xf8, a, b, c, a | (b & c)); }
WFACLI_INLINE V and_both(V a, V b, V c) { return WFACLI_LOGIC(0x80, a, b, c, a & b & c); }
WFACLI_INLINE V and_only(V a, V b, V c) { return WFACLI_LOGIC(0x40, a, b, c, a & b & ~c); }
// (a | b) & c
WFACLI_INLINE V either_and(V a, V b, V c) { return WFACLI_LOGIC(0xa8, a, b, c, (a | b) & c); }
// ~((a & b) | c)
WFACLI_INLINE V neither_both(V a, V b, V c) { return WFACLI_LOGIC(0x15, a, b, c, ~((a & b) | c)); }
WFACLI_INLINE V neither(V a, V b) { return WFACLI_LOGIC(0x01, a, a, b, ~(a | b)); }

// Adds 1 to `counter` in lanes where a and b share no bit.
WFACLI_INLINE V count_disjoint(V counter, V a, V b) {
#if defined(__AVX512BW__)
  const __mmask8 disjoint = _mm512_testn_epi64_mask((__m512i)a, (__m512i)b);
  return (V)_mm512_mask_sub_epi64((__m512i)counter, disjoint, (__m512i)counter, (__m512i)ones());
#else
  return counter - (V)((a & b) == 0);
#endif
}

// Adds `amount` to `sum` in lanes where a and b share a bit.
WFACLI_INLINE V add_where_joint(V sum, V a, V b, V amount) {
#if defined(__AVX512BW__)
  const __mmask8 joint = _mm512_test_epi64_mask((__m512i)a, (__m512i)b);
  return (V)_mm512_mask_add_epi64((__m512i)sum, joint, (__m512i)sum, (__m512i)amount);
#else
  return sum + (amount & ~(V)((a & b) == 0));
#endif
}

// Returns the minimum of signed lanes.
WFACLI_INLINE V lesser(V a, V b) {
#if defined(__AVX512BW__)
  return (V)_mm512_min_epi64((__m512i)a, (__m512i)b);
#else
  const V greater = (V)((SignedV)a > (SignedV)b);
  return (a & ~greater) | (b & greater);
#endif
}

// Shifts `string` left by one bit, and sets the new bit in lanes where v is not zero.
WFACLI_INLINE V append_bit(V string, V v) {
#if defined(__AVX512BW__)
  string += string;
  const __mmask8 set = _mm512_test_epi64_mask((__m512i)v, (__m512i)v);
  return (V)_mm512_mask_sub_epi64((__m512i)string, set, (__m512i)string, (__m512i)ones());
#else
  return string + string - (V)(v != 0);
#endif
}

WFACLI_INLINE bool any(V v) {
#if defined(__AVX512BW__)
  return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#elif defined(__SSE4_1__)
  return !_mm_testz_si128((__m128i)v, (__m128i)v);
#else
  Word all = 0;
  for (int l = 0; l < kLanes; ++l) all |= v[l];
  return all != 0;
#endif
}

// Returns b in lanes where `mask` is all ones, and a in lanes where it is zero.
WFACLI_INLINE V choose(V a, V b, V mask) { return WFACLI_LOGIC(0xd8, a, b, mask, (a & ~mask) | (b & mask)); }

// Hides the value from the optimizer; otherwise GCC permutes a second time to read element 0 of a permuted vector.
WFACLI_INLINE V opaque(V v) {
#if defined(__x86_64__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

// Returns room for `words` words, aligned to a cache line. The previous content is lost.
WFACLI_INLINE Word* aligned_words(Buffer<Word>& buffer, std::size_t words) {
  if (buffer.capacity() < words + 8) {
    buffer = Buffer<Word>();
    buffer.resize(words + words / 4 + 8);
  }
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(buffer.data());
  return buffer.data() + ((64 - (at & 63)) & 63) / 8;
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

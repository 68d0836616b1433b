// Scores in words: of two pairs, one in each 16-bit half, or of one pair.
//
// Halves are unsigned, and Gaps::zero is the value of score 0. As long as no half falls below 0 or exceeds 65,535, both
// halves can be added or subtracted in one 32-bit operation, which a multiprocessor executes on other units than minima
// and maxima.
#pragma once

#include "common/permute.cuh"

namespace wfacli::sw {

struct Halves {
  static constexpr int kPairs = 2;
  static constexpr std::int32_t kMax = 0xffff;
  static constexpr std::uint32_t kMin = 0;

  WFACLI_DEVICE static std::uint32_t all(std::int32_t value) { return (value & 0xffff) * 0x00010001u; }
  // a - b, where no half of b is greater than that of a.
  WFACLI_DEVICE static std::uint32_t less(std::uint32_t a, std::uint32_t b) { return a - b; }
  // -a where no half is 0, as a multiplication since the multiplier has free slots.
  WFACLI_DEVICE static std::uint32_t minus(std::uint32_t a, std::uint32_t minus_one) {
    return a * minus_one + 0x00010000u;
  }
  WFACLI_DEVICE static std::uint32_t maximum(std::uint32_t a, std::uint32_t b) { return __vmaxu2(a, b); }
  WFACLI_DEVICE static std::uint32_t maximum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __vimax3_u16x2(a, b, c);
  }
  // max(a + b, c); b is signed.
  WFACLI_DEVICE static std::uint32_t max_with_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __viaddmax_u16x2(a, b, c);
  }
  // 1 in each value where two words differ; the second is passed as its minus().
  WFACLI_DEVICE static std::uint32_t differ(std::uint32_t a, std::uint32_t minus_b) {
    return __viaddmin_u16x2(a, minus_b, 0x00010001u);
  }
  WFACLI_DEVICE static std::uint32_t minimum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __vimin3_u16x2(a, b, c);
  }
  // Maximum of two words; `first` of each pair is true where the first is no less. __vibmax_u16x2 is not used: in CUDA
  // 13.0 it reads its first operand after the write of the result, which may have been assigned the same register.
  WFACLI_DEVICE static std::uint32_t maximum(std::uint32_t a, std::uint32_t b, bool (&first)[kPairs]) {
    const std::uint32_t greater = __vmaxu2(a, b), above = greater ^ a;
    first[0] = (above & 0xffff) == 0;
    first[1] = above <= 0xffff;
    return greater;
  }
  WFACLI_DEVICE static std::int32_t of(std::uint32_t word, int x) {
    return static_cast<std::int32_t>(word >> 16 * x & 0xffff);
  }
  // A word with the part of each pair x from own[x].
  WFACLI_DEVICE static std::uint32_t joined(const std::uint32_t (&own)[kPairs]) {
    return __byte_perm(own[0], own[1], 0x7610);
  }
  // Signed bytes k of the words of both pairs, as values.
  WFACLI_DEVICE static std::uint32_t bytes(const std::uint32_t (&words)[kPairs], int k) {
    return permuted(words[0], words[1], 0xc480u + 0x1111u * static_cast<std::uint32_t>(k));
  }
  // Unsigned bytes k of the words of both pairs, as values.
  WFACLI_DEVICE static std::uint32_t codes(const std::uint32_t (&words)[kPairs], std::uint32_t k) {
    return __byte_perm(words[0], words[1], 0x0400u + 0x0101u * k) & 0x00ff00ffu;
  }
  WFACLI_DEVICE static std::uint32_t mask(const bool (&yes)[kPairs]) {
    return (yes[0] ? 0xffffu : 0) | (yes[1] ? 0xffff0000u : 0);
  }
};

struct Whole {
  static constexpr int kPairs = 1;
  static constexpr std::int32_t kMax = 0x7fffffff;
  static constexpr std::uint32_t kMin = 0x80000000u;

  WFACLI_DEVICE static std::int32_t value(std::uint32_t word) { return static_cast<std::int32_t>(word); }
  WFACLI_DEVICE static std::uint32_t all(std::int32_t value) { return static_cast<std::uint32_t>(value); }
  WFACLI_DEVICE static std::uint32_t less(std::uint32_t a, std::uint32_t b) { return a - b; }
  WFACLI_DEVICE static std::uint32_t minus(std::uint32_t a, std::uint32_t minus_one) { return a * minus_one; }
  WFACLI_DEVICE static std::uint32_t maximum(std::uint32_t a, std::uint32_t b) { return all(max(value(a), value(b))); }
  WFACLI_DEVICE static std::uint32_t maximum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return all(__vimax3_s32(value(a), value(b), value(c)));
  }
  WFACLI_DEVICE static std::uint32_t max_with_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return all(__viaddmax_s32(value(a), value(b), value(c)));
  }
  WFACLI_DEVICE static std::uint32_t differ(std::uint32_t a, std::uint32_t minus_b) { return a + minus_b != 0; }
  WFACLI_DEVICE static std::uint32_t minimum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return min(min(a, b), c);
  }
  WFACLI_DEVICE static std::uint32_t maximum(std::uint32_t a, std::uint32_t b, bool (&first)[kPairs]) {
    first[0] = value(a) >= value(b);
    return first[0] ? a : b;
  }
  WFACLI_DEVICE static std::int32_t of(std::uint32_t word, int) { return value(word); }
  WFACLI_DEVICE static std::uint32_t joined(const std::uint32_t (&own)[kPairs]) { return own[0]; }
  WFACLI_DEVICE static std::uint32_t bytes(const std::uint32_t (&words)[kPairs], int k) {
    return permuted(words[0], 0, 0x8880u + 0x1111u * static_cast<std::uint32_t>(k));
  }
  WFACLI_DEVICE static std::uint32_t codes(const std::uint32_t (&words)[kPairs], std::uint32_t k) {
    return words[0] >> 8 * k & 0xff;
  }
  WFACLI_DEVICE static std::uint32_t mask(const bool (&yes)[kPairs]) { return yes[0] ? 0xffffffffu : 0; }
};

}  // namespace wfacli::sw

// Scores in words: of two pairs, one in each 16-bit half, or of one.
#pragma once

#include "common/permute.cuh"

namespace wfacli::sw {

struct Halves {
  static constexpr int kPairs = 2;
  static constexpr std::int32_t kGreatest = 0x7fff;

  WFACLI_DEVICE static std::uint32_t all(std::int32_t value) { return (value & 0xffff) * 0x00010001u; }
  WFACLI_DEVICE static std::uint32_t add(std::uint32_t a, std::uint32_t b) { return __vadd2(a, b); }
  WFACLI_DEVICE static std::uint32_t most(std::uint32_t a, std::uint32_t b) { return __vmaxs2(a, b); }
  WFACLI_DEVICE static std::uint32_t most(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __vimax3_s16x2(a, b, c);
  }
  // max(a + b, c), and with kRelu no less than 0.
  template <bool kRelu = false>
  WFACLI_DEVICE static std::uint32_t most_with_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return kRelu ? __viaddmax_s16x2_relu(a, b, c) : __viaddmax_s16x2(a, b, c);
  }
  // 1 in each value where two differ.
  WFACLI_DEVICE static std::uint32_t differ(std::uint32_t a, std::uint32_t b) { return __vminu2(a ^ b, 0x00010001u); }
  // The greater of two; where the first is no less, in the pairs' places.
  WFACLI_DEVICE static std::uint32_t most(std::uint32_t a, std::uint32_t b, bool (&first)[kPairs]) {
    return __vibmax_s16x2(a, b, &first[1], &first[0]);
  }
  WFACLI_DEVICE static std::int32_t of(std::uint32_t word, int x) {
    return static_cast<std::int32_t>(static_cast<std::int16_t>(word >> 16 * x));
  }
  WFACLI_DEVICE static std::uint32_t word(const std::int32_t (&values)[kPairs]) {
    return (static_cast<std::uint32_t>(values[0]) & 0xffffu) | static_cast<std::uint32_t>(values[1]) << 16;
  }
  // A word of which pair x has its own part.
  WFACLI_DEVICE static std::uint32_t joined(const std::uint32_t (&own)[kPairs]) {
    return __byte_perm(own[0], own[1], 0x7610);
  }
  // Signed bytes k of words of both pairs as values.
  WFACLI_DEVICE static std::uint32_t bytes(const std::uint32_t (&words)[kPairs], int k) {
    return permuted(words[0], words[1], 0xc480u + 0x1111u * static_cast<std::uint32_t>(k));
  }
  WFACLI_DEVICE static std::uint32_t mask(const bool (&yes)[kPairs]) {
    return (yes[0] ? 0xffffu : 0) | (yes[1] ? 0xffff0000u : 0);
  }
};

struct Whole {
  static constexpr int kPairs = 1;
  static constexpr std::int32_t kGreatest = 0x7fffffff;

  WFACLI_DEVICE static std::int32_t value(std::uint32_t word) { return static_cast<std::int32_t>(word); }
  WFACLI_DEVICE static std::uint32_t all(std::int32_t value) { return static_cast<std::uint32_t>(value); }
  WFACLI_DEVICE static std::uint32_t add(std::uint32_t a, std::uint32_t b) { return a + b; }
  WFACLI_DEVICE static std::uint32_t most(std::uint32_t a, std::uint32_t b) { return all(max(value(a), value(b))); }
  WFACLI_DEVICE static std::uint32_t most(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return all(__vimax3_s32(value(a), value(b), value(c)));
  }
  template <bool kRelu = false>
  WFACLI_DEVICE static std::uint32_t most_with_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return all(kRelu ? __viaddmax_s32_relu(value(a), value(b), value(c))
                     : __viaddmax_s32(value(a), value(b), value(c)));
  }
  WFACLI_DEVICE static std::uint32_t differ(std::uint32_t a, std::uint32_t b) { return a != b; }
  WFACLI_DEVICE static std::uint32_t most(std::uint32_t a, std::uint32_t b, bool (&first)[kPairs]) {
    first[0] = value(a) >= value(b);
    return first[0] ? a : b;
  }
  WFACLI_DEVICE static std::int32_t of(std::uint32_t word, int) { return value(word); }
  WFACLI_DEVICE static std::uint32_t word(const std::int32_t (&values)[kPairs]) { return all(values[0]); }
  WFACLI_DEVICE static std::uint32_t joined(const std::uint32_t (&own)[kPairs]) { return own[0]; }
  WFACLI_DEVICE static std::uint32_t bytes(const std::uint32_t (&words)[kPairs], int k) {
    return permuted(words[0], 0, 0x8880u + 0x1111u * static_cast<std::uint32_t>(k));
  }
  WFACLI_DEVICE static std::uint32_t mask(const bool (&yes)[kPairs]) { return yes[0] ? 0xffffffffu : 0; }
};

}  // namespace wfacli::sw

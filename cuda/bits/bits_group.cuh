// The threads that share a pair of bits.cu: one, or a warp whose lanes hold the band's words one after another.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

struct OneThread {
  static constexpr int kLanes = 1;
  static constexpr int kColumns = 1;  // that the way back looks at together

  WFACLI_DEVICE static int lane() { return 0; }
  // What the lane above, or below, gives; 0 at the band's ends.
  WFACLI_DEVICE static std::uint32_t from_above(std::uint32_t) { return 0; }
  WFACLI_DEVICE static std::uint32_t from_below(std::uint32_t) { return 0; }
  // What the last lane gives, and the sum over all.
  WFACLI_DEVICE static std::int32_t of_last(std::int32_t value) { return value; }
  WFACLI_DEVICE static std::int32_t sum(std::int32_t value) { return value; }
  // Bit l is what lane l says.
  WFACLI_DEVICE static std::uint32_t votes(bool vote) { return vote; }
};

struct OneWarp {
  static constexpr int kLanes = 32;
  static constexpr int kColumns = 32;
  static constexpr std::uint32_t kAll = 0xffffffffu;

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }
  WFACLI_DEVICE static std::uint32_t from_above(std::uint32_t value) {
    const std::uint32_t given = __shfl_up_sync(kAll, value, 1);
    return lane() == 0 ? 0 : given;
  }
  WFACLI_DEVICE static std::uint32_t from_below(std::uint32_t value) {
    const std::uint32_t given = __shfl_down_sync(kAll, value, 1);
    return lane() == 31 ? 0 : given;
  }
  WFACLI_DEVICE static std::int32_t of_last(std::int32_t value) { return __shfl_sync(kAll, value, 31); }
  WFACLI_DEVICE static std::int32_t sum(std::int32_t value) {
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(kAll, value, by);
    return value;
  }
  WFACLI_DEVICE static std::uint32_t votes(bool vote) { return __ballot_sync(kAll, vote); }

  // 1 if the lane's sum gets a carry: lanes that carry, and those that would hand one on, are the digits of a sum
  // whose own carries are the ones looked for.
  WFACLI_DEVICE static std::uint32_t carry_in(bool carries, bool hands_on) {
    const std::uint32_t all_carry = votes(carries), all_hand_on = votes(hands_on);
    return ((all_carry + (all_carry | all_hand_on)) ^ all_hand_on) >> lane() & 1;
  }
};

}  // namespace wfacli

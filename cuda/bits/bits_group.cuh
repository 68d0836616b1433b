// The threads that share a pair of bits.cu: one, or a warp whose lanes hold consecutive words of the band.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

struct OneThread {
  static constexpr int kLanes = 1;
  static constexpr int kColumns = 1;  // that the traceback reads at once

  WFACLI_DEVICE static int lane() { return 0; }
  // Value of the lane above, or below; 0 beyond the band's ends.
  WFACLI_DEVICE static std::uint32_t from_above(std::uint32_t) { return 0; }
  WFACLI_DEVICE static std::uint32_t from_below(std::uint32_t) { return 0; }
  // Value of the last lane, and the sum over all lanes.
  WFACLI_DEVICE static std::int32_t of_last(std::int32_t value) { return value; }
  WFACLI_DEVICE static std::int32_t sum(std::int32_t value) { return value; }
  // Mask of votes: bit l is lane l's.
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

  // Return 1 if the lane's sum receives a carry. The masks of lanes that carry, and of lanes that would propagate a
  // carry, are added like numbers; the carries of that addition are the result.
  WFACLI_DEVICE static std::uint32_t carry_in(bool carries, bool propagates) {
    const std::uint32_t all_carry = votes(carries), all_propagate = votes(propagates);
    return ((all_carry + (all_carry | all_propagate)) ^ all_propagate) >> lane() & 1;
  }
};

}  // namespace wfacli

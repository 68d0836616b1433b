// Groups of threads that work on one pair: part of a warp, a warp, or a block.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

// `Count` threads: a power of two up to 32 (neighbours in a warp), or all WFACLI_BLOCK threads of a block of several
// warps. All of them call each member function together. Ballots and shuffles stay within a warp, over kWarp lanes.
template <int Count>
class Lanes {
 public:
  static constexpr int kThreads = Count;
  static constexpr bool kBlock = Count > 32;
  static constexpr int kWarp = kBlock ? 32 : Count;
  static_assert(kBlock ? Count == WFACLI_BLOCK : (Count & (Count - 1)) == 0 && WFACLI_BLOCK % Count == 0);

  // Index of this group in its block, and groups per block.
  WFACLI_DEVICE static int group() { return kBlock ? 0 : static_cast<int>(threadIdx.x) / Count; }
  static constexpr int kGroups = WFACLI_BLOCK / Count;
  // Index of the calling thread in its group, and in its group's part of the warp.
  WFACLI_DEVICE static int rank() { return static_cast<int>(threadIdx.x) & (Count - 1); }
  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x) & (kWarp - 1); }

  // Barrier of the group; also makes writes of its threads visible to each other.
  WFACLI_DEVICE static void sync() {
    if constexpr (kBlock)
      __syncthreads();
    else
      sync_warp();
  }
  // The same for the caller's part of a warp.
  WFACLI_DEVICE static void sync_warp() {
    if constexpr (Count > 1) __syncwarp(mask());
  }
  // Read a value in shared memory that threads of the group may overwrite as soon as this call returns.
  template <class T>
  WFACLI_DEVICE static T shared_value(const T* at) {
    const T value = *at;
    if constexpr (!kBlock) return from_lane(value, 0);
    __syncthreads();
    return value;
  }
  // Return a mask: bit l is the argument of lane l of this part of the warp.
  WFACLI_DEVICE static std::uint32_t ballot(bool yes) {
    if constexpr (Count == 1) return yes;
    return (__ballot_sync(mask(), yes) & mask()) >> first();
  }
  template <class T>
  WFACLI_DEVICE static T from_lane(T value, int lane) {
    if constexpr (Count == 1) return value;
    return __shfl_sync(mask(), value, lane, kWarp);
  }
  // Return whether any thread passes true. A barrier like sync().
  WFACLI_DEVICE static bool any(bool yes) {
    if constexpr (kBlock) return __syncthreads_or(yes) != 0;
    sync();
    return ballot(yes) != 0;
  }
  // Minimum over the caller's part of a warp.
  WFACLI_DEVICE static std::int32_t warp_min(std::int32_t value) {
    if constexpr (Count == 1) return value;
    return __reduce_min_sync(mask(), value);
  }
  // Minimum over the group. For a block, `scratch` is shared memory that it uses.
  WFACLI_DEVICE static std::int32_t group_min(std::int32_t value, std::int32_t* scratch) {
    const std::int32_t minimum = warp_min(value);
    if constexpr (!kBlock) return minimum;
    __syncthreads();
    if (rank() == 0) *scratch = INT32_MAX;
    __syncthreads();
    if (lane() == 0) atomicMin(scratch, minimum);
    __syncthreads();
    return *scratch;
  }

 private:
  WFACLI_DEVICE static int first() { return static_cast<int>(threadIdx.x) & 31 & ~(kWarp - 1); }
  WFACLI_DEVICE static std::uint32_t mask() { return (0xffffffffu >> (32 - kWarp)) << first(); }
};

}  // namespace wfacli

// A counter by which a warp publishes its progress to other warps of the GPU.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

// Store with release: all earlier writes of the caller, and those it has acquired, are visible to a reader by
// load_acquire().
WFACLI_DEVICE void store_release(std::int32_t* at, std::int32_t value) {
#ifdef __CUDACC__
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
  *at = value;
#endif
}

WFACLI_DEVICE std::int32_t load_acquire(const std::int32_t* at) {
#ifdef __CUDACC__
  std::int32_t value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
#else
  return *at;
#endif
}

// Read without ordering: the value may be stale, and implies nothing about other memory. Unlike an acquire it does not
// discard the multiprocessor's cached lines.
WFACLI_DEVICE std::int32_t load_relaxed(const std::int32_t* at) {
  return *static_cast<const volatile std::int32_t*>(at);
}

// Spin until the value is at least `minimum`. The writer must already be running.
WFACLI_DEVICE std::int32_t wait_for(const std::int32_t* at, std::int32_t minimum) {
  std::int32_t value = load_acquire(at);
  while (value < minimum) {
    WFACLI_PAUSE();
    if (load_relaxed(at) >= minimum) value = load_acquire(at);
  }
  return value;
}

}  // namespace wfacli

// A number by which a warp tells others of the GPU how far it has come.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

// What the caller has written before, and what it has been told by others, is there for whoever is told.
WFACLI_DEVICE void tell(std::int32_t* at, std::int32_t value) {
#ifdef __CUDACC__
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
  *at = value;
#endif
}

WFACLI_DEVICE std::int32_t told(const std::int32_t* at) {
#ifdef __CUDACC__
  std::int32_t value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
#else
  return *at;
#endif
}

// What may be there already, of which nothing else follows; but nobody loses what the multiprocessor has in its cache.
WFACLI_DEVICE std::int32_t glimpsed(const std::int32_t* at) { return *static_cast<const volatile std::int32_t*>(at); }

// Waits until it is told so much. Who is to tell it must be at work already.
WFACLI_DEVICE std::int32_t wait_for(const std::int32_t* at, std::int32_t least) {
  std::int32_t value = told(at);
  while (value < least) {
    WFACLI_PAUSE();
    if (glimpsed(at) >= least) value = told(at);
  }
  return value;
}

}  // namespace wfacli

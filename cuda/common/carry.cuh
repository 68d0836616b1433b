// Multi-word addition: the carry of one addition goes into the next.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

#ifdef __CUDACC__

// Uses the GPU's carry flag. Volatile asm statements keep their order, and nothing else changes the flag.
class CarryChain {
 public:
  WFACLI_DEVICE std::uint32_t first(std::uint32_t a, std::uint32_t b) {
    std::uint32_t sum;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
  }
  WFACLI_DEVICE std::uint32_t next(std::uint32_t a, std::uint32_t b) {
    std::uint32_t sum;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
  }
  // Return 1 if the last addition carried. Ends the chain.
  WFACLI_DEVICE std::uint32_t carried() {
    std::uint32_t carry;
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(carry));
    return carry;
  }
};

#else

class CarryChain {
 public:
  std::uint32_t first(std::uint32_t a, std::uint32_t b) {
    sum_ = std::uint64_t{a} + b;
    return static_cast<std::uint32_t>(sum_);
  }
  std::uint32_t next(std::uint32_t a, std::uint32_t b) {
    sum_ = std::uint64_t{a} + b + (sum_ >> 32);
    return static_cast<std::uint32_t>(sum_);
  }
  std::uint32_t carried() { return static_cast<std::uint32_t>(sum_ >> 32); }

 private:
  std::uint64_t sum_ = 0;
};

#endif

}  // namespace wfacli

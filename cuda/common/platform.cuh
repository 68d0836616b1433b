// Platform layer of the kernel sources: CUDA, or an emulation on a host without a GPU
// (tests/emulation/cuda_on_host.hpp), where the same sources run under sanitizers.
#pragma once

#include <cstdint>

#ifdef __CUDACC__

#define WFACLI_DEVICE __device__ __forceinline__
// Minimum resident blocks per multiprocessor, which bounds registers; 0 leaves it to the compiler.
#ifndef WFACLI_RESIDENT
#define WFACLI_RESIDENT 0
#endif
// A kernel with one argument, a structure passed by value; WFACLI_BLOCK threads per block. The body follows.
#define WFACLI_KERNEL(name, Task) \
  extern "C" __global__ void __launch_bounds__(WFACLI_BLOCK, WFACLI_RESIDENT) name(const __grid_constant__ Task task)
// Keep a 32-bit value in a register from here on; without it the compiler may recompute the value in every iteration.
#define WFACLI_KEEP(value) asm volatile("" : "+r"(value))
// Yield the multiprocessor for a moment while spinning.
#define WFACLI_PAUSE() __nanosleep(100)
// Dynamic shared memory, sized by the launch; 16-byte aligned.
#define WFACLI_DYNAMIC_SHARED(name) extern __shared__ __align__(16) std::uint8_t name[]

#else

#include <cuda_on_host.hpp>

#define WFACLI_DEVICE inline
#define WFACLI_KERNEL(name, Task) WFACLI_EMULATED_KERNEL(name, Task)
#define WFACLI_KEEP(value) static_cast<void>(value)
#define WFACLI_PAUSE() wfacli_emulation::pause()
#define WFACLI_DYNAMIC_SHARED(name) std::uint8_t* const name = wfacli_emulation::dynamic_shared()

#endif

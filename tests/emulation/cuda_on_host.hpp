// Replacements of the CUDA built-ins that the kernels use, so that their sources compile and run as host C++.
//
// The threads of a block are fibers of one host thread. Each runs until it waits for others (a barrier, a shuffle, a
// vote); then the next one continues. Runs are therefore repeatable. The caller chooses the order of the threads, since a
// kernel with a missing barrier is only correct in some orders. Blocks run one after another. Shared memory is filled
// with a pattern before each block. Lanes of a warp that meet in different collective operations, or that wait for a lane
// that has ended, are reported, and abort the process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fibers.hpp"

#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__
#define __restrict__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __shared__ static
#define threadIdx (wfacli_emulation::here().thread)
#define blockIdx (wfacli_emulation::block().index)
#define blockDim (wfacli_emulation::block().size)
#define gridDim (wfacli_emulation::block().grid)
constexpr int warpSize = 32;

struct uint2 { std::uint32_t x, y; };
struct alignas(16) uint4 { std::uint32_t x, y, z, w; };
struct int2 { std::int32_t x, y; };
struct alignas(16) int4 { std::int32_t x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
inline uint2 make_uint2(std::uint32_t x, std::uint32_t y) { return {x, y}; }
inline uint4 make_uint4(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) { return {x, y, z, w}; }
inline int2 make_int2(std::int32_t x, std::int32_t y) { return {x, y}; }
inline int4 make_int4(std::int32_t x, std::int32_t y, std::int32_t z, std::int32_t w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

using std::max;
using std::min;

namespace wfacli_emulation {

[[noreturn]] void fault(const char* what);

// Lanes of a warp in collective operations. Lanes of one call share its mask; calls with disjoint masks are separate.
struct Warp {
  std::uint64_t given[32], taken[32];
  std::uint32_t arrived = 0;       // waiting lanes
  std::uint32_t gone_on = 0;       // lanes whose operation is complete
  std::uint32_t masks[32];
  const char* calls[32];
};

inline int lane() { return static_cast<int>(here().thread.x % 32); }

// Exchanges one value per lane of the mask; afterwards `taken` holds those of all these lanes.
Warp& meet(std::uint32_t mask, std::uint64_t value, const char* call);

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The value of lane `from`, or the caller's own if `from` is outside its segment of lanes.
template <class T>
T shuffle(std::uint32_t mask, T value, int from, bool inside, const char* call) {
  const int source = inside ? from : lane();
  Warp& w = meet(mask, bits_of(value), call);
  if (!(mask >> source & 1)) fault("a shuffle reads a lane that takes no part");
  return value_of<T>(w.taken[source]);
}

template <class T, class F>
T reduce(std::uint32_t mask, T value, F join, const char* call) {
  Warp& w = meet(mask, bits_of(value), call);
  T result = value;
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1) result = join(result, value_of<T>(w.taken[l]));
  return result;
}

}  // namespace wfacli_emulation

template <class T>
T __shfl_sync(std::uint32_t mask, T value, int source, int width = 32) {
  const int first = wfacli_emulation::lane() & ~(width - 1);
  return wfacli_emulation::shuffle(mask, value, first + (source & (width - 1)), true, "shfl");
}
template <class T>
T __shfl_up_sync(std::uint32_t mask, T value, unsigned by, int width = 32) {
  const int from = wfacli_emulation::lane() - static_cast<int>(by);
  return wfacli_emulation::shuffle(mask, value, from, from >= (wfacli_emulation::lane() & ~(width - 1)), "shfl_up");
}
template <class T>
T __shfl_down_sync(std::uint32_t mask, T value, unsigned by, int width = 32) {
  const int from = wfacli_emulation::lane() + static_cast<int>(by);
  const int end = (wfacli_emulation::lane() & ~(width - 1)) + width;
  return wfacli_emulation::shuffle(mask, value, from, from < end, "shfl_down");
}
template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int by, int width = 32) {
  const int from = wfacli_emulation::lane() ^ by;
  const int end = (wfacli_emulation::lane() & ~(width - 1)) + width;
  return wfacli_emulation::shuffle(mask, value, from, from < end, "shfl_xor");
}
inline std::uint32_t __ballot_sync(std::uint32_t mask, int predicate) {
  auto& w = wfacli_emulation::meet(mask, predicate != 0, "ballot");
  std::uint32_t votes = 0;
  for (int l = 0; l < 32; ++l)
    if ((mask >> l & 1) && w.taken[l]) votes |= 1u << l;
  return votes;
}
inline int __any_sync(std::uint32_t mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(std::uint32_t mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }
inline void __syncwarp(std::uint32_t mask = 0xffffffffu) { wfacli_emulation::meet(mask, 0, "syncwarp"); }
inline int __reduce_min_sync(std::uint32_t mask, int value) {
  return wfacli_emulation::reduce(mask, value, [](int a, int b) { return min(a, b); }, "reduce_min");
}
inline int __reduce_max_sync(std::uint32_t mask, int value) {
  return wfacli_emulation::reduce(mask, value, [](int a, int b) { return max(a, b); }, "reduce_max");
}
inline int __reduce_add_sync(std::uint32_t mask, int value) {
  return wfacli_emulation::reduce(mask, value, [](int a, int b) { return a + b; }, "reduce_add") - value;  // own value counted twice
}
inline unsigned __reduce_min_sync(std::uint32_t mask, unsigned value) {
  return wfacli_emulation::reduce(mask, value, [](unsigned a, unsigned b) { return min(a, b); }, "reduce_min");
}
inline unsigned __reduce_max_sync(std::uint32_t mask, unsigned value) {
  return wfacli_emulation::reduce(mask, value, [](unsigned a, unsigned b) { return max(a, b); }, "reduce_max");
}
inline unsigned __reduce_or_sync(std::uint32_t mask, unsigned value) {
  return wfacli_emulation::reduce(mask, value, [](unsigned a, unsigned b) { return a | b; }, "reduce_or");
}
inline void __syncthreads() { wfacli_emulation::block_barrier(); }
inline int __syncthreads_or(int yes) {
  static int some;  // one block runs at a time
  __syncthreads();
  if (threadIdx.x == 0) some = 0;
  __syncthreads();
  some |= yes != 0;
  __syncthreads();
  return some;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
[[noreturn]] inline void __trap() { wfacli_emulation::fault("trap"); }

// One thread runs at a time, so that plain reads and writes are atomic.
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = static_cast<T>(before + value);
  return before;
}
template <class T>
T atomicMax(T* at, T value) {
  const T before = *at;
  *at = max(before, value);
  return before;
}
template <class T>
T atomicMin(T* at, T value) {
  const T before = *at;
  *at = min(before, value);
  return before;
}
template <class T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at = before | value;
  return before;
}
template <class T>
T atomicExch(T* at, T value) {
  const T before = *at;
  *at = value;
  return before;
}
template <class T>
T atomicCAS(T* at, T expected, T value) {
  const T before = *at;
  if (before == expected) *at = value;
  return before;
}
template <class T>
T __ldg(const T* at) {
  return *at;
}
template <class T>
T __ldcs(const T* at) {
  return *at;
}
template <class T>
void __stcs(T* at, T value) {
  *at = value;
}

inline int __popc(std::uint32_t v) { return __builtin_popcount(v); }
inline int __popcll(std::uint64_t v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline std::uint32_t __brev(std::uint32_t v) {
  std::uint32_t r = 0;
  for (int i = 0; i < 32; ++i) r |= (v >> i & 1u) << (31 - i);
  return r;
}
inline unsigned long long __brevll(unsigned long long v) {
  return static_cast<unsigned long long>(__brev(static_cast<std::uint32_t>(v))) << 32 |
         __brev(static_cast<std::uint32_t>(v >> 32));
}
inline std::uint32_t __funnelshift_l(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<std::uint32_t>(both << (by & 31) >> 32);
}
inline std::uint32_t __funnelshift_r(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<std::uint32_t>(both >> (by & 31));
}
inline std::uint32_t __funnelshift_lc(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  return by >= 32 ? low : __funnelshift_l(low, high, by);
}
inline std::uint32_t __funnelshift_rc(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  return by >= 32 ? high : __funnelshift_r(low, high, by);
}
inline std::uint32_t __byte_perm(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= (static_cast<std::uint32_t>(both >> 8 * (selector >> 4 * i & 7)) & 255) << 8 * i;
  }
  return result;
}
inline long long clock64() { return 0; }

#include "dpx_on_host.hpp"

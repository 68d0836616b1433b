// Cooperation of threads, one operation per launch, selected by task.path. The input is task.rows, the output task.cost,
// one element per thread unless noted otherwise. The emulation and a GPU must give the same results.
#include "common/task.cuh"

using namespace wfacli;

constexpr std::uint32_t kAll = 0xffffffffu;

enum Probe : std::int32_t {
  kBarrier, kShuffle, kUp, kDown, kXor, kVotes, kReductions, kHalfWarps, kAtomics, kDynamic, kDpx, kBits,
  kLost = 20, kMixed, kLeftOut, kBeyond, kMisaligned,
};

WFACLI_DEVICE void reverse(const AlignTask& task, std::int32_t at, std::int32_t value) {
  __shared__ std::int32_t all[WFACLI_BLOCK];
  all[threadIdx.x] = value;
  __syncthreads();
  task.cost[at] = all[WFACLI_BLOCK - 1 - threadIdx.x];
}

// The slot of a thread is the counter's value before its increment, so slots are a permutation; then max and exchange.
WFACLI_DEVICE void atomics(const AlignTask& task, std::int32_t value) {
  const std::uint32_t slot = atomicAdd(task.work_counter, 1u);
  task.cost[slot] = value;
  atomicMax(task.op_count, value);
  atomicMin(task.op_count + 1, value);
  atomicOr(task.ops, 1u << threadIdx.x % 32);
  if (atomicCAS(task.ops + 1, 0u, 7u) == 0) atomicExch(task.ops + 2, 9u);
}

WFACLI_DEVICE void dynamic(const AlignTask& task, std::int32_t at, std::int32_t value) {
  WFACLI_DYNAMIC_SHARED(bytes);
  auto* last = reinterpret_cast<std::int32_t*>(bytes + task.stride) - WFACLI_BLOCK;  // stride: its size in bytes
  last[threadIdx.x] = value;
  __syncthreads();
  task.cost[at] = last[(threadIdx.x + 1) % WFACLI_BLOCK];
}

// a, b and c of thread `at` are `count` elements apart, as are the answers.
WFACLI_DEVICE void dpx(const AlignTask& task, std::int32_t at) {
  const std::int32_t n = task.count, a = task.rows[at], b = task.rows[n + at], c = task.rows[2 * n + at];
  const auto ua = static_cast<unsigned>(a), ub = static_cast<unsigned>(b), uc = static_cast<unsigned>(c);
  bool high = false, low = false, first = false;
  const unsigned least = __vibmin_s16x2(ua, ub, &high, &low);
  const int least32 = __vibmin_s32(a, b, &first);
  const unsigned answers[] = {
      __vimin3_s16x2(ua, ub, uc),     __vimax3_s16x2(ua, ub, uc),
      __viaddmin_s16x2(ua, ub, uc),   __viaddmax_s16x2(ua, ub, uc),
      __vmins2(ua, ub),               __vmaxs2(ua, ub),
      __vadd2(ua, ub),                __vsub2(ua, ub),
      static_cast<unsigned>(__vimin3_s32(a, b, c)), static_cast<unsigned>(__vimax3_s32(a, b, c)),
      static_cast<unsigned>(__viaddmin_s32(a, b, c)), static_cast<unsigned>(__viaddmax_s32(a, b, c)),
      least, static_cast<unsigned>(high) << 1 | static_cast<unsigned>(low),
      static_cast<unsigned>(least32), static_cast<unsigned>(first),
      __vimax3_u16x2(ua, ub, uc),     __vmaxu2(ua, ub),
      __viaddmin_u16x2(ua, ub, uc),   __viaddmax_u16x2(ua, ub, uc),
      __vminu2(ua, ub),               __vimin3_u16x2(ua, ub, uc)};
  std::int32_t k = 0;
  for (const unsigned answer : answers) task.cost[k++ * n + at] = static_cast<std::int32_t>(answer);
}

WFACLI_DEVICE void bits(const AlignTask& task, std::int32_t at) {
  const std::int32_t n = task.count;
  const auto a = static_cast<std::uint32_t>(task.rows[at]), b = static_cast<std::uint32_t>(task.rows[n + at]);
  const std::uint32_t answers[] = {
      static_cast<std::uint32_t>(__popc(a)), static_cast<std::uint32_t>(__clz(static_cast<int>(a))),
      static_cast<std::uint32_t>(__ffs(static_cast<int>(a))), __brev(a), __funnelshift_l(a, b, a >> 27),
      __funnelshift_r(a, b, b >> 27), __byte_perm(a, b, a ^ b)};
  std::int32_t k = 0;
  for (const std::uint32_t answer : answers) task.cost[k++ * n + at] = static_cast<std::int32_t>(answer);
}

// Defects that the emulation reports; never run on a GPU.
WFACLI_DEVICE void defects(const AlignTask& task, std::int32_t at, std::int32_t value) {
  if (task.path == kLost && threadIdx.x % 32 < 16) value = __shfl_sync(kAll, value, 0);
  if (task.path == kMixed) {
    if (threadIdx.x % 2) value = __shfl_sync(kAll, value, 0);
    else value = static_cast<std::int32_t>(__ballot_sync(kAll, value));
  }
  if (task.path == kLeftOut) value = __shfl_sync(0xffu, value, 0);
  if (task.path == kBeyond) at += task.count;
  if (task.path == kMisaligned) {
    task.cost[at] = *reinterpret_cast<const std::int32_t*>(reinterpret_cast<const std::uint8_t*>(task.rows) + 1);
    return;
  }
  task.cost[at] = value;
}

WFACLI_KERNEL(probe, AlignTask) {
  const auto at = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x);
  const std::int32_t value = task.rows[at];
  const std::uint32_t half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  switch (task.path) {
    case kBarrier: reverse(task, at, value); break;
    case kShuffle: task.cost[at] = __shfl_sync(kAll, value, 3, 8); break;
    case kUp: task.cost[at] = __shfl_up_sync(kAll, value, 2, 8); break;
    case kDown: task.cost[at] = __shfl_down_sync(kAll, value, 3, 16); break;
    case kXor: task.cost[at] = __shfl_xor_sync(kAll, value, 5); break;
    case kVotes:
      task.cost[at] = static_cast<std::int32_t>(__ballot_sync(kAll, value & 1)) ^ (__any_sync(kAll, value > 900) ? 1 : 0) ^
                      (__all_sync(kAll, value < 900) ? 2 : 0);
      break;
    case kReductions: {
      const int both = __reduce_min_sync(kAll, value) * 1000 + __reduce_max_sync(kAll, value);
      task.cost[at] = both ^ static_cast<int>(__reduce_or_sync(kAll, static_cast<unsigned>(value)) << 20);
      break;
    }
    case kHalfWarps:  // two collective operations of different lanes at a time
      task.cost[at] = static_cast<std::int32_t>(__ballot_sync(half, value & 1)) + __reduce_max_sync(half, value);
      break;
    case kAtomics: atomics(task, value); break;
    case kDynamic: dynamic(task, at, value); break;
    case kDpx: dpx(task, at); break;
    case kBits: bits(task, at); break;
    default: defects(task, at, value);
  }
}

// Instruction sets of this machine's processor.
#pragma once

namespace wfacli {

#if defined(__x86_64__)
// Returns the newest level of x86-64 for which kernels exist: 2, 3 or 4, for x86-64-v2 to x86-64-v4.
inline int newest_level() {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512cd");
  return v4 ? 4 : v3 ? 3 : 2;
}
#endif

}  // namespace wfacli

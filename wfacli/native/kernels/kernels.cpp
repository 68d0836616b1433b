#include "kernels/kernels.hpp"

#include <cstdlib>
#include <stdexcept>

namespace wfacli {

#define WFACLI_DECLARE(isa)                                                      \
  namespace isa {                                                                \
  KernelAnswer wavefront(const KernelTask&, WavefrontMemory&, Cigar&);           \
  KernelAnswer wavefront_extension(const KernelTask&, WavefrontMemory&, Cigar&); \
  void lanes(const LanesTask&, BitsMemory&, Cigar&, LanesAnswer*);               \
  void inside(const InsideTask&, BitsMemory&, Cigar&, InsideAnswer*);            \
  KernelAnswer stripes(const KernelTask&, BitsMemory&, Cigar&);                  \
  KernelAnswer difference(const KernelTask&, DifferenceMemory&, Cigar&);         \
  void difference_reads(const ReadsTask&, DifferenceMemory&, ReadsAnswer*);      \
  constexpr KernelEntry entry(const char* name) {                                \
    return {name,       wavefront,        wavefront_extension, lanes,            \
            inside,     stripes,          difference,          difference_reads, \
            gotoh,      gotoh_extension,  edit_kernels,        sw_kernels,       \
            local_kernels};                                                      \
  }                                                                              \
  }

#if defined(__x86_64__)
WFACLI_DECLARE(x86_64_v2)
WFACLI_DECLARE(x86_64_v3)
WFACLI_DECLARE(x86_64_v4)

const KernelEntry* kernel_table(int& count) {
  static const KernelEntry entries[] = {x86_64_v2::entry("x86-64-v2"), x86_64_v3::entry("x86-64-v3"),
                                        x86_64_v4::entry("x86-64-v4")};
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512cd");
  count = v4 ? 3 : v3 ? 2 : 1;
  return entries;
}
#else
WFACLI_DECLARE(baseline)

const KernelEntry* kernel_table(int& count) {
  static const KernelEntry entries[] = {baseline::entry("baseline")};
  count = 1;
  return entries;
}
#endif

const KernelEntry& kernels_named(const std::string& isa) {
  const char* requested = std::getenv("WFACLI_ISA");
  const std::string name = isa.empty() && requested ? requested : isa;
  int count = 0;
  const KernelEntry* entries = kernel_table(count);
  for (int i = count - 1; i >= 0; --i)
    if (name.empty() || name == entries[i].name) return entries[i];
  throw std::invalid_argument("this machine has no instruction set named " + name);
}

}  // namespace wfacli

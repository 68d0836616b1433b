#include "kernels/kernels.hpp"

#include <cstdlib>
#include <iterator>
#include <stdexcept>

#include "base/instruction_sets.hpp"

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

namespace {

// The builds that this module has (WFACLI_KERNELS of CMakeLists.txt), oldest level first.
struct Build {
  int level;
  KernelEntry entry;
};
constexpr Build kBuilds[] = {
#if defined(WFACLI_X86_64_V2)
    {2, x86_64_v2::entry("x86-64-v2")},
#endif
#if defined(WFACLI_X86_64_V3)
    {3, x86_64_v3::entry("x86-64-v3")},
#endif
#if defined(WFACLI_X86_64_V4)
    {4, x86_64_v4::entry("x86-64-v4")},
#endif
};

}  // namespace

const KernelEntry* kernel_table(int& count) {
  static KernelEntry entries[std::size(kBuilds)];
  static const int usable = [] {
    int n = 0;
    for (const Build& build : kBuilds)
      if (build.level <= newest_level()) entries[n++] = build.entry;
    return n;
  }();
  count = usable;
  if (!count)
    throw std::runtime_error("it was built for processors with " + std::string(kBuilds[0].entry.name) +
                             ", and this one is older: build it on this machine, or install a wheel");
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

// All kernels of one instruction set, and which of them this machine can run.
#pragma once

#include "bits.hpp"
#include "difference.hpp"
#include "edit.hpp"
#include "sw.hpp"
#include "wavefront.hpp"

namespace wfacli {

// Memory of one thread.
struct KernelMemory {
  WavefrontMemory wavefront;
  BitsMemory bits;
  DifferenceMemory difference;
};

struct KernelEntry {
  const char* name = nullptr;  // instruction set
  Kernel<WavefrontMemory> wavefront = nullptr;
  Kernel<WavefrontMemory> wavefront_extension = nullptr;
  LanesKernel lanes = nullptr;
  Kernel<BitsMemory> stripes = nullptr;
  Kernel<DifferenceMemory> difference = nullptr;
  ReadsKernel difference_reads = nullptr;
  EditKernels (*edit)() = nullptr;
  SwKernels (*sw)() = nullptr;
};

// The builds that this machine can run, slowest first; `count` receives how many.
const KernelEntry* kernel_table(int& count);

}  // namespace wfacli

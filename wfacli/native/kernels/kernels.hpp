// All kernels of one instruction set, and which of them this machine can run.
#pragma once

#include <string>

#include "kernels/bits/bits.hpp"
#include "kernels/difference/difference.hpp"
#include "solvers/edit/edit.hpp"
#include "kernels/gotoh/gotoh.hpp"
#include "kernels/bits/inside.hpp"
#include "solvers/local/local.hpp"
#include "kernels/sw/sw.hpp"
#include "kernels/wavefront/wavefront.hpp"

namespace wfacli {

// Memory of one thread.
struct KernelMemory {
  WavefrontMemory wavefront;
  BitsMemory bits;
  DifferenceMemory difference;
  InsideMemory inside;
  GotohMemory gotoh;
};

struct KernelEntry {
  const char* name = nullptr;  // instruction set
  Kernel<WavefrontMemory> wavefront = nullptr;
  Kernel<WavefrontMemory> wavefront_extension = nullptr;
  LanesKernel lanes = nullptr;
  InsideKernel inside = nullptr;
  Kernel<BitsMemory> stripes = nullptr;
  Kernel<DifferenceMemory> difference = nullptr;
  ReadsKernel difference_reads = nullptr;
  Kernel<GotohMemory> gotoh = nullptr;
  Kernel<GotohMemory> gotoh_extension = nullptr;
  EditKernels (*edit)() = nullptr;
  SwKernels (*sw)() = nullptr;
  LocalKernels (*local)() = nullptr;
};

// The builds that this machine can run, slowest first; `count` receives how many.
const KernelEntry* kernel_table(int& count);
// One of them by its name; where that is empty, what the environment's WFACLI_ISA names, else the fastest. Throws
// std::invalid_argument where there is none of that name.
const KernelEntry& kernels_named(const std::string& isa);

}  // namespace wfacli

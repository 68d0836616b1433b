// Kernels of each instruction set, and the instruction sets that this machine supports.
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

// Buffers of one thread, one member per kernel family.
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

// Returns the builds that this machine can run, slowest first, and stores their number in `count`. Throws
// std::runtime_error if there is none.
const KernelEntry* kernel_table(int& count);
// Returns the build named `isa`. If `isa` is empty, the environment variable WFACLI_ISA chooses the build; if that is
// unset or empty, the fastest build is returned. Throws std::invalid_argument if this machine has no build of that
// name.
const KernelEntry& kernels_named(const std::string& isa);

}  // namespace wfacli

// Fibers for the threads of an emulated block: stacks, switching, and the block barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <sys/mman.h>

#include "switch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define WFACLI_FIBER_SANITIZER 1
#endif

namespace wfacli_emulation {

struct Dim {
  std::uint32_t x = 1, y = 1, z = 1;
};

constexpr std::size_t kStack = 256 << 10;  // size and alignment of each stack; a power of two
constexpr std::uint8_t kPattern = 0xb5;  // content of uninitialized memory

struct Fiber {
  Dim thread{0, 0, 0};
  bool ended = false;
  bool at_barrier = false;
  bool (*ready)(const void*) = nullptr;  // whether a waiting fiber may continue; null: it does not wait
  const void* waits_for = nullptr;
  const char* where = "";
  Context context;
  char* stack = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
};

// Stacks by thread of a block, reused by launches of any number of threads.
struct Stacks {
  static constexpr std::size_t kTogether = 32, kBytes = (kTogether + 1) * kStack;  // one more, for alignment
  std::vector<void*> all;

  char* of(std::size_t thread) {
    while (all.size() <= thread / kTogether) {
      void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) std::abort();
      all.push_back(memory);
    }
    const auto memory = reinterpret_cast<std::uintptr_t>(all[thread / kTogether]);
    const auto first = (memory + kStack - 1) & ~(kStack - 1);
    return reinterpret_cast<char*>(first + thread % kTogether * kStack);
  }
  ~Stacks() {
    for (void* memory : all) munmap(memory, kBytes);
  }
};

struct Block {
  Stacks stacks;
  Dim index{0, 0, 0}, size, grid;
  std::vector<Fiber> fibers;
  std::vector<std::unique_ptr<char[]>> states;  // see block_state
  std::uint8_t* shared = nullptr;
  std::uint32_t live = 0, waiting = 0;
  std::uint64_t barriers = 0;
  Context scheduler;
  void* fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_size = 0;
  void (*kernel)(const void*) = nullptr;
  const void* task = nullptr;
};

// Stored above the first frame of a fiber's stack. Kernels look up their fiber all the time: thread-local memory, which a
// shared library accesses by a call, took more than half of the time of a launch.
struct alignas(16) Owner {
  Block* block;
  Fiber* fiber;
};
inline Owner& owner_of(const void* in_stack) {
  const auto first = reinterpret_cast<std::uintptr_t>(in_stack) & ~(kStack - 1);
  return *reinterpret_cast<Owner*>(first + kStack - sizeof(Owner));
}

// Block and fiber of the caller.
inline Block& block() { return *owner_of(__builtin_frame_address(0)).block; }
inline Fiber& here() { return *owner_of(__builtin_frame_address(0)).fiber; }
inline std::uint8_t* dynamic_shared() { return block().shared; }

// The i-th state of a block, initialized anew for each block.
template <class T>
T& block_state(std::size_t i) {
  auto& states = block().states;
  if (states.size() <= i) states.resize(i + 1);
  if (!states[i]) {
    states[i].reset(new char[sizeof(T) + alignof(T)]());
    new (states[i].get()) T();
  }
  return *reinterpret_cast<T*>(states[i].get());
}

// The functions that run a grid are compiled once (runtime.cpp), not with each kernel.

// Switches to the scheduler; returns when this fiber is resumed.
void leave(bool for_good = false);

template <class Ready>
void wait_until(const Ready& ready, const char* where) {
  if (ready()) return;
  Fiber& f = here();
  f.waits_for = &ready;
  f.ready = [](const void* r) { return (*static_cast<const Ready*>(r))(); };
  f.where = where;
  leave();
  f.ready = nullptr;
}

// Lets other fibers run; for loops that poll memory that another warp writes.
inline void pause() { leave(); }

void block_barrier();

// Runs all blocks of a kernel; `order` 1 runs blocks and threads from last to first.
void run_grid(void (*kernel)(const void*), const void* task, std::uint32_t grid, std::uint32_t threads,
              std::size_t shared_bytes, int order);

}  // namespace wfacli_emulation

#define WFACLI_EMULATED_KERNEL(name, Task)                                                                     \
  static void name##_body(const Task& task);                                                                   \
  extern "C" void name(const void* task, std::uint32_t grid, std::uint32_t threads, std::size_t shared_bytes, \
                       int order) {                                                                            \
    wfacli_emulation::run_grid([](const void* t) { name##_body(*static_cast<const Task*>(t)); }, task, grid, threads,   \
                           shared_bytes, order);                                                               \
  }                                                                                                            \
  static void name##_body(const Task& task)

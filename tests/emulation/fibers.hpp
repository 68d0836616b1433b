// Fibers for the threads of an emulated block: stacks, switching, and the block's barrier.
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

constexpr std::size_t kStack = 256 << 10;  // a power of two, at a multiple of which each stack begins
constexpr std::uint8_t kPattern = 0xb5;  // of memory that nobody has written

struct Fiber {
  Dim thread{0, 0, 0};
  bool ended = false;
  bool at_barrier = false;
  bool (*ready)(const void*) = nullptr;  // whether it may go on, if it waits
  const void* waits_for = nullptr;
  const char* where = "";
  Context context;
  char* stack = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
};

// Stacks by thread of a block; kept from launch to launch, whatever their numbers of threads.
struct Stacks {
  static constexpr std::size_t kTogether = 32, kBytes = (kTogether + 1) * kStack;  // one more, to begin where they must
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
  std::vector<std::unique_ptr<char[]>> states;  // of block_state
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

// What lies above the first frame of a fiber's stack. Kernels ask all the time who they are: when they asked
// thread-local memory, which a library finds by a call, that was more than half of a launch.
struct alignas(16) Owner {
  Block* block;
  Fiber* fiber;
};
inline Owner& owner_of(const void* in_stack) {
  const auto first = reinterpret_cast<std::uintptr_t>(in_stack) & ~(kStack - 1);
  return *reinterpret_cast<Owner*>(first + kStack - sizeof(Owner));
}

// Of the fiber that calls it.
inline Block& block() { return *owner_of(__builtin_frame_address(0)).block; }
inline Fiber& here() { return *owner_of(__builtin_frame_address(0)).fiber; }
inline std::uint8_t* dynamic_shared() { return block().shared; }

// The i-th state of a block; made new for each block.
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

// To the scheduler; returns when it is this fiber's turn again.
inline void leave(bool for_good = false) {
  Block& b = block();
  Fiber& f = here();
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_start_switch_fiber(for_good ? nullptr : &f.fake_stack, b.scheduler_stack, b.scheduler_size);
#else
  (void)for_good;
#endif
  switch_context(f.context, b.scheduler);
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(f.fake_stack, &b.scheduler_stack, &b.scheduler_size);
#endif
}

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

// Lets others go on, where somebody looks again and again for what another warp is to write.
inline void pause() { leave(); }

// Threads that have ended are not waited for.
inline void pass_barrier_if_complete() {
  Block& b = block();
  if (b.waiting && b.waiting == b.live) {
    b.waiting = 0;
    ++b.barriers;
  }
}
inline void block_barrier() {
  Block& b = block();
  const std::uint64_t before = b.barriers;
  ++b.waiting;
  pass_barrier_if_complete();
  wait_until([&b, before] { return b.barriers != before; }, "syncthreads");
}

inline void fiber_main() {
  Block& b = block();
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, &b.scheduler_stack, &b.scheduler_size);
#endif
  b.kernel(b.task);
  here().ended = true;
  --b.live;
  pass_barrier_if_complete();
  leave(true);
}

inline void prepare(Block& b, Fiber& f, std::uint32_t thread) {
  f.stack = b.stacks.of(thread);
  owner_of(f.stack) = {&b, &f};
  f.thread = {thread, 0, 0};
  f.ended = false;
  f.ready = nullptr;
  begin_context(f.context, f.stack, kStack - sizeof(Owner), fiber_main);
}

inline void enter(Block& b, Fiber& f) {
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_start_switch_fiber(&b.fake_stack, f.stack, kStack);
#endif
  switch_context(b.scheduler, f.context);
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(b.fake_stack, nullptr, nullptr);
#endif
}

// Turns until every thread has ended; `order` 1 takes them from the last to the first.
inline void run_block(Block& b, int order) {
  while (b.live) {
    bool moved = false;
    const std::size_t n = b.fibers.size();
    for (std::size_t k = 0; k < n; ++k) {
      Fiber& f = b.fibers[order ? n - 1 - k : k];
      if (f.ended || (f.ready && !f.ready(f.waits_for))) continue;
      moved = true;
      enter(b, f);
    }
    if (moved) continue;
    for (const Fiber& f : b.fibers)
      if (!f.ended) std::fprintf(stderr, "block %u thread %u waits in %s\n", b.index.x, f.thread.x, f.where);
    std::fprintf(stderr, "emulated kernel: no thread can go on\n");
    std::abort();
  }
}

inline void run_grid(void (*kernel)(const void*), const void* task, std::uint32_t grid, std::uint32_t threads,
                     std::size_t shared_bytes, int order) {
  static thread_local Block b;
  std::vector<std::uint8_t> shared(shared_bytes + 16);
  b.shared = reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(shared.data()) + 15) & ~std::uintptr_t{15});
  b.kernel = kernel;
  b.task = task;
  b.size = {threads, 1, 1};
  b.grid = {grid, 1, 1};
  b.fibers.resize(threads);
  for (std::uint32_t i = 0; i < grid; ++i) {
    b.index = {order ? grid - 1 - i : i, 0, 0};
    std::memset(b.shared, kPattern, shared_bytes);
    b.states.clear();
    b.live = threads;
    b.waiting = 0;
    for (std::uint32_t t = 0; t < threads; ++t) prepare(b, b.fibers[t], t);
    run_block(b, order);
  }
}

}  // namespace wfacli_emulation

// Memory as the driver hands it out: of its own and no larger, so that a sanitizer sees what lies beyond it.
extern "C" __attribute__((used)) void* emulation_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes)) return nullptr;
  return std::memset(memory, wfacli_emulation::kPattern, bytes);
}
extern "C" __attribute__((used)) void emulation_free(void* memory) { std::free(memory); }

#define WFACLI_EMULATED_KERNEL(name, Task)                                                                     \
  static void name##_body(const Task& task);                                                                   \
  extern "C" void name(const void* task, std::uint32_t grid, std::uint32_t threads, std::size_t shared_bytes, \
                       int order) {                                                                            \
    wfacli_emulation::run_grid([](const void* t) { name##_body(*static_cast<const Task*>(t)); }, task, grid, threads,   \
                           shared_bytes, order);                                                               \
  }                                                                                                            \
  static void name##_body(const Task& task)

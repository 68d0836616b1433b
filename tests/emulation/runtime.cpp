// Runs a grid of emulated threads, with collective operations of warps. Compiled once, and linked with all kernels.
#include "cuda_on_host.hpp"

namespace wfacli_emulation {

void leave(bool for_good) {
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

// Threads that have ended do not count.
static void pass_barrier_if_complete() {
  Block& b = block();
  if (b.waiting && b.waiting == b.live) {
    b.waiting = 0;
    ++b.barriers;
  }
}

void block_barrier() {
  Block& b = block();
  const std::uint64_t before = b.barriers;
  ++b.waiting;
  pass_barrier_if_complete();
  wait_until([&b, before] { return b.barriers != before; }, "syncthreads");
}

static void fiber_main() {
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

static void prepare(Block& b, Fiber& f, std::uint32_t thread) {
  f.stack = b.stacks.of(thread);
  owner_of(f.stack) = {&b, &f};
  f.thread = {thread, 0, 0};
  f.ended = false;
  f.ready = nullptr;
  begin_context(f.context, f.stack, kStack - sizeof(Owner), fiber_main);
}

static void enter(Block& b, Fiber& f) {
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_start_switch_fiber(&b.fake_stack, f.stack, kStack);
#endif
  switch_context(b.scheduler, f.context);
#ifdef WFACLI_FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(b.fake_stack, nullptr, nullptr);
#endif
}

// Resumes threads until all have ended; `order` 1 resumes them from last to first.
static void run_block(Block& b, int order) {
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

void run_grid(void (*kernel)(const void*), const void* task, std::uint32_t grid, std::uint32_t threads,
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

void fault(const char* what) {
  std::fprintf(stderr, "emulated kernel, block %u thread %u: %s\n", block().index.x, here().thread.x, what);
  std::abort();
}

static Warp& warp() { return block_state<Warp>(here().thread.x / 32); }

Warp& meet(std::uint32_t mask, std::uint64_t value, const char* call) {
  Warp& w = warp();
  const std::uint32_t own = 1u << lane();
  if (!(mask & own)) fault("a lane calls a collective operation whose mask leaves it out");
  w.given[lane()] = value;
  w.masks[lane()] = mask;
  w.calls[lane()] = call;
  w.arrived |= own;
  if ((w.arrived & mask) == mask) {
    for (int l = 0; l < 32; ++l) {
      if (!(mask >> l & 1)) continue;
      if (w.masks[l] != mask) fault("lanes meet with different masks");
      if (std::strcmp(w.calls[l], call) != 0) fault("lanes meet in different operations");
      w.taken[l] = w.given[l];
    }
    w.arrived &= ~mask;
    w.gone_on |= mask;
  }
  wait_until([&w, own] { return (w.gone_on & own) != 0; }, call);
  w.gone_on &= ~own;
  return w;
}

}  // namespace wfacli_emulation

// Allocates as the driver does, but exactly the requested size, so that a sanitizer detects accesses beyond it.
extern "C" __attribute__((used)) void* emulation_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes)) return nullptr;
  return std::memset(memory, wfacli_emulation::kPattern, bytes);
}
extern "C" __attribute__((used)) void emulation_free(void* memory) { std::free(memory); }

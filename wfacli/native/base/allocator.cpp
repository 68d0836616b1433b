#include "base/allocator.hpp"

#include <cstdint>
#include <cstdlib>

#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace wfacli {

void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + bytes;
  const std::uintptr_t first = (begin + kPage - 1) & ~(kPage - 1), last = end & ~(kPage - 1);
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

#ifdef __GLIBC__
namespace {

constexpr int kHeap = 1 << 30, kKept = 128 << 20, kPad = 128 << 10;

bool limits_addresses() {
  rlimit all, heap;
  if (getrlimit(RLIMIT_AS, &all) != 0 || getrlimit(RLIMIT_DATA, &heap) != 0) return true;
  return all.rlim_cur != RLIM_INFINITY || heap.rlim_cur != RLIM_INFINITY;
}

// Gives the heap addresses for a gigabyte, which take no memory until they are used, and asks for huge pages there: what the
// heap grows by later would not have them.
void place_heap() {
  if (limits_addresses()) return;
  mallopt(M_TRIM_THRESHOLD, kHeap + kKept);
  mallopt(M_TOP_PAD, kHeap);
  void* first = std::malloc(kOwnMapping / 2);
  mallopt(M_TOP_PAD, kPad);
  const char* end = static_cast<const char*>(sbrk(0));
  if (first && end > first && end - static_cast<char*>(first) <= 2 * std::ptrdiff_t{kHeap})
    ask_for_huge_pages(first, static_cast<std::size_t>(end - static_cast<char*>(first)));
  std::free(first);
}

}  // namespace
#endif

// By default glibc gives each thread its own arena, which keeps the memory it once needed. Batches are allocated by
// one thread and freed by another, so memory would grow for a long time. With one arena it stays flat; contention is
// rare because arrays are few and large. The high trim threshold keeps freed memory for the next batch; otherwise the
// operating system would clear its pages each time.
void keep_memory_flat() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(kOwnMapping));
  mallopt(M_TRIM_THRESHOLD, kKept);
  place_heap();
#endif
}

}  // namespace wfacli

// Settings of the C library's allocator for batches.
#pragma once

#include <cstddef>

namespace wfacli {

// Bytes of an array from which on it has a mapping of its own, outside the heap.
constexpr std::size_t kOwnMapping = std::size_t{32} << 20;

// Sets the allocator up for batches, for the whole process.
void keep_memory_flat();

// Asks the kernel for huge pages for new memory, of which it clears and gives back 512 times fewer. Threads of one process
// wait for each other when they touch new pages. Nothing changes where the kernel has none.
void ask_for_huge_pages(void* memory, std::size_t bytes);

}  // namespace wfacli

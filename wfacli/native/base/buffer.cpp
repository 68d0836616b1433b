#include "base/buffer.hpp"

#include <new>

#include "base/allocator.hpp"

namespace wfacli {

void* grow_bytes(void* old, std::size_t bytes) {
  void* grown = std::realloc(old, bytes);
  if (!grown) throw std::bad_alloc();
  if (bytes >= kOwnMapping) ask_for_huge_pages(grown, bytes);
  return grown;
}

void* take_bytes(std::size_t bytes) { return grow_bytes(nullptr, bytes ? bytes : 1); }

}  // namespace wfacli

#include "io/memory.hpp"

#include <charconv>

namespace wfacli {

void MemoryPairs::add(std::string_view sequence) {
  char name[24] = "pair";
  const char* end = std::to_chars(name + 4, name + sizeof name, out_.pairs() + 1).ptr;
  out_.name({name, static_cast<std::size_t>(end - name)});
  add_checked_sequence(out_, sequence, 0);
}

void MemoryPairs::query(std::string_view sequence) {
  add(sequence);
  out_.end_query();
}

void MemoryPairs::target(std::string_view sequence) {
  add(sequence);
  out_.end_target();
}

}  // namespace wfacli

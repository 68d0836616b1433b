// Check whether the mappings of each read are adjacent, and grouping of a file by read.
// Needs: base/buffer mapped/grouping
#include "mapped/grouping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.hpp"

using namespace fuzz;

namespace {

void take(wfacli::MappingGroups& groups, Feed feed) {
  bool ended = false;
  while (!ended)
    feed.give([&](std::size_t bytes) { return groups.prepare(bytes); },
              [&](std::size_t bytes) { groups.commit(bytes), ended = bytes == 0; });
}

Answer answer_of(const wfacli::MappingGroups& groups) {
  return Answer().number(groups.grouped()).number(groups.too_long()).number(groups.ended_inside());
}

std::string written(wfacli::MappingGroups& groups, std::string_view text) {
  const int file = ::memfd_create("fuzz", 0);
  HOLDS(file >= 0);
  groups.write(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), file);
  std::string out(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), 0);
  HOLDS(::pread(file, out.data(), out.size(), 0) == static_cast<ssize_t>(out.size()));
  ::close(file);
  return out;
}

std::string sorted(std::string_view text) {
  std::string bytes(text);
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  wfacli::MappingGroups whole(true), pieces(true), asked(false);
  take(whole, Feed(input.text()));
  take(pieces, Feed(input.text(), input.seed()));
  take(asked, Feed(input.text(), ~input.seed()));
  HOLDS(answer_of(whole) == answer_of(pieces) && answer_of(whole) == answer_of(asked));
  if (whole.grouped() || whole.too_long() || whole.ended_inside()) return 0;
  const std::string out = written(whole, input.text());
  HOLDS(out == written(pieces, input.text()));
  HOLDS(sorted(out) == sorted(input.text()));
  // Mappings without a name are never grouped; for all others, grouping is idempotent.
  wfacli::MappingGroups again(true);
  take(again, Feed(out));
  HOLDS(again.grouped() || written(again, out) == out);
  return 0;
}

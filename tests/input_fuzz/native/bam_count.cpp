// Number of records in BAM.
// Needs: io/bam_count
#include "io/bam_count.hpp"

#include "fuzz.hpp"

using namespace fuzz;

namespace {

Answer count(Feed feed) {
  wfacli::BamCount count;
  std::int64_t before = 0;
  for (std::string_view piece; !(piece = feed.next()).empty();) {
    count.take(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size());
    HOLDS(count.records() >= before);
    before = count.records();
  }
  return Answer().number(count.records()).number(count.whole());
}

// Counts over the complete input, without a state machine.
Answer count_at_once(std::string_view text) {
  const auto has = [&](std::uint64_t bytes) { return text.size() >= bytes; };
  const auto number = [&] {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(text[i]);
    text.remove_prefix(4);
    return value;
  };
  const auto answer = [](std::int64_t records, bool whole) { return Answer().number(records).number(whole); };
  if (!has(8) || text.substr(0, 4) != std::string_view("BAM\1", 4)) return answer(0, false);
  number();
  const std::uint64_t header = number();
  if (!has(header + 4)) return answer(0, false);
  text.remove_prefix(header);
  for (std::uint32_t targets = number(); targets > 0; --targets) {
    if (!has(4)) return answer(0, false);
    const std::uint64_t bytes = std::uint64_t{number()} + 4;
    if (!has(bytes)) return answer(0, false);
    text.remove_prefix(bytes);
  }
  for (std::int64_t records = 0;; ++records) {
    if (text.empty()) return answer(records, true);
    if (!has(4)) return answer(records, false);
    const std::uint32_t bytes = number();
    if (bytes < 32 || !has(bytes)) return answer(records, false);
    text.remove_prefix(bytes);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const Answer whole = count(Feed(input.text()));
  HOLDS(whole == count(Feed(input.text(), input.seed())));
  HOLDS(whole == count_at_once(input.text()));
  return 0;
}

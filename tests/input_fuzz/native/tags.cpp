// SAM optional fields in comments of reads.
// Needs: mapped/tags
#include "mapped/tags.hpp"

#include <array>

#include "fuzz.hpp"

using namespace fuzz;

namespace {

std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  while (!text.empty()) {
    const std::size_t tab = std::min(text.find('\t'), text.size());
    fields.push_back(text.substr(0, tab));
    text.remove_prefix(std::min(tab + 1, text.size()));
  }
  return fields;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const auto kinds = std::array{wfacli::TagSelection::All, wfacli::TagSelection::NoGroup, wfacli::TagSelection::GroupOnly};
  const wfacli::TagSelection wanted = kinds[input.options(0, 2) % 3];
  std::string out;
  wfacli::add_tags(input.text(), wanted, out);
  // The fields of the output are a subset of the input's, in the same order.
  const auto came = fields_of(input.text()), kept = fields_of(out);
  std::size_t at = 0;
  for (const std::string_view field : kept) {
    HOLDS(field.size() >= 5 && field[2] == ':' && field[4] == ':');
    HOLDS(std::all_of(field.begin(), field.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    const std::string_view name = field.substr(0, 2);
    for (const std::string_view own : {"NM", "AS", "MD", "cs", "SA", "xh"}) HOLDS(name != own);
    HOLDS(wanted == wfacli::TagSelection::All || (name == "RG") == (wanted == wfacli::TagSelection::GroupOnly));
    while (at < came.size() && came[at] != field) ++at;
    HOLDS(at++ < came.size());
  }
  // Fields do not depend on each other.
  std::string one_by_one, again = "XX:A:x";
  for (const std::string_view field : came) wfacli::add_tags(field, wanted, one_by_one);
  HOLDS(one_by_one == out);
  wfacli::add_tags(out, wanted, again);
  HOLDS(again == (out.empty() ? "XX:A:x" : "XX:A:x\t" + out));
  return 0;
}

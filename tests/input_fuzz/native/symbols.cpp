// Base classes and reverse complements, compared with loops over bytes; names in headers.
// Needs: base/buffer io/builder base/symbols io/memory io/records base/reverse_complement
#include "base/bytes.hpp"
#include "io/memory.hpp"
#include "readers.hpp"
#include "base/reverse_complement.hpp"

using namespace fuzz;

namespace {

void check_strands(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::vector<std::uint8_t> turned(bytes, bytes + text.size()), reversed = turned;
  turned.shrink_to_fit();
  wfacli::reverse(reversed.data(), reversed.size());
  for (std::size_t i = 0; i < text.size(); ++i) HOLDS(reversed[i] == bytes[text.size() - 1 - i]);
  if (!all_visible(text)) return;
  wfacli::reverse_complement(turned.data(), turned.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    HOLDS(turned[i] == wfacli::kSymbols.complement[bytes[text.size() - 1 - i]]);
}

void check_name(std::string_view header) {
  const auto is_fault = [](char c) { return (static_cast<std::uint8_t>(c) < ' ' && c != '\t'); };
  const bool bad = std::any_of(header.begin(), header.end(), is_fault);
  try {
    const std::string_view name = wfacli::name_of(header, 1);
    HOLDS(!bad && name == header.substr(0, header.find_first_of(" \t")));
  } catch (const wfacli::InputFault& fault) {
    HOLDS(bad && fault.line == 1);
  }
}

// Checks pairs from Python's memory.
void check_memory(std::string_view query, std::string_view target) {
  wfacli::MemoryPairs pairs;
  bool fault = false;
  try {
    pairs.query(query);
    pairs.target(target);
  } catch (const wfacli::InputFault&) {
    fault = true;
  }
  HOLDS(fault == !(all_visible(query) && all_visible(target)));
  const wfacli::BatchColumns columns = pairs.take();
  HOLDS(columns.t_len.size() == !fault);
  Batches batches(true);
  batches.add(columns, [&](std::size_t) {});
  HOLDS(fault || batches.answer == Answer().add("pair1").add("pair1").add(query).add(target).number(columns.q_len[0])
                                       .number(columns.t_len[0]).number(classes_one_by_one(query) | classes_one_by_one(target)));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const std::string_view text = input.text();
  HOLDS(wfacli::symbol_classes(text) == classes_one_by_one(text));
  HOLDS(wfacli::only_visible(text.data(), text.size()) == all_visible(text));
  check_strands(text);
  check_name(text);
  const std::size_t half = text.empty() ? 0 : Random(input.seed()).below(text.size());
  check_memory(text.substr(0, half), text.substr(half));
  return 0;
}

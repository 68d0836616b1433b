// Mappings in PAF, SAM and BAM.
// Needs: io/read_ahead base/thread_pool base/buffer io/builder base/symbols mapped/mappings mapped/mapping_tags mapped/tags io/records io/reference io/file_blocks
#include "mapped/mappings.hpp"

#include "readers.hpp"

using namespace fuzz;
using wfacli::Mapping;
using wfacli::MappingKind;

namespace {

// Adds the targets named in the corpus, with their lengths.
void add_targets(wfacli::Reference& reference) {
  for (const char* name : {"chr0", "chr1", "chr2"}) reference.add_indexed(name, 400, 0, 60, 61);
  reference.add_indexed("t", 10, 0, 60, 61);
  reference.add_indexed("long", std::int64_t{1} << 61, 0, 60, 61);
}

void check_mapping(const Mapping& m, const wfacli::Reference& reference) {
  if (m.kind == MappingKind::Unmapped) return;
  HOLDS(m.target >= 0 && m.target < reference.size());
  HOLDS(0 <= m.q_beg && m.q_beg < m.q_end && m.q_end <= m.q_len);
  HOLDS(0 <= m.t_beg && m.t_beg < m.t_end && m.t_end <= reference.length(m.target));
  HOLDS(m.matches >= 0);
}

// Checks that one mapping of a read is primary, unless the file specifies the kind of all of them.
void check_kinds(std::vector<Mapping>& group) {
  if (group.empty()) return;
  const auto are = [&](MappingKind kind) {
    return std::count_if(group.begin(), group.end(), [&](const Mapping& m) { return m.kind == kind; });
  };
  const bool told = are(MappingKind::Unknown) == 0;
  wfacli::classify_mappings(group.data(), group.size());
  HOLDS(are(MappingKind::Unknown) == 0);
  HOLDS(are(MappingKind::Primary) == 1 || (told && are(MappingKind::Primary) == 0));
  group.clear();
}

Answer parse(Feed feed, const wfacli::Reference& reference, std::size_t size) {
  Answer answer;
  wfacli::MappingReader reader(reference);
  std::vector<Mapping> group;
  std::string name;
  for (std::size_t taken = 0;; ++taken) {
    HOLDS(taken <= size + 2);  // each call consumes input
    try {
      Mapping m;
      std::string_view read;
      wfacli::ParseResult got;
      while ((got = reader.next(m, read)) == wfacli::ParseResult::NeedInput) feed.give(reader.lines());
      if (got == wfacli::ParseResult::End) break;
      check_mapping(m, reference);
      answer.add(read).number(m.q_len).number(m.q_beg).number(m.q_end).number(m.t_beg).number(m.t_end).number(m.matches);
      answer.number(m.line).number(m.target).number(m.flags).number(m.mapq).number(m.reverse).number(static_cast<int>(m.kind));
      if (read != name) check_kinds(group);
      name = read;
      if (m.kind != MappingKind::Unmapped) group.push_back(m);
    } catch (const wfacli::InputFault& fault) {
      add_fault(answer, fault);
      if (fault.fatal) break;
    }
  }
  check_kinds(group);
  return answer;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto* const kReference = [] {
    auto* reference = new wfacli::Reference;
    add_targets(*reference);
    return reference;
  }();
  const Input input(data, size);
  HOLDS(parse(Feed(input.text()), *kReference, size) == parse(Feed(input.text(), input.seed()), *kReference, size));
  return 0;
}

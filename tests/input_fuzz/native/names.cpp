// Names that are valid in SAM.
// Needs: base/buffer io/sam_names
#include "io/sam_names.hpp"

#include "fuzz.hpp"

using namespace fuzz;

namespace {

// Character sets as the SAM specification writes them (1.2.1 and 1.4).
constexpr std::string_view kFirst =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&+./:;?@^_|~-";

bool is_rname(std::string_view name) {
  return !name.empty() && kFirst.find(name[0]) != kFirst.npos &&
         std::all_of(name.begin(), name.end(), [](char c) { return c == '*' || c == '=' || kFirst.find(c) != kFirst.npos; });
}

bool is_qname(std::string_view name) {
  return !name.empty() && name.size() <= 254 && name != "*" &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= '!' && c <= '?') || (c >= 'A' && c <= '~'); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const std::string_view text = input.text();
  // Each line is the name of a query and of a target in a batch; some targets are empty.
  wfacli::Buffer<std::int64_t> at;
  wfacli::Buffer<std::int32_t> length, symbols;
  std::int64_t unfit_query = -1, unfit_target = -1;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    HOLDS(wfacli::fits_qname(name) == is_qname(name));
    HOLDS(wfacli::fits_rname(name) == is_rname(name));
    const auto row = static_cast<std::int64_t>(at.size());
    symbols.push(!input.option(static_cast<int>(row % 16)));
    if (!name.empty() && !is_qname(name) && unfit_query < 0) unfit_query = row;
    if (!name.empty() && !is_rname(name) && symbols.back() && unfit_target < 0) unfit_target = row;
    at.push(static_cast<std::int64_t>(begin));
    length.push(static_cast<std::int32_t>(end - begin));
    begin = end + 1;
  }
  wfacli::BatchView batch{};
  batch.n = static_cast<std::int64_t>(at.size());
  batch.text = reinterpret_cast<const std::uint8_t*>(text.data());
  batch.q_name = batch.t_name = at.data();
  batch.q_name_len = batch.t_name_len = length.data();
  batch.t_len = symbols.data();
  HOLDS(wfacli::unfit_query(batch) == unfit_query);
  HOLDS(wfacli::unfit_target(batch) == unfit_target);
  return 0;
}

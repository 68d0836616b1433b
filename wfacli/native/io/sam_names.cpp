#include "io/sam_names.hpp"

#include <array>

namespace wfacli {
namespace {

constexpr std::size_t kMaxQname = 254;  // BAM stores the length, including a NUL, in one byte
enum : std::uint8_t { kQuery = 1, kTarget = 2 };

constexpr std::array<std::uint8_t, 256> kAllowed = [] {
  std::array<std::uint8_t, 256> allowed{};
  for (std::size_t c = '!'; c <= '~'; ++c) allowed[c] = kQuery | kTarget;
  allowed['@'] = kTarget;
  for (const char c : std::string_view("\\,\"'`()[]{}<>")) allowed[static_cast<std::uint8_t>(c)] = kQuery;
  return allowed;
}();

bool all_allowed(std::string_view name, std::uint8_t as) {
  std::uint8_t common = as;
  for (const char c : name) common &= kAllowed[static_cast<std::uint8_t>(c)];
  return common != 0;
}

}  // namespace

bool fits_qname(std::string_view name) {
  return !name.empty() && name.size() <= kMaxQname && name != "*" && all_allowed(name, kQuery);
}

bool fits_rname(std::string_view name) {
  return !name.empty() && name[0] != '*' && name[0] != '=' && all_allowed(name, kTarget);
}

std::int64_t unfit_query(const BatchView& batch) {
  for (std::int64_t i = 0; i < batch.n; ++i) {
    const char* text = reinterpret_cast<const char*>(batch.text) + batch.q_name[i];
    const std::string_view name(text, static_cast<std::size_t>(batch.q_name_len[i]));
    if (!name.empty() && !fits_qname(name)) return i;
  }
  return -1;
}

std::int64_t unfit_target(const BatchView& batch) {
  for (std::int64_t i = 0; i < batch.n; ++i) {
    const std::string_view name = batch.target_name(i);
    if (batch.t_len[i] != 0 && !name.empty() && !fits_rname(name)) return i;
  }
  return -1;
}

}  // namespace wfacli

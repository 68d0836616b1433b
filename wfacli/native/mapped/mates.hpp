// Names and flags of mates; names may end in /1 and /2.
#pragma once

#include <string>
#include <string_view>

#include "base/types.hpp"

namespace wfacli {

// Returns the mate that a name's suffix indicates: 1 or 2; 0 without a suffix.
inline int mate_of_name(std::string_view name) {
  if (name.size() < 3 || name[name.size() - 2] != '/') return 0;
  return name.back() == '1' ? 1 : name.back() == '2' ? 2 : 0;
}

// Bits defined by SAM; columns of flags have other bits too.
inline constexpr std::int32_t kSamFlags = 0xfff;

// Returns the mate that SAM flags indicate: 1 or 2; 0 for a read without a mate.
inline int mate_of_flags(std::int32_t flags) {
  return !(flags & kPaired) ? 0 : flags & kFirstMate ? 1 : flags & kLastMate ? 2 : 0;
}

// Returns the name without /1 or /2.
inline std::string_view without_mate(std::string_view name) {
  if (mate_of_name(name)) name.remove_suffix(2);
  return name;
}

inline std::string with_mate(std::string_view name, int mate) {
  return std::string(name) + (mate == 1 ? "/1" : "/2");
}

}  // namespace wfacli

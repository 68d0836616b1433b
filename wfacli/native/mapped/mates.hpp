// Names of mates: reads of a pair, which may end in /1 and /2.
#pragma once

#include <string>
#include <string_view>

#include "base/types.hpp"

namespace wfacli {

// Which mate a name's end says it is of: 1 or 2; 0 where it says nothing.
inline int mate_of_name(std::string_view name) {
  if (name.size() < 3 || name[name.size() - 2] != '/') return 0;
  return name.back() == '1' ? 1 : name.back() == '2' ? 2 : 0;
}

// Bits that SAM has: columns of flags have others beside them.
inline constexpr std::int32_t kSamFlags = 0xfff;

// Which mate flags say; 0 for a read that has none.
inline int mate_of_flags(std::int32_t flags) {
  return !(flags & kPaired) ? 0 : flags & kFirstMate ? 1 : flags & kLastMate ? 2 : 0;
}

// A name without what says which mate's it is.
inline std::string_view without_mate(std::string_view name) {
  if (mate_of_name(name)) name.remove_suffix(2);
  return name;
}

inline std::string with_mate(std::string_view name, int mate) {
  return std::string(name) + (mate == 1 ? "/1" : "/2");
}

}  // namespace wfacli

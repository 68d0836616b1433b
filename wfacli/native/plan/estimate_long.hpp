// How many edits one pair of any length has, roughly, in milliseconds.
#pragma once

#include <cstdint>

namespace wfacli {

// Letters are equal where their values are.
struct LongPair {
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int64_t query_len, target_len;
};

// Places all along the query are looked up in the target; a chain of those found says where long gaps are, and between
// neighbours a narrow wavefront goes as far as its share of the effort lets it, with the rest in proportion. What no
// wavefront comes through is divided again, and in the end counted as unlike. So big differences are seen where
// samples at evenly spaced places alone would step over them.
double estimate_long(const LongPair& pair);

}  // namespace wfacli

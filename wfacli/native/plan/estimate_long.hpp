// Estimated edits of one pair of any length, found in milliseconds.
#pragma once

#include <cstdint>

namespace wfacli {

// One symbol per byte; symbols match if their values are equal.
struct LongPair {
  const std::uint8_t* query;
  const std::uint8_t* target;
  std::int64_t query_len, target_len;
};

// Estimate the edit distance of a pair.
//
// Seeds all along the query are searched for in the target. A chain of those found shows long gaps. Between neighbours
// of the chain a narrow wavefront runs as far as its share of the effort allows, and its error rate is scaled to the
// rest. A stretch that no wavefront crosses is divided at another seed, and finally counted as unrelated. This finds
// large differences, which evenly spaced samples alone would miss.
double estimate_long(const LongPair& pair);

}  // namespace wfacli

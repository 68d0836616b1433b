// Rows of a batch shared out among builds of a GPU's kernel, and in which order each build takes them.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// Which build takes a pair, by its lengths in steps.
struct BuildTable {
  const std::uint8_t* step;    // [lengths], of each length; longer ones have the last one's
  std::int64_t lengths;
  const std::uint8_t* build;   // [steps][steps], of a query's step (row) and a target's
  std::int64_t steps;
  const std::int32_t* width;   // [builds], columns of a stripe
  std::int32_t builds;         // the last one is for sequences longer than `narrow`
  std::int32_t narrow, most;   // letters; pairs with longer ones than `most` are nobody's
};

// Pairs of one build.
struct BuildRows {
  std::int64_t count = 0;
  std::int32_t build = 0, longest_query = 0, longest_target = 0;
};

struct SharedRows {
  Buffer<std::int32_t> order;      // places in the rows, build by build; of each those with most stripes, then rows first
  std::vector<BuildRows> builds;   // in this order, none without pairs
  Buffer<std::int32_t> others;     // places of nobody's: an empty sequence, or one that is too long
  std::int64_t bytes = 0;          // of letters, as staged_bytes has them
};

SharedRows share_rows(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const BuildTable& table);

}  // namespace wfacli

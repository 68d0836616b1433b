// Distribution of a batch's rows among the builds of a GPU kernel, and their order within each build.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace wfacli {

// The build for a pair, by the pair's lengths in steps.
struct BuildTable {
  const std::uint8_t* step;    // [lengths], step of each length; longer sequences have the last step
  std::int64_t lengths;
  const std::uint8_t* build;   // [steps][steps], build by query step (row) and target step
  std::int64_t steps;
  const std::int32_t* width;   // [builds], columns of a stripe
  std::int32_t builds;         // the last build is for pairs longer than `max_narrow`
  std::int32_t max_narrow, max_length;  // lengths in symbols; no build accepts pairs longer than `max_length`
};

// The pairs of one build.
struct BuildRows {
  std::int64_t count = 0;
  std::int32_t build = 0, max_query_length = 0, max_target_length = 0;
};

struct DistributedRows {
  Buffer<std::int32_t> order;      // indices into `rows` by build, then by stripes and query length, both descending
  std::vector<BuildRows> builds;   // in the order of `order`, without empty builds
  Buffer<std::int32_t> others;     // indices of pairs without a build: an empty sequence, or one that is too long
  std::int64_t bytes = 0;          // sum of staged_bytes over the sequences of all builds
};

// Distribute `count` rows among the builds of a table.
DistributedRows distribute_rows(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                                const BuildTable& table);

}  // namespace wfacli

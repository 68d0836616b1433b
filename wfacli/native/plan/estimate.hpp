// Estimated edits of a pair, from samples of it.
#pragma once

#include "base/types.hpp"

namespace wfacli {

constexpr std::int32_t kDefaultEffort = 60;  // default effort of estimate_edits, in edits

// Costs of edits. The average edit is one third each of a mismatch, an insertion and a deletion.
struct EditCosts {
  std::int32_t mismatch, open, extend;
  double average() const { return (mismatch + 2.0 * (open + extend)) / 3; }
};

// Estimate the edit distance of a pair.
//
// Wavefronts with a few edits sample both ends of the pair, and positions inside it if the pair is long and noisy; the
// error rate of the samples is scaled to the whole length. All samples have about `effort` edits together, and
// proportionally fewer for pairs below 10,000 bases. The result is exact if a few edits align the whole pair, and
// never less than the difference of the lengths. Bases compare by their bits, without the case.
//
// With `costs`, return the cost of the sampled paths in average edits, because sequencing technologies differ in the
// number and the length of gaps; the lower bound is then the cost of a gap as long as the lengths differ.
std::int32_t estimate_edits(const PairView& pair, std::int32_t effort, const EditCosts* costs = nullptr);

// Estimate the cost, in average edits, of a pair with up to `free_begin` free target bases at the beginning and
// `free_end` at the end.
//
// Pieces from all over the query are searched for, each in the part of the target where it may lie. A piece costs at
// most as much as its insertion. Return -1 if the target is too long to search.
std::int32_t estimate_free_edits(const PairView& pair, std::int32_t free_begin, std::int32_t free_end,
                                 const EditCosts& costs);

}  // namespace wfacli

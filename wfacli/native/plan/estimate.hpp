// How many edits a pair has, roughly, from samples of it.
#pragma once

#include "base/types.hpp"

namespace wfacli {

constexpr std::int32_t kUsualEffort = 60;

// What edits cost; an average one has a third each of mismatches, insertions and deletions.
struct EditCosts {
  std::int32_t mismatch, open, extend;
  double average() const { return (mismatch + 2.0 * (open + extend)) / 3; }
};

// The edit distance of a pair, estimated from its first and last letters, and of long pairs with errors from some
// inside: how far wavefronts get with a few edits, `most` of them in all or a few more, in proportion fewer below 10,000 letters.
// Exact where a few are all; never less than the difference of the lengths. Letters compare by their bits without the
// case. With costs: the cost of the way that was found, in average edits, since reads of one technology have more gaps,
// or longer ones, than those of another.
std::int32_t estimate_edits(const PairView& pair, std::int32_t most, const EditCosts* costs = nullptr);

// The same where `free_begin` letters of the target's beginning and `free_end` of its end may stay unaligned: from pieces all
// over the query, each looked for in the part of the target where it may lie. In average edits of the costs; a piece costs no
// more than to be inserted. -1 where the target is too long to be looked through.
std::int32_t estimate_free_edits(const PairView& pair, std::int32_t free_begin, std::int32_t free_end,
                                 const EditCosts& costs);

}  // namespace wfacli

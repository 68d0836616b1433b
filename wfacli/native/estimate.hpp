// How many edits a pair has, roughly, from samples of it.
#pragma once

#include "types.hpp"

namespace wfacli {

// The edit distance of a pair, estimated from its first and last letters, and of long pairs from some inside: how far a
// wavefront gets with a few edits. Exact where that is far enough; never less than the difference of the lengths. Letters compare by their
// bits without the case.
std::int32_t estimate_edits(const PairView& pair);

}  // namespace wfacli

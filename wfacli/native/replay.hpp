// An alignment checked against its sequences, letter by letter.
#pragma once

#include <string>

#include "engine.hpp"

namespace wfacli {

// What is wrong with row `i`'s alignment: operations that do not fit the letters, a CIGAR that does not
// cover both sequences, or a score that is not minus the operations' cost. Empty when nothing is.
std::string replay_fault(const BatchView& batch, const AlignmentView& alignments, std::int64_t i, Metric metric,
                         const Costs& costs, Ambiguous ambiguous);

}  // namespace wfacli

// An alignment checked against its sequences, letter by letter.
#pragma once

#include <string>

#include "engine/extend.hpp"

namespace wfacli {

// What is wrong with row `i`'s alignment: operations that do not fit the letters, a CIGAR that does not
// cover the row's span, or a score that is not the operations'. Empty when nothing is.
std::string replay_fault(const BatchView& batch, const AlignmentView& alignments, std::int64_t i,
                         const AlignOptions& options);
std::string replay_fault(const BatchView& batch, const AlignmentView& alignments, std::int64_t i,
                         const ExtendOptions& options);

}  // namespace wfacli

// Validation of an alignment against its sequences, base by base.
#pragma once

#include <string>

#include "engine/extend.hpp"

namespace wfacli {

// Returns a message if row `i`'s alignment is invalid: operations that contradict the sequences, a CIGAR that does not
// cover the row's span, or a score that differs from that of the operations. Returns "" if it is valid.
std::string replay_fault(const BatchView& batch, const AlignmentView& alignments, std::int64_t i,
                         const AlignOptions& options);
std::string replay_fault(const BatchView& batch, const AlignmentView& alignments, std::int64_t i,
                         const ExtendOptions& options);

}  // namespace wfacli

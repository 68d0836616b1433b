// Steps between the alignments of mapped reads that only look at columns: spans, flags, scores.
//
// Spans are i32[n, 4]: q_beg, q_end, t_beg, t_end, half open. A side is the beginning (0) or the end (1) of both sequences.
#pragma once

#include "engine/engine.hpp"

namespace wfacli {

// Returns the rows of extensions that may go on to the end of the read: `at_end` (n) says which flanks reach it, `q_len` has
// the flanks' lengths. Those that ended at a Z-drop, or at the end, may not.
Buffer<std::int32_t> short_of_the_end(const AlignmentView& found, const std::uint8_t* at_end, const std::int32_t* q_len);
// Continues extensions, rows[k] of `found`, to the end of their flanks where that scores more with the bonus: changes
// `span`, of all rows. `whole` has their alignments to the end, `q_len` (k) the lengths of these flanks.
void go_to_the_end(const AlignmentView& found, const std::int32_t* rows, const AlignmentView& whole, const std::int32_t* q_len,
                   std::int64_t bonus, std::int32_t* span);

// Returns the rows whose spans differ.
Buffer<std::int32_t> rows_that_differ(std::int64_t n, const std::int32_t* before, const std::int32_t* after);
// Returns the spans of alignments of parts as spans in the rows; `part` has the spans of the parts.
Buffer<std::int32_t> spans_in_rows(const AlignmentView& found, const std::int32_t* part);
// Returns spans that cover both sequences of each row.
Buffer<std::int32_t> whole_spans(std::int64_t n, const std::int32_t* q_len, const std::int32_t* t_len);
// Returns the union of rows; both are in order.
Buffer<std::int32_t> merged_rows(const std::int32_t* x, std::int64_t n, const std::int32_t* y, std::int64_t m);

// Rows of a batch, in order, with a span each.
struct RowSpans {
  std::int64_t n;
  const std::int32_t *rows, *span;
};
// Spans of n rows: where extensions begin, what they may reach, and the same without regard to sides that stay.
struct ExtensionLimits {
  Buffer<std::int32_t> inner, outer, limit;
};
// Returns the limits of rows with old spans. `reliable`: those that are extended from further inside, on the sides that differ;
// `opened` (k, in order): those that are extended from where they are, on both; `limits`: those that may not be extended to the
// ends of their `room`.
ExtensionLimits extension_limits(const RowSpans& old, const std::int32_t* room, const RowSpans& reliable,
                                 const std::int32_t* opened, std::int64_t k, const RowSpans& limits);

// Returns the limits (inner, outer) of alignments that are extended from the mapped part on again, or from their own ends if they
// have left it, on the sides that have another `reach` than their end. Sides on which the alignment ends inside the mapped part
// stay, as do both if the mapped part was cut off.
ExtensionLimits limits_from_mapped(std::int64_t n, const std::int32_t* span, const std::int32_t* mapped,
                                   const std::int32_t* reach);

// Parts of alignments before and after an inner span, [n, 2] each; see OuterEnds.
struct OuterView {
  const std::int64_t *score, *matches;
  const std::int32_t* sam_flags;  // [n]
};
// Undoes the extension of sides with a good part outside of the inner span that has `least_matches` bases in long matches:
// `span` (n) gets the old ends there. Returns which other sides have a good part, of score `least` (u8[n, 2]). Secondary rows
// have none.
Buffer<std::uint8_t> good_parts(std::int64_t n, const OuterView& outside, std::int64_t least, std::int64_t least_matches,
                                const std::int32_t* old, std::int32_t* span);

// Mapped parts beside alignments: the sides that have one (2 * row + side), in order, where it may be extended from, and up to.
struct MissedParts {
  Buffer<std::int32_t> sides, inner, outer;
};
// Returns parts of `mapped` spans outside of alignments with spans `found`, if they may be extended inside `limit` to `least`
// bases of the query. Of a part that the alignment reaches into, the place is the first or last base.
MissedParts missed_parts(std::int64_t n, const std::int32_t* mapped, const std::int32_t* found, const std::int32_t* limit,
                         const std::int32_t* sam_flags, std::int64_t least);

}  // namespace wfacli

// Letters of some pairs in a row, as a GPU takes them.
#pragma once

#include <cstddef>

#include "engine/engine.hpp"

namespace wfacli {

// Bytes of a sequence with what fills it up to where the next one may start.
constexpr std::size_t staged_bytes(std::int32_t letters) {
  return (static_cast<std::size_t>(letters) + 15) / 16 * 16;
}
// The same, in sixteens.
constexpr std::int32_t staged_units(std::int32_t letters) { return letters / 16 + (letters % 16 != 0); }

// Five columns of `count` values after the letters, in this order; `start` in units of 16 letters.
struct StagedColumns {
  std::uint32_t *query_start, *target_start;
  std::int32_t *query_len, *target_len, *order;
};

// What is to be known of some rows before a job is made of them.
struct RowsSummary {
  std::int64_t bytes = 0, other = 0;             // bytes that `stage` takes for each; rows with other letters than A C G T
  std::int32_t longest = 0, apart = 0;           // letters of the longest sequence; most by which a pair's lengths differ
  std::int32_t least_edits = 0, most_edits = 0;  // of the estimates
};
// Of rows[0..count), or of all pairs where `rows` is null.
RowsSummary summary_of(const BatchView& batch, const std::int32_t* rows, std::int64_t count);

// What a GPU has answered for some rows: costs in units of `unit`, and statuses.
struct CardAnswers {
  const std::int32_t* cost;    // [count]
  const std::uint8_t* status;  // [count]
};

// Columns of results that a GPU does not write.
struct DerivedRows {
  Buffer<std::uint8_t> cut;
  Buffer<std::int32_t> score, span;
};

// Scores in the user's scheme, with a bonus for matches or without (types.hpp, Costs), and spans.
void unstage(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const CardAnswers& answers,
             std::int32_t unit, std::int32_t bonus, DerivedRows& out);

// Whether all rows are those of a batch of n pairs.
bool rows_inside(const std::int32_t* rows, std::int64_t count, std::int64_t n);

// Fills the columns of rows[0..count) of a batch whose letters lie as they stand.
void stage_columns(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const StagedColumns& columns);

// Copies the letters of rows[0..count) to `out`, each sequence from a multiple of 16 on, and fills their columns. All
// rows of a batch in its order are copied as they stand, so that targets which repeat go once. False where `room` bytes
// do not suffice; `bases` are those of the batch.
bool stage(const BatchView& batch, std::size_t bases, const std::int32_t* rows, std::int64_t count, std::uint8_t* out,
           std::size_t room, const StagedColumns& columns);

}  // namespace wfacli

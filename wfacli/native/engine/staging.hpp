// Staging buffers for a GPU: sequences back to back, followed by columns.
#pragma once

#include <cstddef>

#include "engine/engine.hpp"

namespace wfacli {

// Bytes of a sequence padded to a multiple of 16, where the next one starts.
constexpr std::size_t staged_bytes(std::int32_t length) { return (static_cast<std::size_t>(length) + 15) / 16 * 16; }
// The same in units of 16 bytes.
constexpr std::int32_t staged_units(std::int32_t length) { return length / 16 + (length % 16 != 0); }

// Five columns of `count` values after the bases, in this order; starts are in units of 16 bytes.
struct StagedColumns {
  std::uint32_t *query_start, *target_start;
  std::int32_t *query_len, *target_len, *order;
};

// Properties of rows that are needed before they are staged.
struct RowsSummary {
  std::int64_t bytes = 0, non_acgt = 0;  // sum of staged bytes; rows with bases other than A C G T
  std::int32_t max_length = 0;
  std::int32_t max_length_difference = 0;     // maximum difference between the lengths of a pair
  std::int32_t min_edits = 0, max_edits = 0;  // minimum and maximum of the estimated edits
};
// Summarise rows[0..count), or all `count` pairs of the batch if `rows` is null.
RowsSummary summary_of(const BatchView& batch, const std::int32_t* rows, std::int64_t count);

// Results of a GPU for some rows: costs in kernel units, and statuses.
struct DeviceResults {
  const std::int32_t* cost;    // [count]
  const std::uint8_t* status;  // [count]
};

// Result columns that are computed on the host.
struct DerivedRows {
  Buffer<std::uint8_t> cut;
  Buffer<std::int32_t> score, span;
};

// Compute scores in the user's scheme, and spans, from a GPU's results. `unit`: value of a kernel unit; `bonus`: the
// match bonus or 0 (types.hpp, Costs).
void unstage(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const DeviceResults& answers,
             std::int32_t unit, std::int32_t bonus, DerivedRows& out);

// Return true if all rows are in 0 .. n - 1.
bool rows_inside(const std::int32_t* rows, std::int64_t count, std::int64_t n);

// Fill the columns of rows[0..count) for a copy of the whole batch's bases.
void stage_columns(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const StagedColumns& columns);

// Copy the bases of rows[0..count) to `out`, each sequence at a multiple of 16 bytes, and fill the columns.
//
// If the rows are all rows of the batch in order, the batch's bases are copied as they are, so that repeated targets
// are copied once. `bases`: bytes of the batch's bases. Return false if `out` needs more than `room` bytes.
bool stage(const BatchView& batch, std::size_t bases, const std::int32_t* rows, std::int64_t count, std::uint8_t* out,
           std::size_t room, const StagedColumns& columns);

}  // namespace wfacli

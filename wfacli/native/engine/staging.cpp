#include "engine/staging.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace wfacli {
namespace {

// Rows by index, or all rows of a batch in order, for which loops over columns can be vectorised.
struct Named {
  const std::int32_t* rows;
  std::int64_t operator[](std::int64_t r) const { return rows[r]; }
};
struct Every {
  std::int64_t operator[](std::int64_t r) const { return r; }
};

bool every_row(const BatchView& batch, const std::int32_t* rows, std::int64_t count) {
  if (!rows) return true;
  if (count != batch.n) return false;
  std::int32_t differ = 0;
  for (std::int64_t r = 0; r < count; ++r) differ |= rows[r] ^ static_cast<std::int32_t>(r);
  return differ == 0;
}

template <class Work>
void with_rows(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const Work& work) {
  if (every_row(batch, rows, count)) work(Every{});
  else work(Named{rows});
}

class Packer {
 public:
  Packer(std::uint8_t* out, std::size_t room) : out_(out), room_(room) {}

  bool add(const std::uint8_t* sequence, std::int32_t length, std::uint32_t& start) {
    const std::size_t bytes = staged_bytes(length);
    if (used_ + bytes > room_) return false;
    if (length) std::memcpy(out_ + used_, sequence, static_cast<std::size_t>(length));
    start = static_cast<std::uint32_t>(used_ / 16);
    used_ += bytes;
    return true;
  }

 private:
  std::uint8_t* out_;
  std::size_t room_, used_ = 0;
};

}  // namespace

bool rows_inside(const std::int32_t* rows, std::int64_t count, std::int64_t n) {
  bool outside = false;
  for (std::int64_t r = 0; r < count; ++r) outside |= rows[r] < 0 || rows[r] >= n;
  return !outside;
}

RowsSummary summary_of(const BatchView& batch, const std::int32_t* rows, std::int64_t count) {
  RowsSummary s;
  if (!count) return s;
  with_rows(batch, rows, count, [&](auto row) {
    std::int32_t longest = 0, max_difference = 0, min_edits = batch.est_edits[row[0]], max_edits = min_edits;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int32_t q = batch.q_len[row[r]], t = batch.t_len[row[r]], edits = batch.est_edits[row[r]];
      longest = std::max(longest, std::max(q, t));
      max_difference = std::max(max_difference, std::max(q, t) - std::min(q, t));
      min_edits = std::min(min_edits, edits);
      max_edits = std::max(max_edits, edits);
    }
    std::int64_t units = 0, other = 0;
    for (std::int64_t r = 0; r < count; ++r)
      units += staged_units(batch.q_len[row[r]]) + staged_units(batch.t_len[row[r]]);
    for (std::int64_t r = 0; r < count; ++r) other += batch.flags[row[r]] & kNonAcgt;
    s = {16 * units, other / kNonAcgt, longest, max_difference, min_edits, max_edits};
  });
  return s;
}

void stage_columns(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const StagedColumns& columns) {
  with_rows(batch, rows, count, [&](auto row) {
    const auto units = [](std::int64_t start) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(start) / 16); };
    for (std::int64_t r = 0; r < count; ++r) columns.query_start[r] = units(batch.q_start[row[r]]);
    for (std::int64_t r = 0; r < count; ++r) columns.target_start[r] = units(batch.t_start[row[r]]);
    for (std::int64_t r = 0; r < count; ++r) columns.query_len[r] = batch.q_len[row[r]];
    for (std::int64_t r = 0; r < count; ++r) columns.target_len[r] = batch.t_len[row[r]];
    for (std::int64_t r = 0; r < count; ++r) columns.order[r] = static_cast<std::int32_t>(r);
  });
}

bool stage(const BatchView& batch, std::size_t bases, const std::int32_t* rows, std::int64_t count, std::uint8_t* out,
           std::size_t room, const StagedColumns& columns) {
  if (every_row(batch, rows, count)) {
    if (bases > room) return false;
    if (bases) std::memcpy(out, batch.bases, bases);
    stage_columns(batch, rows, count, columns);
    return true;
  }
  Packer packer(out, room);
  for (std::int64_t r = 0; r < count; ++r) {
    const PairView p = batch.pair(rows[r]);
    columns.query_len[r] = p.query_len;
    columns.target_len[r] = p.target_len;
    columns.order[r] = static_cast<std::int32_t>(r);
    if (!packer.add(p.query, p.query_len, columns.query_start[r]) ||
        !packer.add(p.target, p.target_len, columns.target_start[r]))
      return false;
  }
  return true;
}

void unstage(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const DeviceResults& answers,
             std::int32_t unit, std::int32_t bonus, DerivedRows& out) {
  const std::size_t n = static_cast<std::size_t>(count);
  std::memset(out.cut.extend(n), 0, n);
  std::int32_t* score = out.score.extend(n);
  std::int32_t* span = out.span.extend(4 * n);
  // Mask of a row: all ones if it has an alignment, else 0.
  const auto aligned_mask = [&](std::int64_t r) {
    return -static_cast<std::int32_t>(answers.status[r] == static_cast<std::uint8_t>(Status::Ok));
  };
  with_rows(batch, rows, count, [&](auto row) {
    for (std::int64_t r = 0; r < count; ++r, span += 4) {
      span[0] = span[2] = 0;
      span[1] = batch.q_len[row[r]] & aligned_mask(r);
      span[3] = batch.t_len[row[r]] & aligned_mask(r);
    }
    if (!bonus) {
      for (std::int64_t r = 0; r < count; ++r) score[r] = -(answers.cost[r] & aligned_mask(r)) * unit;
      return;
    }
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t total_length = std::int64_t{batch.q_len[row[r]]} + batch.t_len[row[r]];
      const std::int64_t twice = bonus * total_length - std::int64_t{answers.cost[r]} * unit;
      score[r] = static_cast<std::int32_t>(twice / 2) & aligned_mask(r);
    }
  });
}

}  // namespace wfacli

#include "staging.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace wfacli {
namespace {

bool every_row(const BatchView& batch, const std::int32_t* rows, std::int64_t count) {
  if (count != batch.n) return false;
  for (std::int64_t r = 0; r < count; ++r)
    if (rows[r] != r) return false;
  return true;
}

class Packer {
 public:
  Packer(std::uint8_t* out, std::size_t room) : out_(out), room_(room) {}

  bool add(const std::uint8_t* letters, std::int32_t length, std::uint32_t& start) {
    const std::size_t bytes = staged_bytes(length);
    if (used_ + bytes > room_) return false;
    if (length) std::memcpy(out_ + used_, letters, static_cast<std::size_t>(length));
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
  if (count) s.least_edits = s.most_edits = batch.est_edits[rows[0]];
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int32_t row = rows[r], q = batch.q_len[row], t = batch.t_len[row], edits = batch.est_edits[row];
    s.bytes += static_cast<std::int64_t>(staged_bytes(q) + staged_bytes(t));
    s.other += (batch.flags[row] & kNonAcgt) != 0;
    s.longest = std::max({s.longest, q, t});
    s.apart = std::max(s.apart, std::abs(q - t));
    s.least_edits = std::min(s.least_edits, edits);
    s.most_edits = std::max(s.most_edits, edits);
  }
  return s;
}

void stage_columns(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const StagedColumns& columns) {
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int32_t row = rows[r];
    columns.query_start[r] = static_cast<std::uint32_t>(batch.q_start[row] / 16);
    columns.target_start[r] = static_cast<std::uint32_t>(batch.t_start[row] / 16);
    columns.query_len[r] = batch.q_len[row];
    columns.target_len[r] = batch.t_len[row];
    columns.order[r] = static_cast<std::int32_t>(r);
  }
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

void unstage(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const CardAnswers& answers,
             std::int32_t unit, std::int32_t bonus, DerivedRows& out) {
  const std::size_t n = static_cast<std::size_t>(count);
  std::memset(out.cut.extend(n), 0, n);
  std::int32_t* score = out.score.extend(n);
  std::int32_t* span = out.span.extend(4 * n);
  for (std::int64_t r = 0; r < count; ++r, span += 4) {
    const bool ok = answers.status[r] == static_cast<std::uint8_t>(Status::Ok);
    const std::int64_t query = ok ? batch.q_len[rows[r]] : 0, target = ok ? batch.t_len[rows[r]] : 0;
    const std::int64_t cost = ok ? static_cast<std::int64_t>(answers.cost[r]) * unit : 0;
    score[r] = static_cast<std::int32_t>(bonus ? (bonus * (query + target) - cost) / 2 : -cost);
    span[0] = span[2] = 0;
    span[1] = static_cast<std::int32_t>(query);
    span[3] = static_cast<std::int32_t>(target);
  }
}

}  // namespace wfacli

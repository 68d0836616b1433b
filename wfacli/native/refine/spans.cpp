#include "refine/spans.hpp"

#include <algorithm>

namespace wfacli {
namespace {

// Returns whether two spans have no base of the query in common, or none of the target.
bool share_nothing(const std::int32_t* x, const std::int32_t* y) {
  return x[1] <= y[0] || y[1] <= x[0] || x[3] <= y[2] || y[3] <= x[2];
}

bool is_aligned(const AlignmentView& found, std::int64_t row) {
  return found.status[row] == static_cast<std::uint8_t>(Status::Ok);
}

void append(Buffer<std::int32_t>& to, const std::int32_t* span) { to.append(span, 4); }

// Steps through rows in order, and returns the span of each that is among them.
class Cursor {
 public:
  explicit Cursor(const RowSpans& of) : of_(of) {}
  // Returns null for a row that is not among them.
  const std::int32_t* at(std::int32_t row) {
    while (next_ < of_.n && of_.rows[next_] < row) ++next_;
    return next_ < of_.n && of_.rows[next_] == row ? of_.span + 4 * next_ : nullptr;
  }

 private:
  const RowSpans& of_;
  std::int64_t next_ = 0;
};

}  // namespace

Buffer<std::int32_t> short_of_the_end(const AlignmentView& found, const std::uint8_t* at_end, const std::int32_t* q_len) {
  Buffer<std::int32_t> rows;
  for (std::int64_t row = 0; row < found.n; ++row)
    if (at_end[row] && is_aligned(found, row) && !found.cut[row] && found.span[4 * row + 1] < q_len[row])
      rows.push(static_cast<std::int32_t>(row));
  return rows;
}

void go_to_the_end(const AlignmentView& found, const std::int32_t* rows, const AlignmentView& whole, const std::int32_t* q_len,
                   std::int64_t bonus, std::int32_t* span) {
  for (std::int64_t k = 0; k < whole.n; ++k) {
    const std::int32_t row = rows[k];
    if (!is_aligned(whole, k) || whole.score[k] + bonus <= found.score[row]) continue;
    span[4 * row + 1] = q_len[k];
    span[4 * row + 3] = whole.span[4 * k + 3];
  }
}

Buffer<std::int32_t> rows_that_differ(std::int64_t n, const std::int32_t* before, const std::int32_t* after) {
  Buffer<std::int32_t> rows;
  for (std::int64_t row = 0; row < n; ++row)
    if (!std::equal(before + 4 * row, before + 4 * row + 4, after + 4 * row)) rows.push(static_cast<std::int32_t>(row));
  return rows;
}

Buffer<std::int32_t> spans_in_rows(const AlignmentView& found, const std::int32_t* part) {
  Buffer<std::int32_t> spans;
  spans.append(found.span, static_cast<std::size_t>(4 * found.n));
  for (std::int64_t row = 0; row < found.n; ++row) {
    if (!is_aligned(found, row)) continue;
    std::int32_t* span = spans.data() + 4 * row;
    const std::int32_t *of = part + 4 * row, q = of[0], t = of[2];
    span[0] += q, span[1] += q, span[2] += t, span[3] += t;
  }
  return spans;
}

Buffer<std::int32_t> whole_spans(std::int64_t n, const std::int32_t* q_len, const std::int32_t* t_len) {
  Buffer<std::int32_t> spans;
  std::int32_t* span = spans.extend(static_cast<std::size_t>(4 * n));
  for (std::int64_t row = 0; row < n; ++row, span += 4) span[0] = span[2] = 0, span[1] = q_len[row], span[3] = t_len[row];
  return spans;
}

Buffer<std::int32_t> merged_rows(const std::int32_t* x, std::int64_t n, const std::int32_t* y, std::int64_t m) {
  Buffer<std::int32_t> rows;
  rows.resize(static_cast<std::size_t>(n + m));
  const std::int32_t* end = std::set_union(x, x + n, y, y + m, rows.data());
  rows.resize(static_cast<std::size_t>(end - rows.data()));
  return rows;
}

ExtensionLimits extension_limits(const RowSpans& old, const std::int32_t* room, const RowSpans& reliable,
                                 const std::int32_t* opened, std::int64_t k, const RowSpans& limits) {
  ExtensionLimits found;
  Cursor inside(reliable), limited(limits);
  for (std::int64_t i = 0, next = 0; i < old.n; ++i) {
    const std::int32_t row = old.rows[i], *before = old.span + 4 * i;
    const std::int32_t *inner = inside.at(row), *limit = limited.at(row);
    if (!inner) inner = before;
    if (!limit) limit = room + 4 * i;
    while (next < k && opened[next] < row) ++next;
    const bool both = next < k && opened[next] == row;
    append(found.inner, inner);
    append(found.limit, limit);
    append(found.outer, before);
    std::int32_t* outer = found.outer.data() + 4 * i;
    for (int side = 0; side < 2; ++side)
      if (both || inner[side] != before[side] || inner[2 + side] != before[2 + side])
        outer[side] = limit[side], outer[2 + side] = limit[2 + side];
  }
  return found;
}

ExtensionLimits limits_from_mapped(std::int64_t n, const std::int32_t* spans, const std::int32_t* mapped,
                                   const std::int32_t* reach) {
  ExtensionLimits found;
  for (std::int64_t row = 0; row < n; ++row) {
    const std::int32_t *span = spans + 4 * row, *part = mapped + 4 * row, *limit = reach + 4 * row;
    append(found.inner, span);
    append(found.outer, span);
    std::int32_t *inner = found.inner.data() + 4 * row, *outer = found.outer.data() + 4 * row;
    if (share_nothing(span, part)) part = span;
    for (int side = 0; side < 2; ++side) {
      const int q = side, t = 2 + side;
      const bool outside = side ? span[q] >= part[q] && span[t] >= part[t] : span[q] <= part[q] && span[t] <= part[t];
      if (!outside || (limit[q] == span[q] && limit[t] == span[t])) continue;
      inner[q] = part[q], inner[t] = part[t];
      outer[q] = limit[q], outer[t] = limit[t];
    }
    if (inner[0] >= inner[1] || inner[2] >= inner[3]) std::copy_n(span, 4, inner), std::copy_n(span, 4, outer);
  }
  return found;
}

Buffer<std::uint8_t> good_parts(std::int64_t n, const OuterView& outside, std::int64_t least, std::int64_t least_matches,
                                const std::int32_t* old, std::int32_t* span) {
  Buffer<std::uint8_t> good;
  for (std::int64_t row = 0; row < n; ++row)
    for (int side = 0; side < 2; ++side) {
      const std::int64_t at = 2 * row + side, begin = 4 * row + side;
      const bool is_good = outside.score[at] >= least && !(outside.sam_flags[row] & kSecondary);
      const bool stays = is_good && outside.matches[at] >= least_matches;
      if (stays) span[begin] = old[begin], span[begin + 2] = old[begin + 2];
      good.push(is_good && !stays);
    }
  return good;
}

MissedParts missed_parts(std::int64_t n, const std::int32_t* mapped, const std::int32_t* found, const std::int32_t* limit,
                         const std::int32_t* sam_flags, std::int64_t least) {
  MissedParts missed;
  for (std::int64_t row = 0; row < n; ++row) {
    if (sam_flags[row] & kSecondary) continue;
    const std::int32_t *inner = mapped + 4 * row, *span = found + 4 * row;
    for (int side = 0; side < 2; ++side) {
      if (side ? inner[1] <= span[1] : inner[0] >= span[0]) continue;
      std::int32_t core[4], room[4];
      std::copy_n(inner, 4, core);
      std::copy_n(limit + 4 * row, 4, room);
      room[1 - side] = span[side];
      if (room[1] - room[0] < least) continue;
      if (side ? core[0] < room[0] : core[1] > room[1]) core[1 - side] = core[side], core[3 - side] = core[2 + side];
      missed.sides.push(static_cast<std::int32_t>(2 * row + side));
      append(missed.inner, core);
      append(missed.outer, room);
    }
  }
  return missed;
}

}  // namespace wfacli

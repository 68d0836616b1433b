// Ends of parts of split reads that may extend further, because their neighbours have left them bases of the read.
#include <algorithm>
#include <vector>

#include "format/record_fields.hpp"
#include "mapped/mapped_window.hpp"
#include "refine/ends.hpp"
#include "refine/reads.hpp"

namespace wfacli {
namespace {

// Aligned part of a read.
struct Aligned {
  std::int64_t row;
  ReadPart on_read;
};

// Bases beyond an end of an alignment: up to the next part of the read, and up to where an extension goes into that one.
struct Free {
  std::int64_t bases, reach;
};

// Returns what is free of the `left` bases of a row's query beyond one end, which is at `end` of the read. Where a part reaches
// over this end nothing is, since parts only overlap where one is inside the other.
Free free_beyond(std::int64_t end, bool right, std::int64_t left, const Aligned& own, const std::vector<Aligned>& parts) {
  Free free{left, left};
  for (const Aligned& other : parts) {
    const auto [from, to] = other.on_read;
    if (other.row == own.row || (right ? to < end : from > end)) continue;
    const std::int64_t bases = std::max<std::int64_t>(0, right ? from - end : end - to);
    free.bases = std::min(free.bases, bases);
    free.reach = std::min(free.reach, bases + bases_into(to - from, 0));
  }
  return free;
}

// Returns whether a part may extend beyond its room, and sets how far each end may go.
bool reach_of(const BatchView& batch, const Aligned& part, const std::int32_t* span, const std::int32_t* room,
              const std::vector<Aligned>& parts, std::int32_t* reach) {
  const bool reverse = OnRead(batch, part.row).reverse;
  std::copy_n(span, 4, reach);
  bool any = false;
  for (const int side : {0, 1}) {
    const std::int32_t sign = side ? 1 : -1, last = side ? batch.q_len[part.row] : 0;
    if (room[side] == last) continue;
    const bool right = (side == 1) != reverse;
    const Free free = free_beyond(right ? part.on_read.end : part.on_read.beg, right, sign * (last - span[side]), part, parts);
    if (free.bases <= sign * (room[side] - span[side])) continue;
    reach[side] = span[side] + sign * static_cast<std::int32_t>(free.reach);
    reach[2 + side] = side ? batch.t_len[part.row] : 0;
    any = true;
  }
  return any;
}

}  // namespace

FreedEnds freed_ends(const BatchView& batch, const AlignmentView& a, const std::int32_t* room) {
  FreedEnds out;
  std::vector<Aligned> parts;
  for (std::int64_t first = 0, end; first < batch.n; first = end) {
    end = end_of_read(batch, first);
    parts.clear();
    for (std::int64_t row = first; row < end; ++row)
      if (is_placed(a, row) && !(batch.mapped.sam_flags[row] & (kSecondary | kUnmapped)))
        parts.push_back({row, part_on_read(OnRead(batch, row), a.span + 4 * row)});
    for (const Aligned& part : parts) {
      std::int32_t reach[4];
      if (!reach_of(batch, part, a.span + 4 * part.row, room + 4 * part.row, parts, reach)) continue;
      out.rows.push(static_cast<std::int32_t>(part.row));
      std::copy_n(reach, 4, out.reach.extend(4));
    }
  }
  return out;
}

}  // namespace wfacli

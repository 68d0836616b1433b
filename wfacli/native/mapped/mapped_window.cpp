#include "mapped/mapped_window.hpp"

#include <algorithm>

namespace wfacli {
namespace {

constexpr std::int64_t kInto = 500;  // maximum bases that a part of a split read extends into another
// Bases that are added to the target's flank. An extension from further inside the mapped part may need them: the
// diagonal of the outermost seeds may be wrong by that much.
constexpr std::int64_t kSlack = 128;

}  // namespace

std::int64_t bases_into(std::int64_t bases, std::int64_t shared) {
  return shared + (bases <= kInto ? kInto : std::min(kInto, (bases - shared) / 2));
}

std::int64_t Reach::target(std::int64_t query) const {
  const std::int64_t slack = bonus > 0 ? 0 : kSlack;  // short reads with an end bonus are extended from their seeds
  if (query == 0) return slack;
  const std::int64_t max_score = query * match + bonus;
  std::int64_t max_gap = 0;
  for (const GapPiece& piece : gap) max_gap = std::max(max_gap, (max_score - piece.open) / piece.extend);
  return query + std::min(max_gap, max_excess) + slack;
}

Window inner_of(const Mapping& m) {
  Window w{m.q_beg, m.q_end, m.t_beg, m.t_end};
  if (m.reverse) w.q_beg = m.q_len - m.q_end, w.q_end = m.q_len - m.q_beg;
  return w;
}

Window window_of(const Mapping& m, const Room& room, std::int64_t target, const WindowOptions& o) {
  Window w = inner_of(m);
  std::int64_t before = 0, after = 0;
  if (o.span == Span::Extended) {
    before = std::clamp<std::int64_t>(w.q_beg - (m.reverse ? m.q_len - room.end : room.beg), 0, o.reach.max_query);
    after = std::clamp<std::int64_t>((m.reverse ? m.q_len - room.beg : room.end) - w.q_end, 0, o.reach.max_query);
    w.q_beg -= before;
    w.q_end += after;
    before = o.reach.target(before);
    after = o.reach.target(after);
  } else if (o.span != Span::Mapped) {
    before = after = o.pad;
  }
  if (o.span == Span::Read) {
    const std::int64_t begins = w.q_beg, ends = m.q_len - w.q_end;
    before += begins + begins / 8;
    after += ends + ends / 8;
    w.q_beg = 0, w.q_end = m.q_len;
  }
  w.t_beg = std::max<std::int64_t>(0, w.t_beg - before);
  w.t_end = std::min(target, w.t_end + after);
  return w;
}

void set_rooms(const Mapping* own, std::size_t count, Span span, std::vector<Room>& rooms) {
  rooms.clear();
  for (std::size_t i = 0; i < count; ++i) rooms.push_back({0, own[i].q_len});
  if (span != Span::Extended) return;
  const auto counts = [&](std::size_t i) { return own[i].kind != MappingKind::Secondary; };
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      if (!counts(i) || !counts(j) || own[i].q_beg >= own[j].q_beg || own[i].q_end >= own[j].q_end) continue;
      const std::int64_t shared = std::max<std::int64_t>(0, own[i].q_end - own[j].q_beg);
      rooms[i].end = std::min(rooms[i].end, own[j].q_beg + bases_into(own[j].q_end - own[j].q_beg, shared));
      rooms[j].beg = std::max(rooms[j].beg, own[i].q_end - bases_into(own[i].q_end - own[i].q_beg, shared));
    }
}

}  // namespace wfacli

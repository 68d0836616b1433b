#include "sw_band.hpp"

#include <algorithm>

#include "sw_walk.hpp"

namespace wfacli {
namespace {

constexpr std::int32_t kNever = -1'500'000'000;

// One anti-diagonal: rows with cells that are alive, and at [row] their H and the I and D that they end with.
struct Diagonal {
  std::int32_t from = 0, to = -1;
  std::int32_t *h = nullptr, *inserted = nullptr, *deleted = nullptr;
  bool empty() const { return from > to; }
  std::int32_t at(const std::int32_t* values, std::int32_t i) const { return i < from || i > to ? kNever : values[i]; }
};

// A score less something; what cannot be stays so.
std::int32_t less(std::int32_t score, std::int32_t by) { return score > kNever ? score - by : kNever; }

}  // namespace

SwExtent sw_extent(const SwScheme& s, const SwPair& pair, const SwCuts& cuts, SwMemory& memory,
                   const CancelFlag& cancelled) {
  const std::int32_t n = pair.query_len, m = pair.target_len, opened = s.open + s.extend;
  const std::int64_t width = cuts.band ? cuts.band : std::int64_t{n} + m;
  memory.rows.clear();
  memory.rows.resize(9 * (static_cast<std::size_t>(n) + 1) * sizeof(std::int32_t));
  std::int32_t* at = reinterpret_cast<std::int32_t*>(memory.rows.data());
  Diagonal diagonals[3];
  for (Diagonal& d : diagonals)
    for (std::int32_t** values : {&d.h, &d.inserted, &d.deleted}) *values = at, at += n + 1;
  diagonals[0].to = 0;
  diagonals[0].h[0] = 0;
  diagonals[0].inserted[0] = diagonals[0].deleted[0] = kNever;
  SwExtent best;
  best.cut = !SwBand{-width, width}.covers(n, m);
  for (std::int32_t d = 1; d <= n + m; ++d) {
    if ((d & 255) == 0 && cancelled.is_set()) return {.status = Status::Dropped};
    Diagonal& here = diagonals[d % 3];
    const Diagonal &last = diagonals[(d + 2) % 3], &before = diagonals[(d + 1) % 3];
    if (last.empty() && before.empty()) break;
    // Rows that a live cell leads to, in the matrix and the band: |d - 2 i| <= width.
    const std::int64_t first = std::min(last.empty() ? n + 1 : last.from, before.empty() ? n + 1 : before.from + 1);
    const std::int64_t behind = std::max(last.empty() ? -1 : last.to + 1, before.empty() ? -1 : before.to + 1);
    const auto from = static_cast<std::int32_t>(std::max({first, std::int64_t{d} - m, (d - width + 1) / 2}));
    const auto to = static_cast<std::int32_t>(std::min({behind, std::int64_t{n}, std::int64_t{d}, (d + width) / 2}));
    here.from = n + 1;
    here.to = -1;
    std::int32_t most = kNever, row = 0;
    for (std::int32_t i = from; i <= to; ++i) {
      const std::int32_t j = d - i;
      const std::int32_t inserted =
          std::max(less(last.at(last.h, i - 1), opened), less(last.at(last.inserted, i - 1), s.extend));
      const std::int32_t deleted =
          std::max(less(last.at(last.h, i), opened), less(last.at(last.deleted, i), s.extend));
      std::int32_t h = before.at(before.h, i - 1);
      if (h > kNever && j > 0) h += s.matrix[pair.query[i - 1]][pair.target[j - 1]];
      h = std::max({j > 0 ? h : kNever, inserted, deleted});
      const bool dropped = h > kNever && cuts.xdrop && std::int64_t{best.score} - h > cuts.xdrop,
                 alive = h > kNever && !dropped;
      best.cut |= dropped;
      here.h[i] = alive ? h : kNever;
      here.inserted[i] = alive ? inserted : kNever;
      here.deleted[i] = alive ? deleted : kNever;
      if (!alive) continue;
      if (h > most) most = h, row = i;
      here.from = std::min(here.from, i);
      here.to = i;
    }
    if (here.empty()) continue;
    if (most > best.score) {
      best.score = most, best.i = row, best.j = d - row;
    } else if (cuts.zdrop && row >= best.i && d - row >= best.j) {
      const std::int64_t apart = std::abs(std::int64_t{row} - best.i - (d - row - best.j));
      if (std::int64_t{best.score} - most > cuts.zdrop + apart * s.extend) {
        best.cut |= d < n + m;
        break;
      }
    }
  }
  return best;
}

SwAnswer sw_banded(const SwTask& task, const SwPair& pair, const SwBand& band, SwMemory& memory) {
  const SwScheme& s = *task.scheme;
  const std::int32_t n = pair.query_len, m = pair.target_len, opened = s.open + s.extend;
  const std::int64_t low = std::max<std::int64_t>(band.low, -n), high = std::min<std::int64_t>(band.high, m);
  const std::int64_t width = high - low + 1;
  SwAnswer answer;
  if (task.path && (width + 1) * (n + 1) > static_cast<std::int64_t>(task.memory_bytes))
    return {.status = Status::MemoryLimit};
  memory.rows.clear();
  memory.rows.resize(2 * (static_cast<std::size_t>(m) + 2) * sizeof(std::int32_t));
  std::int32_t *h = reinterpret_cast<std::int32_t*>(memory.rows.data()), *inserted = h + m + 2;
  std::fill(h, h + 2 * (static_cast<std::size_t>(m) + 2), kNever);
  for (std::int64_t j = 0; j <= std::min<std::int64_t>(m, high); ++j) {
    h[j] = static_cast<std::int32_t>(j ? -(s.open + j * s.extend) : 0);
    inserted[j] = h[j] - opened;
  }
  if (task.path) memory.table.clear(), memory.table.resize(static_cast<std::size_t>(width * (n + 1)));
  std::uint8_t* flags = memory.table.data();
  for (std::int32_t i = 1; i <= n; ++i) {
    if ((i & 255) == 0 && task.cancelled && task.cancelled->is_set()) return {.status = Status::Dropped};
    const auto from = static_cast<std::int32_t>(std::max<std::int64_t>(0, i + low)),
               to = static_cast<std::int32_t>(std::min<std::int64_t>(m, i + high));
    std::int32_t diagonal = from > 0 ? h[from - 1] : kNever, deleted = kNever;
    if (from > 0) h[from - 1] = kNever;
    std::uint8_t* row = flags + (i - 1) * width - (i + low);
    for (std::int32_t j = from; j <= to; ++j) {
      const std::int32_t across =
          j > 0 && diagonal > kNever ? diagonal + s.matrix[pair.query[i - 1]][pair.target[j - 1]] : kNever;
      const std::int32_t best = std::max({across, inserted[j], deleted});
      const std::int32_t gap = best - opened, inserted_on = inserted[j] - s.extend, deleted_on = deleted - s.extend;
      if (task.path)
        row[j] =
            static_cast<std::uint8_t>((best == inserted[j]) * kFromInsertion + (best == deleted) * kFromDeletion +
                                      (gap >= inserted_on) * kInsertionBegins + (gap >= deleted_on) * kDeletionBegins);
      diagonal = h[j];
      h[j] = best;
      inserted[j] = std::max(gap, std::max(inserted_on, kNever));
      deleted = std::max(gap, std::max(deleted_on, kNever));
    }
  }
  answer.score = h[m];
  answer.query_at = n;
  answer.target_at = m;
  if (!task.path) return answer;
  memory.cigars.begin();
  answer.cigar = static_cast<std::int64_t>(memory.cigars.runs().size());
  SwWalk way(task, pair, answer);
  way.go(
      memory.cigars, [](std::int32_t, std::int32_t) { return true; },
      [&](std::int32_t i, std::int32_t j) { return unsigned{flags[(i - 1) * width + (j - i - low)]}; });
  answer.runs = static_cast<std::int64_t>(memory.cigars.runs().size()) - answer.cigar;
  return answer;
}

}  // namespace wfacli

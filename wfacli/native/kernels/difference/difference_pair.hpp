// The difference kernel for one pair, by the number of gap pieces. Each number has a unit of its own
// (difference_linear_isa.cpp and the others), since together they take the compiler longer than any other kernel.
#pragma once

#include "kernels/confined/confinement.hpp"
#include "kernels/difference/difference_gap.hpp"
#include "kernels/difference/difference_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Paths through the seeds of a chain.
template <class S>
class ChainPath {
 public:
  ChainPath(const KernelTask& task, const Sentinels& sentinels, DifferenceMemory& memory)
      : t_(task), sentinels_(sentinels), memory_(memory),
        short_seeds_(kUseful * memory.certain.stops.size() >= memory.certain.seeds.size()) {}

  // Returns true if so few errors are on the path that short seeds may divide the pair.
  bool short_seeds() const { return short_seeds_; }

  // Returns the cost of a path through a part, cheap between seeds that are some hundred rows apart, and sets
  // certain.runs to its runs; or -1 if some seeds are so far apart that this would take as long as a band of `cells` cells a
  // row, or if there are too many runs.
  std::int64_t find(const CertainPart& part, std::int32_t cells) {
    const std::int64_t most = (std::int64_t{part.query_len} + part.target_len) * cells / 4;
    const std::int32_t end_i = part.i + part.query_len, end_j = part.j + part.target_len, k = memory_.certain.k;
    const std::size_t max_runs = t_.checkpoint_bytes / (sizeof(ExactRun) + sizeof(Front) + sizeof(Departure));
    RunBuilder runs(t_.costs, memory_.certain.runs);
    std::int64_t cost = 0;
    std::int32_t i = part.i, j = part.j;
    for (std::size_t s = 0; s < memory_.certain.stops.size(); ++s) {
      const Stop stop = memory_.certain.stops[s];
      if (stop.i < i || stop.j < j) continue;
      if (stop.i + k > end_i || stop.j + k > end_j) break;
      if (stop.i - i < kLeap && stop.j - j < kLeap) continue;
      if (std::int64_t{stop.i - i} * (stop.j - j) > most || !between(i, j, stop.i, stop.j, runs, cost)) return -1;
      if (memory_.certain.runs.size() > max_runs) return -1;
      runs.add(kEqual, k);
      i = stop.i + k;
      j = stop.j + k;
    }
    return std::int64_t{end_i - i} * (end_j - j) <= most && between(i, j, end_i, end_j, runs, cost) ? cost : -1;
  }

 private:
  static constexpr std::int32_t kLeap = 160;
  static constexpr std::int32_t kBeside = 96;  // diagonals
  static constexpr std::size_t kUseful = 3;  // about 11% errors, where a third of the seeds are on the path

  // Adds the cost of a cheap path from (i, j) to (end_i, end_j), and its runs.
  bool between(std::int32_t i, std::int32_t j, std::int32_t end_i, std::int32_t end_j, RunBuilder& runs, std::int64_t& cost) {
    KernelTask task = t_;
    task.query += i, task.target += j;
    task.query_len = end_i - i, task.target_len = end_j - j;
    task.path = true;
    const std::int32_t shorter = smaller(task.query_len, task.target_len);
    const std::int64_t rest = task.query_len + task.target_len - 2 * shorter;
    task.max_score = static_cast<std::int32_t>(std::int64_t{t_.costs.mismatch} * shorter + gap_cost(t_.costs, rest));
    task.estimate = -1;
    Cigar& path = memory_.segment;
    path.runs().clear();
    path.begin();
    // Sequences with no seed in more than 2 kLeap rows may differ everywhere. A band that has their cheapest path is then wide;
    // C may be any path, so the cheapest one near the straight line is taken.
    const std::int32_t shift = task.target_len - task.query_len;
    const Diagonals beside{smaller(0, shift) - kBeside, larger(0, shift) + kBeside};
    const Corridor corridor{&beside, 1};
    const KernelAnswer answer =
        shorter ? Difference<S>(task, sentinels_, memory_, path, shorter > 2 * kLeap ? &corridor : nullptr).run()
                : one_gap(task, path);
    if (answer.status != Status::Ok) return false;
    cost += answer.score;
    for (std::size_t x = path.runs().size(); x-- > 0;)  // from its last cell
      runs.add(static_cast<Op>(path.runs()[x] & 15u), static_cast<std::int32_t>(path.runs()[x] >> 4));
    return true;
  }

  const KernelTask& t_;
  Sentinels sentinels_;
  DifferenceMemory& memory_;
  const bool short_seeds_;
};

// Sets `part` to a part of the task.
inline void place(KernelTask& part, const KernelTask& task, const CertainPart& p) {
  part.query = task.query + p.i;
  part.target = task.target + p.j;
  part.query_len = p.query_len;
  part.target_len = p.target_len;
  part.max_score = static_cast<std::int32_t>(smaller<std::int64_t>(p.max_cost, task.max_score));
  part.estimate = p.close ? part.max_score : -1;
}

// Finds the diagonals of all cheapest paths of a piece of a part if its band is wide, along the part's path in certain.runs.
inline void confine(const KernelTask& task, const CertainPart& whole, DifferenceMemory& memory, CertainPart& piece) {
  constexpr std::int32_t kWide = 256;  // cells
  KernelTask part = task;
  place(part, task, piece);
  const Bounds bounds(part);
  Band band = bounds.band(piece.max_cost);
  if (band.cells(0) <= kWide || part.query_len == 0 || part.target_len == 0) return;
  SeedBound seeds;
  if (seeds.count(part, memory)) bounds.narrow_by_all(band, seeds, piece.max_cost);
  piece.corridor = static_cast<std::int32_t>(memory.certain.corridors.size());
  piece.corridor_count =
      Confinement(part, memory.certain).find(piece.i - whole.i, piece.j - whole.j, {band.lo, band.hi});
}

// Divides the parts whose bands are wide once more, along a path that is made cheaper.
template <class S>
static void divide_wide_parts(const KernelTask& task, const Sentinels& sentinels, DifferenceMemory& memory) {
  ChainPath<S> path(task, sentinels, memory);
  Buffer<CertainPart>& pieces = memory.pieces_of_parts;
  pieces.clear();
  memory.certain.corridors.clear();
  KernelTask part = task;
  for (std::size_t x = 0; x < memory.certain.parts.size(); ++x) {
    const CertainPart& p = memory.certain.parts[x];
    place(part, task, p);
    const std::int32_t cells = Bounds(part).band(part.max_score).cells(0);
    const bool wide = cells > Difference<S>::kDivided;
    const std::int64_t cost = wide ? path.find(p, cells) : p.max_cost;
    const std::size_t first = pieces.size();
    if (wide && cost >= 0 && cost <= part.max_score && path.short_seeds()) {  // pieces may cost no more than the path
      find_certain_beside(part, p, memory.certain, pieces);
    } else {
      pieces.push(p);
      pieces.back().close = cost >= 0;
      if (cost >= 0) pieces.back().max_cost = smaller(cost, p.max_cost);
    }
    if (wide && cost >= 0 && cost <= p.max_cost)  // so that max_cost is that of the path
      for (std::size_t y = first; y < pieces.size(); ++y) confine(task, p, memory, pieces[y]);
  }
}

// Aligns the parts between certain matches.
template <class S>
static KernelAnswer in_parts(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  const Sentinels sentinels{task.query[-1], task.target[-1]};
  divide_wide_parts<S>(task, sentinels, memory);
  KernelAnswer whole;
  KernelTask part = task;
  for (std::size_t x = memory.pieces_of_parts.size(); x-- > 0;) {  // paths are traced from the last cell
    const CertainPart p = memory.pieces_of_parts[x];
    if (task.path) cigar.add(kEqual, p.matches);
    place(part, task, p);
    const bool empty = part.query_len == 0 || part.target_len == 0;
    const Corridor within{memory.certain.corridors.data() + p.corridor, p.corridor_count};
    const KernelAnswer answer =
        empty ? one_gap(part, cigar)
              : Difference<S>(part, sentinels, memory, cigar, within.count ? &within : nullptr).run();
    if (answer.status != Status::Ok) return answer;
    whole.score += answer.score;
  }
  return whole;
}

template <class S>
static KernelAnswer in_memory(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  if (Rows<S>::bytes(task) > task.checkpoint_bytes) return {Status::MemoryLimit};
  Difference<S> pair(task, memory, cigar);
  const KernelAnswer answer = pair.run();
  return pair.divided() ? in_parts<S>(task, memory, cigar) : answer;
}

// As `difference`, without heuristics and empty sequences.
template <int Pieces>
KernelAnswer difference_pair(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar) {
  const std::int64_t need = lane_need(task.costs);
  const std::int64_t total_length = static_cast<std::int64_t>(task.query_len) + task.target_len;
  if (need > INT16_MAX || total_length * need > INT32_MAX) return {Status::Unsupported};
  if (need > INT8_MAX) return in_memory<Scheme<Pieces, std::int16_t, false>>(task, memory, cigar);
  if (task.by_bits) return in_memory<Scheme<Pieces, std::int8_t, true>>(task, memory, cigar);
  return in_memory<Scheme<Pieces, std::int8_t, false>>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

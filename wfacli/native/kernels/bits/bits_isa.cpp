// Bit-parallel kernels of one instruction set; compiled once per set, which WFACLI_ISA names.
#include "kernels/bits/bits_inside.hpp"
#include "kernels/bits/bits_lanes.hpp"
#include "kernels/bits/bits_pair.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int W>
static void lanes_of(const LanesTask& task, BitsMemory& memory, Cigar& cigar, LanesAnswer* answers) {
  LaneGroup<W> group(task, memory);
  for (std::int32_t first = 0; first < task.count; first += kLanes) {
    const std::int32_t left = task.count - first, count = left < kLanes ? left : kLanes;
    if (task.cancelled && task.cancelled->is_set()) {
      for (std::int32_t p = first; p < task.count; ++p)
        answers[p] = {Status::Dropped, 0, static_cast<std::int64_t>(cigar.runs().size())};
      return;
    }
    group.run(first, count, answers + first);
    if (task.path) group.trace(count, answers + first, cigar);
  }
}

void lanes(const LanesTask& task, BitsMemory& memory, Cigar& cigar, LanesAnswer* answers) {
  switch (task.words) {
    case 1: return lanes_of<1>(task, memory, cigar, answers);
    case 2: return lanes_of<2>(task, memory, cigar, answers);
    case 4: return lanes_of<4>(task, memory, cigar, answers);
    default: return lanes_of<8>(task, memory, cigar, answers);
  }
}

template <int W>
static void inside_of(const InsideTask& task, BitsMemory& memory, Cigar& cigar, InsideAnswer* answers) {
  InsideGroup<W> group(task, memory);
  for (std::int32_t first = 0; first < task.count; first += kLanes) {
    const std::int32_t left = task.count - first, count = left < kLanes ? left : kLanes;
    const bool stop = task.cancelled && task.cancelled->is_set();
    if (!stop && group.run(first, count, answers + first, cigar)) continue;
    for (std::int32_t p = first; p < first + count; ++p)
      answers[p] = {.status = stop ? Status::Dropped : Status::MemoryLimit,
                    .cigar_end = static_cast<std::int64_t>(cigar.runs().size())};
  }
}

template <int... W>
static void inside_by_words(std::integer_sequence<int, W...>, const InsideTask& task, BitsMemory& memory, Cigar& cigar,
                            InsideAnswer* answers) {
  ((task.words == W + 1 && (inside_of<W + 1>(task, memory, cigar, answers), true)) || ...);
}

void inside(const InsideTask& task, BitsMemory& memory, Cigar& cigar, InsideAnswer* answers) {
  inside_by_words(std::make_integer_sequence<int, kMaxInsideWords>(), task, memory, cigar, answers);
}

// Aligns a pair of which one sequence is empty: all gaps.
static KernelAnswer gap_only(const KernelTask& task, Cigar& cigar) {
  KernelAnswer answer;
  answer.score = task.query_len + task.target_len;
  if (answer.score > task.max_score) {
    answer.status = Status::ScoreLimit;
  } else if (task.path) {
    cigar.begin();
    cigar.add(kInsertion, task.query_len);
    cigar.add(kDeletion, task.target_len);
  }
  return answer;
}

KernelAnswer stripes(const KernelTask& task, BitsMemory& memory, Cigar& cigar) {
  KernelAnswer answer;
  if (task.by_bits || task.free.any() || task.heuristics.any() || !task.costs.linear() || task.costs.mismatch != 1 ||
      task.costs.gap[0].extend != 1) {
    answer.status = Status::Unsupported;
    return answer;
  }
  if (task.query_len == 0 || task.target_len == 0) return gap_only(task, cigar);
  const DenseCodes codes(task);
  switch (codes.planes) {
    case 2: return PairBand<2>(task, codes, memory).run(cigar);
    case 3: return PairBand<3>(task, codes, memory).run(cigar);
    case 4:
    case 5: return PairBand<5>(task, codes, memory).run(cigar);
    default: return PairBand<8>(task, codes, memory).run(cigar);
  }
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

// The wavefront kernels of one instruction set; compiled once per set, which WFACLI_ISA names.
#include "kernels/wavefront/wavefront_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <template <int, class> class Run, class... Arguments>
static KernelAnswer by_costs(const KernelTask& t, Arguments&... arguments) {
  const int pieces = t.costs.linear() ? 0 : t.costs.pieces;
  const auto with = [&](auto match) {
    using Match = decltype(match);
    if (pieces == 0) return Run<0, Match>::run(t, arguments...);
    if (pieces == 1) return Run<1, Match>::run(t, arguments...);
    return Run<2, Match>::run(t, arguments...);
  };
  return t.by_bits ? with(SharedBits{}) : with(EqualCodes{});
}

template <int Pieces, class Match>
struct Align {
  static KernelAnswer run(const KernelTask& t, WavefrontMemory& memory, Cigar& cigar) {
    return Solver<Pieces, Match>(t, memory, cigar).run();
  }
};

template <int Pieces, class Match>
struct Extend {
  static KernelAnswer run(const KernelTask& t, WavefrontMemory& memory, Cigar& cigar) {
    return Solver<Pieces, Match>(t, memory, cigar).run_extension();
  }
};

// With free ends, rows start as wide as the ends, plus the diagonals from which a gap leads to an end. A low score
// limit leaves fewer of those diagonals, so limits are tried in turn, each twice the previous one.
KernelAnswer wavefront(const KernelTask& task, WavefrontMemory& memory, Cigar& cigar) {
  if (!task.free.any() || task.heuristics.any()) return by_costs<Align>(task, memory, cigar);
  constexpr std::int64_t kMinCap = 32;
  KernelTask bounded = task;
  const std::int64_t unaligned = larger(0, task.target_len - task.query_len);
  std::int64_t max_score = kMinCap + task.costs.skip * unaligned + larger(task.estimate, 0) * std::int64_t{5} / 4;
  for (; max_score < task.max_score; max_score *= 2) {
    bounded.max_score = static_cast<std::int32_t>(max_score);
    const KernelAnswer answer = by_costs<Align>(bounded, memory, cigar);
    if (answer.status != Status::ScoreLimit) return answer;
  }
  return by_costs<Align>(task, memory, cigar);
}

KernelAnswer wavefront_extension(const KernelTask& task, WavefrontMemory& memory, Cigar& cigar) {
  return by_costs<Extend>(task, memory, cigar);
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

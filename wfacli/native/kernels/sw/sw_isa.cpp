// The kernels of scored alignment of one instruction set; compiled once per set, which WFACLI_ISA names.
#include "kernels/sw/sw_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <bool kPlain>
static void lanes_of(const SwTask& task, int bits, const SwPair* pairs, std::int32_t count, SwMemory& memory,
                     SwAnswer* answers) {
  if (bits == 8) return SwLanes<std::int8_t, SwFind::Score, kPlain>(task, pairs, count, memory).run(answers);
  switch (task.rule) {
    case SwRule::Local:
      if (task.path) return SwLanes<std::int16_t, SwFind::BestFlags, kPlain>(task, pairs, count, memory).run(answers);
      return SwLanes<std::int16_t, SwFind::Score, kPlain>(task, pairs, count, memory).run(answers);
    case SwRule::Extension:
      return SwLanes<std::int16_t, SwFind::Furthest, kPlain>(task, pairs, count, memory).run(answers);
    default:
      if (task.path) return SwLanes<std::int16_t, SwFind::EndsFlags, kPlain>(task, pairs, count, memory).run(answers);
      return SwLanes<std::int16_t, SwFind::Ends, kPlain>(task, pairs, count, memory).run(answers);
  }
}

static void lanes(const SwTask& task, int bits, const SwPair* pairs, std::int32_t count, SwMemory& memory,
                  SwAnswer* answers) {
  if (task.plain)
    lanes_of<true>(task, bits, pairs, count, memory, answers);
  else
    lanes_of<false>(task, bits, pairs, count, memory, answers);
}

static SwAnswer strips(const SwTask& task, int bits, const SwPair& pair, SwMemory& memory) {
  if (bits == 16)
    return task.plain ? SwStrips<std::int16_t, true>(task, pair, memory).run()
                      : SwStrips<std::int16_t, false>(task, pair, memory).run();
  return task.plain ? SwStrips<std::int32_t, true>(task, pair, memory).run()
                    : SwStrips<std::int32_t, false>(task, pair, memory).run();
}

SwKernels sw_kernels() {
  return {SwVector<std::int8_t>::kCount, SwVector<std::int16_t>::kCount, lanes, strips, sw_extent, sw_banded};
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

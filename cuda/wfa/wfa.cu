// Wavefront alignment of whole pairs (wfa.cuh). Macros, set by each row of the kernel catalogue:
//
// WFACLI_BLOCK   threads per block
// WFACLI_GROUP   threads per pair: 1 to 32, a power of two, or WFACLI_BLOCK
// WFACLI_PIECES  pieces of the gap cost; 0: edit distance and other gap costs without opening
// WFACLI_CODED   bases as codes instead of 2 bits
// WFACLI_TRACE   0 none, 1 steps carried with each cell, 2 carried and offloaded in blocks, 3 a code per cell, of one
//                byte, or two with a band
// WFACLI_WORDS   32-bit words of steps that a cell carries (traces 1 and 2)
// WFACLI_OFFSET  bits of an offset, 16 or 32
// WFACLI_WIDTH   diagonals in shared memory
// WFACLI_OUTSIDE where other diagonals are: 0 nowhere, 1 in the workspace, 2 banded (WFACLI_WIDTH a power of two)
#include "wfa/wfa.cuh"

namespace wfacli {

template <bool Wanted, class A, class B>
struct Either {
  using Type = A;
};
template <class A, class B>
struct Either<false, A, B> {
  using Type = B;
};

using Group = Lanes<WFACLI_GROUP>;
using PairType = Either<WFACLI_CODED, CodedPair, PackedPair>::Type;
using Offset = Either<WFACLI_OFFSET == 16, std::int16_t, std::int32_t>::Type;
constexpr bool kBand = WFACLI_OUTSIDE == 2;
#if WFACLI_TRACE == 0
using Trace = NoTrace;
#elif WFACLI_TRACE == 3
// Codes of bands include match runs.
using Trace = Codes<Either<kBand, std::uint16_t, std::uint8_t>::Type, 3 + 2 * WFACLI_PIECES>;
#else
using Trace = Carried<WFACLI_WORDS, WFACLI_TRACE == 2>;
#endif
using Aligner =
    Wavefront<WFACLI_PIECES, PairType, Trace, Group, Offset, WFACLI_WIDTH, static_cast<Outside>(WFACLI_OUTSIDE)>;

WFACLI_DEVICE void answer(const AlignTask& task, std::uint32_t slot, const Aligner::Answer& found) {
  task.status[slot] = static_cast<std::uint8_t>(found.status);
  task.cost[slot] = found.cost;
  task.op_count[slot] = found.ops;
  if (task.cut) task.cut[slot] = found.cut;
}

// Groups draw slots until none is left. Slots are sorted by descending work, so the last ones are short.
WFACLI_DEVICE void align_all(const AlignTask& task, std::uint8_t* shared) {
  Aligner::Memory memory;
  const Status setup = memory.lay_out(task, shared);
  // Which form compiles without register spills depends on the build: bands need this early return, two pieces with
  // blocks need the test in the loop's condition.
  if (kBand && setup != Status::Ok) {
    for (std::uint32_t slot; (slot = atomicAdd(task.work_counter, 1u)) < static_cast<std::uint32_t>(task.count);)
      answer(task, slot, {setup});
    return;
  }
  for (;;) {
    Group::sync();  // all threads have read the previous slot
    if (Group::rank() == 0) memory.state->slot = atomicAdd(task.work_counter, 1u);
    Group::sync();
    const std::uint32_t slot = memory.state->slot;
    if (slot >= static_cast<std::uint32_t>(task.count)) return;
    Aligner::Answer found{setup};
    // A lower bound makes rows narrower; the few pairs that cost more than the first bound are aligned again.
    const std::int32_t limit = Aligner::Memory::cost_limit(task);
    for (std::int32_t bound = min(limit, task.first_cost); setup == Status::Ok; bound = limit) {
      found = Aligner(task, memory, task.rows[slot], bound).align(static_cast<std::int32_t>(slot));
      if (found.status != Status::ScoreLimit || bound == limit) break;
      Group::sync();  // all threads are done with the last row
    }
    if (Group::rank() == 0) answer(task, slot, found);
  }
}

}  // namespace wfacli

WFACLI_KERNEL(align_wavefront, wfacli::AlignTask) {
  WFACLI_DYNAMIC_SHARED(shared);
  wfacli::align_all(task, shared);
}

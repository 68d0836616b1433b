// Wavefront alignment of whole pairs (wfa.cuh). What a catalogue row decides:
//
// WFACLI_BLOCK   threads a block
// WFACLI_GROUP   threads a pair: 1 to 32, a power of two, or WFACLI_BLOCK
// WFACLI_PIECES  of a gap's cost; 0: edit distance and other gap costs without opening
// WFACLI_CODED   letters as codes instead of 2 bits
// WFACLI_TRACE   0 none, 1 steps carried with each cell, 2 carried in blocks that are put aside, 3 a byte a cell
// WFACLI_WORDS   32-bit words of steps that a cell carries (traces 1 and 2)
// WFACLI_OFFSET  bits of an offset, 16 or 32
// WFACLI_WIDTH   diagonals in shared memory
// WFACLI_OUTSIDE where other diagonals are: 0 nowhere, 1 in the workspace, 2 banded (WFACLI_WIDTH a power of two)
#include "wfa.cuh"

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
using Letters = Either<WFACLI_CODED, CodedPair, PackedPair>::Type;
using Offset = Either<WFACLI_OFFSET == 16, std::int16_t, std::int32_t>::Type;
#if WFACLI_TRACE == 0
using Trace = NoTrace;
#elif WFACLI_TRACE == 3
using Trace = CellCodes;
#else
using Trace = Carried<WFACLI_WORDS, WFACLI_TRACE == 2>;
#endif
using Aligner = Wavefront<WFACLI_PIECES, Letters, Trace, Group, Offset, WFACLI_WIDTH,
                          static_cast<Outside>(WFACLI_OUTSIDE)>;

}  // namespace wfacli

WFACLI_KERNEL(align_wavefront, wfacli::AlignTask) {
  WFACLI_DYNAMIC_SHARED(shared);
  wfacli::align_all<wfacli::Aligner, wfacli::Group>(task, shared);
}

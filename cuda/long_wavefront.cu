// Edit distance of one long pair (long_wavefront.cuh). What a catalogue row decides:
//
// WFACLI_BLOCK      threads a block, a multiple of 32
// WFACLI_PLANES     of letters (common/planes.cuh): 2, 8 or 32
// WFACLI_OFFSET     bits of an offset, 32 or 64
// WFACLI_DIAGONALS  of a lane
// WFACLI_AGAIN      scores after which windows are looked up again
#include "long_wavefront.cuh"

namespace wfacli {

template <int Bits>
struct OffsetOf {
  using Type = std::int32_t;
};
template <>
struct OffsetOf<64> {
  using Type = std::int64_t;
};

}  // namespace wfacli

WFACLI_KERNEL(advance_long_wavefront, wfacli::LongWavefrontTask) {
  wfacli::advance_fronts<WFACLI_PLANES, wfacli::OffsetOf<WFACLI_OFFSET>::Type, WFACLI_DIAGONALS, WFACLI_AGAIN>(task);
}

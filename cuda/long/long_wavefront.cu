// Edit distance of one long pair (long_wavefront.cuh). What a catalogue row decides:
//
// WFACLI_BLOCK      threads a block, a multiple of 32
// WFACLI_PLANES     of letters (common/planes.cuh): 2, 8 or 32
// WFACLI_OFFSET     bits of an offset, 32 or 64
// WFACLI_DIAGONALS  of a lane
// WFACLI_AGAIN      scores after which windows are looked up again
#include "long/long_wavefront_slant.cuh"

namespace wfacli {

template <int Bits>
struct OffsetOf {
  using Type = std::int32_t;
};
template <>
struct OffsetOf<64> {
  using Type = std::int64_t;
};

// Whether the fronts that a tile begins with have met. They have when on some diagonal they leave no letter between them,
// and that is just when the distance is no more than the sum of their scores: if they have, cells that both reached lie
// on one diagonal, along which distances only grow; and if the distance is no more, a best path can be cut in two parts
// that have no more edits than each front's score, at a cell that both fronts have reached.
template <class Offset, class Tile>
WFACLI_DEVICE void compare_fronts(const LongWavefrontTask& task, const Tile& tile) {
  const Offset* backward = static_cast<const Offset*>(task.from) + task.from_stride;
  Offset most = tile.most_behind(backward, static_cast<Offset>(task.from_first), static_cast<Offset>(task.from_count));
  for (int by = 16; by > 0; by /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, by));
  if (Tile::lane() != 0 || most < 0) return;
  if (most >= static_cast<Offset>(task.query_len)) atomicMax(&task.status->met, task.number);
  if (most > *static_cast<volatile std::int64_t*>(&task.status->reach))
    atomicMax(reinterpret_cast<long long*>(&task.status->reach), static_cast<long long>(most));
}

// The diagonals by which the registers went along with the front in each score.
template <class Tile>
WFACLI_DEVICE int advance_tile(const LongWavefrontTask& task, int front, Tile& tile) {
  const int scores = task.steps[front];
  if constexpr (Slanted<Tile>::kCan) {
    const int slope = task.slant && scores == task.ghost ? tile.slope() : 0;
    if (slope && Slanted<Tile>(tile, slope).advance(scores)) return slope;
    if (slope)
      tile.load(static_cast<const typename Tile::Reach*>(task.from) + front * task.from_stride,
                static_cast<typename Tile::Reach>(task.from_first), static_cast<typename Tile::Reach>(task.from_count));
  }
  tile.advance(scores);
  return 0;
}

template <int Planes, class Offset, int Diagonals, int Again>
WFACLI_DEVICE void advance_fronts(const LongWavefrontTask& task) {
  using Tile = Stretch<Planes, Offset, Diagonals, Again>;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + threadIdx.x / 32;
  if (number >= 2 * task.tiles) return;
  if (__shfl_sync(0xffffffffu, *static_cast<volatile std::int32_t*>(&task.status->met), 0)) return;
  const int front = number >= task.tiles;
  const std::int64_t at = (front ? number - task.tiles : number) * (Tile::kWidth - 2 * task.ghost);
  Tile tile(task, front, static_cast<Offset>(task.first + at - task.ghost));
  tile.load(static_cast<const Offset*>(task.from) + front * task.from_stride, static_cast<Offset>(task.from_first),
            static_cast<Offset>(task.from_count));
  if (front == 0) compare_fronts<Offset>(task, tile);
  const int slant = advance_tile(task, front, tile);
  // What is right is the same either way; it begins with the first register, or ends with the last one.
  const int inside = Tile::lane() * Diagonals - (1 - slant) * task.ghost;
  if (inside >= 0 && inside < Tile::kWidth - 2 * task.ghost)
    tile.store(static_cast<Offset*>(task.to) + front * task.to_stride + at + inside);
}

}  // namespace wfacli

WFACLI_KERNEL(advance_long_wavefront, wfacli::LongWavefrontTask) {
  wfacli::advance_fronts<WFACLI_PLANES, wfacli::OffsetOf<WFACLI_OFFSET>::Type, WFACLI_DIAGONALS, WFACLI_AGAIN>(task);
}

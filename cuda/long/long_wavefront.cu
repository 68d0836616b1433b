// Edit distance of one long pair by wavefronts (long_wavefront.cuh). Macros, set by the catalogue row:
//
// WFACLI_BLOCK: threads per block, a multiple of 32.
// WFACLI_PLANES: bit planes per symbol (common/planes.cuh): 2, 8 or 32.
// WFACLI_OFFSET: bits per offset, 32 or 64.
// WFACLI_DIAGONALS: diagonals per lane.
// WFACLI_WINDOW_SCORES: number of scores after which windows are reloaded.
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

// Record whether the fronts that a tile starts with have met: whether on some diagonal their offsets leave no symbol
// between them. This is the case exactly when the distance is no more than the sum of their scores. If they have met,
// some diagonal has cells that both reached, and distances only grow along a diagonal. Conversely, an optimal path of
// at most that distance can be cut at a cell that both fronts have reached, into two parts with no more edits than the
// score of each front.
template <class Offset, class Tile>
WFACLI_DEVICE void compare_fronts(const LongWavefrontTask& task, const Tile& tile) {
  const Offset* backward = static_cast<const Offset*>(task.input_offsets) + task.input_stride;
  Offset overlap =
      tile.max_overlap(backward, static_cast<Offset>(task.input_first), static_cast<Offset>(task.input_count));
  for (int by = 16; by > 0; by /= 2) overlap = max(overlap, __shfl_xor_sync(0xffffffffu, overlap, by));
  if (Tile::lane() != 0 || overlap < 0) return;
  if (overlap >= static_cast<Offset>(task.query_len)) atomicMax(&task.status->met, task.number);
  if (overlap > *static_cast<volatile std::int64_t*>(&task.status->reach))
    atomicMax(reinterpret_cast<long long*>(&task.status->reach), static_cast<long long>(overlap));
}

// Advance a tile. Return the number of diagonals by which its registers moved with each score: 0, 1 or -1.
template <class Tile>
WFACLI_DEVICE int advance_tile(const LongWavefrontTask& task, int front, Tile& tile) {
  const int scores = task.steps[front];
  if constexpr (SlantedTile<Tile>::kSupported) {
    const int slope = task.slant && scores == task.ghost ? tile.slope() : 0;
    if (slope && SlantedTile<Tile>(tile, slope).advance(scores)) return slope;
    if (slope)
      tile.load(static_cast<const typename Tile::Reach*>(task.input_offsets) + front * task.input_stride,
                static_cast<typename Tile::Reach>(task.input_first),
                static_cast<typename Tile::Reach>(task.input_count));
  }
  tile.advance(scores);
  return 0;
}

template <int Planes, class Offset, int Diagonals, int WindowScores>
WFACLI_DEVICE void advance_fronts(const LongWavefrontTask& task) {
  using Tile = WavefrontTile<Planes, Offset, Diagonals, WindowScores>;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + threadIdx.x / 32;
  if (number >= 2 * task.tiles) return;
  if (__shfl_sync(0xffffffffu, *static_cast<volatile std::int32_t*>(&task.status->met), 0)) return;
  const int front = number >= task.tiles;
  const std::int64_t at = (front ? number - task.tiles : number) * (Tile::kWidth - 2 * task.ghost);
  Tile tile(task, front, static_cast<Offset>(task.first + at - task.ghost));
  tile.load(static_cast<const Offset*>(task.input_offsets) + front * task.input_stride,
            static_cast<Offset>(task.input_first), static_cast<Offset>(task.input_count));
  if (front == 0) compare_fronts<Offset>(task, tile);
  const int slant = advance_tile(task, front, tile);
  // The valid diagonals are the same in all cases; after a slant they start at the first register or end at the last.
  const int inside = Tile::lane() * Diagonals - (1 - slant) * task.ghost;
  if (inside >= 0 && inside < Tile::kWidth - 2 * task.ghost)
    tile.store(static_cast<Offset*>(task.output_offsets) + front * task.output_stride + at + inside);
}

}  // namespace wfacli

WFACLI_KERNEL(advance_long_wavefront, wfacli::LongWavefrontTask) {
  wfacli::advance_fronts<WFACLI_PLANES, wfacli::OffsetOf<WFACLI_OFFSET>::Type, WFACLI_DIAGONALS, WFACLI_WINDOW_SCORES>(
      task);
}

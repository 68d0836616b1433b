// The path of one long pair by one wavefront (long_wavefront.cuh), of the reversed sequences, so that the traceback
// visits its furthest cells in forward order. The first kernel advances the front from the end of the sequences to
// their beginning, storing it at intervals of several scores. The second traces (long_path.cuh) from one stored front
// to the one before, through scores that are recomputed only for the diagonals from which the path can come.
//
// The source of a cell is the furthest of the cells from which an edit leads to it; ties prefer insertion, then
// deletion, then mismatch. Fronts contain what a score or less reaches, and cells beyond the matrix are clipped.
// Neither matters on an optimal path: a source reached at a lower score, or a cell beyond the matrix, would make the
// total cheaper.
//
// WFACLI_BLOCK: threads per block, a multiple of 32.
// WFACLI_PLANES, WFACLI_OFFSET, WFACLI_DIAGONALS, WFACLI_WINDOW_SCORES: as in long_wavefront.cu.
#include "long/long_path.cuh"
#include "long/long_wavefront.cuh"

namespace wfacli {

template <int Bits>
struct OffsetOf {
  using Type = std::int32_t;
};
template <>
struct OffsetOf<64> {
  using Type = std::int64_t;
};

using Offset = OffsetOf<WFACLI_OFFSET>::Type;
using Tile = WavefrontTile<WFACLI_PLANES, Offset, WFACLI_DIAGONALS, WFACLI_WINDOW_SCORES>;

constexpr int kBackward = 1;  // number of the front

// Return the furthest cell of the diagonals that a lane wrote, in the format of PathFrontsTask::furthest.
WFACLI_DEVICE std::int64_t furthest_of(const LongWavefrontTask& pair, const Offset* offsets, std::int64_t first) {
  std::int64_t furthest = 0;
#pragma unroll
  for (int j = 0; j < WFACLI_DIAGONALS; ++j) {
    const std::int64_t k = first + j, i = offsets[j];
    if (i < max(std::int64_t{0}, -k) || i > min(pair.query_len, pair.target_len - k)) continue;
    furthest = max(furthest, (2 * i + k) << 32 | (k + pair.query_len));
  }
  return furthest;
}

WFACLI_DEVICE void update_furthest(std::int64_t* furthest, std::int64_t own) {
  for (int by = 16; by > 0; by /= 2) own = max(own, __shfl_xor_sync(kWholeWarp, own, by));
  if (Tile::lane() == 0 && own > *static_cast<volatile std::int64_t*>(furthest))
    atomicMax(reinterpret_cast<long long*>(furthest), static_cast<long long>(own));
}

// Traceback of one segment, by a warp.
class FrontTraceback {
 public:
  WFACLI_DEVICE FrontTraceback(const PathFrontsTask& task, std::int64_t segment, WarpRuns& runs)
      : pair_(task.launch), runs_(runs), below_(task.fronts[segment]),
        scores_(static_cast<std::int32_t>(task.fronts[segment + 1].score - below_.score)),
        rows_(reinterpret_cast<Offset*>(task.path.scratch + blockIdx.x * task.path.stride)) {}

  // Trace from a diagonal. Return the one where the path leaves the segment. Both are counted from the matrix's first.
  WFACLI_DEVICE std::int64_t trace(std::int64_t place) {
    std::int64_t k = place - pair_.query_len;
    first_ = (k - Tile::kWidth / 2) & -std::int64_t{WFACLI_DIAGONALS};
    compute();
    std::int64_t i = at(scores_, k);
    if (!is_cell(k, i)) return place;  // a wrong place: the path is elsewhere
    for (std::int32_t s = scores_; s > 0; --s) {
      if (below_.score + s == 0) {
        runs_.add(kEqual, i);
        break;
      }
      // Sources in order of preference; -1: none.
      const std::int64_t insertion = after_edit(s - 1, k + 1, 1, k), deletion = after_edit(s - 1, k - 1, 0, k),
                         mismatch = after_edit(s - 1, k, 1, k);
      const std::int64_t best = max(max(insertion, deletion), mismatch);
      if (best < 0) continue;  // not on an optimal path
      runs_.add(kEqual, max(i - best, std::int64_t{0}));
      const Op op = best == insertion ? kInsertion : best == deletion ? kDeletion : kDifferent;
      runs_.add(op, 1);
      k += op == kInsertion ? 1 : op == kDeletion ? -1 : 0;
      i = op == kDeletion ? best : best - 1;
    }
    return k + pair_.query_len;
  }

 private:
  WFACLI_DEVICE void compute() {
    Tile tile(pair_, kBackward, static_cast<Offset>(first_));
    tile.load(static_cast<const Offset*>(below_.offsets), static_cast<Offset>(below_.first),
              static_cast<Offset>(below_.count));
    Offset* row = rows_ + Tile::lane() * WFACLI_DIAGONALS;
    __syncwarp();
    tile.store(row);
    tile.advance(scores_, [&] {
      row += Tile::kWidth;
      tile.store(row);
    });
    __syncwarp();
  }
  WFACLI_DEVICE std::int64_t at(std::int32_t s, std::int64_t k) const {
    return rows_[std::int64_t{s} * Tile::kWidth + (k - first_)];
  }
  WFACLI_DEVICE bool is_cell(std::int64_t k, std::int64_t i) const {
    return i >= max(std::int64_t{0}, -k) && i <= min(pair_.query_len, pair_.target_len - k);
  }
  // Return the offset to which an edit that consumes `query_symbols` query symbols leads from diagonal `source` on
  // diagonal k, or -1 if it is no cell.
  WFACLI_DEVICE std::int64_t after_edit(std::int32_t s, std::int64_t source, int query_symbols, std::int64_t k) const {
    const std::int64_t i = at(s, source);
    return is_cell(source, i) && is_cell(k, i + query_symbols) ? i + query_symbols : -1;
  }

  const LongWavefrontTask& pair_;
  WarpRuns& runs_;
  const PathFront below_;
  const std::int32_t scores_;
  Offset* const rows_;  // [scores + 1][kWidth]
  std::int64_t first_ = 0;
};

}  // namespace wfacli

WFACLI_KERNEL(sweep_front_for_path, wfacli::PathFrontsTask) {
  using wfacli::Offset, wfacli::Tile;
  const wfacli::LongWavefrontTask& pair = task.launch;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + threadIdx.x / 32;
  if (number >= pair.tiles) return;
  const std::int64_t at = number * (Tile::kWidth - 2 * pair.ghost);
  Tile tile(pair, wfacli::kBackward, static_cast<Offset>(pair.first + at - pair.ghost));
  tile.load(static_cast<const Offset*>(pair.input_offsets), static_cast<Offset>(pair.input_first),
            static_cast<Offset>(pair.input_count));
  tile.advance(pair.steps[wfacli::kBackward]);
  const int inside = Tile::lane() * WFACLI_DIAGONALS - pair.ghost;
  std::int64_t own = 0;
  if (inside >= 0 && inside < Tile::kWidth - 2 * pair.ghost) {
    Offset* to = static_cast<Offset*>(pair.output_offsets) + at + inside;
    tile.store(to);
    if (task.furthest) own = wfacli::furthest_of(pair, to, pair.first + at + inside);
  }
  if (task.furthest) wfacli::update_furthest(task.furthest, own);
}

WFACLI_KERNEL(walk_fronts, wfacli::PathFrontsTask) {
  wfacli::trace_segments(task.path,
                         [&](std::int64_t segment, std::int64_t place, std::int64_t, wfacli::WarpRuns& runs) {
                           return wfacli::FrontTraceback(task, segment, runs).trace(place);
                         });
}

// Global alignment in a wide band, one warp per pair: long or noisy reads.
//
// Resident warps draw slots from task.work_counter. For paths a warp writes a direction per cell to its own `stride`
// bytes of workspace (one or a few words per step and lane), then traces back through them: its lanes read the next 32
// cells of a diagonal, or of a gap, at once, so a traceback takes one read per run instead of one per base. A pair
// whose cost the band does not prove gets ScoreLimit; one for which `stride` is too small gets MemoryLimit.
//
// WFACLI_BLOCK: threads per block, a multiple of 32. WFACLI_BAND: diagonals, 128, 256, 512 or 1024. WFACLI_PIECES: gap
// pieces, 1 or 2. WFACLI_BITS: bits of a cost, 16 or 32. WFACLI_CODED: 1 for pairs with symbols other than A C G T.
#include "common/cigar.cuh"
#include "dp/dp_front.cuh"
#include "dp/dp_planes.cuh"

namespace wfacli::dp {

constexpr std::uint32_t kAll = 0xffffffffu;
constexpr int kWidth = WFACLI_BAND;
constexpr int kPieces = WFACLI_PIECES;
constexpr int kSpan = kWidth / 64;
#if WFACLI_CODED
using SymbolPlanes = CodedPlanes;
#else
using SymbolPlanes = PackedPlanes;
#endif
#if WFACLI_BITS == 16
using Value = Halves;
#else
using Value = Whole;
#endif
using Layout = FrontLayout<kPieces, Value, kSpan>;
using D = Directions<kPieces>;

// A pair, identical in all lanes, and the steps of its matrix.
struct Pair {
  SymbolPlanes query, target;
  std::int32_t query_len, target_len;
  Band band;
  std::int32_t begin, end;  // first step with a neighbour of (0, 0); the step after the last cell's

  WFACLI_DEVICE static Pair of(const AlignTask& task, std::int32_t row) {
    Pair pair;
    pair.query = SymbolPlanes::query(task, row);
    pair.target = SymbolPlanes::target(task, row);
    pair.query_len = pair.query.symbols.length;
    pair.target_len = pair.target.symbols.length;
    pair.band = Band::of(task.costs, pair.query_len, pair.target_len, kWidth, true);
    pair.begin = (1 - pair.band.low) / 2;
    pair.end = pair.query_len + (pair.band.last - pair.band.low) / 2 + 1;
    return pair;
  }
};

// Compute all cells. Return the value of the last one, in all lanes.
template <class S>
WFACLI_DEVICE std::int32_t compute(const AlignTask& task, const S& steps, const Pair& pair, std::int32_t lane,
                                   std::uint32_t* out) {
  Crossing<SymbolPlanes, kSpan> crossing;
  crossing.query = pair.query;
  crossing.target = pair.target;
  crossing.begin(lane, pair.band.low, pair.begin);
  Front<S, kSpan> front;
  const std::int32_t first = -pair.band.low, last = pair.band.last - pair.band.low;
  front.begin(steps, first / 2 - lane * kSpan, first % 2);
  out += lane;
  for (std::int32_t base = pair.begin; base < pair.end; base += kRows) {
    crossing.enter(base);
    front.clamp(steps);
    const std::int32_t rows = min(pair.end - base, kRows);
#pragma unroll 1
    for (std::int32_t r = 0; r < rows; ++r) {
      front.template half_step<0>(steps, crossing.differ(r, 0, task.wildcard), lane);
      front.template half_step<1>(steps, crossing.differ(r, 1, task.wildcard), lane);
      if constexpr (S::kTagged) {
#pragma unroll
        for (int w = 0; w < Layout::kWords; ++w) out[32 * w] = front.directions[w];
        out += 32 * Layout::kWords;
      }
    }
  }
  return __shfl_sync(kAll, front.value(last / 2 % kSpan, last % 2), last / 2 / kSpan);
}

// Return the cost if it is proved, otherwise kNever.
template <bool kPath>
WFACLI_DEVICE std::int32_t cost_of(const AlignTask& task, const Pair& pair, std::int32_t lane, std::uint32_t* out) {
  if (pair.query_len == 0 || pair.target_len == 0) return gap_cost(task.costs, pair.query_len + pair.target_len);
  const auto steps = Steps<kPieces, kPath, Value>::of(task.costs);
  if (!pair.band.holds || steps.exact_below <= 0) return kNever;
  const std::int32_t value = compute(task, steps, pair, lane, out) / kScale;
  const std::int32_t cost = value + pair.band.last * steps.drift;
  return value < steps.exact_below && cost < pair.band.unproven ? cost : kNever;
}

// Traceback. All lanes are at the same cell and produce the same runs; those of lane 0 are written.
struct Traceback {
  const std::uint32_t* directions;
  std::int32_t lane, begin, low;
  std::int32_t i, j;
  RunWriter out;

  // Return the direction of a cell inside the matrix.
  WFACLI_DEVICE std::uint32_t direction(std::int32_t row, std::int32_t column) const {
    const std::int32_t diagonal = column - row - low, odd = diagonal & 1;
    const std::int32_t of_lane = diagonal / 2 / kSpan, x = diagonal / 2 % kSpan;
    const auto step = static_cast<std::uint64_t>(row + diagonal / 2 - begin);
    const std::uint32_t word =
        directions[(step * Layout::kWords + static_cast<std::uint32_t>(Layout::word(x, odd))) * 32 +
                   static_cast<std::uint32_t>(of_lane)];
    return word >> Layout::shift(x, odd) & ((1u << D::kBits) - 1);
  }
  // Return how many lanes, from lane 0 on, have a true argument before the first false one.
  WFACLI_DEVICE static std::int32_t leading(bool yes) {
    const std::uint32_t no = ~__ballot_sync(kAll, yes);
    return no ? __ffs(static_cast<int>(no)) - 1 : 32;
  }
  // Follow the diagonal until a gap begins. Return its kind, or -1 after 32 cells or at the edge of the matrix.
  WFACLI_DEVICE std::int32_t diagonal_run() {
    const bool within = i - lane > 0 && j - lane > 0;
    const std::int32_t source = within ? D::source(direction(i - lane, j - lane)) : 0;
    const std::int32_t run = leading(source < 0);
    const std::uint32_t equal = __ballot_sync(kAll, source == kMatch);
    for (std::int32_t at = 0; at < run;) {  // runs of equal bits
      const bool same = equal >> at & 1;
      const std::uint32_t change = (same ? ~equal : equal) >> at;
      const std::int32_t length = min(change ? __ffs(static_cast<int>(change)) - 1 : 32, run - at);
      out.add(same ? kEqual : kDifferent, length);
      at += length;
    }
    i -= run;
    j -= run;
    return run < 32 && i > 0 && j > 0 ? __shfl_sync(kAll, source, run) : -1;
  }
  // Follow a gap of a kind.
  WFACLI_DEVICE void gap_run(std::int32_t kind) {
    const bool insertion = kind < kPieces;
    for (std::int32_t length = 32; length == 32;) {
      // Lane l reads the cell after l + 1 gap bases: whether another one follows.
      const std::int32_t row = i - (insertion ? lane + 1 : 0), column = j - (insertion ? 0 : lane + 1);
      const bool extends =
          row > 0 && column > 0 && in_band(column - row) && D::is_extended(direction(row, column), kind);
      const std::int32_t more = leading(extends);
      length = min(more + 1, 32);
      out.add(insertion ? kInsertion : kDeletion, length);
      (insertion ? i : j) -= length;
      if (more == 31) return;  // the gap ends at the cell after these 32
    }
  }
  WFACLI_DEVICE bool in_band(std::int32_t diagonal) const { return diagonal >= low && diagonal - low < kWidth; }

  WFACLI_DEVICE std::int32_t run() {
    while (i > 0 && j > 0) {
      const std::int32_t kind = diagonal_run();
      if (kind >= 0) gap_run(kind);
    }
    out.add(kInsertion, i);
    out.add(kDeletion, j);
    return out.finish();
  }
};

template <bool kPath>
WFACLI_DEVICE void align(const AlignTask& task, std::int32_t slot, std::int32_t lane, std::uint32_t* directions) {
  const Pair pair = Pair::of(task, task.rows[slot]);
  const bool empty = pair.query_len == 0 || pair.target_len == 0;
  const auto steps = static_cast<std::uint64_t>(empty || !pair.band.holds ? 0 : pair.end - pair.begin);
  Status status = Status::Ok;
  std::int32_t cost = 0, count = 0;
  if (kPath && steps * Layout::kWords * 128 > task.stride) {
    status = Status::MemoryLimit;
  } else {
    cost = cost_of<kPath>(task, pair, lane, directions);
    if (cost == kNever || cost > task.max_cost) status = Status::ScoreLimit;
  }
  if (kPath && status == Status::Ok) {
    __syncwarp();  // directions are written
    std::uint32_t* ops = task.ops + static_cast<std::uint64_t>(slot) * static_cast<std::uint32_t>(task.op_capacity);
    Traceback traceback = {directions,
                           lane,
                           pair.begin,
                           pair.band.low,
                           pair.query_len,
                           pair.target_len,
                           RunWriter(ops, lane == 0 ? task.op_capacity : 0)};
    count = traceback.run();
    if (count > task.op_capacity) status = Status::MemoryLimit;
    __syncwarp();  // directions are read before the next pair's are written
  }
  if (lane != 0) return;
  task.status[slot] = static_cast<std::uint8_t>(status);
  task.cost[slot] = status == Status::ScoreLimit ? 0 : cost;
  task.op_count[slot] = status == Status::Ok ? count : 0;
}

WFACLI_DEVICE void align_all(const AlignTask& task) {
  const auto thread = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x), lane = thread & 31;
  auto* directions =
      reinterpret_cast<std::uint32_t*>(task.workspace + static_cast<std::uint64_t>(thread / 32) * task.stride);
  for (;;) {
    std::uint32_t drawn = 0;
    if (lane == 0) drawn = atomicAdd(task.work_counter, 1u);
    const auto slot = static_cast<std::int32_t>(min(__shfl_sync(kAll, drawn, 0), 0x7fffffffu));
    if (slot >= task.count) return;
    if (task.path)
      align<true>(task, slot, lane, directions);
    else
      align<false>(task, slot, lane, directions);
  }
}

}  // namespace wfacli::dp

WFACLI_KERNEL(dp_warp_align, wfacli::AlignTask) { wfacli::dp::align_all(task); }

// Global alignment in a band, two pairs per thread: short reads with any error rate.
//
// Two launches: dp_align computes costs and statuses, and for paths the directions; dp_walk traces back through them.
// Warp w of dp_align has slots 64 w to 64 w + 63, of which lane l has 64 w + l and 64 w + 32 + l. It has `stride`
// bytes of workspace: for each row, a uint4 of directions per lane and group of diagonals (Cells). Thread s of dp_walk
// has slot s. A pair whose cost the band does not prove gets ScoreLimit.
//
// WFACLI_BLOCK: threads per block, a multiple of 32. WFACLI_BAND: diagonals, 16, 32 or 64. WFACLI_PIECES: gap pieces;
// 0 for one piece without opening cost. WFACLI_CODED: 1 for pairs with symbols other than A C G T.
#include "common/cigar.cuh"
#include "dp/dp_cells.cuh"
#include "dp/dp_planes.cuh"

namespace wfacli::dp {

constexpr int kWidth = WFACLI_BAND;
constexpr int kPieces = WFACLI_PIECES;
#if WFACLI_CODED
using SymbolPlanes = CodedPlanes;
#else
using SymbolPlanes = PackedPlanes;
#endif
using Layout = Cells<kPieces, kWidth, true>;

// A pair of one thread: its band, its bases, and the value of its last cell once computed.
struct Pair {
  std::int32_t query_len, target_len;
  Band band;
  Strip<SymbolPlanes, kWidth> strip;
  std::int32_t value;

  // A slot beyond the last gets a pair without rows.
  WFACLI_DEVICE static Pair of(const AlignTask& task, std::int32_t slot) {
    const std::int32_t row = task.rows[min(slot, task.count - 1)];
    Pair pair;
    pair.strip.query = SymbolPlanes::query(task, row);
    pair.strip.target = SymbolPlanes::target(task, row);
    pair.query_len = pair.strip.query.symbols.length;
    pair.target_len = pair.strip.target.symbols.length;
    pair.band = Band::of(task.costs, pair.query_len, pair.target_len, kWidth);
    if (slot >= task.count) pair.band.holds = false;
    pair.value = kNever;
    return pair;
  }
  WFACLI_DEVICE std::int32_t rows() const { return band.holds && target_len > 0 ? query_len : 0; }

  template <class Steps>
  WFACLI_DEVICE void answer(const AlignTask& task, const Steps& steps, std::int32_t slot) const {
    if (slot >= task.count) return;
    std::int32_t cost = kNever;
    if (query_len == 0 || target_len == 0) {
      cost = gap_cost(task.costs, query_len + target_len);
    } else if (band.holds && value / kScale < steps.exact_below) {
      cost = value / kScale + band.last * steps.drift;
      if (cost >= band.unproven) cost = kNever;
    }
    const bool found = cost <= task.max_cost && cost != kNever;
    task.status[slot] = static_cast<std::uint8_t>(found ? Status::Ok : Status::ScoreLimit);
    task.cost[slot] = found ? cost : 0;
    task.op_count[slot] = 0;
  }
};

// Compute all rows of a warp's pairs.
template <bool kPath>
WFACLI_DEVICE void compute(const AlignTask& task, const Steps<kPieces, kPath>& steps, Pair& a, Pair& b, uint4* out) {
  constexpr std::uint32_t kAll = 0xffffffffu;
  Cells<kPieces, kWidth, kPath> cells;
  cells.begin(task.costs, steps, {a.band.low, b.band.low});
  a.strip.begin(a.band.low);
  b.strip.begin(b.band.low);
  const std::int32_t rows = __reduce_max_sync(kAll, max(a.rows(), b.rows()));
  for (std::int32_t base = 0; base < rows; base += kRows) {
    a.strip.enter(base, a.band.low);
    b.strip.enter(base, b.band.low);
    cells.clamp(steps);
    const std::int32_t end = min(rows - base, kRows);
#pragma unroll 1
    for (std::int32_t r = 0; r < end; ++r) {
      std::uint32_t of_a[decltype(a.strip)::kMasks], of_b[decltype(b.strip)::kMasks], masks[kWidth / 16];
      a.strip.differ(r, task.wildcard, of_a);
      b.strip.differ(r, task.wildcard, of_b);
#pragma unroll
      for (int g = 0; g < kWidth / 16; ++g) masks[g] = __byte_perm(of_a[g / 2], of_b[g / 2], g % 2 ? 0x5410 : 0x7632);
      cells.row(steps, masks, out);
      if (kPath) out += Layout::kStores * 32;
      const std::int32_t row = base + r + 1;
      const bool ends_a = row == a.rows(), ends_b = row == b.rows();
      if (!__any_sync(kAll, ends_a || ends_b)) continue;
      const std::int32_t at_a = ends_a ? a.band.last - a.band.low : -1, at_b = ends_b ? b.band.last - b.band.low : -1;
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        if (c == at_a) a.value = static_cast<std::int32_t>(cells.h[c] & 0xffff);
        if (c == at_b) b.value = static_cast<std::int32_t>(cells.h[c] >> 16);
      }
    }
  }
}

template <bool kPath>
WFACLI_DEVICE void align(const AlignTask& task) {
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x & 31);
  const std::int32_t warp = static_cast<std::int32_t>((blockIdx.x * WFACLI_BLOCK + threadIdx.x) / 32);
  const std::int32_t slot = 64 * warp + lane;
  if (64 * warp >= task.count) return;  // the whole warp
  const auto steps = Steps<kPieces, kPath>::of(task.costs);
  Pair a = Pair::of(task, slot), b = Pair::of(task, slot + 32);
  auto* out = reinterpret_cast<uint4*>(task.workspace + static_cast<std::uint64_t>(warp) * task.stride) + lane;
  if (steps.exact_below > 0) compute<kPath>(task, steps, a, b, out);
  a.answer(task, steps, slot);
  b.answer(task, steps, slot + 32);
}

// Traceback of a slot. It prefetches the directions of several rows: most steps stay on a diagonal, so the reads
// overlap.
struct Traceback {
  using D = Directions<kPieces>;
  static constexpr int kAhead = 8;
  static constexpr int kGaps = Layout::kGaps;
  static constexpr std::int32_t kOutside = -1;  // not in a gap

  const std::uint32_t* words;  // directions of row 1
  int shift;
  std::int32_t query_len, target_len, low;
  RunWriter out;
  std::int32_t gap = kOutside;

  WFACLI_DEVICE std::uint32_t word(std::int32_t row, std::int32_t group) const {
    const auto at = static_cast<std::uint64_t>(row - 1) * Layout::kStores + static_cast<std::uint32_t>(group / 4);
    return words[at * 128 + static_cast<std::uint32_t>(group % 4)];
  }
  // Write one operation and move to the cell that it leads to.
  WFACLI_DEVICE void step(std::uint32_t direction) {
    if (gap != kOutside && !D::is_extended(direction, gap)) gap = kOutside;
    std::int32_t source = gap;
    if (gap == kOutside) {
      source = D::source(direction);
      gap = source >= 0 ? source : kOutside;
    }
    const bool insertion = source >= 0 && source < kGaps, deletion = source >= kGaps;
    query_len -= !deletion;
    target_len -= !insertion;
    out.add(insertion ? kInsertion : deletion ? kDeletion : source == kMatch ? kEqual : kDifferent, 1);
  }
  WFACLI_DEVICE std::int32_t run() {
    while (query_len > 0 && target_len > 0) {
      const std::int32_t group = (target_len - query_len - low) / Layout::kPerWord;
      std::uint32_t ahead[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) ahead[k] = word(max(query_len - k, 1), group);
      const std::int32_t from = query_len;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        while (query_len == from - k && query_len > 0 && target_len > 0) {
          const std::int32_t c = target_len - query_len - low;
          if (c / Layout::kPerWord != group) break;
          step(ahead[k] >> shift >> D::kBits * (c % Layout::kPerWord) & ((1u << D::kBits) - 1));
        }
      }
    }
    out.add(kInsertion, query_len);
    out.add(kDeletion, target_len);
    return out.finish();
  }
};

WFACLI_DEVICE void trace_back(const AlignTask& task) {
  const auto slot = static_cast<std::int32_t>(blockIdx.x * WFACLI_BLOCK + threadIdx.x);
  if (slot >= task.count || task.status[slot] != static_cast<std::uint8_t>(Status::Ok)) return;
  const std::int32_t row = task.rows[slot], query_len = task.seq.query_len[row], target_len = task.seq.target_len[row];
  const std::uint8_t* directions = task.workspace + static_cast<std::uint64_t>(slot / 64) * task.stride;
  std::uint32_t* ops = task.ops + static_cast<std::uint64_t>(slot) * static_cast<std::uint32_t>(task.op_capacity);
  Traceback traceback = {reinterpret_cast<const std::uint32_t*>(directions) + 4 * (slot % 32),
                         slot % 64 < 32 ? 0 : 16,
                         query_len,
                         target_len,
                         Band::of(task.costs, query_len, target_len, kWidth).low,
                         RunWriter(ops, task.op_capacity)};
  const std::int32_t count = traceback.run();
  if (count <= task.op_capacity)
    task.op_count[slot] = count;
  else
    task.status[slot] = static_cast<std::uint8_t>(Status::MemoryLimit);
}

}  // namespace wfacli::dp

WFACLI_KERNEL(dp_align, wfacli::AlignTask) {
  if (task.path)
    wfacli::dp::align<true>(task);
  else
    wfacli::dp::align<false>(task);
}
WFACLI_KERNEL(dp_walk, wfacli::AlignTask) { wfacli::dp::trace_back(task); }

// The path of one long pair by bit-vectors (long_bits.cuh), with three kernels. The first sweeps the band and stores
// the edge of every stripe and, at regular column intervals, the state of its lanes. The second finds where each edge
// has the lowest cost, which is where the path is believed to cross it. The third traces (long_path.cuh) from edge to
// edge, through parts of a stripe that are recomputed from a state. It stores two bits per cell: whether the cost is
// one more than that of the cell above, and one more than that of the cell to the left. If the first is set, an
// insertion is on an optimal path; else, if the second is set, a deletion is. If the band proves the distance, this
// holds in the whole matrix: banded costs are never too low, and on optimal paths they are exact.
//
// WFACLI_BLOCK: threads per block; as in long_bits.cu for the first kernel, 32 for the others.
// WFACLI_PLANES: bit planes per symbol (common/planes.cuh): 2, 4 or 8.
// WFACLI_WORDS: words of 32 rows per lane.
#include "long/long_bits.cuh"
#include "long/long_path.cuh"

namespace wfacli {

constexpr int kMaxSkew = 16;  // maximum that the host allocates space for
constexpr int kStateWords = 32 * (2 * WFACLI_WORDS + 1);

// Stores the lanes' state before every `every` blocks.
struct StateRecorder {
  static constexpr bool kWatchesBlocks = true, kWritesEdge = true;

  std::uint32_t* to;  // null: do not store
  std::int32_t every, left;

  WFACLI_DEVICE void block(const LaneState<WFACLI_WORDS>& lane) {
    if (to == nullptr || --left > 0) return;
    left = every;
#pragma unroll
    for (int w = 0; w < WFACLI_WORDS; ++w) {
      to[64 * w] = lane.plus[w];
      to[64 * w + 32] = lane.minus[w];
    }
    to[64 * WFACLI_WORDS] = lane.handed;
    to += kStateWords;
  }
  WFACLI_DEVICE void column(int, std::uint32_t, std::uint32_t) {}
};

// Stores both bits of all cells: [column of the lane][word][2][lane].
struct CellRecorder {
  static constexpr bool kWatchesBlocks = false, kWritesEdge = false;

  std::uint32_t* to;

  WFACLI_DEVICE void column(int w, std::uint32_t plus, std::uint32_t rise) {
    to[64 * w] = plus;
    to[64 * w + 32] = rise;
    if (w + 1 == WFACLI_WORDS) to += 64 * WFACLI_WORDS;
  }
};

// Traceback of one stripe, by a warp.
class StripeTraceback {
 public:
  using Part = BitStripe<WFACLI_PLANES, WFACLI_WORDS, CellRecorder>;
  static_assert(Part::kSkew <= kMaxSkew);

  WFACLI_DEVICE StripeTraceback(const PathBitsTask& task, std::int64_t segment, WarpRuns& runs,
                                Part::Rows::Memory& memory)
      : task_(task), runs_(runs), memory_(memory), segment_(segment), number_(task.first_segment + segment),
        top_(number_ * Part::kRows), part_columns_(static_cast<std::int32_t>(32 * task.state_interval)),
        cells_(reinterpret_cast<std::uint32_t*>(task.path.scratch + blockIdx.x * task.path.stride)) {
    const StripeColumns columns = StripeColumns::of(task.bits, 0, number_);
    left_ = 32 * columns.first;
    right_ = min(32 * columns.end, task.bits.target_len);
  }

  // Trace from after column `column` of the stripe's last row. Return the column where the path leaves the first row,
  // or -1 after `limit` parts.
  WFACLI_DEVICE std::int64_t trace(std::int64_t column, std::int64_t limit) {
    i_ = min(top_ + Part::kRows, task_.bits.query_len);
    j_ = min(column, right_);
    // Optimal paths stay within the stripe's columns. Other paths are irrelevant but must terminate.
    runs_.add(kDeletion, column - j_);
    while (i_ > top_ && j_ > left_) {
      if (limit-- == 0) return -1;
      begin_ = step_of(i_ - 1, j_ - 1) / part_columns_ * part_columns_;
      compute();
      while (i_ > top_ && j_ > left_ && step_of(i_ - 1, j_ - 1) >= begin_) trace_block();
      __syncwarp();
    }
    runs_.add(kInsertion, i_ - top_);
    if (top_ > 0) return j_;
    runs_.add(kDeletion, j_);
    return 0;
  }

 private:
  // Return the step at which the lane of a row computes a cell, counted in columns from the stripe's first.
  WFACLI_DEVICE std::int64_t step_of(std::int64_t row, std::int64_t column) const {
    const auto lane = static_cast<std::int32_t>(row - top_) / (32 * WFACLI_WORDS);
    return column - left_ + Part::kSkew * (lane + 1);
  }
  // Recompute the part that starts at step begin_.
  WFACLI_DEVICE void compute() {
    const auto block = static_cast<std::int32_t>(begin_ / 32);
    const std::uint32_t* state =
        task_.states + WarpRuns::lane() + (segment_ * task_.states_per_stripe + begin_ / part_columns_) * kStateWords;
    LaneState<WFACLI_WORDS> own;
#pragma unroll
    for (int w = 0; w < WFACLI_WORDS; ++w) {
      own.plus[w] = state[64 * w];
      own.minus[w] = state[64 * w + 32];
    }
    own.handed = state[64 * WFACLI_WORDS];
    Part part(task_.bits, 0, number_, memory_, CellRecorder{cells_ + WarpRuns::lane()});
    part.restore(block, own);
    part.go(block, min(block + static_cast<std::int32_t>(task_.state_interval), part.blocks()));
    __syncwarp();
  }
  // Trace through at most 32 rows, those of one word, and at most 32 columns before j_, one per lane.
  WFACLI_DEVICE void trace_block() {
    const int lane = WarpRuns::lane();
    const auto row = static_cast<std::uint32_t>(i_ - 1 - top_);
    const std::int64_t column = j_ - 1, step = step_of(i_ - 1, column) - begin_;
    const int columns = static_cast<int>(min(min(step, column - left_), std::int64_t{31})) + 1;
    const std::uint32_t word = row / 32 % WFACLI_WORDS;
    const std::uint32_t* at =
        cells_ + ((step - min(lane, columns - 1)) * WFACLI_WORDS + word) * 64 + row / (32 * WFACLI_WORDS);
    const std::uint32_t insertion = at[0], deletion = at[32] & ~insertion, differ = differing_rows(row & ~31u, column);
    int r = static_cast<int>(row & 31), c = 0;
    while (r >= 0 && c < columns) {
      // Follow the diagonal up to the first gap.
      const int ahead = lane - c, own = r - ahead;
      const bool there = ahead >= 0 && own >= 0 && lane < columns;
      const std::uint32_t bit = there ? 1u << own : 0;
      const std::uint32_t ends = __ballot_sync(kWholeWarp, ahead >= 0 && (!there || ((insertion | deletion) & bit)));
      const std::uint32_t different = __ballot_sync(kWholeWarp, differ & bit);
      const int run = (ends ? __ffs(static_cast<int>(ends)) - 1 : 32) - c;
      if (run > 0) {
        runs_.add_aligned(__brev(different >> c), run);
        r -= run;
        c += run;
        continue;
      }
      const std::uint32_t down = __shfl_sync(kWholeWarp, insertion, c) << (31 - r);
      if (down >> 31) {
        const int gap = min(__clz(static_cast<int>(~down)), r + 1);
        runs_.add(kInsertion, gap);
        r -= gap;
      } else {
        const std::uint32_t stops = __ballot_sync(kWholeWarp, ahead >= 0 && (lane >= columns || !(deletion >> r & 1)));
        const int gap = (stops ? __ffs(static_cast<int>(stops)) - 1 : 32) - c;
        runs_.add(kDeletion, gap);
        c += gap;
      }
    }
    i_ -= static_cast<int>(row & 31) - r;
    j_ -= c;
  }
  // Return which of 32 rows from `row` differ from the symbol of the lane's column, which is `lane` before `column`.
  WFACLI_DEVICE std::uint32_t differing_rows(std::uint32_t row, std::int64_t column) const {
    std::uint32_t rows[WFACLI_PLANES], columns[WFACLI_PLANES], differ = 0;
    load_planes(task_.bits.query, task_.bits.query_len, top_ + row, rows);
    load_planes(task_.bits.target, task_.bits.target_len, column - 31, columns);
#pragma unroll
    for (int p = 0; p < WFACLI_PLANES; ++p)
      differ |=
          rows[p] ^ static_cast<std::uint32_t>(-static_cast<std::int32_t>(columns[p] >> (31 - WarpRuns::lane()) & 1));
    return differ;
  }

  WFACLI_DEVICE static void load_planes(const std::uint32_t* sequence, std::int64_t length, std::int64_t at,
                                        std::uint32_t (&planes)[WFACLI_PLANES]) {
    const PlaneBlocks<WFACLI_PLANES> blocks(sequence, length, true, at);
    blocks.align_planes(blocks.fetch(0), planes);
  }

  const PathBitsTask& task_;
  WarpRuns& runs_;
  Part::Rows::Memory& memory_;
  const std::int64_t segment_, number_, top_;
  const std::int32_t part_columns_;
  std::uint32_t* const cells_;
  std::int64_t left_, right_, begin_ = 0;
  std::int64_t i_ = 0, j_ = 0;  // remaining lengths of the reversed sequences
};

// Return the column of a stripe's edge after which the cost is lowest, to within 32 columns. Called by a warp.
WFACLI_DEVICE std::int64_t cheapest_column(const PathBitsTask& task, std::int64_t number) {
  const StripeColumns columns = StripeColumns::of(task.bits, 0, number);
  const unsigned long long* edge = task.bits.matrix[0].edges + 2 * ((number % task.bits.slots) * task.bits.edge_words);
  const int lane = WarpRuns::lane();
  std::int64_t before = 0, lowest_so_far = 0, where = columns.first;
  for (std::int64_t word = columns.first; word < columns.end; word += 32) {
    const bool inside = word + lane < columns.end;
    const unsigned long long* at = edge + 2 * (word + lane - columns.first);
    std::int32_t cost =
        inside ? __popc(static_cast<std::uint32_t>(at[0])) - __popc(static_cast<std::uint32_t>(at[1])) : 0;
    for (int by = 1; by < 32; by *= 2) {
      const std::int32_t other = __shfl_up_sync(kWholeWarp, cost, static_cast<unsigned>(by));
      if (lane >= by) cost += other;
    }
    const std::int32_t lowest = __reduce_min_sync(kWholeWarp, cost);
    if (before + lowest < lowest_so_far) {
      lowest_so_far = before + lowest;
      where = word + __ffs(static_cast<int>(__ballot_sync(kWholeWarp, cost == lowest)));
    }
    before += __shfl_sync(kWholeWarp, cost, 31);
  }
  return min(32 * where, task.bits.target_len);
}

}  // namespace wfacli

WFACLI_KERNEL(sweep_for_path, wfacli::PathBitsTask) {
  using Stripe = wfacli::BitStripe<WFACLI_PLANES, WFACLI_WORDS, wfacli::StateRecorder>;
  __shared__ typename Stripe::Rows::Memory memory[WFACLI_BLOCK / 32];
  for (;;) {
    std::uint32_t drawn = 0;
    if (Stripe::lane() == 0) drawn = atomicAdd(task.bits.work_counter, 1u);
    const std::int64_t number = task.bits.first + __shfl_sync(wfacli::kWholeWarp, drawn, 0);
    if (number >= task.bits.end) return;
    wfacli::StateRecorder recorder{nullptr, static_cast<std::int32_t>(task.state_interval), 1};
    if (task.states)
      recorder.to =
          task.states + (number - task.first_segment) * task.states_per_stripe * wfacli::kStateWords + Stripe::lane();
    Stripe stripe(task.bits, 0, number, memory[threadIdx.x / 32], recorder);
    stripe.go(0, stripe.blocks());
  }
}

WFACLI_KERNEL(guess_from_edges, wfacli::PathBitsTask) {
  for (std::int64_t s = blockIdx.x; s + 1 < task.path.count; s += gridDim.x) {
    const std::int64_t column = wfacli::cheapest_column(task, task.first_segment + s);
    if (threadIdx.x == 0) task.path.entry[s] = column;
  }
}

WFACLI_KERNEL(walk_stripes, wfacli::PathBitsTask) {
  __shared__ wfacli::StripeTraceback::Part::Rows::Memory memory;
  wfacli::trace_segments(task.path,
                         [&](std::int64_t segment, std::int64_t column, std::int64_t limit, wfacli::WarpRuns& runs) {
                           return wfacli::StripeTraceback(task, segment, runs, memory).trace(column, limit);
                         });
}

// Edit distance of one long pair with banded bit-vectors: stripes of rows, which many warps compute side by side.
//
// G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM 1999,
// with deltas that enter from above (H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit
// distances", Nordic J. Computing 2003); the band is Ukkonen's (Information and Control 1985).
//
// Rows of a matrix are symbols of the query. There are two matrices, of the reversed sequences and of the sequences,
// which meet in the middle. This doubles the number of stripes in progress; the distance is the minimum sum of two cells
// there (long_bits_meet.cu; D. S. Hirschberg, "A linear space algorithm for computing maximal common subsequences",
// CACM 1975).
//
// A stripe has kRows rows, 32 * Words of them in each lane. A lane is kSkew columns behind the lane above, so lanes
// pass down the horizontal deltas of their last rows only every kStep columns, and some columns before they are needed.
// The last lane writes these deltas, the stripe's edge, to memory, and the next stripe uses them as soon as they are
// written. Stripes are drawn from a counter, so a warp that waits for the stripe above waits for a running warp. Each
// word of an edge is written with the stripe's tag in one 64-bit store, so no fence is needed.
//
// A stripe has the columns that the band's diagonals cross in its rows. Cells outside the band are assumed to cost one
// more than their neighbours inside, the maximum possible. So costs are never too low, and the distance is right if no
// path outside the band could be cheaper.
#pragma once

#include "common/carry.cuh"
#include "long/long_bits_input.cuh"
#include "long/long_bits_rows.cuh"

namespace wfacli {

constexpr std::uint32_t kEveryLane = 0xffffffffu;

// State of a lane between two blocks of columns. Only the last eight deltas that are passed down are needed. Bytes of
// `handed`, from the lowest: rises and falls of the lane's own last row, falls and rises of the lane above.
template <int Words>
struct LaneState {
  std::uint32_t plus[Words], minus[Words], handed;
};

// Policy that observes a stripe: the state before each block of 32 columns, and the deltas of each column. This one
// observes nothing.
template <int Words>
struct Unwatched {
  static constexpr bool kWatchesBlocks = false;  // call block() with a LaneState
  static constexpr bool kWritesEdge = true;      // the stripe writes its edge
  WFACLI_DEVICE void column(int, std::uint32_t, std::uint32_t) {}
};

template <int Planes, int Words, class Watch = Unwatched<Words>>
class BitStripe {
 public:
  static constexpr std::int64_t kRows = std::int64_t{32} * 32 * Words;
  static constexpr int kStep = Words == 2 ? 8 : 4;  // columns between two shuffles, at most 8; measured
  static constexpr int kEarly = 2;                  // columns between a shuffle and the use of its result
  static constexpr int kSkew = kStep + kEarly;      // columns between two lanes; over 32 lanes as many words
  using Rows = typename RowsOf<Planes, Words>::Type;

  WFACLI_DEVICE BitStripe(const LongBitsTask& task, int matrix, std::int64_t number, typename Rows::Memory& memory,
                          Watch watch = {})
      : task_(task), own_(task.matrix[matrix]), number_(number), columns_(StripeColumns::of(task, matrix, number)),
        row_(number * kRows - own_.padding_rows + lane() * (32 * Words)), query_(memory),
        target_(task.target, task.target_len, matrix == 0, 32 * columns_.first - kSkew * (lane() + 1)), watch_(watch) {
    const PlaneBlocks<Planes> blocks(task.query, task.query_len, matrix == 0, row_);
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      std::uint32_t planes[Planes];
      blocks.align_planes(blocks.fetch(w), planes);
      const std::uint32_t rows = in_matrix(w);
      query_.set(w, planes, rows);
      plus_[w] = rows;
      minus_[w] = 0;
    }
    const StripeColumns next = StripeColumns::of(task, matrix, number + 1);
    const std::int64_t given = number > 0 ? StripeColumns::of(task, matrix, number - 1).end : columns_.first;
    next_first_ = next.first;
    given_ = static_cast<std::int32_t>(min(given, columns_.end) - columns_.first);
    to_next_ = static_cast<std::int32_t>(min(next.first - columns_.first, std::int64_t{1} << 30));
    above_ = edge(number_ - 1, columns_.first);
    below_ = edge(number_, columns_.first);
  }

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  // Compute all columns.
  WFACLI_DEVICE void run() {
    wait_for_slot();
    go(0, blocks());
    finish();
  }
  WFACLI_DEVICE std::int32_t blocks() const { return static_cast<std::int32_t>(columns_.end - columns_.first) + kSkew; }
  // Compute blocks `from` to `to` (exclusive).
  WFACLI_DEVICE void go(std::int32_t from, std::int32_t to) {
    const std::int32_t last = blocks() - kSkew - 1;  // the last block that starts in the stripe for all lanes
    request(from);
    target_.align_planes(target_.fetch(from), target_planes_);
    typename PlaneBlocks<Planes>::Fetched coming = target_.fetch(from + 1);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) query_.matching(target_planes_, k, equal_[k]);
    for (std::int32_t b = from; b < to; ++b) {
      if constexpr (Watch::kWatchesBlocks) watch_.block(state());
      receive(b);
      request(b + 1);
      target_.align_planes(coming, ahead_);
      coming = target_.fetch(b + 2);
      if (b < kSkew || b >= last)
        columns_of_block<true>(b);
      else
        columns_of_block<false>(b);
      if (Watch::kWritesEdge && b >= kSkew) write_edge(b - kSkew);
    }
  }
  WFACLI_DEVICE LaneState<Words> state() const {
    LaneState<Words> lane;
    copy(plus_, lane.plus);
    copy(minus_, lane.minus);
    // The last byte of each, with the latest column in the lowest bit, in the format of from_above_.
    lane.handed = __byte_perm(__byte_perm(edge_plus_, edge_minus_, 0x0040), from_above_, 0x7410);
    return lane;
  }
  // Restore the state before block `from`.
  WFACLI_DEVICE void restore(std::int32_t from, const LaneState<Words>& lane) {
    copy(lane.plus, plus_);
    copy(lane.minus, minus_);
    edge_plus_ = lane.handed & 0xff;
    edge_minus_ = lane.handed >> 8 & 0xff;
    from_above_ = __byte_perm(lane.handed, 0, 0x3222);
    if (from == 0 || from > given_) {
      before_plus_ = from == 0 ? 0 : ~0u;
      before_minus_ = 0;
    } else {
      before_plus_ = Tagged::wait(above_ + 2 * (from - 1), tag() - 1);
      before_minus_ = Tagged::wait(above_ + 2 * (from - 1) + 1, tag() - 1);
    }
  }

 private:
  static constexpr int kAhead = Words > 4 ? 1 : 2;  // columns whose matches are looked up in advance

  WFACLI_DEVICE std::uint32_t tag() const { return static_cast<std::uint32_t>(number_ + 1); }
  // Return the two words of a stripe's edge at a word of columns.
  WFACLI_DEVICE unsigned long long* edge(std::int64_t stripe, std::int64_t word) const {
    const std::int64_t first = StripeColumns::of(task_, static_cast<int>(&own_ - task_.matrix), stripe).first;
    return own_.edges + 2 * (static_cast<std::int64_t>(slot(stripe)) * task_.edge_words + (word - first));
  }
  // Return the cost at the top left of a stripe, in two halves.
  WFACLI_DEVICE unsigned long long* corner(std::int64_t stripe) const { return own_.corner + 2 * slot(stripe); }
  WFACLI_DEVICE std::uint32_t slot(std::int64_t stripe) const {
    return static_cast<std::uint32_t>(stripe) % static_cast<std::uint32_t>(task_.slots);
  }

  // Return the rows of a word that are not above the matrix. Above it the cost is the same in all rows, so that the
  // first row of the matrix has the right values.
  WFACLI_DEVICE std::uint32_t in_matrix(int w) const {
    const std::int64_t outside = -(row_ + 32 * w);
    return outside <= 0 ? ~0u : outside >= 32 ? 0 : ~0u << static_cast<std::uint32_t>(outside);
  }
  // Wait until the stripe that had this slot before has been read completely by its successor.
  WFACLI_DEVICE void wait_for_slot() const {
    const std::int64_t reader = number_ - task_.slots + 1;
    const std::int64_t drawn = task_.matrix[1].stripes ? 2 * reader + 1 - (&own_ - task_.matrix) : reader;
    if (drawn >= task_.first && reader >= 0 && lane() == 0)
      Tagged::wait(own_.edge_read + slot(reader), static_cast<std::uint32_t>(reader + 1));
    __syncwarp();
  }
  // Load the deltas above the stripe for block b.
  WFACLI_DEVICE void request(std::int32_t b) {
    if (b >= given_) return;
    coming_plus_ = Tagged::read(above_ + 2 * b);
    coming_minus_ = Tagged::read(above_ + 2 * b + 1);
  }
  // Receive them, waiting for those that were not written yet. The first lane is kSkew columns behind, too, so that the
  // last lane is a whole number of words behind.
  WFACLI_DEVICE void receive(std::int32_t b) {
    auto plus = static_cast<std::uint32_t>(coming_plus_), minus = static_cast<std::uint32_t>(coming_minus_);
    if (b >= given_) {
      plus = ~0u;
      minus = 0;
    } else {
      const std::uint32_t before = tag() - 1;
      if (Tagged::tag(coming_plus_) != before) plus = Tagged::wait(above_ + 2 * b, before);
      if (Tagged::tag(coming_minus_) != before) minus = Tagged::wait(above_ + 2 * b + 1, before);
    }
    in_plus_ = __funnelshift_r(plus, before_plus_, kSkew);
    in_minus_ = __funnelshift_r(minus, before_minus_, kSkew);
    before_plus_ = plus;
    before_minus_ = minus;
  }

  // Compute a block. In the first and last blocks (kSome), lanes whose columns are outside the stripe or the matrix
  // stay idle. Lane l is kSkew * (l + 1) columns behind the block.
  template <bool kSome>
  WFACLI_DEVICE void columns_of_block(std::int32_t b) {
    const std::int64_t column = 32 * (columns_.first + b) - kSkew * (lane() + 1);
    const std::int64_t begin = 32 * columns_.first, end = min(32 * columns_.end, task_.target_len);
    const auto from = static_cast<std::int32_t>(min(max(begin - column, std::int64_t{0}), std::int64_t{32}));
    const auto to = static_cast<std::int32_t>(max(min(end - column, std::int64_t{32}), std::int64_t{0}));
#pragma unroll 1
    for (int i = 0; i < 32; i += kStep) {
      std::uint32_t plus = lane() == 0 ? in_plus_ : from_above_ << (8 - kStep);
      std::uint32_t minus = lane() == 0 ? in_minus_ : from_above_ << (16 - kStep);
      in_plus_ <<= kStep;
      in_minus_ <<= kStep;
      std::uint32_t now[Planes], equal[kStep + kAhead][Words];
#pragma unroll
      for (int p = 0; p < Planes; ++p) {
        now[p] = target_planes_[p];
        target_planes_[p] = __funnelshift_r(target_planes_[p], ahead_[p], kStep);
        ahead_[p] >>= kStep;
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) copy(equal_[k], equal[k]);
#pragma unroll
      for (int k = 0; k < kStep; ++k, plus <<= 1) {
        const int next = k + kAhead;
        if (next < kStep)
          query_.matching(now, next, equal[next]);
        else
          query_.matching(target_planes_, next - kStep, equal[next]);
        column_of_lane(equal[k], plus, minus, !kSome || (i + k >= from && i + k < to));
        if (k + kEarly + 1 == kStep)  // the last eight of each
          from_above_ = __shfl_up_sync(kEveryLane, __byte_perm(edge_plus_, edge_minus_, 0x0444), 1);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) copy(equal[kStep + k], equal_[k]);
    }
  }
  WFACLI_DEVICE static void copy(const std::uint32_t (&from)[Words], std::uint32_t (&to)[Words]) {
#pragma unroll
    for (int w = 0; w < Words; ++w) to[w] = from[w];
  }

  // Compute one column. The top bits of rise_above and fall_above are the horizontal delta above it; that of fall_above
  // is shifted out.
  WFACLI_DEVICE void column_of_lane(const std::uint32_t (&equal)[Words], std::uint32_t rise_above,
                                    std::uint32_t& fall_above, bool active) {
    CarryChain chain;
    std::uint32_t sum[Words];
    std::uint32_t above = fall_above;
    fall_above = chain.first(fall_above, fall_above);
#pragma unroll
    for (int w = 0; w < Words; ++w) sum[w] = chain.next(equal[w] & plus_[w], plus_[w]);
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      // Diagonal deltas of 0: the cell costs no more than its upper left neighbour, the minimum.
      const std::uint32_t free = (sum[w] ^ plus_[w]) | (equal[w] | minus_[w]);
      const std::uint32_t rise = minus_[w] | ~(free | plus_[w]), fall = plus_[w] & free;
      const std::uint32_t risen = __funnelshift_l(rise_above, rise, 1), fallen = __funnelshift_l(above, fall, 1);
      if (active) {
        plus_[w] = fallen | ~(free | risen);
        minus_[w] = risen & free;
      }
      watch_.column(w, plus_[w], rise);
      rise_above = rise;
      above = fall;
    }
    edge_plus_ = __funnelshift_l(rise_above, edge_plus_, 1);
    edge_minus_ = __funnelshift_l(above, edge_minus_, 1);
  }

  // Write a word of the edge, which is complete in the last lane.
  WFACLI_DEVICE void write_edge(std::int32_t word) {
    if (lane() == 31) {
      Tagged::write(below_ + 2 * word, tag(), edge_plus_);
      Tagged::write(below_ + 2 * word + 1, tag(), edge_minus_);
    }
    if (word == to_next_) before_next_ = risen_;
    risen_ += __popc(edge_plus_) - __popc(edge_minus_);
  }
  // Write the cost at the top left of the next stripe (after the last stripe: at the start of its last row), and signal
  // that this stripe has read all that it needs. In a single matrix the last stripe has the last cell; rows below the
  // matrix are subtracted.
  WFACLI_DEVICE void finish() {
    std::int32_t below = 0;
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::int64_t rows = task_.query_len - (row_ + 32 * w);  // rows of the matrix from the word's first on
      const std::uint32_t outside = rows >= 32 ? 0 : rows <= 0 ? ~0u : ~0u << static_cast<std::uint32_t>(rows);
      below += __popc(plus_[w] & outside) - __popc(minus_[w] & outside);
    }
    below = __reduce_add_sync(kEveryLane, below);
    if (lane() != 31) return;
    const std::int64_t beyond = 32 * columns_.end - task_.target_len;  // columns after the target, fewer than 32
    const std::uint32_t outside = beyond > 0 ? (1u << static_cast<std::uint32_t>(beyond)) - 1 : 0;
    risen_ -= __popc(edge_plus_ & outside) - __popc(edge_minus_ & outside);
    std::uint64_t begun = 0;
    if (number_ > 0) {
      const std::uint64_t upper = Tagged::wait(corner(number_) + 1, tag());
      begun = upper << 32 | Tagged::wait(corner(number_), tag());
    }
    const bool last = number_ + 1 == own_.stripes;
    const std::int64_t bottom = static_cast<std::int64_t>(begun) + kRows - (number_ ? 0 : own_.padding_rows);
    if (last && !task_.matrix[1].stripes) *task_.distance = bottom + risen_ - below;
    const std::int64_t there = last ? 0 : next_first_ < columns_.end ? before_next_ : risen_;
    const auto next = static_cast<std::uint64_t>(bottom + there);
    Tagged::write(corner(number_ + 1), tag() + 1, static_cast<std::uint32_t>(next));
    Tagged::write(corner(number_ + 1) + 1, tag() + 1, static_cast<std::uint32_t>(next >> 32));
    __threadfence();  // all reads are done
    Tagged::write(own_.edge_read + slot(number_), tag(), 0);
  }

  const LongBitsTask& task_;
  const BitsMatrix& own_;
  const std::int64_t number_;
  const StripeColumns columns_;
  const std::int64_t row_;  // first row of the lane
  Rows query_;
  PlaneBlocks<Planes> target_;  // of the lane
  Watch watch_;
  std::int64_t next_first_;
  std::int64_t risen_ = 0, before_next_ = 0;  // rise along the edge: so far, and up to the next stripe's first column
  std::uint32_t plus_[Words], minus_[Words];  // rows where the cost rises, falls, from the row above
  std::uint32_t target_planes_[Planes], ahead_[Planes];  // planes of the next columns, and of those after them
  std::uint32_t equal_[kAhead][Words];             // rows that match the next columns
  const unsigned long long* above_;  // edge of the stripe above, from the first column
  unsigned long long* below_;        // edge of this stripe
  std::int32_t given_;               // words of above_
  std::int32_t to_next_;             // words before the next stripe's first column
  unsigned long long coming_plus_ = 0, coming_minus_ = 0;
  std::uint32_t in_plus_ = 0, in_minus_ = 0, before_plus_ = 0, before_minus_ = 0;
  std::uint32_t edge_plus_ = 0, edge_minus_ = 0;  // of the last row, the latest column in the lowest bit
  std::uint32_t from_above_ = 0;  // of the lane above, for the next columns: eight of each, rises in the top byte
};

}  // namespace wfacli

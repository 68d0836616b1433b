// Edit distance of one long pair in a band of bits: stripes of rows, over which warps go side by side.
//
// G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM 1999, with
// deltas that come in from above (H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit
// distances", Nordic J. Computing 2003); the band is Ukkonen's (Information and Control 1985).
//
// The matrix is that of the reversed sequences, whose rows are letters of the query. A stripe has kRows rows, 32 * Words
// of them a lane, which is a column behind the lane above: in each step all lanes take one column, and each hands the
// horizontal delta of its last row down to the next. The last lane writes these deltas, the stripe's edge, two bits a
// column, from which the next stripe goes on as soon as they are there. Stripes are drawn from a counter, so whoever
// waits for the one before waits for somebody who is at work.
//
// A stripe has the columns that the band's diagonals cross in its rows. What comes into it from outside of the band is
// taken to cost one more than what is next to it inside, as it does at most; so costs are never too small, and a
// distance that a path outside of the band could not undercut is right.
#pragma once

#include "common/carry.cuh"
#include "common/planes.cuh"
#include "common/task.cuh"

namespace wfacli {

constexpr std::uint32_t kEveryLane = 0xffffffffu;
constexpr std::uint32_t kTopBit = 0x80000000u;

// Columns of a stripe, in words of 32.
struct StripeColumns {
  std::int64_t first, end;

  WFACLI_DEVICE static StripeColumns of(const LongBitsTask& task, std::int64_t stripe, std::int64_t rows) {
    const std::int64_t from = max(stripe * rows + task.low, std::int64_t{0});
    const std::int64_t to = min((stripe + 1) * rows + task.high, task.target_len);
    return {from / 32, (to + 31) / 32};
  }
};

// 32 letters of a reversed sequence of `length`, from letter `at` of it on, as planes; the first one's in the lowest bit.
// What lies outside is anything.
template <int Planes>
WFACLI_DEVICE void reversed_letters(const std::uint32_t* rows, std::int64_t length, std::int64_t at,
                                    std::uint32_t (&planes)[Planes]) {
  const std::int64_t from = max(length - 32 - at, std::int64_t{-32 * (kPadRows - 2)});
  const auto by = static_cast<std::uint32_t>(from);
  if constexpr (Planes == 2) {
    const uint4 row = __ldg(reinterpret_cast<const uint4*>(rows) + (from >> 5));
    planes[0] = bits_from(row.x, row.z, by);
    planes[1] = bits_from(row.y, row.w, by);
  } else {
    const std::uint32_t* row = rows + (from >> 5) * kRowWords<Planes>;
#pragma unroll
    for (int p = 0; p < Planes; ++p) planes[p] = bits_from(__ldg(row + p), __ldg(row + p + Planes), by);
  }
}

template <int Planes, int Words>
class BitStripe {
 public:
  static constexpr std::int64_t kRows = std::int64_t{32} * 32 * Words;

  WFACLI_DEVICE BitStripe(const LongBitsTask& task, std::int64_t number)
      : task_(task), number_(number), columns_(StripeColumns::of(task, number, kRows)) {
    const std::int64_t row = number * kRows + lane() * (32 * Words);
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      std::uint32_t planes[Planes];
      reversed_letters<Planes>(task.query, task.query_len, row + 32 * w, planes);
#pragma unroll
      for (int p = 0; p < Planes; ++p) query_[p][w] = planes[p];
      plus_[w] = ~0u;
      minus_[w] = 0;
    }
  }

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  // All columns.
  WFACLI_DEVICE void run() {
    const StripeColumns before = StripeColumns::of(task_, number_ - 1, kRows);
    end_before_ = number_ > 0 ? before.end : columns_.first;
    next_first_ = StripeColumns::of(task_, number_ + 1, kRows).first;
    const std::int64_t words = columns_.end - columns_.first;
    wait_for_room();
    std::uint32_t given_plus = 0, given_minus = 0;  // of some words from the stripe before, one a lane
    load_letters(0);
    for (std::int64_t b = 0; b <= words; ++b) {
      if (b % kFetched == 0) fetch(columns_.first + b, given_plus, given_minus);
      if (b == 0) corner_ = volatile_of(task_.corner)[number_ % task_.slots];  // was told before the edge's first word
      const std::uint32_t plus = __shfl_sync(kEveryLane, given_plus, static_cast<int>(b % kFetched));
      const std::uint32_t minus = __shfl_sync(kEveryLane, given_minus, static_cast<int>(b % kFetched));
      // The first lane is a column behind, too, so that the last one's words are whole.
      in_plus_ = __funnelshift_r(plus, before_plus_, 1);
      in_minus_ = __funnelshift_r(minus, before_minus_, 1);
      before_plus_ = plus;
      before_minus_ = minus;
#pragma unroll
      for (int p = 0; p < Planes; ++p) letters_[p] = __brev(ahead_[p]);
      load_letters(b + 1);
      if (b == 0 || b + 1 >= words)
        steps<true>(b);
      else
        steps<false>(b);
      if (b > 0) hand_on(columns_.first + b - 1);
    }
    finish();
  }

 private:
  static constexpr int kFetched = 8;   // words that are waited for at a time
  static constexpr int kTold = 4;      // words after which the next stripe is told
  static constexpr int kUnroll = Words >= 8 ? 1 : Words >= 4 ? 2 : 4;

  template <class T>
  WFACLI_DEVICE static volatile T* volatile_of(T* at) {
    return at;
  }
  WFACLI_DEVICE std::uint32_t* edge(std::int64_t stripe, std::int64_t word) const {
    const std::int64_t first = StripeColumns::of(task_, stripe, kRows).first;
    return task_.edges + 2 * ((stripe % task_.slots) * task_.edge_words + (word - first));
  }
  // What `done` says of a slot that has a stripe's edge up to a word; grows.
  WFACLI_DEVICE static unsigned long long told(std::int64_t stripe, std::int64_t word) {
    return static_cast<unsigned long long>(stripe) << 32 | static_cast<unsigned long long>(word);
  }
  // Until a stripe has written its words up to one; all lanes see them then.
  WFACLI_DEVICE void wait_for(std::int64_t stripe, std::int64_t word) const {
    if (lane() == 0) {
      const volatile unsigned long long* done = task_.done + stripe % task_.slots;
      while (*done < told(stripe, word)) {
      }
      __threadfence();
    }
    __syncwarp();
  }
  // The stripe whose place this one takes has been read to its end by the one after it.
  WFACLI_DEVICE void wait_for_room() const {
    const std::int64_t reader = number_ - task_.slots + 1;
    if (reader >= task_.first) wait_for(reader, StripeColumns::of(task_, reader, kRows).end);
  }
  // The deltas above the stripe, of kFetched words from `word` on, a lane each.
  WFACLI_DEVICE void fetch(std::int64_t word, std::uint32_t& plus, std::uint32_t& minus) {
    plus = ~0u;
    minus = 0;
    const std::int64_t needed = min(word + kFetched, end_before_);
    if (needed <= word) return;
    wait_for(number_ - 1, needed);
    const std::int64_t own = word + lane();
    if (lane() >= kFetched || own >= needed) return;
    const volatile std::uint32_t* at = edge(number_ - 1, own);
    plus = at[0];
    minus = at[1];
  }
  // Of block b: lane l is l + 1 columns behind it.
  WFACLI_DEVICE void load_letters(std::int64_t b) {
    reversed_letters<Planes>(task_.target, task_.target_len, 32 * (columns_.first + b) - lane() - 1, ahead_);
  }

  template <bool Some>
  WFACLI_DEVICE void steps(std::int64_t b) {
    // Of the first and the last blocks, lanes whose columns are not in the stripe, or not in the matrix, stand still.
    const std::int64_t column = 32 * (columns_.first + b) - lane() - 1;
    const std::int64_t begin = 32 * columns_.first, end = min(32 * columns_.end, task_.target_len);
    const std::int32_t from = static_cast<std::int32_t>(max(begin - column, std::int64_t{0}));
    const std::int32_t to = static_cast<std::int32_t>(max(min(end - column, std::int64_t{32}), std::int64_t{0}));
#pragma unroll kUnroll
    for (int i = 0; i < 32; ++i) step<Some>(i >= from && i < to);
  }

  template <bool Some>
  WFACLI_DEVICE void step(bool active) {
    std::uint32_t from_above = __shfl_up_sync(kEveryLane, out_, 1);
    const std::uint32_t outer = (in_plus_ & kTopBit) | (in_minus_ >> 1 & ~kTopBit);
    in_plus_ <<= 1;
    in_minus_ <<= 1;
    if (lane() == 0) from_above = outer;
    std::uint32_t letter[Planes];
#pragma unroll
    for (int p = 0; p < Planes; ++p) {
      letter[p] = static_cast<std::uint32_t>(static_cast<std::int32_t>(letters_[p]) >> 31);
      letters_[p] <<= 1;
    }
    std::uint32_t rise_below = from_above, fall_below = from_above << 1;  // of the row above a word, in the top bit
    CarryChain chain;
    std::uint32_t sum[Words], equal[Words];
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      std::uint32_t differ = 0;
#pragma unroll
      for (int p = 0; p < Planes; ++p) differ |= query_[p][w] ^ letter[p];
      equal[w] = ~differ;
      const std::uint32_t over = (w == 0 ? equal[w] | fall_below >> 31 : equal[w]) & plus_[w];
      sum[w] = w == 0 ? chain.first(over, plus_[w]) : chain.next(over, plus_[w]);
    }
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::uint32_t matched = w == 0 ? equal[w] | fall_below >> 31 : equal[w];
      const std::uint32_t along = (sum[w] ^ plus_[w]) | matched;
      const std::uint32_t rise = minus_[w] | ~(along | plus_[w]), fall = plus_[w] & along;
      const std::uint32_t risen = __funnelshift_l(rise_below, rise, 1), fallen = __funnelshift_l(fall_below, fall, 1);
      const std::uint32_t still = equal[w] | minus_[w];
      if (!Some || active) {
        plus_[w] = fallen | ~(still | risen);
        minus_[w] = risen & still;
      }
      rise_below = rise;
      fall_below = fall;
    }
    out_ = (rise_below & kTopBit) | (fall_below >> 1 & ~kTopBit);
    edge_plus_ = __funnelshift_l(rise_below, edge_plus_, 1);
    edge_minus_ = __funnelshift_l(fall_below, edge_minus_, 1);
  }

  // A word of the edge is whole, in the last lane.
  WFACLI_DEVICE void hand_on(std::int64_t word) {
    if (lane() != 31) return;
    if (word == next_first_) tell_corner();
    volatile std::uint32_t* at = edge(number_, word);
    at[0] = edge_plus_;
    at[1] = edge_minus_;
    const std::int64_t columns = task_.target_len - 32 * word;  // of the matrix
    const std::uint32_t inside = columns >= 32 ? ~0u : ~(~0u >> static_cast<std::uint32_t>(columns));
    risen_ += __popc(edge_plus_ & inside) - __popc(edge_minus_ & inside);
    if ((word + 1) % kTold == 0 || word + 1 == columns_.end) {
      if (word + 1 == columns_.end && next_first_ >= columns_.end) tell_corner();
      __threadfence();
      volatile_of(task_.done)[number_ % task_.slots] = told(number_, word + 1);
    }
  }
  // The cost at the top left of the next stripe.
  WFACLI_DEVICE void tell_corner() const {
    volatile_of(task_.corner)[(number_ + 1) % task_.slots] = corner_ + kRows + risen_;
  }
  // The last stripe has the matrix' last cell: above the rows that it does not have.
  WFACLI_DEVICE void finish() const {
    if ((number_ + 1) * kRows < task_.query_len) return;
    const std::int64_t row = number_ * kRows + lane() * (32 * Words);
    std::int32_t below = 0;
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::int64_t rows = task_.query_len - (row + 32 * w);  // of the matrix, from the word's first on
      const std::uint32_t outside = rows >= 32 ? 0 : rows <= 0 ? ~0u : ~0u << static_cast<std::uint32_t>(rows);
      below += __popc(plus_[w] & outside) - __popc(minus_[w] & outside);
    }
    below = __reduce_add_sync(kEveryLane, below);
    if (lane() == 31) *task_.distance = corner_ + kRows + risen_ - below;
  }

  const LongBitsTask& task_;
  const std::int64_t number_;
  const StripeColumns columns_;
  std::int64_t end_before_, next_first_;
  std::int64_t corner_;      // the cost at the top left
  std::int64_t risen_ = 0;   // along the edge
  std::uint32_t query_[Planes][Words];
  std::uint32_t plus_[Words], minus_[Words];  // where the cost rises, or falls, from the row above
  std::uint32_t letters_[Planes], ahead_[Planes];
  std::uint32_t in_plus_ = 0, in_minus_ = 0, before_plus_ = 0, before_minus_ = 0;
  std::uint32_t out_ = 0;  // of the last row: the two top bits say whether the cost rises, or falls, from the column before
  std::uint32_t edge_plus_ = 0, edge_minus_ = 0;
};

}  // namespace wfacli

// Edit distance of one long pair in a band of bits: stripes of rows, over which warps go side by side.
//
// G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM 1999, with
// deltas that come in from above (H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit
// distances", Nordic J. Computing 2003); the band is Ukkonen's (Information and Control 1985).
//
// Rows of a matrix are letters of the query. There are two, that of the reversed sequences and that of the sequences, which
// meet in the middle: so twice as many stripes are under way, and what a path costs is the least sum of two cells there
// (long_bits_meet.cu; D. S. Hirschberg, "A linear space algorithm for computing maximal common subsequences", CACM 1975).
// A stripe has kRows rows, 32 * Words
// of them a lane, which is kSkew columns behind the lane above; so lanes hand the horizontal deltas of their last rows
// down every kSkew columns only. The last lane writes these deltas, the stripe's edge, from which the next stripe goes on
// as soon as they are there. Stripes are drawn from a counter, so whoever waits for the one before waits for somebody who
// is at work. Each word of an edge comes with the stripe's tag in one 64-bit store, so nobody needs a fence.
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

// 32 bits that are there when their tag is.
class Tagged {
 public:
  WFACLI_DEVICE static void write(unsigned long long* at, std::uint32_t tag, std::uint32_t value) {
    *static_cast<volatile unsigned long long*>(at) = static_cast<unsigned long long>(tag) << 32 | value;
  }
  WFACLI_DEVICE static std::uint32_t tag(unsigned long long word) { return static_cast<std::uint32_t>(word >> 32); }
  WFACLI_DEVICE static unsigned long long read(const unsigned long long* at) {
    return *static_cast<const volatile unsigned long long*>(at);
  }
  WFACLI_DEVICE static std::uint32_t wait(const unsigned long long* at, std::uint32_t tag_wanted) {
    unsigned long long word = read(at);
    while (tag(word) != tag_wanted) {
      WFACLI_PAUSE();
      word = read(at);
    }
    return static_cast<std::uint32_t>(word);
  }
};

// Columns of a stripe, in words of 32.
struct StripeColumns {
  std::int64_t first, end;

  WFACLI_DEVICE static StripeColumns of(const LongBitsTask& task, int matrix, std::int64_t stripe) {
    const std::int64_t row = stripe * task.rows - task.matrix[matrix].above;
    const std::int64_t from = max(row + task.low, std::int64_t{0});
    const std::int64_t to = min(row + task.rows + task.high, task.target_len);
    return {from / 32, (to + 31) / 32};
  }
};

// 32 letters of a sequence, or of the reversed one, from letter `at` of it on, as planes; the first one's in the lowest
// bit. What lies outside is anything.
template <int Planes>
WFACLI_DEVICE void letters_from(const std::uint32_t* rows, std::int64_t length, bool reversed, std::int64_t at,
                                std::uint32_t (&planes)[Planes]) {
  constexpr std::int64_t kOutside = 32 * (kPadRows - 2);
  const std::int64_t from = min(max(reversed ? length - 32 - at : at, -kOutside), length + kOutside - 32);
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
  if (reversed) return;
#pragma unroll
  for (int p = 0; p < Planes; ++p) planes[p] = __brev(planes[p]);
}

// Is shown what a stripe goes through, before each block of 32 columns and in each column; this one looks at nothing.
template <int Words>
struct Unwatched {
  static constexpr bool kHandsOn = true;  // whether the stripe writes its edge
  WFACLI_DEVICE void block(std::int64_t, const std::uint32_t (&)[Words], const std::uint32_t (&)[Words], std::uint32_t,
                           std::uint32_t) {}
  WFACLI_DEVICE void column(int, std::uint32_t, std::uint32_t) {}
};

template <int Planes, int Words, class Watch = Unwatched<Words>>
class BitStripe {
 public:
  static constexpr std::int64_t kRows = std::int64_t{32} * 32 * Words;
  static constexpr int kSkew = 8;  // columns; 32 of them are as many words

  WFACLI_DEVICE BitStripe(const LongBitsTask& task, int matrix, std::int64_t number, Watch watch = {})
      : task_(task), own_(task.matrix[matrix]), matrix_(matrix), number_(number),
        columns_(StripeColumns::of(task, matrix, number)), row_(number * kRows - own_.above + lane() * (32 * Words)),
        watch_(watch) {
    end_before_ = number_ > 0 ? StripeColumns::of(task_, matrix_, number_ - 1).end : columns_.first;
    next_first_ = StripeColumns::of(task_, matrix_, number_ + 1).first;
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      std::uint32_t planes[Planes];
      letters_from<Planes>(task.query, task.query_len, matrix_ == 0, row_ + 32 * w, planes);
#pragma unroll
      for (int p = 0; p < Planes; ++p) query_[p][w] = planes[p];
      plus_[w] = in_matrix(w);
      minus_[w] = 0;
    }
  }

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  // All columns.
  WFACLI_DEVICE void run() {
    wait_for_room();
    go(0, blocks());
    finish();
  }
  WFACLI_DEVICE std::int64_t blocks() const { return columns_.end - columns_.first + kSkew; }
  // Those of blocks `from` to `to`, `from` a multiple of kFetched.
  WFACLI_DEVICE void go(std::int64_t from, std::int64_t to) {
    const bool padded = number_ == 0 && own_.above > 0;
    const std::int64_t words = columns_.end - columns_.first;
    request(columns_.first + from);
    load_letters(from);
    for (std::int64_t b = from; b < to; ++b) {
      watch_.block(b, plus_, minus_, edge_plus_, edge_minus_);
      if (b % kFetched == 0) {
        receive(columns_.first + b);
        request(columns_.first + b + kFetched);
      }
      const std::uint32_t plus = __shfl_sync(kEveryLane, given_plus_, static_cast<int>(b % kFetched));
      const std::uint32_t minus = __shfl_sync(kEveryLane, given_minus_, static_cast<int>(b % kFetched));
      // The first lane is behind, too, so that the last one's words are whole.
      in_plus_ = __funnelshift_r(plus, before_plus_, kSkew);
      in_minus_ = __funnelshift_r(minus, before_minus_, kSkew);
      before_plus_ = plus;
      before_minus_ = minus;
#pragma unroll
      for (int p = 0; p < Planes; ++p) letters_[p] = __brev(ahead_[p]);
      load_letters(b + 1);
      if (padded)
        columns_of_block<true, true>(b);
      else if (b < kSkew || b + 1 >= words)
        columns_of_block<true, false>(b);
      else
        columns_of_block<false, false>(b);
      if (Watch::kHandsOn && b >= kSkew) hand_on(columns_.first + b - kSkew);
    }
  }
  // As it was before block `from`, which was shown to a watch.
  WFACLI_DEVICE void restore(std::int64_t from, const std::uint32_t (&plus)[Words], const std::uint32_t (&minus)[Words],
                             std::uint32_t edge_plus, std::uint32_t edge_minus) {
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      plus_[w] = plus[w];
      minus_[w] = minus[w];
    }
    edge_plus_ = edge_plus;
    edge_minus_ = edge_minus;
    if (from == 0) return;
    const std::int64_t word = columns_.first + from - 1;
    const bool given = word < end_before_ && word < columns_.end;
    before_plus_ = given ? Tagged::wait(edge(number_ - 1, word), tag() - 1) : ~0u;
    before_minus_ = given ? Tagged::wait(edge(number_ - 1, word) + 1, tag() - 1) : 0;
  }

 private:
  static constexpr int kFetched = 4;  // words that are read at a time

  WFACLI_DEVICE std::uint32_t tag() const { return static_cast<std::uint32_t>(number_ + 1); }
  // Of the words of a stripe's edge, two each.
  WFACLI_DEVICE unsigned long long* edge(std::int64_t stripe, std::int64_t word) const {
    const std::int64_t first = StripeColumns::of(task_, matrix_, stripe).first;
    return own_.edges + 2 * ((stripe % task_.slots) * task_.edge_words + (word - first));
  }
  // The cost at the top left of a stripe, in two halves.
  WFACLI_DEVICE unsigned long long* corner(std::int64_t stripe) const { return own_.corner + 2 * (stripe % task_.slots); }

  // Rows of a word that are not above the matrix. There the cost is the same from row to row, so that the first row of the
  // matrix is as it must be.
  WFACLI_DEVICE std::uint32_t in_matrix(int w) const {
    const std::int64_t outside = -(row_ + 32 * w);
    return outside <= 0 ? ~0u : outside >= 32 ? 0 : ~0u << static_cast<std::uint32_t>(outside);
  }
  // The stripe whose place this one takes has been read to its end by the one after it.
  WFACLI_DEVICE void wait_for_room() const {
    const std::int64_t reader = number_ - task_.slots + 1;
    const std::int64_t drawn = task_.matrix[1].stripes ? 2 * reader + 1 - matrix_ : reader;
    if (drawn >= task_.first && reader >= 0 && lane() == 0)
      Tagged::wait(own_.read + reader % task_.slots, static_cast<std::uint32_t>(reader + 1));
    __syncwarp();
  }
  // Asks for the deltas above the stripe, of kFetched words from `word` on, a lane each.
  WFACLI_DEVICE void request(std::int64_t word) {
    const std::int64_t own = word + lane();
    asked_ = lane() < kFetched && own < end_before_ && own < columns_.end;
    if (!asked_) return;
    const unsigned long long* at = edge(number_ - 1, own);
    coming_plus_ = Tagged::read(at);
    coming_minus_ = Tagged::read(at + 1);
  }
  // Takes them; what is not there yet is asked for again.
  WFACLI_DEVICE void receive(std::int64_t word) {
    given_plus_ = ~0u;
    given_minus_ = 0;
    if (asked_) {
      const std::uint32_t before = tag() - 1;
      const unsigned long long* at = edge(number_ - 1, word + lane());
      given_plus_ = Tagged::tag(coming_plus_) == before ? static_cast<std::uint32_t>(coming_plus_) : Tagged::wait(at, before);
      given_minus_ =
          Tagged::tag(coming_minus_) == before ? static_cast<std::uint32_t>(coming_minus_) : Tagged::wait(at + 1, before);
    }
    __syncwarp();
  }
  // Of block b: lane l is kSkew * (l + 1) columns behind it.
  WFACLI_DEVICE std::int64_t column_of_block(std::int64_t b) const {
    return 32 * (columns_.first + b) - kSkew * (lane() + 1);
  }
  WFACLI_DEVICE void load_letters(std::int64_t b) {
    letters_from<Planes>(task_.target, task_.target_len, matrix_ == 0, column_of_block(b), ahead_);
  }

  // Of the first and the last blocks (kSome), lanes stand still whose columns are not in the stripe, or the matrix; rows
  // above the matrix (kAbove) match nothing.
  template <bool kSome, bool kAbove>
  WFACLI_DEVICE void columns_of_block(std::int64_t b) {
    const std::int64_t column = column_of_block(b);
    const std::int64_t begin = 32 * columns_.first, end = min(32 * columns_.end, task_.target_len);
    const auto from = static_cast<std::int32_t>(min(max(begin - column, std::int64_t{0}), std::int64_t{32}));
    const auto to = static_cast<std::int32_t>(max(min(end - column, std::int64_t{32}), std::int64_t{0}));
#pragma unroll 1
    for (int i = 0; i < 32; i += kSkew) {
      const std::uint32_t from_above =
          __shfl_up_sync(kEveryLane, __byte_perm(edge_plus_, edge_minus_, 0x0444), 1);  // the last eight of each
      std::uint32_t plus = from_above, minus = from_above << 8;
      if (lane() == 0) {
        plus = in_plus_;
        minus = in_minus_;
      }
      in_plus_ <<= kSkew;
      in_minus_ <<= kSkew;
#pragma unroll
      for (int k = 0; k < kSkew; ++k, plus <<= 1, minus <<= 1)
        column_of_lane<kAbove>(plus, minus, !kSome || (i + k >= from && i + k < to));
    }
  }

  // One column; above it the cost rises or falls from the column before as the top bits say.
  template <bool kAbove>
  WFACLI_DEVICE void column_of_lane(std::uint32_t rise_above, std::uint32_t fall_above, bool active) {
    std::uint32_t letter[Planes];
#pragma unroll
    for (int p = 0; p < Planes; ++p) {
      letter[p] = static_cast<std::uint32_t>(static_cast<std::int32_t>(letters_[p]) >> 31);
      letters_[p] <<= 1;
    }
    const std::uint32_t fallen_in = fall_above >> 31;
    CarryChain chain;
    std::uint32_t sum[Words], equal[Words];
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      std::uint32_t differ = 0;
#pragma unroll
      for (int p = 0; p < Planes; ++p) differ |= query_[p][w] ^ letter[p];
      equal[w] = kAbove ? ~differ & in_matrix(w) : ~differ;
      const std::uint32_t over = (w == 0 ? equal[w] | fallen_in : equal[w]) & plus_[w];
      sum[w] = w == 0 ? chain.first(over, plus_[w]) : chain.next(over, plus_[w]);
    }
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::uint32_t along = (sum[w] ^ plus_[w]) | equal[w] | (w == 0 ? fallen_in : 0);
      const std::uint32_t rise = minus_[w] | ~(along | plus_[w]), fall = plus_[w] & along;
      const std::uint32_t risen = __funnelshift_l(rise_above, rise, 1), fallen = __funnelshift_l(fall_above, fall, 1);
      const std::uint32_t still = equal[w] | minus_[w];
      if (active) {
        plus_[w] = fallen | ~(still | risen);
        minus_[w] = risen & still;
      }
      watch_.column(w, plus_[w], rise);
      rise_above = rise;
      fall_above = fall;
    }
    edge_plus_ = __funnelshift_l(rise_above, edge_plus_, 1);
    edge_minus_ = __funnelshift_l(fall_above, edge_minus_, 1);
  }

  // A word of the edge is whole, in the last lane.
  WFACLI_DEVICE void hand_on(std::int64_t word) {
    if (lane() != 31) return;
    unsigned long long* at = edge(number_, word);
    Tagged::write(at, tag(), edge_plus_);
    Tagged::write(at + 1, tag(), edge_minus_);
    if (word == next_first_) before_next_ = risen_;
    const std::int64_t columns = task_.target_len - 32 * word;  // of the matrix
    const std::uint32_t inside = columns >= 32 ? ~0u : ~(~0u >> static_cast<std::uint32_t>(columns));
    risen_ += __popc(edge_plus_ & inside) - __popc(edge_minus_ & inside);
  }
  // Says what the next stripe begins with, or where the last one does, and that this one has read what it needs. The last
  // one of a matrix alone has its last cell, above the rows that it does not have.
  WFACLI_DEVICE void finish() const {
    std::int32_t below = 0;
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::int64_t rows = task_.query_len - (row_ + 32 * w);  // of the matrix, from the word's first on
      const std::uint32_t outside = rows >= 32 ? 0 : rows <= 0 ? ~0u : ~0u << static_cast<std::uint32_t>(rows);
      below += __popc(plus_[w] & outside) - __popc(minus_[w] & outside);
    }
    below = __reduce_add_sync(kEveryLane, below);
    if (lane() != 31) return;
    std::uint64_t begun = 0;
    if (number_ > 0) {
      const std::uint64_t upper = Tagged::wait(corner(number_) + 1, tag());
      begun = upper << 32 | Tagged::wait(corner(number_), tag());
    }
    const bool last = number_ + 1 == own_.stripes;
    const std::int64_t bottom = static_cast<std::int64_t>(begun) + kRows - (number_ ? 0 : own_.above);
    if (last && !task_.matrix[1].stripes) *task_.distance = bottom + risen_ - below;
    const std::int64_t there = last ? 0 : next_first_ < columns_.end ? before_next_ : risen_;
    const auto next = static_cast<std::uint64_t>(bottom + there);
    Tagged::write(corner(number_ + 1), tag() + 1, static_cast<std::uint32_t>(next));
    Tagged::write(corner(number_ + 1) + 1, tag() + 1, static_cast<std::uint32_t>(next >> 32));
    __threadfence();  // all has been read
    Tagged::write(own_.read + number_ % task_.slots, tag(), 0);
  }

  const LongBitsTask& task_;
  const BitsMatrix& own_;
  const int matrix_;
  const std::int64_t number_;
  const StripeColumns columns_;
  const std::int64_t row_;  // the lane's first
  Watch watch_;
  std::int64_t end_before_, next_first_;
  std::int64_t risen_ = 0, before_next_ = 0;  // along the edge: so far, and to where the next stripe begins
  std::uint32_t query_[Planes][Words];
  std::uint32_t plus_[Words], minus_[Words];  // where the cost rises, or falls, from the row above
  std::uint32_t letters_[Planes], ahead_[Planes];
  unsigned long long coming_plus_ = 0, coming_minus_ = 0;
  std::uint32_t given_plus_ = 0, given_minus_ = 0;  // of some words from the stripe before, one a lane
  std::uint32_t in_plus_ = 0, in_minus_ = 0, before_plus_ = 0, before_minus_ = 0;
  std::uint32_t edge_plus_ = 0, edge_minus_ = 0;  // of the last row's columns, the latest in the lowest bit
  bool asked_ = false;
};

}  // namespace wfacli

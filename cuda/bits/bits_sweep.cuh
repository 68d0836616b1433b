// Computes the columns of a band one after the other, each as a few words of bits.
//
// G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM 1999;
// as a band that moves one row down with each column: H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and
// Damerau edit distances", Nordic J. Computing 2003.
#pragma once

#include "bits/bits_band.cuh"
#include "bits/bits_group.cuh"
#include "common/carry.cuh"

namespace wfacli {

// One lane's part: words lane * W to lane * W + W - 1 of a band of 32 * W * Group::kLanes diagonals.
template <int W, class Group>
class BitsSweep {
 public:
  // Unrolled columns of the innermost loop, limited by the instruction cache.
  static constexpr int kUnroll = W >= 8 ? 1 : W >= 4 ? 2 : W == 2 ? 4 : 8;

  WFACLI_DEVICE explicit BitsSweep(const BitsBand& band) : band_(band) {
    for (int w = 0; w < W; ++w) {
      const std::int32_t from = band.origin() - 32 * (Group::lane() * W + w);
      pv_[w] = from <= 0 ? ~0u : from > 31 ? 0 : ~0u << from;
      mv_[w] = ~pv_[w];
    }
  }

  // Compute all columns. Word w of column j is at trace[j * W + w] [lane of 32].
  template <bool Path>
  WFACLI_DEVICE void run(const Packed& query, const Packed& target, uint2* trace) {
    std::int32_t first_base = 32 * Group::lane() * W - band_.origin();  // index of the query base in the first bit
    for (int w = 0; w < W; ++w) query_[w] = planes_from(query, first_base + 32 * w);
    for (std::int32_t j = 0; j < band_.m; first_base += 32) {
      query_[W] = planes_from(query, first_base + 32 * W);
      for (int skip = 0; skip < 32 && j < band_.m; skip += 16) {
        std::uint32_t bases = target.window(j);
        const std::int32_t count = min(band_.m - j, 16);
#pragma unroll kUnroll
        for (int c = 0; c < count; ++c, bases <<= 2, trace += Path ? 32 * W : 0) column<Path>(bases, skip + c, trace);
        j += count;
      }
      for (int w = 0; w < W; ++w) query_[w] = query_[w + 1];
    }
  }

  // Return the band's value of H(n, m), in all lanes: along the last diagonal, then up the last column.
  WFACLI_DEVICE std::int32_t cost() const {
    std::int32_t climb = 0;
    for (int w = 0; w < W; ++w) {
      const std::int32_t first = 32 * (Group::lane() * W + w);
      const std::uint32_t inside = mask_from(band_.end() - first) & ~mask_from(band_.diagonals - 1 - first);
      climb += __popc(pv_[w] & inside) - __popc(mv_[w] & inside);
    }
    return band_.diagonals - 1 - band_.origin() + band_.m - Group::of_last(unchanged_) - Group::sum(climb);
  }

 private:
  WFACLI_DEVICE static std::uint32_t mask_from(std::int32_t bit) { return bit <= 0 ? ~0u : bit > 31 ? 0 : ~0u << bit; }

  // Compute the column whose base is in the top two bits, `skip` columns after that of the first query base in bit 0.
  template <bool Path>
  WFACLI_DEVICE void column(std::uint32_t bases, int skip, uint2* trace) {
    const auto high = static_cast<std::uint32_t>(static_cast<std::int32_t>(bases) >> 31);
    const auto low = static_cast<std::uint32_t>(static_cast<std::int32_t>(bases << 1) >> 31);
    std::uint32_t zero[W + 1], equal[W];  // whether the delta along the diagonal is 0; before that, the sum
    add_up(low, high, skip, zero, equal);
    for (int w = 0; w < W; ++w) zero[w] = (zero[w] ^ pv_[w]) | equal[w] | mv_[w];
    unchanged_ += static_cast<std::int32_t>(zero[W - 1] >> 31);
    zero[W] = Group::from_below(zero[0]);
    std::uint32_t rise_below = 0;  // rise of the word below, in this column
    for (int w = W - 1; w >= 0; --w) {
      const std::uint32_t rise = mv_[w] | ~(zero[w] | pv_[w]), fall = zero[w] & pv_[w];
      const std::uint32_t moved = __funnelshift_r(zero[w], zero[w + 1], 1);
      mv_[w] = moved & rise;
      pv_[w] = fall | ~(moved | rise);
      if constexpr (Path) {
        if (w + 1 < W) store_cell(w + 1, pv_[w], rise_below, zero[w + 1], trace);
        rise_below = rise;
      }
    }
    if constexpr (Path) store_cell(0, Group::from_above(pv_[W - 1]), rise_below, zero[0], trace);
  }

  // sum = (equal & pv) + pv over all words of all lanes.
  WFACLI_DEVICE void add_up(std::uint32_t low, std::uint32_t high, int skip, std::uint32_t* sum,
                            std::uint32_t* equal) const {
    CarryChain chain;
    for (int w = 0; w < W; ++w) {
      const std::uint32_t q_low = __funnelshift_r(query_[w].low, query_[w + 1].low, static_cast<std::uint32_t>(skip));
      const std::uint32_t q_high =
          __funnelshift_r(query_[w].high, query_[w + 1].high, static_cast<std::uint32_t>(skip));
      equal[w] = ~((q_low ^ low) | (q_high ^ high));
      const std::uint32_t over = equal[w] & pv_[w];
      sum[w] = w == 0 ? chain.first(over, pv_[w]) : chain.next(over, pv_[w]);
    }
    if constexpr (Group::kLanes > 1) {
      const bool carries = chain.carried() != 0;
      std::uint32_t all = sum[0];
      for (int w = 1; w < W; ++w) all &= sum[w];
      const std::uint32_t carry = Group::carry_in(carries, all == ~0u);
      CarryChain again;
      for (int w = 0; w < W; ++w) sum[w] = w == 0 ? again.first(sum[w], carry) : again.next(sum[w], 0);
    }
  }

  // Store what the traceback needs: insertion both bits, deletion the first, mismatch the second, match none. pv_ has
  // already been moved to the next column's rows; pv_above is the word before it.
  WFACLI_DEVICE void store_cell(int w, std::uint32_t pv_above, std::uint32_t rise, std::uint32_t zero,
                                uint2* trace) const {
    const std::uint32_t own = __funnelshift_l(pv_above, pv_[w], 1);
    trace[32 * w] = make_uint2(own | rise, own | ~(rise | zero));
  }

  BitsBand band_;
  std::uint32_t pv_[W], mv_[W];  // vertical deltas +1 and -1 of the last column, moved to the next column's rows
  BitPlanes query_[W + 1];
  std::int32_t unchanged_ = 0;  // columns in which the cost along this lane's last diagonal did not change
};

}  // namespace wfacli

// Least numbers of indels of blocks of query rows, in any alignment with a part of the target.
//
// A mismatch counts as two indels. Random sequences have about 0.5 indels per symbol, several times as many as an alignment
// of a read. Columns of +1, 0 and -1 are bits: G. Myers, JACM 1999, for the edit distance; H. Hyyrö, Y. Pinzon and
// A. Shinohara, SPIRE 2005, for indels. Each lane has a block.
#pragma once

#include "kernels/bits/bits_vector.hpp"
#include "kernels/difference/difference_rows.hpp"
#include "kernels/kmers.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class BlockIndels {
 public:
  static constexpr std::int32_t kBlock = 64;  // rows of a block

  // Sets the symbols of kLanes blocks, one every `period` rows from row `first` on. Rows behind the query, and symbols other
  // than A, C, G and T, match everything.
  void set(const KernelTask& task, std::int32_t first, std::int32_t period) {
    std::memset(matches_, 0, sizeof(matches_));
    for (int l = 0; l < kLanes; ++l)
      for (std::int32_t x = 0; x < kBlock; ++x) {
        const std::int32_t i = first + l * period + x;
        const int digit = i < task.query_len ? kDigits.of[task.query[i]] : 4;
        for (int d = 0; d < 4; ++d)
          if (digit == d || digit == 4) matches_[d][l] |= Word{1} << x;
      }
    positive_ = ones(), zero_ = V{};
    last_ = least_ = V{} + kBlock;
  }

  // Takes a symbol of the target.
  WFACLI_INLINE void take(std::uint8_t code) { advance(matching(code)); }
  // The same without the match with a row of a block.
  WFACLI_INLINE void take_beside(std::uint8_t code, std::int32_t block, std::int32_t row) {
    const V here = (V)(numbers() == V{} + static_cast<Word>(block));
    advance(matching(code) & ~(here & (V{} + (Word{1} << row))));
  }

  std::int32_t least(std::int32_t block) const { return static_cast<std::int32_t>(least_[block]); }

 private:
  WFACLI_INLINE V matching(std::uint8_t code) const {
    const int digit = kDigits.of[code];
    return digit < 4 ? load(matches_[digit]) : ones();
  }

  // `match`: rows that match the next column's symbol.
  WFACLI_INLINE void advance(V match) {
    const V one = V{} + 1;
    // Cells with as many indels as the cell before them on the diagonal.
    const V same = xor_or((match & positive_) + positive_, positive_, or_neither(match, positive_, zero_));
    const V falls = same & positive_, free = positive_ & ~same, begins = same & zero_;  // from the column before
    const V level = or_only(begins, free, free + either_and(begins << 1, one, free));  // and runs of `free` behind them
    const V rises = neither(falls, level);
    last_ += (rises >> (kBlock - 1)) - (falls >> (kBlock - 1));
    least_ = lesser(least_, last_);
    const V above_rises = rises << 1, above_level = (level << 1) | one;
    zero_ = choose(zero_ & above_rises, above_level, same);
    positive_ = neither_both(same, above_rises, zero_);
  }

  static WFACLI_INLINE V numbers() {
    V v{};
    for (int l = 0; l < kLanes; ++l) v[l] = static_cast<Word>(l);
    return v;
  }

  alignas(64) Word matches_[4][kLanes];
  V positive_, zero_;    // rows where the number of indels rises by 1, or stays, from the row above; the first row is 0
  V last_, least_;       // in the last row: at this column, and the least so far
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

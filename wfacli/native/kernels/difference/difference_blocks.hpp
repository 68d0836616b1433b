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
  // Blocks that take each symbol together: two vectors, since each waits for its previous results most of the time.
  static constexpr std::int32_t kBlocks = 2 * kLanes;

  // Sets the symbols of kBlocks blocks, one every `period` rows from row `first` on. Rows behind the query, and symbols
  // other than A, C, G and T, match everything.
  void set(const KernelTask& task, std::int32_t first, std::int32_t period) {
    for (int b = 0; b < kBlocks; ++b) {
      const std::int32_t begin = first + b * period, rows = smaller(kBlock, larger(0, task.query_len - begin));
      const Word behind = rows < kBlock ? ~Word{0} << rows : 0;
      for (int d = 0; d < 4; ++d) matches_[d][b] = behind;
      for (std::int32_t x = 0; x < rows; ++x) {
        const int digit = kDigits.of[task.query[begin + x]];
        if (digit < 4)
          matches_[digit][b] |= Word{1} << x;
        else
          for (int d = 0; d < 4; ++d) matches_[d][b] |= Word{1} << x;
      }
    }
    low_ = high_ = Column();
  }

  // Takes a symbol of the target.
  WFACLI_INLINE void take(std::uint8_t code) {
    low_.advance(matching(code, 0));
    high_.advance(matching(code, kLanes));
  }
  // Chooses the block of take_beside().
  WFACLI_INLINE void choose_block(std::int32_t block) {
    low_chosen_ = (V)(numbers() == V{} + static_cast<Word>(block));
    high_chosen_ = (V)(numbers() + kLanes == V{} + static_cast<Word>(block));
  }
  // Takes a symbol without its match with a row of the chosen block.
  WFACLI_INLINE void take_beside(std::uint8_t code, std::int32_t row) {
    const V here = V{} + (Word{1} << row);
    low_.advance(matching(code, 0) & ~(low_chosen_ & here));
    high_.advance(matching(code, kLanes) & ~(high_chosen_ & here));
  }

  std::int32_t least(std::int32_t block) const {
    return static_cast<std::int32_t>(block < kLanes ? low_.least[block] : high_.least[block - kLanes]);
  }

 private:
  // A column of kLanes blocks.
  struct Column {
    V positive = ones(), zero{};  // rows where the number of indels rises by 1, or stays, from the row above; the first is 0
    V last = V{} + kBlock, least = V{} + kBlock;  // in the last row: at this column, and the least so far

    // `match`: rows that match the next column's symbol.
    WFACLI_INLINE void advance(V match) {
      const V one = V{} + 1;
      // Cells with as many indels as the cell before them on the diagonal.
      const V same = xor_or((match & positive) + positive, positive, or_neither(match, positive, zero));
      const V falls = same & positive, free = positive & ~same, begins = same & zero;  // from the column before
      const V level = or_only(begins, free, free + either_and(begins << 1, one, free));  // and runs of `free` behind them
      const V rises = neither(falls, level);
      last += (rises >> (kBlock - 1)) - (falls >> (kBlock - 1));
      least = lesser(least, last);
      const V above_rises = rises << 1, above_level = (level << 1) | one;
      zero = choose(zero & above_rises, above_level, same);
      positive = neither_both(same, above_rises, zero);
    }
  };

  WFACLI_INLINE V matching(std::uint8_t code, std::int32_t first) const {
    const int digit = kDigits.of[code];
    return digit < 4 ? load(matches_[digit] + first) : ones();
  }

  static WFACLI_INLINE V numbers() {
    V v{};
    for (int l = 0; l < kLanes; ++l) v[l] = static_cast<Word>(l);
    return v;
  }

  alignas(64) Word matches_[4][kBlocks];
  Column low_, high_;
  V low_chosen_{}, high_chosen_{};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

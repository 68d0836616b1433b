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
  using Word = std::uint32_t;
  // Blocks of 32 rows, one in each lane; logic functions take vectors of 64-bit lanes (V).
  typedef Word B __attribute__((vector_size(kVectorBytes), may_alias));
  typedef std::int32_t Counts __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr int kBlockLanes = kVectorBytes / sizeof(Word);

 public:
  static constexpr std::int32_t kBlock = 32;  // rows of a block
  // Blocks that take each symbol together: two vectors, since each waits for its previous results most of the time.
  static constexpr std::int32_t kBlocks = 2 * kBlockLanes;

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
    high_.advance(matching(code, kBlockLanes));
  }
  // Chooses the block of take_beside().
  WFACLI_INLINE void choose_block(std::int32_t block) {
    low_chosen_ = (B)(numbers() == B{} + static_cast<Word>(block));
    high_chosen_ = (B)(numbers() + kBlockLanes == B{} + static_cast<Word>(block));
  }
  // Takes a symbol without its match with a row of the chosen block.
  WFACLI_INLINE void take_beside(std::uint8_t code, std::int32_t row) {
    const B here = B{} + (Word{1} << row);
    low_.advance(matching(code, 0) & ~(low_chosen_ & here));
    high_.advance(matching(code, kBlockLanes) & ~(high_chosen_ & here));
  }

  std::int32_t least(std::int32_t block) const {
    return static_cast<std::int32_t>(block < kBlockLanes ? low_.least[block] : high_.least[block - kBlockLanes]);
  }

 private:
  // A column of kBlockLanes blocks.
  struct Column {
    // Rows where the number of indels rises by 1, or stays, from the row above; the first is 0.
    B positive = ~B{}, zero{};
    Counts last = Counts{} + kBlock, least = last;  // in the last row: at this column, and the least so far

    // `match`: rows that match the next column's symbol.
    WFACLI_INLINE void advance(B match) {
      const B one = B{} + 1;
      // Cells with as many indels as the cell before them on the diagonal.
      const B same = (B)xor_or((V)((match & positive) + positive), (V)positive, or_neither((V)match, (V)positive, (V)zero));
      const B falls = same & positive, free = positive & ~same, begins = same & zero;  // from the column before
      // And runs of `free` behind them.
      const B level = (B)or_only((V)begins, (V)free, (V)(free + (B)either_and((V)(begins << 1), (V)one, (V)free)));
      const B rises = (B)neither((V)falls, (V)level);
      last += (Counts)((rises >> (kBlock - 1)) - (falls >> (kBlock - 1)));
      least = last < least ? last : least;
      const B above_rises = rises << 1, above_level = (level << 1) | one;
      zero = (B)choose((V)(zero & above_rises), (V)above_level, (V)same);
      positive = (B)neither_both((V)same, (V)above_rises, (V)zero);
    }
  };

  WFACLI_INLINE B matching(std::uint8_t code, std::int32_t first) const {
    const int digit = kDigits.of[code];
    return digit < 4 ? *reinterpret_cast<const B*>(matches_[digit] + first) : ~B{};
  }

  static WFACLI_INLINE B numbers() {
    B v{};
    for (int l = 0; l < kBlockLanes; ++l) v[l] = static_cast<Word>(l);
    return v;
  }

  alignas(64) Word matches_[4][kBlocks];
  Column low_, high_;
  B low_chosen_{}, high_chosen_{};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

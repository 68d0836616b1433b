// Building blocks of a strip of the local alignment matrix: words of scores, the boundary between two strips, and the
// memory of a warp.
#pragma once

#include "common/permute.cuh"
#include "common/task.cuh"

namespace wfacli::local {

constexpr int kWords = WFACLI_WORDS;    // words per lane, each with the scores of two rows in its halves
constexpr int kLanes = 64;              // per warp: lane l computes lanes l (lower halves) and 32 + l (upper halves)
constexpr int kRows = kLanes * kWords;  // per strip
constexpr int kChunk = WFACLI_CHUNK;    // steps per tile, a multiple of 32
constexpr int kParts = kChunk / 32;     // columns of a tile that a lane loads and writes
constexpr int kLate = kLanes - 1;       // columns between the first and the last lane
constexpr std::uint32_t kAll = 0xffffffffu;
constexpr int kStateWords = 2 * kWords + 2;
constexpr int kSlots = 3;                  // states that a warp can save
constexpr std::int32_t kStop = INT32_MAX;  // as the best score known: end the launch and discard its answers

static_assert(kWords % 4 == 0 && kChunk % 32 == 0 && kChunk >= 64);

// Return a word with the value in both halves.
WFACLI_DEVICE std::uint32_t both(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) & 0xffffu) * 0x00010001u;
}
// Return a word whose addition adds `value`, which may be negative, to both halves, if neither leaves its 16 bits.
WFACLI_DEVICE std::uint32_t added(std::int32_t value) { return static_cast<std::uint32_t>(value) * 0x00010001u; }
WFACLI_DEVICE std::int32_t lower(std::uint32_t word) { return static_cast<std::int32_t>(word & 0xffffu); }
WFACLI_DEVICE std::int32_t upper(std::uint32_t word) { return static_cast<std::int32_t>(word >> 16); }
WFACLI_DEVICE std::int32_t greater_half(std::uint32_t word) { return max(lower(word), upper(word)); }

// A cell of the row between two strips: its score; the score less that of the vertical gap that enters the next row;
// and the number of strips above, as a tag, so that readers need no fence.
class Boundary {
 public:
  WFACLI_DEVICE static unsigned long long of(std::int64_t strips, std::int32_t score, std::int32_t less) {
    return static_cast<unsigned long long>(tag(strips)) << 48 | static_cast<unsigned long long>(less & 0xffff) << 32 |
           static_cast<std::uint32_t>(score);
  }
  WFACLI_DEVICE static void write(unsigned long long* at, unsigned long long word) {
    *static_cast<volatile unsigned long long*>(at) = word;
  }
  WFACLI_DEVICE static unsigned long long read(const unsigned long long* at) {
    return *static_cast<const volatile unsigned long long*>(at);
  }
  WFACLI_DEVICE static bool is_of(unsigned long long word, std::int64_t strips) { return word >> 48 == tag(strips); }
  WFACLI_DEVICE static std::int32_t score(unsigned long long word) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
  }
  WFACLI_DEVICE static std::int32_t less(unsigned long long word) {
    return static_cast<std::int32_t>(word >> 32 & 0xffff);
  }

 private:
  WFACLI_DEVICE static std::uint32_t tag(std::int64_t strips) { return static_cast<std::uint32_t>(strips) & 0xffffu; }
};

// Substitution scores for targets of few symbols. A table has, for each pair of column symbols (32 columns apart, like
// the halves of a word), one word for each of a lane's words, so one lookup returns the scores of two cells. It covers
// the first four symbols of the target; for others, the single scores are looked up.
class PairScores {
 public:
  static constexpr int kCodes = 4;
  static constexpr bool kSums = true;  // words are for addition: a negative lower half borrows from the upper
  struct CellScores {
    std::uint32_t word[kWords];
    WFACLI_DEVICE std::uint32_t of(int r) const { return word[r]; }
  };

  WFACLI_DEVICE static std::int32_t bytes(std::int32_t) { return kCodes * kCodes * kWords * 32 * 4; }
  WFACLI_DEVICE PairScores(const LocalTask& task, std::uint8_t* memory, std::int64_t row, std::int32_t lane)
      : table_(memory + 16 * lane), task_(task), row_(row + lane * kWords) {
    auto* const words = reinterpret_cast<std::uint32_t*>(table_);
#pragma unroll 1
    for (int r = 0; r < kWords; ++r) {
      const std::int8_t* const first = scores_of(task, row + lane * kWords + r);
      const std::int8_t* const second = scores_of(task, row + (32 + lane) * kWords + r);
#pragma unroll 1
      for (int pair = 0; pair < kCodes * kCodes; ++pair) {
        const std::int32_t a = first[min(pair / kCodes, task.n_column_codes - 1)];
        const std::int32_t b = second[min(pair % kCodes, task.n_column_codes - 1)];
        words[(pair * (kWords / 4) + r / 4) * 128 + r % 4] = word_of(a, b);
      }
    }
  }
  // Return true if a tile's columns may have symbols that the table does not cover.
  WFACLI_DEVICE static bool has_rare_symbols(const LocalTask& task) { return task.n_column_codes > kCodes; }
  // Return the lookup key of a column's symbol and that of the column 32 before it. kAny: also for symbols outside the
  // table.
  template <bool kAny>
  WFACLI_DEVICE static std::uint32_t key(std::uint32_t code, std::uint32_t before) {
    return kAny ? code | before << 16 : (code * kCodes + before) * (kWords * 32 * 4);
  }
  template <bool kAny>
  WFACLI_DEVICE void fetch(std::uint32_t key, CellScores& scores) const {
    if (kAny) {
#pragma unroll
      for (int r = 0; r < kWords; ++r)
        scores.word[r] =
            word_of(scores_of(task_, row_ + r)[key & 0xffff], scores_of(task_, row_ + 32 * kWords + r)[key >> 16]);
      return;
    }
    const std::uint8_t* const from = table_ + key;
#pragma unroll
    for (int w = 0; w < kWords; w += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(from + w * 128);
      scores.word[w] = four.x;
      scores.word[w + 1] = four.y;
      scores.word[w + 2] = four.z;
      scores.word[w + 3] = four.w;
    }
  }
  WFACLI_DEVICE static const std::int8_t* scores_of(const LocalTask& task, std::int64_t row) {
    const std::int32_t code = row < task.rows ? task.query[row] : task.n_row_codes;
    return task.scores + code * task.n_column_codes;
  }

 private:
  WFACLI_DEVICE static std::uint32_t word_of(std::int32_t first, std::int32_t second) {
    return (static_cast<std::uint32_t>(second) << 16) + static_cast<std::uint32_t>(first);
  }

  std::uint8_t* table_;  // [symbol][symbol 32 before][words / 4][lane] of 16 bytes, from this lane's
  const LocalTask& task_;
  std::int64_t row_;  // first row of the lane
};

// Substitution scores for any symbols: one byte for each row of both halves and each symbol of the target.
class ByteScores {
 public:
  static constexpr bool kSums = false;
  static constexpr int kFours = kWords / 4;
  struct CellScores {
    std::uint32_t first[kFours], second[kFours];
    WFACLI_DEVICE std::uint32_t of(int r) const {
      return permuted(first[r / 4], second[r / 4], 0xc480u + 0x1111u * static_cast<std::uint32_t>(r % 4));
    }
  };

  WFACLI_DEVICE static std::int32_t bytes(std::int32_t n_codes) { return 2 * n_codes * kFours * 32 * 4; }
  WFACLI_DEVICE ByteScores(const LocalTask& task, std::uint8_t* memory, std::int64_t row, std::int32_t lane)
      : table_(memory + 4 * lane), half_(task.n_column_codes * kFours * 128) {
#pragma unroll 1
    for (int half = 0; half < 2; ++half)
#pragma unroll 1
      for (int w = 0; w < kFours; ++w) {
        const std::int8_t* of_rows[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
          of_rows[k] = PairScores::scores_of(task, row + (32 * half + lane) * kWords + 4 * w + k);
#pragma unroll 1
        for (std::int32_t code = 0; code < task.n_column_codes; ++code) {
          std::uint32_t word = 0;
#pragma unroll
          for (int k = 0; k < 4; ++k)
            word |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(of_rows[k][code])) << 8 * k;
          *reinterpret_cast<std::uint32_t*>(table_ + half * half_ + (code * kFours + w) * 128) = word;
        }
      }
  }
  WFACLI_DEVICE static bool has_rare_symbols(const LocalTask&) { return false; }
  template <bool>
  WFACLI_DEVICE static std::uint32_t key(std::uint32_t code, std::uint32_t before) {
    return code * (kFours * 128) | before * (kFours * 128) << 16;
  }
  template <bool>
  WFACLI_DEVICE void fetch(std::uint32_t key, CellScores& scores) const {
    const std::uint8_t* const first = table_ + (key & 0xffff);
    const std::uint8_t* const second = table_ + half_ + (key >> 16);
#pragma unroll
    for (int w = 0; w < kFours; ++w) {
      scores.first[w] = *reinterpret_cast<const std::uint32_t*>(first + w * 128);
      scores.second[w] = *reinterpret_cast<const std::uint32_t*>(second + w * 128);
    }
  }

 private:
  std::uint8_t* table_;  // [half][symbol][words / 4][lane] of 4 bytes, from this lane's
  std::int32_t half_;
};

// Shared memory of a warp.
template <class Scores>
struct WarpMemory {
  std::uint8_t* scores;
  std::uint32_t* keys;     // lookup keys by column, from 31 before the tile's first
  std::uint32_t* tops;     // values from the strip above: score in the lower half, vertical gap in the upper
  std::uint32_t* bottoms;  // values for the strip below, in the same format

  static constexpr int kKeys = kChunk + 36, kTops = kChunk + 4;  // slightly more is read than used
  WFACLI_DEVICE static std::int32_t bytes(std::int32_t n_codes) {
    return Scores::bytes(n_codes) + 4 * (kKeys + kTops + kChunk);
  }
  WFACLI_DEVICE static WarpMemory of_warp(std::uint8_t* shared, std::int32_t warp, std::int32_t n_codes) {
    std::uint8_t* const own = shared + warp * bytes(n_codes);
    auto* const keys = reinterpret_cast<std::uint32_t*>(own + Scores::bytes(n_codes));
    return {own, keys, keys + kKeys, keys + kKeys + kTops};
  }
};

}  // namespace wfacli::local

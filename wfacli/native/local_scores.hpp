// What two letters score, in lanes: by comparing them, or out of rows of scores. Included by local_tile.hpp only.
#pragma once

#include "local_lanes.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// A lane has kDeep rows one below the other; the topmost rows are in the last lane.
template <class L, int kDeep>
constexpr int lane_row(int lane, int deep) {
  return (L::kCount - 1 - lane) * kDeep + deep;
}

// Letters of the same class score one thing, all others another.
template <class L, int kDeep>
class EqualScores {
 public:
  using Vector = typename L::Vector;

  WFACLI_INLINE EqualScores(const LocalStrip& strip, const LocalTile&)
      : columns_(strip.column_classes - (L::kCount - 1)), match_(L::all(strip.match)), other_(L::all(strip.mismatch)) {
    for (int d = 0; d < kDeep; ++d)
      for (int l = 0; l < L::kCount; ++l) rows_[d][l] = strip.row_classes[lane_row<L, kDeep>(l, d)];
  }
  WFACLI_INLINE void block(std::int64_t) {}
  WFACLI_INLINE void step(std::int64_t s) { now_ = L::widened(columns_ + s); }
  WFACLI_INLINE Vector score(int d) const { return L::pick(L::same(rows_[d], now_), match_, other_); }

 private:
  const std::uint8_t* columns_;
  Vector match_, other_, now_, rows_[kDeep];
};

// Any scores: of some steps at a time they are brought from the rows' profiles into the order of lanes.
template <class L, int kDeep>
class ProfileScores {
 public:
  using Vector = typename L::Vector;
  using Lane = typename L::Lane;

  WFACLI_INLINE ProfileScores(const LocalStrip& strip, const LocalTile&) : strip_(strip) {
    for (int row = 0; row < kDeep * L::kCount; ++row)
      rows_[row] = strip.profile + strip.profile_rows[strip.row_codes[row]] * strip.stride;
  }
  WFACLI_INLINE void block(std::int64_t s) {
    for (int d = 0; d < kDeep; ++d) {
      if constexpr (L::kCount % 16 == 0) fill_by_sixteen(s, d);
      else fill(s, d);
    }
    bar(s);
    at_ = scores_ - kDeep * L::kCount;
  }
  WFACLI_INLINE void step(std::int64_t) { at_ += kDeep * L::kCount; }
  WFACLI_INLINE Vector score(int d) const { return L::load(at_ + d * L::kCount); }

 private:
  typedef std::uint8_t Bytes __attribute__((vector_size(16)));
  typedef Lane Sixteen __attribute__((vector_size(16 * sizeof(Lane))));

  // Scores of a lane's row in steps from s on.
  WFACLI_INLINE const std::int8_t* row(int l, int d, std::int64_t s) const {
    return rows_[lane_row<L, kDeep>(l, d)] + s - (L::kCount - 1 - l);
  }
  WFACLI_INLINE void fill(std::int64_t s, int d) {
    for (int l = 0; l < L::kCount; ++l) {
      const std::int8_t* from = row(l, d, s);
      for (int x = 0; x < kLocalBlock; ++x) scores_[(x * kDeep + d) * L::kCount + l] = from[x];
    }
  }
  // Sixteen lanes in sixteen steps: a square of bytes that is transposed by halves.
  WFACLI_INLINE void fill_by_sixteen(std::int64_t s, int d) {
    for (int first = 0; first < L::kCount; first += 16) {
      Bytes square[2][16];
      for (int l = 0; l < 16; ++l) std::memcpy(&square[0][l], row(first + l, d, s), 16);
      for (int turn = 0; turn < 4; ++turn) {
        const Bytes* from = square[turn & 1];
        Bytes* to = square[~turn & 1];
        for (int x = 0; x < 8; ++x) {
          to[2 * x] = __builtin_shuffle(from[x], from[x + 8], Bytes{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
          to[2 * x + 1] = __builtin_shuffle(from[x], from[x + 8],
                                            Bytes{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
        }
      }
      typedef std::int8_t SignedBytes __attribute__((vector_size(16)));
      for (int x = 0; x < 16; ++x) {
        const Sixteen wide = __builtin_convertvector((SignedBytes)square[0][x], Sixteen);
        std::memcpy(scores_ + (x * kDeep + d) * L::kCount + first, &wide, sizeof wide);
      }
    }
  }
  // Cells that are barred score so little that no way leads through them.
  WFACLI_INLINE void bar(std::int64_t s) {
    for (std::int64_t x = 0; x < strip_.barred_count; ++x) {
      const LocalBarred& cell = strip_.barred[x];
      const int lane = L::kCount - 1 - static_cast<int>(cell.row) / kDeep, d = static_cast<int>(cell.row) % kDeep;
      const std::int64_t step = cell.column - strip_.column + (L::kCount - 1 - lane) - s;
      if (step < 0 || step >= kLocalBlock) continue;
      scores_[(step * kDeep + d) * L::kCount + lane] = static_cast<Lane>(L::kNever);
    }
  }

  const LocalStrip& strip_;
  const std::int8_t* rows_[kDeep * L::kCount];
  const Lane* at_ = nullptr;
  alignas(64) Lane scores_[kLocalBlock * kDeep * L::kCount];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Tiles beside a path through similar sequence, for long_wavefront.cuh.
//
// Such a path advances by many symbols per score, and the diagonals beside it follow, each one score after its
// neighbour. So a diagonal reads new symbols with every score, but they are those that its neighbour read one score
// before, shifted by one in one of the sequences. Here a lane's registers move along: with each score they become the
// adjacent diagonals (`slant` 1: the path is at lower diagonals, and diagonals increase; -1: it is at higher ones, and
// they decrease). The symbols of both sequences that a register has loaded then stay valid for many scores.
//
// After some scores, registers have moved by as many diagonals, and twice as many diagonals are invalid, all on the
// side to which the registers moved. So the valid diagonals are those of a tile that does not move.
#pragma once

#include "long/long_wavefront.cuh"

namespace wfacli {

template <class Tile>
class SlantedTile {
  using Offset = typename Tile::Reach;
  static constexpr int kDiagonals = Tile::kDiagonals;

 public:
  static constexpr bool kSupported = Tile::kPlanes == 2 && kDiagonals > 1;

  WFACLI_DEVICE SlantedTile(Tile& tile, int slant) : tile_(tile), slant_(slant) {}

  // Advance the tile. Return false if some position is too close to the matrix's borders; then the offsets are invalid,
  // but the first diagonal is restored.
  WFACLI_DEVICE bool advance(int scores) {
    const Offset first = tile_.first_;
    const bool done = slant_ > 0 ? advance_by<1>(scores) : advance_by<-1>(scores);
    if (!done) tile_.first_ = first;
    return done;
  }

 private:
  static constexpr std::uint32_t kAll = Tile::kAll;
  // Scores for which symbols are valid: one symbol per score, and the length of runs.
  static constexpr int kWindowScores = 16;

  template <int Slant>
  WFACLI_DEVICE bool advance_by(int scores) {
#pragma unroll
    for (int j = 0; j < kDiagonals; ++j) tile_.base_[j] = tile_.reach_[j];
    age_ = 0;
    if (!reload_windows<Slant>()) return false;
    for (; scores > 0; --scores) {
      if (age_ == kWindowScores && !reload_windows<Slant>()) return false;
      next_score<Slant>();
      std::uint32_t going = extend<Slant>();
      if (__popc(going) > Tile::kFew) {
        if (!reload_windows<Slant>()) return false;
        going = extend<Slant>();
      }
      if (going && !follow_runs<Slant>()) return false;
    }
    return true;
  }

  // Return the number of symbols of register j's windows before its offset; 32 or more: all loaded ones.
  template <int Slant>
  WFACLI_DEVICE Offset compared(int j) const {
    return tile_.reach_[j] - tile_.base_[j] - (Slant < 0 ? age_ : 0);
  }
  WFACLI_DEVICE bool inside(Offset k, Offset i) const {
    return i >= 0 && i <= tile_.query_len_ - 32 && i + k >= 0 && i + k <= tile_.target_len_ - 32;
  }
  // Load 32 bases from position `at` on, in the front's direction, the first in the top bit.
  WFACLI_DEVICE void load_planes(const std::uint32_t* rows, Offset at, std::uint32_t& low, std::uint32_t& high) const {
    const uint4 row = __ldg(reinterpret_cast<const uint4*>(rows) + (at >> 5));
    low = bits_from(row.x, row.z, static_cast<std::uint32_t>(at));
    high = bits_from(row.y, row.w, static_cast<std::uint32_t>(at));
    if (tile_.direction_ > 0) return;
    low = __brev(low);
    high = __brev(high);
  }
  // Load the symbols of register j from offset i of diagonal k on.
  template <int Slant>
  WFACLI_DEVICE void load_symbols(int j, Offset k, Offset i) {
    const Offset q = tile_.direction_ * i + tile_.query_origin_;
    const Offset t = tile_.direction_ * k + (q + tile_.diagonal_shift_);
    load_planes(Slant > 0 ? tile_.query_ : tile_.target_, Slant > 0 ? q : t, still_[0][j], still_[1][j]);
    load_planes(Slant > 0 ? tile_.target_ : tile_.query_, Slant > 0 ? t : q, moving_[0][j], moving_[1][j]);
  }
  template <int Slant>
  WFACLI_DEVICE bool reload_windows() {
    bool all = true;
#pragma unroll
    for (int j = 0; j < kDiagonals; ++j) {
      if (compared<Slant>(j) >= 32) tile_.reach_[j] -= 32;
      all = all && inside(tile_.first_ + j, tile_.reach_[j]);
    }
    if (!__all_sync(kAll, all)) return false;
#pragma unroll
    for (int j = 0; j < kDiagonals; ++j) {
      tile_.base_[j] = tile_.reach_[j];
      load_symbols<Slant>(j, tile_.first_ + j, tile_.reach_[j]);
    }
    age_ = 0;
    return true;
  }

  // Advance by one score and one diagonal. Symbols of the sequence in which that is a step are shifted.
  template <int Slant>
  WFACLI_DEVICE void next_score() {
    Offset* const reach = tile_.reach_;
    tile_.first_ += Slant;
    ++age_;
    if constexpr (Slant > 0) {
      const Offset after = __shfl_down_sync(kAll, reach[0], 1), second = __shfl_down_sync(kAll, reach[1], 1);
#pragma unroll
      for (int j = 0; j < kDiagonals; ++j) {
        const Offset own = j + 1 < kDiagonals ? reach[j + 1] : after;
        const Offset next = j + 2 < kDiagonals ? reach[j + 2] : j + 2 == kDiagonals ? after : second;
        reach[j] = max(max(own, next) + 1, reach[j]);
      }
    } else {
      const Offset before = __shfl_up_sync(kAll, reach[kDiagonals - 1], 1);
      const Offset second = __shfl_up_sync(kAll, reach[kDiagonals - 2], 1);
#pragma unroll
      for (int j = kDiagonals - 1; j >= 0; --j) {
        const Offset own = j > 0 ? reach[j - 1] : before;
        const Offset last = j > 1 ? reach[j - 2] : j == 1 ? before : second;
        reach[j] = max(max(reach[j], own) + 1, last);
      }
    }
#pragma unroll
    for (int j = 0; j < kDiagonals; ++j) {
      moving_[0][j] <<= 1;
      moving_[1][j] <<= 1;
    }
  }
  // Extend all diagonals as far as their symbols are loaded. Return which lanes have runs that may be longer.
  template <int Slant>
  WFACLI_DEVICE std::uint32_t extend() {
    const std::uint32_t known = kAll << age_;
    std::uint32_t minimum = kAll;
#pragma unroll
    for (int j = 0; j < kDiagonals; ++j) {
      const std::uint32_t differ =
          ((moving_[0][j] ^ still_[0][j]) | (moving_[1][j] ^ still_[1][j])) & known;
      const Offset done = min(compared<Slant>(j), Offset{32});
      const std::uint32_t left = __funnelshift_lc(0, differ, static_cast<std::uint32_t>(done));
      minimum = min(minimum, left);
      tile_.reach_[j] += __clz(static_cast<int>(left));
    }
    return __ballot_sync(kAll, minimum == 0);
  }
  // See Stretch::follow_runs.
  template <int Slant>
  WFACLI_DEVICE bool follow_runs() {
    std::uint32_t left = 0;
#pragma unroll
    for (int j = 0; j < kDiagonals; ++j)
      if (compared<Slant>(j) >= 32) left |= 1u << j;
    while (const std::uint32_t going = __ballot_sync(kAll, left != 0)) {
      const bool own = left != 0;
      const int which = __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      Offset i = 0;
#pragma unroll
      for (int j = 0; j < kDiagonals; ++j)
        if (which == j) i = tile_.reach_[j] - 32;
      const Offset k = tile_.first_ + max(which, 0);
      const auto window = tile_.end_of_run(k, i, going);
      i = max(i, window.base);
      i += __clz(static_cast<int>(Tile::rest(window.differ, window.base, i)));
      if (!__all_sync(kAll, !own || inside(k, i))) return false;
#pragma unroll
      for (int j = 0; j < kDiagonals; ++j) {
        if (which != j) continue;
        tile_.reach_[j] = i;
        tile_.base_[j] = i - (Slant < 0 ? age_ : 0);
        load_symbols<Slant>(j, k, i);
      }
    }
    return true;
  }

  Tile& tile_;
  const int slant_;
  std::int32_t age_ = 0;  // scores since all symbols were loaded
  std::uint32_t still_[2][kDiagonals], moving_[2][kDiagonals];  // planes
};

}  // namespace wfacli

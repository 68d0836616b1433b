// Anti-diagonals in registers: a window of a fixed number of cells that follows the diagonal.
//
// A band in memory reads, one lane further, what the previous step has just stored, and waits for that store. Here
// whole vectors stay in registers, and their lanes move.
#pragma once

#include "kernels/difference/difference_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class S, int Cells, bool Trace>
class Window {
  using Lane = typename S::Lane;
  // Narrow windows wait for the latency of their own last step, which is shorter for 32-byte vectors.
  static constexpr int kBytes = Cells > 64 || kVectorBytes < 32 ? kVectorBytes : 32;
  using L = Lanes<Lane, kBytes>;
  using Vector = typename L::Vector;
  using R = Rows<S>;
  static constexpr int P = S::kPieces, kVectors = Cells / L::kCount;

 public:
  WFACLI_INLINE Window(const S& scheme, const Text& text) : s_(scheme), step_(scheme), text_(text) {}

  // Computes `count` (even) rows after rows.row. The window covers slots from `slot` on, and moves up by one every
  // second row. `table` receives the planes of each row.
  WFACLI_INLINE void run(R& rows, std::int32_t count, std::int32_t slot, Tracked* tracked, Lane* table) {
    rows.beside(slot, slot + Cells);
    for (int w = 0; w < kVectors; ++w) {
      const std::int32_t at = slot + w * L::kCount;
      u_[w] = L::load(rows.array[R::kU] + at);
      v_[w] = L::load(rows.array[R::kV] + at);
      for (int g = 0; g < P; ++g) {
        a_[w][g] = L::load(rows.array[R::kA + g] + at);
        b_[w][g] = L::load(rows.array[R::kB + g] + at);
      }
    }
    row_ = rows.row;
    slot_ = slot;
    table_ = table;
    lane_ = tracked ? tracked->slot - slot : 0;
    const std::int32_t end = row_ + count;
    std::int32_t sum = 0;
    while (row_ < end && (slot_ <= 0 || row_ + 1 - slot_ < Cells)) sum += two_rows<true>();
    while (row_ < end) sum += two_rows<false>();
    if (tracked) {
      tracked->slot += count / 2;
      tracked->cost += sum + count * s_.extend;
    }
    for (int w = 0; w < kVectors; ++w) {
      const std::int32_t at = slot_ + w * L::kCount;
      L::store(rows.array[R::kU] + at, u_[w]);
      L::store(rows.array[R::kV] + at, v_[w]);
      for (int g = 0; g < P; ++g) {
        L::store(rows.array[R::kA + g] + at, a_[w][g]);
        L::store(rows.array[R::kB + g] + at, b_[w][g]);
      }
    }
    rows.row = row_;
    Lane low[P + 1];
    for (int g = 0; g < P; ++g) low[g] = static_cast<Lane>(low_[g][0]);
    rows.keep_low(slot_ - 1, row_ - 1, low);
    rows.lo = larger(slot_, 0);
    rows.hi = smaller(slot_ + Cells - 1, row_);
  }

 private:
  // Computes two rows. Returns the change of the tracked lane's cost, minus the extensions.
  template <bool Corner>
  WFACLI_INLINE std::int32_t two_rows() {
    // The window stays: (i-1, j) is one lane below.
    ++row_;
    const std::uint8_t* q = text_.query + (slot_ - 1);
    const std::uint8_t* t = text_.target + (text_.target_len - row_ + slot_);
    for (int w = kVectors - 1; w >= 0; --w) {
      v_[w] = L::up(v_[w], w ? v_[w - 1] : step_.rise);
      for (int g = 0; g < P; ++g) a_[w][g] = L::up(a_[w][g], w ? a_[w - 1][g] : step_.full[g]);
      step_(q + w * L::kCount, t + w * L::kCount, u_[w], v_[w], a_[w], b_[w]);
    }
    if constexpr (Corner) edges();
    if constexpr (Trace) store_flags();
    // The window moves: (i, j-1) is one lane above.
    ++row_;
    ++slot_;
    ++q;
    Vector changes{};
    for (int g = 0; g < P; ++g) low_[g] = b_[0][g];
    for (int w = 0; w < kVectors; ++w) {
      u_[w] = L::down(u_[w], w + 1 < kVectors ? u_[w + 1] : step_.rise);
      for (int g = 0; g < P; ++g) b_[w][g] = L::down(b_[w][g], w + 1 < kVectors ? b_[w + 1][g] : step_.full[g]);
      const Vector change = step_(q + w * L::kCount, t + w * L::kCount, u_[w], v_[w], a_[w], b_[w]);
      if (kVectors == 1 || lane_ / L::kCount == w) changes = change;
    }
    if constexpr (Corner) edges();
    if constexpr (Trace) store_flags();
    alignas(kBytes) Lane z[L::kCount];
    L::store(z, changes);
    return z[lane_ % L::kCount];
  }

  // Sets cells (0, row) and (row, 0) if they are in the window.
  WFACLI_INLINE void edges() {
    const Vector down = L::all(s_.left(row_)), across = L::all(s_.top(row_));
    const std::int32_t top = -slot_, left = row_ - slot_;
    for (int w = 0; w < kVectors; ++w) {
      const Vector lanes = L::numbers() + L::all(w * L::kCount);
      if (top >= 0 && top < Cells) {
        v_[w] = lanes == L::all(top) ? across : v_[w];
        for (int g = 0; g < P; ++g) a_[w][g] = lanes == L::all(top) ? step_.full[g] : a_[w][g];
      }
      if (left >= 0 && left < Cells) {
        u_[w] = lanes == L::all(left) ? down : u_[w];
        for (int g = 0; g < P; ++g) b_[w][g] = lanes == L::all(left) ? step_.full[g] : b_[w][g];
      }
    }
  }

  WFACLI_INLINE void store_flags() {
    for (int w = 0; w < kVectors; ++w) {
      Lane* to = table_ + w * L::kCount;
      if constexpr (P == 0) {
        L::store(to, u_[w]);
        L::store(to + Cells, v_[w]);
      }
      for (int g = 0; g < P; ++g) {
        L::store(to + g * Cells, s_.opens_freely(g) ? u_[w] : a_[w][g]);
        L::store(to + (P + g) * Cells, s_.opens_freely(g) ? v_[w] : b_[w][g]);
      }
    }
    table_ += S::kPlanes * Cells;
  }

  const S& s_;
  const Step<S, L> step_;
  const Text& text_;
  Vector u_[kVectors], v_[kVectors], a_[kVectors][P + 1], b_[kVectors][P + 1];
  Vector low_[P + 1];  // b of the lowest lane, which the last row has left
  std::int32_t row_ = 0, slot_ = 0, lane_ = 0;
  Lane* table_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Edit distance of one long pair by two wavefronts that go towards each other (paper 002, sections 3 and 4: columns of
// offsets alone in memory, tiles).
//
// Diagonal k has the cells (i, i + k) of i letters of the query and i + k of the target. A front at score s has for each
// diagonal its furthest cell that s edits or fewer reach, as i. Those beyond reach are below the diagonal's first cell.
//
// A warp has a tile: 32 * Diagonals neighbouring diagonals, those of a lane in registers. With each score, what lies
// outside reaches one diagonal further in from both ends (it is taken to be unreached, so that values are too small
// there, never too large), so after `ghost` scores all but `ghost` diagonals at either end are right, and written.
// Nobody waits for anybody but in shuffles.
//
// Extending needs no letters most of the time: a lane has for each of its diagonals a window, one bit for each of 32
// letters from `base` on, 1 where they differ. Where most edits are, offsets move by less than two letters a score, so
// windows are looked up again after a few scores, for all diagonals together. Where a run leaves its window, the warp
// stops and follows it.
//
// Offsets beyond the matrix need no test in each step. Distances of neighbouring cells differ by one at most, so if an
// offset leaves the matrix, the diagonal's last cell, to which it is cut later, is within the score too; and the same is
// true of what other diagonals make of it, since they come nearer to the border by no more than they pay for.
#pragma once

#include "common/planes.cuh"
#include "common/task.cuh"

namespace wfacli {

template <int Planes, class Offset, int Diagonals, int Again>
class Stretch {
 public:
  static constexpr int kWidth = 32 * Diagonals;
  static constexpr Offset kUnreached = -(Offset{1} << (8 * sizeof(Offset) - 2));
  static_assert(Diagonals < kPadRows - 8, "diagonals beyond the matrix read letters that are not there");

  WFACLI_DEVICE Stretch(const LongWavefrontTask& task, int front, Offset first)
      : query_(task.query), target_(task.target), query_len_(static_cast<Offset>(task.query_len)),
        target_len_(static_cast<Offset>(task.target_len)), backward_(front != 0), first_(first + lane() * Diagonals) {}

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  WFACLI_DEVICE void load(const Offset* from, Offset from_first, Offset from_count) {
    const Offset at = first_ - from_first;
    const bool inside = at >= 0 && at < from_count;
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) reach_[j] = inside ? from[at + j] : kUnreached;
  }
  WFACLI_DEVICE void store(Offset* to) const {
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) to[j] = min(reach_[j], last_cell(first_ + j));
  }
  // Most letters that this front and the other one have behind them on one diagonal; diagonal k here is diagonal
  // target_len - query_len - k there.
  WFACLI_DEVICE Offset most_behind(const Offset* other, Offset from_first, Offset from_count) const {
    const Offset turned = target_len_ - query_len_ - first_ - from_first;
    Offset most = 2 * kUnreached;
#pragma unroll
    for (int j = 0; j < Diagonals; ++j)
      if (turned - j >= 0 && turned - j < from_count) most = max(most, reach_[j] + other[turned - j]);
    return most;
  }
  WFACLI_DEVICE void advance(int scores) {
    for (; scores > 0; scores -= Again) {
      look_again();
      for (int step = min(scores, Again); step > 0; --step)
        if (next_score()) follow_runs();
    }
  }

 private:
  static constexpr std::uint32_t kAll = 0xffffffffu;
  static constexpr int kFew = 3;    // runs that the warp follows one after the other
  static constexpr int kAlone = 6;  // windows that each lane looks at for itself before the warp does, if they are more

  struct Window {
    Offset base;
    std::uint32_t differ;
  };

  WFACLI_DEVICE Offset first_cell(Offset k) const { return max(Offset{0}, -k); }
  WFACLI_DEVICE Offset last_cell(Offset k) const { return min(query_len_, target_len_ - k); }

  // The window of diagonal k at offset i: its letters from i on, those beyond the matrix different from all others.
  // Before the first cell nothing is to be extended; a window ends there, so that one is looked up when it is reached.
  WFACLI_DEVICE Window look(Offset k, Offset i) const {
    const Offset first = first_cell(k), last = last_cell(k);
    const Offset at = max(min(i, last - 1), first - 1);  // letters that can be read, always
    const Offset q = backward_ ? query_len_ - 32 - at : at;
    const Offset t = backward_ ? target_len_ - 32 - at - k : at + k;
    std::uint32_t differ = differing<Planes>(query_, q, target_, t);
    if (backward_) differ = __brev(differ);
    differ |= __funnelshift_rc(kAll, 0, static_cast<std::uint32_t>(max(Offset{0}, min(Offset{32}, last - i))));
    return i < first ? Window{min(i, first - 32), kAll} : Window{i, differ};
  }

  WFACLI_DEVICE void look_again() {
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) {
      const Offset k = first_ + j;
      reach_[j] = min(reach_[j], last_cell(k));
      const Window window = look(k, reach_[j]);
      base_[j] = window.base;
      differ_[j] = window.differ;
    }
  }

  // What is left of a window at offset i >= base; 0: nothing, or nothing that differs.
  WFACLI_DEVICE static std::uint32_t rest(std::uint32_t differ, Offset base, Offset i) {
    if constexpr (sizeof(Offset) == 8) {
      return __funnelshift_lc(0, differ, static_cast<std::uint32_t>(min(i - base, Offset{32})));
    } else {
      return __funnelshift_lc(0, differ, static_cast<std::uint32_t>(i - base));
    }
  }

  // All diagonals, one score further. Whether any of the warp's runs left its window: its offset is 32 too large.
  WFACLI_DEVICE bool next_score() {
    Offset before = __shfl_up_sync(kAll, reach_[Diagonals - 1], 1);
    Offset after = __shfl_down_sync(kAll, reach_[0], 1);
    if (lane() == 0) before = kUnreached;
    if (lane() == 31) after = kUnreached;
    std::uint32_t least = kAll;
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) {
      const Offset own = reach_[j], next = j + 1 < Diagonals ? reach_[j + 1] : after;
      const Offset to = max(max(own, next) + 1, before);
      before = own;
      const std::uint32_t left = rest(differ_[j], base_[j], to);
      least = min(least, left);
      reach_[j] = to + __clz(static_cast<int>(left));
    }
    return __any_sync(kAll, least == 0);
  }

  // Each lane takes one of its diagonals whose run left its window, until there is none.
  WFACLI_DEVICE void follow_runs() {
    for (;;) {
      int which = -1;
      Offset i = 0;
#pragma unroll
      for (int j = Diagonals - 1; j >= 0; --j) {
        if (reach_[j] - base_[j] < 32) continue;
        which = j;
        i = max(reach_[j] - 32, base_[j] + 32);
      }
      if (!__any_sync(kAll, which >= 0)) return;
      const Offset k = first_ + max(which, 0);
      const Window window = end_of_run(k, i, which >= 0);
      i = max(i, window.base);
      i += __clz(static_cast<int>(rest(window.differ, window.base, i)));
#pragma unroll
      for (int j = 0; j < Diagonals; ++j) {
        if (which != j) continue;
        reach_[j] = i;
        base_[j] = window.base;
        differ_[j] = window.differ;
      }
    }
  }

  // The window with the first difference on diagonal k from offset i on, for the lanes that want one. Few runs are
  // followed by all lanes together, which read 1,024 letters at a time.
  WFACLI_DEVICE Window end_of_run(Offset k, Offset i, bool wanted) const {
    Window window{i, kAll};
    if (wanted) window = look(k, i);
    std::uint32_t going = __ballot_sync(kAll, window.differ == 0);
    for (int alone = 1; alone < kAlone && __popc(going) > kFew; ++alone) {
      if (window.differ == 0) window = look(k, window.base + 32);
      going = __ballot_sync(kAll, window.differ == 0);
    }
    for (; going; going &= going - 1) {
      const int who = __ffs(static_cast<int>(going)) - 1;
      const Window found = together(__shfl_sync(kAll, k, who), __shfl_sync(kAll, window.base, who) + 32);
      if (lane() == who) window = found;
    }
    return window;
  }

  // The same for one run, that all lanes give alike.
  WFACLI_DEVICE Window together(Offset k, Offset i) const {
    for (;; i += 1024) {
      const std::uint32_t differ = look(k, i + 32 * lane()).differ;
      if (const std::uint32_t ended = __ballot_sync(kAll, differ != 0)) {
        const int who = __ffs(static_cast<int>(ended)) - 1;
        return {i + 32 * who, __shfl_sync(kAll, differ, who)};
      }
    }
  }

  const std::uint32_t* query_;
  const std::uint32_t* target_;
  Offset query_len_, target_len_;
  bool backward_;
  Offset first_;  // diagonal of the lane
  Offset reach_[Diagonals], base_[Diagonals];
  std::uint32_t differ_[Diagonals];
};

// Whether the fronts that a tile begins with have met. They have when on some diagonal they leave no letter between them,
// and that is just when the distance is no more than the sum of their scores: if they have, cells that both reached lie
// on one diagonal, along which distances only grow; and if the distance is no more, a best path can be cut in two parts
// that have no more edits than each front's score, at a cell that both fronts have reached.
template <class Offset, class Tile>
WFACLI_DEVICE void compare_fronts(const LongWavefrontTask& task, const Tile& tile) {
  const Offset* backward = static_cast<const Offset*>(task.from) + task.from_stride;
  Offset most = tile.most_behind(backward, static_cast<Offset>(task.from_first), static_cast<Offset>(task.from_count));
  for (int by = 16; by > 0; by /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, by));
  if (Tile::lane() != 0 || most < 0) return;
  if (most >= static_cast<Offset>(task.query_len)) atomicMax(&task.status->met, task.number);
  if (most > *static_cast<volatile std::int64_t*>(&task.status->reach))
    atomicMax(reinterpret_cast<long long*>(&task.status->reach), static_cast<long long>(most));
}

template <int Planes, class Offset, int Diagonals, int Again>
WFACLI_DEVICE void advance_fronts(const LongWavefrontTask& task) {
  using Tile = Stretch<Planes, Offset, Diagonals, Again>;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + threadIdx.x / 32;
  if (number >= 2 * task.tiles) return;
  if (__shfl_sync(0xffffffffu, *static_cast<volatile std::int32_t*>(&task.status->met), 0)) return;
  const int front = number >= task.tiles;
  const std::int64_t at = (front ? number - task.tiles : number) * (Tile::kWidth - 2 * task.ghost);
  Tile tile(task, front, static_cast<Offset>(task.first + at - task.ghost));
  tile.load(static_cast<const Offset*>(task.from) + front * task.from_stride, static_cast<Offset>(task.from_first),
            static_cast<Offset>(task.from_count));
  if (front == 0) compare_fronts<Offset>(task, tile);
  tile.advance(task.steps[front]);
  const int inside = Tile::lane() * Diagonals - task.ghost;
  if (inside >= 0 && inside < Tile::kWidth - 2 * task.ghost)
    tile.store(static_cast<Offset*>(task.to) + front * task.to_stride + at + inside);
}

}  // namespace wfacli

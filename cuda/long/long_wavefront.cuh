// Edit distance of one long pair by two wavefronts that advance towards each other (paper 002, sections 3 and 4: only
// columns of offsets in memory, and tiles).
//
// Diagonal k has the cells (i, i + k), after i symbols of the query and i + k of the target. For each diagonal, a front
// at score s has the offset i of the furthest cell that s or fewer edits reach. Offsets of unreached diagonals are
// below the diagonal's first cell.
//
// A warp computes a tile: 32 * Diagonals adjacent diagonals, in the registers of its lanes. Values outside the tile are
// unknown, so each score invalidates one more diagonal at both ends. After `ghost` scores all but `ghost` diagonals at
// either end are valid and are written. Warps never wait for each other, and lanes only in shuffles.
//
// Extending seldom reads the sequences: a lane has a window for each of its diagonals, with one bit for each of 32
// positions from `base` on, set where the symbols differ. Between dissimilar sequences offsets advance by two symbols
// per score, and windows are valid for `Again` scores. Near a path through similar sequence, its diagonal advances much
// faster, and neighbouring diagonals follow, one more with each score. If the runs of more than a few lanes leave their
// windows, or the windows are old, all are reloaded at once. The few runs that are longer than a window are followed by
// the whole warp, one after the other.
//
// Offsets beyond the matrix need no test in each step. Distances of neighbouring cells differ by at most one, so if an
// offset leaves the matrix, the last cell of the diagonal, to which it is clipped later, is also reached at this score.
// The same holds for the values that other diagonals derive from it, since they approach the border by no more than the
// edits they cost.
#pragma once

#include "common/planes.cuh"
#include "common/task.cuh"

namespace wfacli {

template <class Offset>
struct VectorOf {
  using Type = int4;
};
template <>
struct VectorOf<std::int64_t> {
  using Type = ulonglong2;
};

template <class Tile>
class SlantedTile;

template <int Planes, class Offset, int Diagonals, int WindowScores>
class WavefrontTile {
 public:
  using Reach = Offset;
  static constexpr int kPlanes = Planes, kDiagonals = Diagonals;
  static constexpr int kWidth = 32 * Diagonals;
  static constexpr Offset kUnreached = -(Offset{1} << (8 * sizeof(Offset) - 2));
  static_assert(Diagonals < kPadRows - 8, "diagonals beyond the matrix read symbols that are not there");

  WFACLI_DEVICE WavefrontTile(const LongWavefrontTask& task, int front, Offset first)
      : query_(task.query), target_(task.target), query_len_(static_cast<Offset>(task.query_len)),
        target_len_(static_cast<Offset>(task.target_len)), direction_(front ? -1 : 1),
        query_origin_(front ? query_len_ - 32 : 0), diagonal_shift_(front ? target_len_ - query_len_ : 0),
        first_(first + lane() * Diagonals) {}

  WFACLI_DEVICE static int lane() { return static_cast<int>(threadIdx.x & 31); }

  WFACLI_DEVICE void load(const Offset* from, Offset from_first, Offset from_count) {
    const Offset at = first_ - from_first;
    if (at >= 0 && at < from_count) {
      read(from + at);
    } else {
#pragma unroll
      for (int j = 0; j < Diagonals; ++j) reach_[j] = kUnreached;
    }
  }
  WFACLI_DEVICE void store(Offset* to) {
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) reach_[j] = min(reach_[j], last_cell(first_ + j));
    write(to);
  }
  // Return the maximum, over all diagonals, of the sum of this front's offset and the other front's. Diagonal k here is
  // diagonal target_len - query_len - k there.
  WFACLI_DEVICE Offset max_overlap(const Offset* other, Offset from_first, Offset from_count) const {
    const Offset mirrored = target_len_ - query_len_ - first_ - from_first;
    Offset overlap = 2 * kUnreached;
#pragma unroll
    for (int j = 0; j < Diagonals; ++j)
      if (mirrored - j >= 0 && mirrored - j < from_count) overlap = max(overlap, reach_[j] + other[mirrored - j]);
    return overlap;
  }
  // Return the side on which the front is ahead of the tile: 1 at lower diagonals, -1 at higher ones; 0 inside the
  // tile, or not far enough ahead to matter.
  WFACLI_DEVICE int slope() const {
    constexpr Offset kSteep = 4 * (Diagonals - 1);
    const Offset fall = reach_[0] - reach_[Diagonals - 1];
    const int falls = __popc(__ballot_sync(kAll, fall > kSteep)), rises = __popc(__ballot_sync(kAll, fall < -kSteep));
    if (min(falls, rises) > 0 || max(falls, rises) < 24) return 0;
    return falls ? 1 : -1;
  }
  WFACLI_DEVICE void advance(int scores) {
    advance(scores, [] {});
  }
  // The same, with `after` called after each score, when the tile may be stored.
  template <class After>
  WFACLI_DEVICE void advance(int scores, After&& after) {
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) base_[j] = reach_[j];
    int fresh = 0;  // scores for which windows are still valid
    for (; scores > 0; --scores, --fresh) {
      if (fresh == 0) {
        reload_windows();
        fresh = WindowScores;
      }
      std::uint32_t going = next_score();
      if (__popc(going) > (fresh > WindowScores / 2 ? kFew : 0)) {
        going = reload_windows();
        fresh = WindowScores;
      }
      if (going) follow_runs();
      after();
    }
  }

 private:
  static constexpr std::uint32_t kAll = 0xffffffffu;
  static constexpr int kFew = 3;    // runs that the warp follows one after the other
  static constexpr int kOwnWindows = 6;  // windows that each lane follows by itself first, if there are more runs

  struct Window {
    Offset base;
    std::uint32_t differ;
  };

  friend class SlantedTile<WavefrontTile>;

  WFACLI_DEVICE Offset first_cell(Offset k) const { return max(Offset{0}, -k); }
  WFACLI_DEVICE Offset last_cell(Offset k) const { return min(query_len_, target_len_ - k); }

  // Return which of 32 positions differ from cell i of diagonal k on. The backward front reads the symbols before the
  // cell.
  WFACLI_DEVICE std::uint32_t load_differing(Offset k, Offset i) const {
    const Offset q = direction_ * i + query_origin_;
    const Offset t = direction_ * k + (q + diagonal_shift_);
    const std::uint32_t differ = differing<Planes>(query_, q, target_, t);
    return direction_ < 0 ? __brev(differ) : differ;
  }

  // Return the window of diagonal k at offset i; positions beyond the matrix count as mismatches. Before the first cell
  // there is nothing to extend, so a window ends there and is reloaded when the first cell is reached.
  WFACLI_DEVICE Window load_window(Offset k, Offset i) const {
    const Offset first = first_cell(k), last = last_cell(k);
    const Offset at = max(min(i, last - 1), first - 1);  // always readable
    std::uint32_t differ = load_differing(k, at);
    differ |= __funnelshift_rc(kAll, 0, static_cast<std::uint32_t>(max(Offset{0}, min(Offset{32}, last - i))));
    return i < first ? Window{min(i, first - 32), kAll} : Window{i, differ};
  }

  // Return true if the run of a diagonal left its window; its offset is then 32 too large.
  WFACLI_DEVICE bool left_window(int j) const { return reach_[j] - base_[j] >= 32; }

  // Load new windows for all diagonals, and continue runs that left theirs. Return which lanes have runs that left
  // these too. Away from the matrix's borders, where most tiles are, a window takes half the instructions.
  WFACLI_DEVICE std::uint32_t reload_windows() {
#pragma unroll
    for (int j = 0; j < Diagonals; ++j)
      if (left_window(j)) reach_[j] -= 32;
    Offset min_q = reach_[0], max_q = reach_[0], min_t = reach_[0], max_t = reach_[0];
#pragma unroll
    for (int j = 1; j < Diagonals; ++j) {
      min_q = min(min_q, reach_[j]);
      max_q = max(max_q, reach_[j]);
      min_t = min(min_t, reach_[j] + j);
      max_t = max(max_t, reach_[j] + j);
    }
    const bool inside =
        min_q >= 0 && max_q <= query_len_ - 32 && min_t >= -first_ && max_t <= target_len_ - 32 - first_;
    if (__all_sync(kAll, inside)) {
#pragma unroll
      for (int j = 0; j < Diagonals; ++j) {
        base_[j] = reach_[j];
        differ_[j] = load_differing(first_ + j, reach_[j]);
      }
    } else {
#pragma unroll
      for (int j = 0; j < Diagonals; ++j) {
        const Offset k = first_ + j;
        reach_[j] = min(reach_[j], last_cell(k));
        const Window window = load_window(k, reach_[j]);
        base_[j] = window.base;
        differ_[j] = window.differ;
      }
    }
    return extend();
  }

  // Extend all diagonals within their windows. Return which lanes have runs that left them.
  WFACLI_DEVICE std::uint32_t extend() {
    std::uint32_t minimum = kAll;
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) {
      const std::uint32_t left = rest(differ_[j], base_[j], reach_[j]);
      minimum = min(minimum, left);
      reach_[j] += __clz(static_cast<int>(left));
    }
    return __ballot_sync(kAll, minimum == 0);
  }

  // Return the rest of a window at offset i >= base; 0 if nothing is left, or nothing that differs.
  WFACLI_DEVICE static std::uint32_t rest(std::uint32_t differ, Offset base, Offset i) {
    if constexpr (sizeof(Offset) == 8) {
      return __funnelshift_lc(0, differ, static_cast<std::uint32_t>(min(i - base, Offset{32})));
    } else {
      return __funnelshift_lc(0, differ, static_cast<std::uint32_t>(i - base));
    }
  }

  // Advance all diagonals by one score. Return which lanes have runs that left their windows.
  WFACLI_DEVICE std::uint32_t next_score() {
    // The first and the last lane receive their own value, which is only used for invalid diagonals.
    Offset before = __shfl_up_sync(kAll, reach_[Diagonals - 1], 1);
    const Offset after = __shfl_down_sync(kAll, reach_[0], 1);
#pragma unroll
    for (int j = 0; j < Diagonals; ++j) {
      const Offset own = reach_[j], next = j + 1 < Diagonals ? reach_[j + 1] : after;
      reach_[j] = max(max(own, next) + 1, before);
      before = own;
    }
    return extend();
  }

  // Follow the runs that left their windows. Each lane handles its own one after the other.
  WFACLI_DEVICE void follow_runs() {
    std::uint32_t left = 0;
#pragma unroll
    for (int j = 0; j < Diagonals; ++j)
      if (left_window(j)) left |= 1u << j;
    while (const std::uint32_t going = __ballot_sync(kAll, left != 0)) {
      const int which = __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      Offset i = 0;
#pragma unroll
      for (int j = 0; j < Diagonals; ++j)
        if (which == j) i = reach_[j] - 32;
      const Window window = end_of_run(first_ + max(which, 0), i, going);
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

  // Return the window with the first difference on diagonal k from offset i on, for the lanes of `going`. Few runs,
  // those of a path through similar sequence, are followed by all lanes together, which read 1,024 symbols at a time.
  WFACLI_DEVICE Window end_of_run(Offset k, Offset i, std::uint32_t going) const {
    Window window{i, kAll};
    for (int window_count = 0; window_count < kOwnWindows && __popc(going) > kFew; ++window_count) {
      if (going >> lane() & 1) {
        window = load_window(k, i);
        i = window.base + 32;
      }
      going &= __ballot_sync(kAll, window.differ == 0);
    }
    for (; going; going &= going - 1) {
      const int lane_of_run = __ffs(static_cast<int>(going)) - 1;
      const Window found = end_of_one_run(__shfl_sync(kAll, k, lane_of_run), __shfl_sync(kAll, i, lane_of_run));
      if (lane() == lane_of_run) window = found;
    }
    return window;
  }

  // The same for one run, with equal arguments in all lanes. If the first cell is not reached yet, the first lane's
  // window ends before it.
  WFACLI_DEVICE Window end_of_one_run(Offset k, Offset i) const {
    for (;; i += 1024) {
      const Window own = load_window(k, i + 32 * lane());
      if (const std::uint32_t ended = __ballot_sync(kAll, own.differ != 0)) {
        const int first_end = __ffs(static_cast<int>(ended)) - 1;
        return {__shfl_sync(kAll, own.base, first_end), __shfl_sync(kAll, own.differ, first_end)};
      }
    }
  }

  // Offsets of a lane's diagonals are loaded and stored 16 bytes at a time if their size is a multiple of that.
  static constexpr bool kVectors = Diagonals * sizeof(Offset) % 16 == 0;
  static constexpr int kEach = 16 / sizeof(Offset);
  using Vector = typename VectorOf<Offset>::Type;

  WFACLI_DEVICE void read(const Offset* from) {
    if constexpr (kVectors) {
#pragma unroll
      for (int v = 0; v < Diagonals / kEach; ++v)
        unpack(reinterpret_cast<const Vector*>(from)[v], reach_ + v * kEach);
    } else {
#pragma unroll
      for (int j = 0; j < Diagonals; ++j) reach_[j] = from[j];
    }
  }
  WFACLI_DEVICE void write(Offset* to) const {
    if constexpr (kVectors) {
#pragma unroll
      for (int v = 0; v < Diagonals / kEach; ++v) reinterpret_cast<Vector*>(to)[v] = packed(reach_ + v * kEach);
    } else {
#pragma unroll
      for (int j = 0; j < Diagonals; ++j) to[j] = reach_[j];
    }
  }
  WFACLI_DEVICE static void unpack(int4 from, std::int32_t* to) {
    to[0] = from.x, to[1] = from.y, to[2] = from.z, to[3] = from.w;
  }
  WFACLI_DEVICE static void unpack(ulonglong2 from, std::int64_t* to) {
    to[0] = static_cast<std::int64_t>(from.x), to[1] = static_cast<std::int64_t>(from.y);
  }
  WFACLI_DEVICE static int4 packed(const std::int32_t* from) { return make_int4(from[0], from[1], from[2], from[3]); }
  WFACLI_DEVICE static ulonglong2 packed(const std::int64_t* from) {
    return make_ulonglong2(static_cast<unsigned long long>(from[0]), static_cast<unsigned long long>(from[1]));
  }

  const std::uint32_t* query_;
  const std::uint32_t* target_;
  Offset query_len_, target_len_;
  Offset direction_;     // 1, or -1 for the backward front
  Offset query_origin_;  // query position that cell 0 reads
  Offset diagonal_shift_;  // target position less query position on diagonal 0
  Offset first_;  // first diagonal of the lane
  Offset reach_[Diagonals], base_[Diagonals];
  std::uint32_t differ_[Diagonals];
};

}  // namespace wfacli

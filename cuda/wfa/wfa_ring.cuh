// A ring of the most recent wavefronts of each component, which the recurrences read, and its memory layout.
#pragma once

#include "common/lanes.cuh"
#include "common/task.cuh"

namespace wfacli {

struct Range {
  std::int32_t lo, hi;
};

// Costs of a wavefront with `Pieces` gap pieces (open, extend); 0: gaps without opening, kept in M alone.
template <int Pieces>
struct Penalties {
  static constexpr int kGaps = Pieces;
  const Costs& costs;

  WFACLI_DEVICE bool supported() const {
    return costs.pieces == (Pieces == 2 ? 2 : 1) && (Pieces > 0 || costs.open[0] == 0);
  }
  WFACLI_DEVICE std::int32_t opened(int g) const { return costs.open[g] + costs.extend[g]; }
  // Return how many scores back the recurrences read.
  WFACLI_DEVICE std::int32_t depth() const {
    const std::int32_t one = max(costs.mismatch, opened(0));
    return Pieces == 2 ? max(one, opened(1)) : one;
  }
  // Return the minimum cost of a step to a neighbouring diagonal.
  WFACLI_DEVICE std::int32_t min_gap_step() const {
    return Pieces == 2 ? min(costs.extend[0], costs.extend[1]) : costs.extend[0];
  }
  // Return twice the minimum cost of one recorded step. Leaving a gap is a step as well, whose cost the opening
  // includes.
  WFACLI_DEVICE std::int32_t twice_min_step() const {
    std::int32_t minimum = 2 * costs.mismatch;
#pragma unroll
    for (int g = 0; g < (Pieces == 2 ? 2 : 1); ++g) minimum = min(minimum, min(2 * costs.extend[g], step_pair(g)));
    return minimum;
  }
  // Return how many diagonals on one side gaps of total cost s reach.
  WFACLI_DEVICE std::int32_t max_gap_length(std::int32_t s) const {
    std::int32_t longest = 0;
#pragma unroll
    for (int g = 0; g < (Pieces == 2 ? 2 : 1); ++g)
      if (s >= opened(g)) longest = max(longest, (s - costs.open[g]) / costs.extend[g]);
    return longest;
  }
  WFACLI_DEVICE std::int32_t gap_cost(std::int32_t length) const {
    const std::int32_t one = costs.open[0] + length * costs.extend[0];
    return Pieces == 2 ? min(one, costs.open[1] + length * costs.extend[1]) : one;
  }
  // Return the highest score whose gaps reach at most `diagonals` diagonals on one side.
  WFACLI_DEVICE std::int32_t max_score_within(std::int32_t diagonals) const {
    const std::int32_t one = costs.open[0] + (diagonals + 1) * costs.extend[0];
    return (Pieces == 2 ? min(one, costs.open[1] + (diagonals + 1) * costs.extend[1]) : one) - 1;
  }
  // Return the rows of the ring: those of M, then of I and D for each piece.
  WFACLI_DEVICE std::int32_t rows_m() const { return depth() + 1; }
  WFACLI_DEVICE std::int32_t rows_gap(int g) const { return costs.extend[g] + 1; }
  WFACLI_DEVICE std::int32_t rows() const {
    std::int32_t all = rows_m();
#pragma unroll
    for (int g = 0; g < Pieces; ++g) all += 2 * rows_gap(g);
    return all;
  }

 private:
  WFACLI_DEVICE std::int32_t step_pair(int g) const { return Pieces == 0 ? 2 * costs.extend[g] : opened(g); }
};

// Where diagonals outside shared memory are.
enum class Outside {
  None,     // nowhere: scores that reach them are not supported
  Spilled,  // a limited number on either side, in the group's workspace (WFA-GPU, section 2.3.2)
  Wrapped,  // diagonals a power of two apart share a column: for bands, which are narrow and move
};

// Offsets (furthest target positions) by row and diagonal, each with the `Words` words that the trace carries.
//
// The central `Width` diagonals, from -Width / 2 on, are in shared memory; if wrapped, any `Width` consecutive ones.
template <class Offset_, int Words, int Width, Outside Out>
class Ring {
  static constexpr bool kSpills = Out == Outside::Spilled, kWraps = Out == Outside::Wrapped;

 public:
  using Offset = Offset_;
  static constexpr std::int32_t kBytes = sizeof(Offset);
  // Diagonals on either side that fit, if that does not depend on the task.
  static constexpr std::int32_t kMaxHalf = Out == Outside::None ? Width / 2 - 1 : INT32_MAX;
  // No path: stays negative although 1 is added up to once per score.
  static constexpr std::int32_t kNone = sizeof(Offset) == 2 ? -(1 << 14) : -(1 << 27);
  // Lengths and scores up to these are distinguishable from kNone, and leave three bits for ranked().
  static constexpr std::int32_t kMaxLength = sizeof(Offset) == 2 ? (1 << 15) - 1 : (1 << 27) - 1;
  static constexpr std::int32_t kMaxScore = -kNone - 2;
  // Return an offset, or kNone if it is beyond the end of its diagonal, `limit`.
  WFACLI_DEVICE static std::int32_t inside(std::int32_t off, std::int32_t limit) { return off > limit ? kNone : off; }

  WFACLI_DEVICE static std::uint32_t shared_bytes(std::int32_t rows) {
    return padded(static_cast<std::uint32_t>(rows) * Width * sizeof(Offset)) +
           static_cast<std::uint32_t>(rows) * Width * Words * 4u;
  }
  WFACLI_DEVICE static std::uint64_t global_bytes(std::int32_t rows, std::int32_t half) {
    if (!kSpills || half <= Width / 2 - 1) return 0;
    const std::uint64_t cells = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(2 * half + 1);
    return ((cells * sizeof(Offset) + 15) & ~std::uint64_t{15}) + ((cells * Words * 4 + 15) & ~std::uint64_t{15});
  }

  WFACLI_DEVICE Ring(std::uint8_t* shared, std::uint8_t* global, std::int32_t rows, std::int32_t half)
      : near_(reinterpret_cast<Offset*>(shared)),
        near_words_(reinterpret_cast<std::uint32_t*>(shared + padded(static_cast<std::uint32_t>(rows) * Width *
                                                                     sizeof(Offset)))),
        far_(reinterpret_cast<Offset*>(global)), rows_(rows), half_(half) {}

  // Return whether all these diagonals are in shared memory.
  WFACLI_DEVICE static bool near(Range at) { return !kSpills || (at.lo >= -(Width / 2) && at.hi < Width - Width / 2); }
  WFACLI_DEVICE std::int32_t half() const { return half_; }

  // Position of a diagonal in shared memory: byte offset from near(), the sum of place_of_row() and place_of().
  WFACLI_DEVICE std::uint8_t* near() const { return reinterpret_cast<std::uint8_t*>(near_ + (kWraps ? 0 : Width / 2)); }
  WFACLI_DEVICE static constexpr std::int32_t place_of_row(std::int32_t row) { return row * (Width * kBytes); }
  WFACLI_DEVICE static std::int32_t place_of(std::int32_t k) { return column(k) * kBytes; }
  WFACLI_DEVICE static std::int32_t column(std::int32_t k) { return kWraps ? k & (Width - 1) : k; }

  // `Spill`: the diagonal may be outside shared memory.
  template <bool Spill>
  WFACLI_DEVICE std::int32_t offset(std::int32_t row, std::int32_t k) const {
    return *cell<Spill>(near_, far_, row, k);
  }
  template <bool Spill>
  WFACLI_DEVICE void set_offset(std::int32_t row, std::int32_t k, std::int32_t value) {
    *cell<Spill>(near_, far_, row, k) = static_cast<Offset>(value);
  }
  template <bool Spill>
  WFACLI_DEVICE std::uint32_t word(std::int32_t row, std::int32_t k, int word) const {
    return *cell<Spill>(near_words_, far_words(), row + word * rows_, k);
  }
  template <bool Spill>
  WFACLI_DEVICE void set_word(std::int32_t row, std::int32_t k, int word, std::uint32_t value) {
    *cell<Spill>(near_words_, far_words(), row + word * rows_, k) = value;
  }
  // Mark these diagonals as having no path in any row. The work is split over `count` threads; the caller is `rank`.
  template <bool Spill>
  WFACLI_DEVICE void blank(Range at, int rank, int count) {
    for (std::int32_t k = at.lo + rank; k <= at.hi; k += count)
      for (std::int32_t row = 0; row < rows_; ++row) set_offset<Spill>(row, k, kNone);
  }

 private:
  WFACLI_DEVICE static constexpr std::uint32_t padded(std::uint32_t bytes) { return (bytes + 15) & ~15u; }
  // Selects one address rather than one of two accesses, so that lanes on either side do not diverge.
  template <bool Spill, class T>
  WFACLI_DEVICE T* cell(T* near, T* far, std::int32_t row, std::int32_t k) const {
    const std::int32_t column = kWraps ? k & (Width - 1) : k + Width / 2;
    if (!Spill || !kSpills) return near + (row * Width + column);
    const bool outside = static_cast<std::uint32_t>(column) >= static_cast<std::uint32_t>(Width);
    return outside ? far + (std::int64_t{row} * (2 * half_ + 1) + (k + half_)) : near + (row * Width + column);
  }
  WFACLI_DEVICE std::uint32_t* far_words() const {
    const std::uint64_t cells = static_cast<std::uint64_t>(rows_) * static_cast<std::uint64_t>(2 * half_ + 1);
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::uint8_t*>(far_) +
                                            ((cells * sizeof(Offset) + 15) & ~std::uint64_t{15}));
  }

  Offset* near_;
  std::uint32_t* near_words_;
  Offset* far_;
  std::int32_t rows_, half_;
};

// Tracks which diagonals of a pair have been made blank.
//
// A row reads one diagonal beyond its own on either side, in older rows, which have not reached it: no path there.
template <class Group, class R>
class Blank {
 public:
  // A row gains at most one diagonal on either side, so after writing `at` the next row reads up to two further.
  WFACLI_DEVICE void up_to(Range at, R& ring) {
    const std::int32_t half = ring.half();
    if (at.hi + 2 > done_.hi && done_.hi < half) {
      const Range more{done_.hi + 1, min(max(at.hi + 2, done_.hi + Group::kThreads), half)};
      blank(more, ring);
      done_.hi = more.hi;
    }
    if (at.lo - 2 < done_.lo && done_.lo > -half) {
      const Range more{max(min(at.lo - 2, done_.lo - Group::kThreads), -half), done_.lo - 1};
      blank(more, ring);
      done_.lo = more.lo;
    }
  }

 private:
  WFACLI_DEVICE void blank(Range more, R& ring) {
    if (R::near(more))
      ring.template blank<false>(more, Group::rank(), Group::kThreads);
    else
      ring.template blank<true>(more, Group::rank(), Group::kThreads);
  }

  Range done_{0, -1};
};

// Maps scores to rows of the ring.
template <int Pieces>
class Slots {
 public:
  WFACLI_DEVICE explicit Slots(Penalties<Pieces> p) : p_(p) {}

  WFACLI_DEVICE void next() {
    m_ = m_ + 1 == p_.rows_m() ? 0 : m_ + 1;
#pragma unroll
    for (int g = 0; g < Pieces; ++g) gap_[g] = gap_[g] + 1 == p_.rows_gap(g) ? 0 : gap_[g] + 1;
  }
  // Return the row of M `back` scores ago; `back` is less than rows_m().
  WFACLI_DEVICE std::int32_t m(std::int32_t back) const { return m_ < back ? m_ - back + p_.rows_m() : m_ - back; }
  // Return the row of insertions of piece g now, and `extend` scores ago, the oldest row; deletions are rows_gap()
  // later.
  WFACLI_DEVICE std::int32_t insertion(int g) const { return first(g) + gap_[g]; }
  WFACLI_DEVICE std::int32_t longer_insertion(int g) const {
    return first(g) + (gap_[g] + 1 == p_.rows_gap(g) ? 0 : gap_[g] + 1);
  }

 private:
  WFACLI_DEVICE std::int32_t first(int g) const { return p_.rows_m() + (g ? 2 * p_.rows_gap(0) : 0); }

  const Penalties<Pieces> p_;
  std::int32_t m_ = 0;
  std::int32_t gap_[Pieces ? Pieces : 1] = {};
};

}  // namespace wfacli

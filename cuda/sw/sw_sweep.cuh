// Sweep of all stripes: scores without traceback, and the best cell.
#pragma once

#include "sw/sw_entries.cuh"
#include "sw/sw_lines.cuh"
#include "sw/sw_profile.cuh"

namespace wfacli::sw {

// Policy for what happens to each cell's score, in the order of columns. This one keeps all cells unchanged.
struct AllCells {
  static constexpr bool kGuided = false;  // true: scores are raised to Gaps::floor, from which no alignment starts

  WFACLI_DEVICE std::uint32_t cell(int, std::uint32_t score) const { return score; }
  WFACLI_DEVICE std::uint32_t without_deletions(int, std::uint32_t score) const { return score; }
};

// A lane's columns of a stripe, after its latest row (Gotoh 1982).
struct State {
  std::uint32_t value[kColumns];
  std::uint32_t insertion[kColumns];  // entering the next row
  std::uint32_t deletion;             // leaving the last column, in the same row
  std::uint32_t corner;               // value to the left of the first column
  std::uint32_t codes;                // of the latest row, one per pair

  // Initialize before row 1. `before`: target positions before the lane's first column.
  WFACLI_DEVICE void begin(const Gaps& gaps, std::int32_t before) {
    corner = gaps.word(gaps.above(before));
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const std::int32_t above = gaps.above(before + k + 1);
      value[k] = gaps.word(above);
      insertion[k] = gaps.word(above - gaps.opened());
    }
    deletion = corner;
    codes = 0;
  }
  // Return what the previous lane passes on or, for the first lane, `outer`. All lanes call it, one step after the
  // values were computed.
  WFACLI_DEVICE Entry entry(const Entry& outer, std::int32_t lane) const {
    const Entry passed{__shfl_up_sync(kAllLanes, value[kColumns - 1], 1, kLanes),
                       __shfl_up_sync(kAllLanes, deletion, 1, kLanes), __shfl_up_sync(kAllLanes, codes, 1, kLanes)};
    return lane == 0 ? outer : passed;
  }
  // Compute the next row. Return the maximum of `best_value` and the row's values, or of their keys: a value and the
  // number of columns that the lane may have after the cell's. If traced, also set directions: four bits per cell,
  // four cells in each half of a word. `cells` receives each score and returns what continues from it.
  template <Trace kTrace, bool kKeyed = false, class Cells = AllCells>
  WFACLI_DEVICE std::uint32_t row(const Gaps& gaps, const Profile& profile, const Entry& entry,
                                  std::uint32_t best_value, std::uint32_t (&directions)[Workspace::kDirections],
                                  const Cells& cells = {}) {
    std::uint32_t scores[kPairs][Profile::kWords];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) profile.row(x, code(entry.codes, x), scores[x]);
    std::uint32_t diagonal = corner, along = entry.deletion;
    corner = entry.value;
    codes = entry.codes;
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const std::uint32_t inserted = insertion[k], deleted = along;
      // Opening a deletion from a cell that is itself reached by a deletion scores no more than extending that
      // deletion. A band therefore opens deletions from `other`, so that only one dependent instruction links two
      // columns. Other launches need `begun` for the traceback.
      const std::uint32_t floored =
          kLocal ? Word::maximum(inserted, deleted, gaps.floor) : Word::maximum(inserted, deleted);
      const std::uint32_t other = cells.without_deletions(
          k, Word::max_with_sum(diagonal, score(scores, k), Cells::kGuided ? inserted : floored));
      const std::uint32_t best = cells.cell(k, Cells::kGuided ? Word::maximum(other, deleted, gaps.floor) : other);
      diagonal = value[k];
      value[k] = best;
      const std::uint32_t begun = Word::less(best, gaps.opened_word);
      insertion[k] = Word::max_with_sum(inserted, gaps.minus_extend, begun);
      along =
          Word::max_with_sum(deleted, gaps.minus_extend, Cells::kGuided ? Word::less(other, gaps.opened_word) : begun);
      if (k % 2)
        best_value = Word::maximum(best_value, kKeyed ? key(gaps, k - 1) : value[k - 1], kKeyed ? key(gaps, k) : best);
      if constexpr (kTrace == Trace::Digits) {
        std::uint32_t& word = directions[k / 4];
        word = (k % 4 ? word * gaps.two_to_4 : 0) - insertion[k];
        word += along * gaps.minus_4;
        word += best * gaps.five;
      }
      if constexpr (kTrace == Trace::Flags) {
        const std::uint32_t minus_best = Word::minus(best, gaps.minus_one),
                            minus_begun = Word::minus(begun, gaps.minus_one);
        std::uint32_t& word = directions[k / 4];
        word = (k % 4 ? word : 0) + (Word::differ(inserted, minus_best) << k % 4 * 4);
        word += Word::differ(deleted, minus_best) << (k % 4 * 4 + 1);
        word += Word::differ(insertion[k], minus_begun) << (k % 4 * 4 + 2);
        word += Word::differ(along, minus_begun) << (k % 4 * 4 + 3);
      }
    }
    deletion = along;
    return best_value;
  }
  WFACLI_DEVICE std::uint32_t key(const Gaps& gaps, int k) const {
    return value[k] * gaps.two_to_5 + Word::all(kKeyColumns - 1 - k);
  }
  // Return the first column, from 0, that has the score in `word`, for each pair.
  WFACLI_DEVICE std::uint32_t columns_of(const Gaps& gaps, std::uint32_t word) const {
    const std::uint32_t minus = Word::minus(word, gaps.minus_one);
    std::uint32_t first = Word::all(kColumns);
#pragma unroll
    for (int k = 0; k < kColumns; k += 2)
      first = Word::minimum(first, Word::differ(value[k], minus) * kColumns + Word::all(k),
                            Word::differ(value[k + 1], minus) * kColumns + Word::all(k + 1));
    return first;
  }
  WFACLI_DEVICE static std::uint32_t code(std::uint32_t codes, int x) {
    return kPairs == 1 ? codes : x ? codes >> 16 : codes & 0xffff;
  }
  WFACLI_DEVICE static std::uint32_t score(const std::uint32_t (&scores)[kPairs][Profile::kWords], int k) {
    std::uint32_t words[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) words[x] = scores[x][k / 4];
    return Word::bytes(words, k % 4);
  }
  WFACLI_DEVICE void store(std::uint32_t* at) const {
    int w = 0;
#pragma unroll
    for (int k = 0; k < kColumns; ++k) at[kLanes * w++] = value[k];
#pragma unroll
    for (int k = 0; k < kColumns; ++k) at[kLanes * w++] = insertion[k];
    at[kLanes * w++] = deletion;
    at[kLanes * w++] = corner;
    at[kLanes * w] = codes;
  }
};

// A cell and its score. For a local alignment without stored directions, j is the number of the lane's block of
// columns, counted over all stripes.
struct Best {
  std::int32_t score, i, j;

  // Return true if the tie rules prefer this cell over `other` as the end.
  WFACLI_DEVICE bool is_better(const Best& other) const {
    if (score != other.score) return score > other.score;
    if (kExtends) return i + j != other.i + other.j ? i + j < other.i + other.j : i < other.i;
    return i != other.i ? i < other.i : j < other.j;
  }
  // Return the value before any cell of the matrix is computed.
  WFACLI_DEVICE static Best of(const Pair& pair, const Gaps& gaps) {
    if (kLocal || kExtends || pair.query_len == 0) return {0, 0, 0};
    const bool empty = gaps.free_columns;  // the query beside no symbol of the target
    return {empty ? gaps.left_of(pair.query_len) : INT32_MIN, pair.query_len, 0};
  }
  // Return the best of all lanes of the group, to each of them.
  WFACLI_DEVICE static Best of_group(Best best) {
#pragma unroll
    for (int by = 1; by < kLanes; by *= 2) {
      const Best other{__shfl_xor_sync(kAllLanes, best.score, by, kLanes),
                       __shfl_xor_sync(kAllLanes, best.i, by, kLanes), __shfl_xor_sync(kAllLanes, best.j, by, kLanes)};
      if (other.is_better(best)) best = other;
    }
    return best;
  }
};

class Sweep {
 public:
  WFACLI_DEVICE Sweep(const SwTask& task, const Workspace& workspace, const Profile& profile, const Lines& lines,
                      std::int32_t lane)
      : task_(task), workspace_(workspace), profile_(profile), lines_(lines), gaps_(Gaps::of(task)), lane_(lane) {}

  // Sweep all stripes. All lanes of the warp call it. rows, stripes: maximum over the warp's pairs. kTrace: format of
  // the directions to store.
  template <Trace kTrace>
  WFACLI_DEVICE void run(const Pair (&pairs)[kPairs], std::int32_t rows, std::int32_t stripes, Best (&best)[kPairs]) {
#pragma unroll
    for (int x = 0; x < kPairs; ++x) best[x] = Best::of(pairs[x], gaps_);
#pragma unroll 1
    for (std::int32_t s = 0; s < stripes; ++s) {
      stripe<kTrace>(pairs, s, rows, s + 1 < stripes, best);
      __syncwarp();  // the stripe's boundary is written
    }
  }

 private:
  static constexpr bool kFindsRow = kPath && kLocal;  // find the row of the best cell
  template <Trace kTrace>
  static constexpr bool kKeyed = kTrace == Trace::Digits && kAllDirections && kLocal;  // and its column, by keys
  // Rows per iteration: values move between registers in a row, and two rows bring most of them back. Other builds have
  // no registers to spare.
  static constexpr int kUnroll = kLocal && !kRecomputes ? 2 : 1;

  template <Trace kTrace>
  WFACLI_DEVICE void stripe(const Pair (&pairs)[kPairs], std::int32_t number, std::int32_t rows, bool more,
                            Best (&best)[kPairs]) {
    const std::int32_t before = number * kWidth + lane_ * kColumns;
    std::int32_t first[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      profile_.make(pairs[x], x, before);
      first[x] = 1;
      at_[x] = column_[x] = 0;
    }
    State state;
    state.begin(gaps_, before);
    LeftOfStripes left{gaps_, &workspace_, &pairs[0], {}, rows, static_cast<std::uint32_t>(task_.codes)};
#pragma unroll
    for (int x = 0; x < kPairs; ++x) left.stripe[x] = number;
    EntryStream<LeftOfStripes> entries;
    entries.begin(left, first, lane_);
    Edge* const edge = workspace_.edge(number);
    best_value_ = gaps_.word(0);
    if constexpr (kKeyed<kTrace>) best_value_ = best_value_ * kKeyColumns + Word::all(kKeyColumns - 1);
    const std::int32_t steps = rows + kLanes - 1;
    const bool last = more && lane_ == kLanes - 1;
#pragma unroll kUnroll
    for (std::int32_t t = 0; t < steps; ++t) {
      if (kRecomputes && t % kSteps == 0) state.store(workspace_.checkpoint(number, t / kSteps, lane_));
      const Entry entry = state.entry(entries.at(t), lane_);
      const std::int32_t r = t - lane_;  // rows before
      if (static_cast<std::uint32_t>(r) < static_cast<std::uint32_t>(rows)) {
        std::uint32_t directions[Workspace::kDirections];
        const std::uint32_t top =
            state.row<kTrace, kKeyed<kTrace>>(gaps_, profile_, entry, kPath ? Word::kMin : best_value_, directions);
        if constexpr (kAllDirections) lines_.put(t, directions);
        Edge::put(edge + r, state.value[kColumns - 1], state.deletion, last);
        if constexpr (kKeyed<kTrace>)
          update_from_keys(top, r + 1);
        else
          update(pairs, state, top, r + 1, before, best);
      }
      if constexpr (kAllDirections) lines_.flush(task_, workspace_, number, t, steps);
    }
    if constexpr (kKeyed<kTrace>) {
#pragma unroll
      for (int x = 0; x < kPairs; ++x) column_[x] = before + kKeyColumns - Word::of(best_value_, x) % kKeyColumns;
      best_value_ = (best_value_ & ~Word::all(kKeyColumns - 1)) / kKeyColumns;
    }
    if constexpr (kLocal || !kPath) merge(number, best);
  }
  // A row with a higher score has the best cell, whatever its column.
  WFACLI_DEVICE void update_from_keys(std::uint32_t top, std::int32_t i) {
    bool stays[kPairs], rises[kPairs];
    Word::maximum(best_value_, top & ~Word::all(kKeyColumns - 1), stays);
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      rises[x] = !stays[x];
      if (rises[x]) at_[x] = i;
    }
    const std::uint32_t mask = Word::mask(rises);
    best_value_ = (top & mask) | (best_value_ & ~mask);
  }
  // Update the best cell from a row.
  WFACLI_DEVICE void update(const Pair (&pairs)[kPairs], const State& state, std::uint32_t top, std::int32_t i,
                            std::int32_t before, Best (&best)[kPairs]) {
    if constexpr (kFindsRow) {
      bool stays[kPairs];
      best_value_ = Word::maximum(best_value_, top, stays);
      bool all_stay = true;
#pragma unroll
      for (int x = 0; x < kPairs; ++x) {
        if (!stays[x]) at_[x] = i;
        all_stay &= stays[x];
      }
      if (!kAllDirections || all_stay) return;
      const std::uint32_t columns = state.columns_of(gaps_, top);
#pragma unroll
      for (int x = 0; x < kPairs; ++x)
        if (!stays[x]) column_[x] = before + 1 + Word::of(columns, x);
    } else if constexpr (kLocal || (kExtends && !kPath)) {
      best_value_ = top;
    } else {
#pragma unroll
      for (int x = 0; x < kPairs; ++x)
        if (kExtends ? gaps_.score(top, x) >= best[x].score : i == pairs[x].query_len)
          find_in_row(pairs[x], state, x, i, before, best[x]);
    }
  }
  WFACLI_DEVICE void find_in_row(const Pair& pair, const State& state, int x, std::int32_t i, std::int32_t before,
                                 Best& best) const {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const Best cell{gaps_.score(state.value[k], x), i, before + k + 1};
      const bool allowed =
          kExtends || task_.rule == SwRule::Semiglobal ? cell.j <= pair.target_len : cell.j == pair.target_len;
      if (allowed && cell.is_better(best)) best = cell;
    }
  }
  WFACLI_DEVICE void merge(std::int32_t number, Best (&best)[kPairs]) const {
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      if (!kLocal && !kExtends) continue;
      const Best own{gaps_.score(best_value_, x), at_[x], kAllDirections ? column_[x] : number * kLanes + lane_};
      if (own.score > 0 && own.is_better(best[x])) best[x] = own;
    }
  }

  const SwTask& task_;
  const Workspace& workspace_;
  const Profile& profile_;
  const Lines& lines_;
  const Gaps gaps_;
  const std::int32_t lane_;
  std::uint32_t best_value_ = 0;  // maximum of the lane's cells in the stripe
  std::int32_t at_[kPairs] = {};  // first row that has it
  std::int32_t column_[kPairs] = {};  // first column of that row that has it, if requested
};

}  // namespace wfacli::sw

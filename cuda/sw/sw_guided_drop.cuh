// Combines the lanes' best scores of each anti-diagonal and decides when an extension ends (Z-drop as in minimap2: Li
// 2018, section 2.2.3). Anti-diagonals are complete some stripes before the columns of their last cells; cells computed
// after the end do no harm.
//
// The column of a best score is known only to within the columns of a lane, so it may be uncertain whether an extension
// ends at an anti-diagonal. This does not matter if the extension certainly ends before its score rises again;
// otherwise the pair is not answered.
#pragma once

#include "sw/sw_guided_workspace.cuh"

namespace wfacli::sw {

enum class ExtensionState : std::int32_t { On, Over, Dropped, Unsure };

// Progress of a pair. An anti-diagonal is numbered by row + column.
struct Progress {
  std::int32_t best;             // best score, as a 16-bit value
  std::int32_t diagonal;         // its anti-diagonal, and the range of columns that it is in
  std::int32_t low, high;
  std::int32_t end;  // anti-diagonal at which the extension ended
  ExtensionState state;
  bool uncertain;  // the extension may have ended already

  WFACLI_DEVICE static Progress of(const GuidedPair& pair, const Gaps& gaps) {
    return {gaps.zero, 0, 0, 0, 0, pair.stripe_count ? ExtensionState::On : ExtensionState::Over, false};
  }
};

class Drop {
 public:
  WFACLI_DEVICE Drop(const SwTask& task, const GuidedWorkspace& workspace, const Gaps& gaps, std::int32_t lane)
      : workspace_(workspace), band_(task.band), drop_(task.drop), extend_(task.extend), lane_(lane) {
    floor_ = Word::of(gaps.floor, 0);
  }

  // Update the progress after a stripe. All lanes of the warp call it. `last_stored`: last anti-diagonal for which
  // previous stripes stored keys.
  WFACLI_DEVICE void update(const GuidedPair (&pairs)[kPairs], const Slice& slice, std::int32_t last_stored,
                            Progress (&progress)[kPairs]) const {
    // Anti-diagonals before `first` are complete or have no cells.
    const std::int32_t begin = min(pairs[0].before, pairs[1].before) + slice.number * kWidth;
    const std::int32_t first = max(-2 * begin - 2 * kWidth, 2 - band_), last = last_of(slice);
    const std::int32_t stripe = 2 * slice.number * kWidth;
    // kTogether at a time, so that their loads overlap.
#pragma unroll 1
    for (std::int32_t begin = first + lane_; slice.rows && begin <= last; begin += kTogether * kLanes) {
      uint2 keys[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        const std::int32_t diagonal = begin + k * kLanes;
        keys[k] = keys_of(slice, diagonal, stripe + diagonal <= last_stored);
      }
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        if (begin + k * kLanes <= last) *workspace_.keys(stripe + begin + k * kLanes) = keys[k];
    }
    __syncwarp();
    std::int32_t complete[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      complete[x] = slice.number + 1 >= pairs[x].stripe_count ? last : min(last, 2 * kWidth + 1 - band_);
      if (slice.rows == 0 || progress[x].state != ExtensionState::On) complete[x] = first - 1;
    }
    const std::int32_t known = __reduce_max_sync(kAllLanes, max(complete[0], complete[1]) - first + 1);
#pragma unroll 1
    for (std::int32_t d = 0; d < known; d += kLanes) {
      const std::int32_t diagonal = first + d + lane_;
      const bool known_here = diagonal <= max(complete[0], complete[1]);  // later keys may never have been stored
      const uint2 keys = known_here ? *workspace_.keys(stripe + diagonal) : uint2{0, 0};
#pragma unroll
      for (int x = 0; x < kPairs; ++x)
        follow_diagonals(pairs[x], 2 * pairs[x].before + stripe + diagonal, x ? keys.y : keys.x,
                         diagonal <= complete[x], progress[x]);
    }
#pragma unroll
    for (int x = 0; x < kPairs; ++x)
      if (progress[x].state == ExtensionState::On && slice.number + 1 >= pairs[x].stripe_count)
        progress[x].state = progress[x].uncertain && pairs[x].covered ? ExtensionState::Unsure : ExtensionState::Over;
  }
  // Return the last anti-diagonal with a cell in the slice, numbered by row + column in the stripe.
  WFACLI_DEVICE static std::int32_t last_of(const Slice& slice) { return slice.last() + kWidth; }

 private:
  static constexpr int kTogether = 3;

  // A key is a score (upper half) and the number of the last lane that has it (lower half), counted over all stripes
  // from the first.
  WFACLI_DEVICE uint2 keys_of(const Slice& slice, std::int32_t diagonal, bool stored) const {
    uint2 keys = stored ? *workspace_.keys(2 * slice.number * kWidth + diagonal) : uint2{0, 0};
#pragma unroll 8
    for (int l = 0; l < kLanes; ++l) {
      const std::int32_t r = diagonal - (kColumns * l + 1) - slice.first;
      if (static_cast<std::uint32_t>(r) >= static_cast<std::uint32_t>(slice.rows + kColumns)) continue;
      const std::uint32_t word = workspace_.left(l)[r], at = static_cast<std::uint32_t>(slice.number * kLanes + l);
      keys.x = max(keys.x, word << 16 | at);
      keys.y = max(keys.y, (word & 0xffff0000u) | at);
    }
    return keys;
  }
  // Follow kLanes anti-diagonals of a pair, one per lane. `complete`: all cells of the lane's anti-diagonal are
  // computed.
  WFACLI_DEVICE void follow_diagonals(const GuidedPair& pair, std::int32_t diagonal, std::uint32_t key, bool complete,
                                      Progress& progress) const {
    const auto score = static_cast<std::int32_t>(key >> 16);
    const bool counts = complete && diagonal > 0 && score > floor_ && progress.state == ExtensionState::On;
    const std::int32_t own_score = counts ? score : 0;
    std::int32_t best = own_score;
#pragma unroll
    for (int by = 1; by < kLanes; by *= 2) {
      const std::int32_t other = __shfl_up_sync(kAllLanes, best, by, kLanes);
      if (lane_ >= by) best = max(best, other);
    }
    const std::int32_t before = __shfl_up_sync(kAllLanes, best, 1, kLanes);
    const std::int32_t known_best = lane_ ? max(before, progress.best) : progress.best;
    if (__any_sync(kAllLanes, counts && known_best - own_score > drop_)) {
      for (int l = 0; l < kLanes; ++l) {
        const std::int32_t of_lane = __shfl_sync(kAllLanes, own_score, l, kLanes);
        const std::uint32_t its_key = __shfl_sync(kAllLanes, key, l, kLanes);
        if (of_lane) follow_diagonal(pair, diagonal - lane_ + l, of_lane, its_key, progress);
      }
      return;
    }
    const std::int32_t top = __shfl_sync(kAllLanes, best, kLanes - 1, kLanes);
    if (!__any_sync(kAllLanes, top > progress.best)) return;
    const std::uint32_t have = __ballot_sync(kAllLanes, own_score == top) >> ((threadIdx.x & 31) - lane_);
    const std::int32_t l = (__ffs(static_cast<int>(have)) - 1) & (kLanes - 1);
    const std::uint32_t its_key = __shfl_sync(kAllLanes, key, l, kLanes);
    if (top > progress.best) follow_diagonal(pair, diagonal - lane_ + l, top, its_key, progress);
  }
  // Follow the next anti-diagonal that has cells.
  WFACLI_DEVICE void follow_diagonal(const GuidedPair& pair, std::int32_t diagonal, std::int32_t score,
                                     std::uint32_t key, Progress& progress) const {
    if (progress.state != ExtensionState::On || (score <= progress.best && progress.best - score <= drop_)) return;
    std::int32_t low = pair.before + static_cast<std::int32_t>(key & 0xffff) * kColumns + 1, high = low + kColumns - 1;
    low = max(max(low, 0), max(diagonal - pair.query_len, (diagonal - band_ + 1) >> 1));
    high = min(min(high, pair.target_len), min(diagonal, (diagonal + band_) >> 1));
    if (score > progress.best) {
      if (progress.uncertain)
        progress.state = ExtensionState::Unsure;
      else
        progress = {score, diagonal, low, high, 0, ExtensionState::On, false};
      return;
    }
    // Range of columns beyond the best cell's, and number of anti-diagonals beyond it.
    const std::int32_t min_shift = low - progress.high, max_shift = high - progress.low,
                       by = diagonal - progress.diagonal;
    const std::int32_t fallen = progress.best - score - drop_;
    const std::int32_t furthest = max(abs(by - 2 * min_shift), abs(by - 2 * max_shift));
    const std::int32_t from = max(min_shift, 0), to = min(max_shift, by);
    const std::int32_t nearest = 2 * from >= by ? 2 * from - by : 2 * to <= by ? by - 2 * to : by & 1;
    if (min_shift >= 0 && max_shift <= by && fallen > furthest * extend_) {
      // An extension that ends at the last anti-diagonal leaves no cell out.
      const bool last = diagonal == pair.query_len + pair.target_len;
      progress.state = last && progress.uncertain && pair.covered ? ExtensionState::Unsure : ExtensionState::Dropped;
      progress.end = diagonal;
    }
    if (from <= to && progress.state == ExtensionState::On && fallen > nearest * extend_) progress.uncertain = true;
  }

  const GuidedWorkspace& workspace_;
  const std::int32_t band_, drop_, extend_, lane_;
  std::int32_t floor_;
};

}  // namespace wfacli::sw

// Combines the lanes' best scores of each anti-diagonal and decides when an extension ends (Z-drop as in minimap2: Li
// 2018, section 2.2.3). Anti-diagonals are complete some stripes before the columns of their last cells; cells computed
// after the end do no harm.
//
// The column of a best score is known only to within the columns of a lane, so it may be uncertain whether an extension
// ends at an anti-diagonal. This does not matter if the extension certainly ends before its score rises again;
// otherwise the pair is not answered.
#pragma once

#include "sw/sw_guided_room.cuh"

namespace wfacli::sw {

enum class Going : std::int32_t { On, Over, Dropped, Unsure };

// Progress of a pair. An anti-diagonal is numbered by row + column.
struct Progress {
  std::int32_t best;             // best score, as a 16-bit value
  std::int32_t diagonal;         // its anti-diagonal, and the range of columns that it is in
  std::int32_t low, high;
  std::int32_t end;  // anti-diagonal at which the extension ended
  Going going;
  bool doubt;  // the extension may have ended already

  WFACLI_DEVICE static Progress of(const GuidedPair& pair, const Gaps& gaps) {
    return {gaps.zero, 0, 0, 0, 0, pair.in_all ? Going::On : Going::Over, false};
  }
};

class Drop {
 public:
  WFACLI_DEVICE Drop(const SwTask& task, const GuidedRoom& room, const Gaps& gaps, std::int32_t lane)
      : room_(room), band_(task.band), drop_(task.drop), extend_(task.extend), lane_(lane) {
    floor_ = Word::of(gaps.floor, 0);
  }

  // Update the progress after a stripe. All lanes of the warp call it. `kept`: last anti-diagonal for which previous
  // stripes stored keys.
  WFACLI_DEVICE void look(const GuidedPair (&pairs)[kPairs], const Slice& slice, std::int32_t kept,
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
        keys[k] = keys_of(slice, diagonal, stripe + diagonal <= kept);
      }
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        if (begin + k * kLanes <= last) *room_.keys(stripe + begin + k * kLanes) = keys[k];
    }
    __syncwarp();
    std::int32_t complete[kPairs];
#pragma unroll
    for (int x = 0; x < kPairs; ++x) {
      complete[x] = slice.number + 1 >= pairs[x].in_all ? last : min(last, 2 * kWidth + 1 - band_);
      if (slice.rows == 0 || progress[x].going != Going::On) complete[x] = first - 1;
    }
    const std::int32_t known = __reduce_max_sync(kAllLanes, max(complete[0], complete[1]) - first + 1);
#pragma unroll 1
    for (std::int32_t d = 0; d < known; d += kLanes) {
      const std::int32_t diagonal = first + d + lane_;
      const uint2 keys = *room_.keys(stripe + diagonal);
#pragma unroll
      for (int x = 0; x < kPairs; ++x)
        go_on(pairs[x], 2 * pairs[x].before + stripe + diagonal, x ? keys.y : keys.x, diagonal <= complete[x], progress[x]);
    }
#pragma unroll
    for (int x = 0; x < kPairs; ++x)
      if (progress[x].going == Going::On && slice.number + 1 >= pairs[x].in_all)
        progress[x].going = progress[x].doubt && pairs[x].covered ? Going::Unsure : Going::Over;
  }
  // Return the last anti-diagonal with a cell in the slice, numbered by row + column in the stripe.
  WFACLI_DEVICE static std::int32_t last_of(const Slice& slice) { return slice.last() + kWidth; }

 private:
  static constexpr int kTogether = 3;

  // A key is a score (upper half) and the number of the last lane that has it (lower half), counted over all stripes
  // from the first.
  WFACLI_DEVICE uint2 keys_of(const Slice& slice, std::int32_t diagonal, bool kept) const {
    uint2 keys = kept ? *room_.keys(2 * slice.number * kWidth + diagonal) : uint2{0, 0};
#pragma unroll 8
    for (int l = 0; l < kLanes; ++l) {
      const std::int32_t r = diagonal - (kColumns * l + 1) - slice.first;
      if (static_cast<std::uint32_t>(r) >= static_cast<std::uint32_t>(slice.rows + kColumns)) continue;
      const std::uint32_t word = room_.left(l)[r], at = static_cast<std::uint32_t>(slice.number * kLanes + l);
      keys.x = max(keys.x, word << 16 | at);
      keys.y = max(keys.y, (word & 0xffff0000u) | at);
    }
    return keys;
  }
  // Follow kLanes anti-diagonals of a pair, one per lane. `known`: all cells of the lane's anti-diagonal are computed.
  WFACLI_DEVICE void go_on(const GuidedPair& pair, std::int32_t diagonal, std::uint32_t key, bool known,
                           Progress& progress) const {
    const auto score = static_cast<std::int32_t>(key >> 16);
    const bool counts = known && diagonal > 0 && score > floor_ && progress.going == Going::On;
    const std::int32_t most = counts ? score : 0;
    std::int32_t best = most;
#pragma unroll
    for (int by = 1; by < kLanes; by *= 2) {
      const std::int32_t other = __shfl_up_sync(kAllLanes, best, by, kLanes);
      if (lane_ >= by) best = max(best, other);
    }
    const std::int32_t before = __shfl_up_sync(kAllLanes, best, 1, kLanes);
    const std::int32_t known_best = lane_ ? max(before, progress.best) : progress.best;
    if (__any_sync(kAllLanes, counts && known_best - most > drop_)) {
      for (int l = 0; l < kLanes; ++l) {
        const std::int32_t of_lane = __shfl_sync(kAllLanes, most, l, kLanes);
        const std::uint32_t its_key = __shfl_sync(kAllLanes, key, l, kLanes);
        if (of_lane) meet(pair, diagonal - lane_ + l, of_lane, its_key, progress);
      }
      return;
    }
    const std::int32_t top = __shfl_sync(kAllLanes, best, kLanes - 1, kLanes);
    if (!__any_sync(kAllLanes, top > progress.best)) return;
    const std::uint32_t have = __ballot_sync(kAllLanes, most == top) >> ((threadIdx.x & 31) - lane_);
    const std::int32_t l = (__ffs(static_cast<int>(have)) - 1) & (kLanes - 1);
    const std::uint32_t its_key = __shfl_sync(kAllLanes, key, l, kLanes);
    if (top > progress.best) meet(pair, diagonal - lane_ + l, top, its_key, progress);
  }
  // Follow the next anti-diagonal that has cells.
  WFACLI_DEVICE void meet(const GuidedPair& pair, std::int32_t diagonal, std::int32_t most, std::uint32_t key,
                          Progress& progress) const {
    if (progress.going != Going::On || (most <= progress.best && progress.best - most <= drop_)) return;
    std::int32_t low = pair.before + static_cast<std::int32_t>(key & 0xffff) * kColumns + 1, high = low + kColumns - 1;
    low = max(max(low, 0), max(diagonal - pair.query_len, (diagonal - band_ + 1) >> 1));
    high = min(min(high, pair.target_len), min(diagonal, (diagonal + band_) >> 1));
    if (most > progress.best) {
      if (progress.doubt)
        progress.going = Going::Unsure;
      else
        progress = {most, diagonal, low, high, 0, Going::On, false};
      return;
    }
    // Range of columns beyond the best cell's, and number of anti-diagonals beyond it.
    const std::int32_t least = low - progress.high, greatest = high - progress.low, by = diagonal - progress.diagonal;
    const std::int32_t fallen = progress.best - most - drop_;
    const std::int32_t furthest = max(abs(by - 2 * least), abs(by - 2 * greatest));
    const std::int32_t from = max(least, 0), to = min(greatest, by);
    const std::int32_t nearest = 2 * from >= by ? 2 * from - by : 2 * to <= by ? by - 2 * to : by & 1;
    if (least >= 0 && greatest <= by && fallen > furthest * extend_) {
      // An extension that ends at the last anti-diagonal leaves no cell out.
      const bool last = diagonal == pair.query_len + pair.target_len;
      progress.going = last && progress.doubt && pair.covered ? Going::Unsure : Going::Dropped;
      progress.end = diagonal;
    }
    if (from <= to && progress.going == Going::On && fallen > nearest * extend_)
      progress.doubt = true;
  }

  const GuidedRoom& room_;
  const std::int32_t band_, drop_, extend_, lane_;
  std::int32_t floor_;
};

}  // namespace wfacli::sw

#include "plan/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace wfacli {
namespace {

constexpr int kEdits = 6;             // edits of a first sample: exact, and enough to tell clean pairs from noisy ones
constexpr std::int32_t kEnough = 512;  // bases after which a first sample ends, even with fewer edits
constexpr std::int32_t kLong = 2000;   // minimum length of both sequences for samples from inside the pair
constexpr double kClean = 0.01;        // error rate below which further samples do not change the choice of a kernel
constexpr double kFull = 10'000;       // length in bases from which a pair gets the whole effort

constexpr int kPlaces = 4;     // sampled positions inside a pair
constexpr int kSeed = 12;      // seed length in bases: short enough to be free of errors, long enough to be specific
constexpr int kSeeds = 8;      // seeds tried at a position
constexpr double kLost = 0.4;  // error rate of a sample that has left the path, or never was on it

// Correction, in edits, to a sample that stopped at its edit limit. Such a sample ends just before the next error, and
// runs on by chance because it follows the furthest path.
constexpr double kNext = 0.55;

constexpr std::int32_t kBehind = 16;  // bases behind the furthest point from which a path hardly ever catches up
constexpr std::int32_t kWidth = 2 * kEdits + 1;  // maximum number of diagonals

struct Sample {
  std::int32_t edits = 0, length = 0;
  bool whole = false;     // the sample covers both sequences to their ends
  double expected = 0;    // expected edits in a random stretch of this length
  std::int64_t cost = 0;  // cost of `edits` under EditCosts

  void add(const Sample& other) {
    edits += other.edits;
    length += other.length;
    expected += other.expected;
    cost += other.cost;
  }
  double rate() const { return expected / length; }
  // Average cost of an edit of this sample, in units of EditCosts::average().
  double weight(const EditCosts* costs) const {
    return costs && edits ? static_cast<double>(cost) / (edits * costs->average()) : 1;
  }
};

// A sequence read from its beginning (Step 1) or from its end (Step -1), without the case.
template <int Step>
struct Side {
  const std::uint8_t* bases;
  std::int32_t length;

  std::uint8_t at(std::int32_t i) const { return bases[Step > 0 ? i : length - 1 - i] & 0xdf; }
  // Bases i to i + 7, the first in the lowest byte.
  std::uint64_t word(std::int32_t i) const {
    constexpr std::uint64_t fold = 0xdfdfdfdfdfdfdfdfull;
    std::uint64_t w;
    std::memcpy(&w, Step > 0 ? bases + i : bases + (length - 8 - i), 8);
    return (Step > 0 ? w : __builtin_bswap64(w)) & fold;
  }
};

// Furthest-reaching points under edit distance (Ukkonen 1985) on a few diagonals around the furthest point.
template <int Step>
class Walk {
 public:
  Walk(const Side<Step>& q, const Side<Step>& t, const EditCosts* costs) : q_(q), t_(t), costs_(costs) {}

  // Extend the sample until it has `edits` edits or `length` bases, or until both sequences end. A later call
  // continues from there. Exact up to kEdits edits.
  Sample extend_to(std::int32_t edits, std::int32_t length) {
    const std::int32_t last = t_.length - q_.length;
    for (;; ++s_) {
      if (begun_ <= s_) {
        begun_ = s_ + 1;
        whole_ = next(s_, last);
      }
      if (whole_)
        return {s_, std::max(q_.length, t_.length), true, static_cast<double>(s_), path_cost_[s_ & 1][last - origin_]};
      if (s_ == edits) return {s_, std::max(reached_, 1), false, s_ + kNext, path_cost()};
      if (reached_ >= length) return {s_, reached_, false, static_cast<double>(s_), path_cost()};
      if (s_ >= kEdits) narrow();
    }
  }

 private:
  static constexpr std::int32_t kNone = -2;
  static constexpr std::int32_t kRoom = 64;

  // Compute row s of all diagonals; return true if it reaches the end of both sequences.
  bool next(std::int32_t s, std::int32_t last) {
    if (s) {
      if (low_ - 3 < origin_ || high_ + 3 >= origin_ + kRoom) move();
      --low_, ++high_;
    }
    const std::int32_t* before = rows_[~s & 1] - origin_;
    std::int32_t* now = rows_[s & 1] - origin_;
    bool ended = false;
    for (std::int32_t k = low_; k <= high_; ++k) {
      std::int32_t off = s == 0 ? 0 : std::max({before[k + 1], before[k - 1] + 1, before[k] + 1});
      off = std::min({off, t_.length, q_.length + k});
      if (off < 0 || off < k) {
        now[k] = kNone;
        continue;
      }
      const std::int32_t begun = off;
      now[k] = off = extended(k, off);
      if (costs_) update_cost(s, k, before, off > begun);
      reached_ = std::max(reached_, off - k / 2);
      ended |= k == last && off == t_.length;
    }
    now[low_ - 2] = now[low_ - 1] = now[high_ + 1] = now[high_ + 2] = kNone;  // all that the next row reads
    now_ = now;
    return ended;
  }

  enum Last : std::uint8_t { kNoGap, kInsertion, kDeletion };

  // Set the cost and the last operation of the cheapest path to the furthest point on diagonal k.
  void update_cost(std::int32_t s, std::int32_t k, const std::int32_t* before, bool matched) {
    std::int32_t* cost = path_cost_[s & 1] - origin_;
    Last* last = last_[s & 1] - origin_;
    cost[k] = 0, last[k] = kNoGap;
    if (!s) return;
    const std::int32_t *was = path_cost_[~s & 1] - origin_,
                       sources[] = {before[k] + 1, before[k + 1], before[k - 1] + 1};
    const Last* ended = last_[~s & 1] - origin_;
    const std::int32_t from[] = {k, k + 1, k - 1}, furthest = std::max({sources[0], sources[1], sources[2]});
    std::int32_t min_cost = -1;
    for (int source = kNoGap; source <= kDeletion; ++source) {
      if (sources[source] != furthest) continue;
      const bool longer = source != kNoGap && ended[from[source]] == source;
      const std::int32_t step = source == kNoGap ? costs_->mismatch : costs_->extend + (longer ? 0 : costs_->open);
      if (min_cost >= 0 && was[from[source]] + step >= min_cost) continue;
      min_cost = was[from[source]] + step;
      last[k] = matched ? kNoGap : static_cast<Last>(source);
    }
    cost[k] = min_cost;
  }

  // Cost of the path to the furthest point.
  std::int64_t path_cost() const {
    if (!costs_) return 0;
    std::int32_t best = low_;
    for (std::int32_t k = low_; k <= high_; ++k)
      if (now_[k] - k / 2 > now_[best] - best / 2) best = k;
    return path_cost_[now_ == rows_[1] - origin_][best - origin_];
  }

  std::int32_t extended(std::int32_t k, std::int32_t off) const {
    while (off + 8 <= t_.length && off - k + 8 <= q_.length) {
      const std::uint64_t d = q_.word(off - k) ^ t_.word(off);
      if (d) return off + (__builtin_ctzll(d) >> 3);
      off += 8;
    }
    while (off < t_.length && off - k < q_.length && q_.at(off - k) == t_.at(off)) ++off;
    return off;
  }

  // Drop diagonals that are far behind the furthest point.
  void narrow() {
    const auto behind = [&](std::int32_t k) { return now_[k] - k / 2 < reached_ - kBehind; };
    const auto drop_low = [&] { now_[low_++] = kNone; };
    const auto drop_high = [&] { now_[high_--] = kNone; };
    while (low_ < high_ && behind(low_)) drop_low();
    while (low_ < high_ && behind(high_)) drop_high();
    while (high_ - low_ >= kWidth) {
      if (now_[low_] - low_ / 2 < now_[high_] - high_ / 2) drop_low();
      else drop_high();
    }
  }

  // Recentre the diagonals in the arrays.
  void move() {
    const std::int32_t to = (low_ + high_) / 2 - kRoom / 2, by = to - origin_;
    for (auto& row : rows_) move(row, by, kNone);
    for (auto& row : path_cost_) move(row, by, 0);
    for (auto& row : last_) move(row, by, kNoGap);
    origin_ = to;
  }

  template <class T>
  static void move(T (&row)[kRoom], std::int32_t by, T none) {
    T moved[kRoom];
    for (std::int32_t i = 0; i < kRoom; ++i) moved[i] = i + by >= 0 && i + by < kRoom ? row[i + by] : none;
    std::copy(std::begin(moved), std::end(moved), std::begin(row));
  }

  Side<Step> q_, t_;
  const EditCosts* costs_;
  std::int32_t rows_[2][kRoom], path_cost_[2][kRoom];
  Last last_[2][kRoom];
  std::int32_t* now_ = nullptr;
  std::int32_t origin_ = -kRoom / 2, low_ = 0, high_ = 0, reached_ = 0;
  std::int32_t s_ = 0, begun_ = 0;  // edits so far; number of rows computed
  bool whole_ = false;              // the last row reaches the end of both sequences
};

template <int Step>
Sample sample(const Side<Step>& q, const Side<Step>& t, std::int32_t edits, std::int32_t length,
              const EditCosts* costs) {
  return Walk<Step>(q, t, costs).extend_to(edits, length);
}

// Return the first position from `from` to `to` where `text` matches the upper-case seed in either case, or -1.
std::int32_t found(const std::uint8_t* text, std::int32_t from, std::int32_t to, const std::uint8_t* seed) {
  constexpr std::int32_t block = 32;
  const auto same = [&](std::int32_t at) {
    for (int i = 0; i < kSeed; ++i)
      if ((text[at + i] & 0xdf) != seed[i]) return false;
    return true;
  };
  std::int32_t at = from;
  for (; at + block <= to; at += block) {
    std::uint8_t hit[block];
    const std::uint8_t* t = text + at;
    for (std::int32_t i = 0; i < block; ++i)  // vectorised by the compiler
      hit[i] = static_cast<std::uint8_t>(
          ((t[i] & 0xdf) == seed[0]) & ((t[i + 1] & 0xdf) == seed[1]) & ((t[i + 2] & 0xdf) == seed[2]) &
          ((t[i + 3] & 0xdf) == seed[3]) & ((t[i + 4] & 0xdf) == seed[4]) & ((t[i + 5] & 0xdf) == seed[5]));
    std::uint64_t any[block / 8];
    std::memcpy(any, hit, block);
    if (!(any[0] | any[1] | any[2] | any[3])) continue;
    for (std::int32_t i = 0; i < block; ++i)
      if (hit[i] && same(at + i)) return at + i;
  }
  for (; at <= to; ++at)
    if (same(at)) return at;
  return -1;
}

// Sample in both directions from a seed at about position `at` of the query, found in the target near `expected`.
// Return an empty sample if no seed is on a path.
Sample around(const PairView& p, std::int32_t at, std::int32_t expected, std::int32_t edits, const EditCosts* costs) {
  const std::int32_t drift = 32 + p.target_len / 32;
  for (int tried = 0; tried < kSeeds; ++tried, at += kSeed, expected += kSeed) {
    const std::int32_t from = std::max(expected - drift, 0), to = std::min(expected + drift, p.target_len - kSeed);
    if (at + kSeed > p.query_len || from > to) break;
    std::uint8_t seed[kSeed];
    for (int i = 0; i < kSeed; ++i) seed[i] = p.query[at + i] & 0xdf;
    const std::int32_t t = found(p.target, from, to, seed);
    if (t < 0) continue;
    // The seed is free of errors by choice, so neither sample includes it.
    const std::int32_t q = at + kSeed;
    const std::int32_t after = t + kSeed;
    Sample both = sample<1>({p.query + q, p.query_len - q}, {p.target + after, p.target_len - after}, edits, p.target_len, costs);
    both.add(sample<-1>({p.query, at}, {p.target, t}, edits, p.target_len, costs));
    if (both.rate() < kLost) return both;
  }
  return {};
}

}  // namespace

std::int32_t estimate_edits(const PairView& pair, std::int32_t effort, const EditCosts* costs) {
  const std::int32_t longer = std::max(pair.query_len, pair.target_len);
  const std::int32_t budget = static_cast<std::int32_t>(effort * std::min(longer / kFull, 1.0));
  const std::int32_t min_edits = std::abs(pair.query_len - pair.target_len);
  if (pair.query_len == 0 || pair.target_len == 0) return longer;
  // The last edits of an unfinished sample are those that lead furthest, not those of the true path. In a sample of
  // few edits they are too large a share for its costs to be trusted.
  const auto of = [&](const Sample& s, double edits) {
    const double weight = s.whole || s.edits > 4 * kEdits ? s.weight(costs) : 1;
    return static_cast<std::int32_t>(std::min(std::ceil(edits * weight), static_cast<double>(longer)));
  };
  const Side<1> q{pair.query, pair.query_len}, t{pair.target, pair.target_len};
  const Side<-1> q_end{pair.query, pair.query_len}, t_end{pair.target, pair.target_len};
  Walk<1> begin(q, t, costs);
  Walk<-1> end(q_end, t_end, costs);
  Sample sum = begin.extend_to(kEdits, kEnough);
  if (sum.whole) return of(sum, sum.edits);
  // A pair with kEdits edits in at most kEnough bases is not clean, whatever its end shows.
  const bool noisy = longer <= kEnough;
  if (!noisy || budget <= 2 * kEdits) sum.add(end.extend_to(kEdits, kEnough));
  const bool from_inside = std::min(pair.query_len, pair.target_len) >= kLong;
  if (budget > 2 * kEdits && (noisy || sum.rate() > kClean)) {
    const std::int32_t each = std::max(budget / (from_inside ? 2 * kPlaces + 2 : 2), kEdits);
    Sample ends = begin.extend_to(each, longer);
    if (ends.whole) return of(ends, std::max(ends.edits, min_edits));
    ends.add(end.extend_to(each, longer));
    sum = ends;
    for (int place = 1; from_inside && place <= kPlaces; ++place) {
      const auto at = [&](std::int32_t length) {
        return static_cast<std::int32_t>(std::int64_t{length} * place / (kPlaces + 1));
      };
      sum.add(around(pair, at(pair.query_len), at(pair.target_len), each, costs));
    }
  }
  const double gap = costs && min_edits
                         ? (costs->open + static_cast<double>(costs->extend) * min_edits) / costs->average()
                         : min_edits;
  return std::max(of(sum, sum.rate() * longer), static_cast<std::int32_t>(gap));
}

}  // namespace wfacli

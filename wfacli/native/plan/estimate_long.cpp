#include "plan/estimate_long.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace wfacli {
namespace {

using Index = std::int64_t;

constexpr Index kPlaces = 128,
                kAnchorSpacing = 2000;  // maximum number of anchors; minimum distance between them on the query
constexpr int kEffort = 10'000;        // edits of all walks between anchors
constexpr int kMinEffort = 32;         // minimum edits of one walk
// Edits per symbol of unrelated sequences, as a factor of 1 - sqrt(probability that two random symbols are equal).
constexpr double kUnlike = 1.05;
constexpr double kWorth = 2.8;  // minimum average advance per edit on a path, in symbols
constexpr double kLost = 60;    // symbols by which a walk may fall behind that advance
constexpr Index kBehind = 128;  // symbols of both sequences behind the furthest point: such paths hardly catch up
constexpr Index kWidth = 128;   // maximum diagonals of a walk
constexpr Index kDivided = 500;  // minimum length of a stretch that is divided at another anchor
constexpr int kDepth = 12;       // maximum depth of these divisions

constexpr int kSeeds = 16;      // seeds tried at an anchor
constexpr int kSure = 5;        // symbols of a seed beyond the length that occurs once in a window by chance
constexpr int kTrial = 24;      // edits of the walks in both directions that check a seed
constexpr double kProved = 24;  // minimum gain of these walks, in symbols
// Distances from the expected position at which seeds are searched for, in rings from near to far.
constexpr Index kRings[] = {1 << 10, 1 << 12, 1 << 15, 1 << 18, 1 << 21, Index{1} << 26};
constexpr int kNear = 2, kFar = 6;  // number of rings of a near and of a far search
constexpr std::size_t kRecent = 4;  // previous anchors whose diagonals are tried
// Bound on the target symbols that all searches read: kSearched or kSearchedBase per target symbol, whichever is
// less, plus one pass over the target.
constexpr Index kSearched = 16'000'000, kSearchedBase = 8;

struct Point {
  Index i, j;
};

// Result of a walk.
struct WalkResult {
  bool whole = false, lost = false;  // it reached both ends; it fell kLost symbols behind
  int edits = 0;                     // edits up to its end, or up to the best point if it was lost
  Index i = 0, j = 0;                // query and target symbols up to there
  double gain = 0;                   // symbols of progress beyond kWorth per edit
};

// Furthest-reaching points on a few diagonals around the furthest point, from the beginnings of two sequences (Step 1)
// or from their ends (Step -1).
template <int Step>
class Walk {
 public:
  Walk(const std::uint8_t* query, Index query_len, const std::uint8_t* target, Index target_len)
      : q_(Step > 0 ? query : query + query_len),
        t_(Step > 0 ? target : target + target_len),
        m_(query_len),
        n_(target_len) {}

  WalkResult extend_to(int max_edits) {
    WalkResult result;
    low_ = high_ = 0;
    row(0)[0] = matched(0, 0);
    for (int s = 0;; ++s) {
      const Index* now = row(s);
      if (n_ - m_ >= low_ && n_ - m_ <= high_ && now[n_ - m_] >= n_) return {true, false, s, m_, n_, 0};
      Index furthest = low_;
      for (Index k = low_; k <= high_; ++k)
        if (2 * now[k] - k > 2 * now[furthest] - furthest) furthest = k;
      const double gain = static_cast<double>(2 * now[furthest] - furthest) / 2 - kWorth * s;
      if (gain >= result.gain || s == 0) result = {false, false, s, now[furthest] - furthest, now[furthest], gain};
      result.lost = result.gain - gain > kLost;
      if (result.lost) return result;
      if (s == max_edits) {
        result.edits = s, result.i = now[furthest] - furthest, result.j = now[furthest];
        return result;
      }
      narrow(s, 2 * now[furthest] - furthest);
      next(s + 1);
    }
  }

 private:
  static constexpr Index kRoom = 2 * kWidth;
  static constexpr Index kNone = std::numeric_limits<Index>::min() / 4;

  Index* row(int s) { return rows_[s & 1] - origin_; }

  void next(int s) {
    if (low_ - 3 < origin_ || high_ + 3 >= origin_ + kRoom) move();
    Index *before = row(s - 1), *now = row(s);
    before[low_ - 1] = before[low_ - 2] = before[high_ + 1] = before[high_ + 2] = kNone;
    --low_, ++high_;
    for (Index k = low_; k <= high_; ++k) {
      const Index off = std::min({std::max({before[k + 1], before[k - 1] + 1, before[k] + 1}), n_, m_ + k});
      now[k] = off < 0 || off < k ? kNone : matched(k, off);
    }
  }

  void narrow(int s, Index furthest) {
    const Index* now = row(s);
    const auto far = [&](Index k) { return 2 * now[k] - k; };
    while (low_ < high_ && far(low_) < furthest - kBehind) ++low_;
    while (low_ < high_ && far(high_) < furthest - kBehind) --high_;
    while (high_ - low_ >= kWidth) {
      if (far(low_) < far(high_))
        ++low_;
      else
        --high_;
    }
  }

  void move() {
    const Index to = (low_ + high_) / 2 - kRoom / 2, by = to - origin_;
    for (auto& values : rows_) {
      Index moved[kRoom];
      for (Index x = 0; x < kRoom; ++x) moved[x] = x + by >= 0 && x + by < kRoom ? values[x + by] : kNone;
      std::copy(moved, moved + kRoom, values);
    }
    origin_ = to;
  }

  std::uint8_t query(Index i) const { return Step > 0 ? q_[i] : q_[-1 - i]; }
  std::uint8_t target(Index j) const { return Step > 0 ? t_[j] : t_[-1 - j]; }
  static std::uint64_t word(const std::uint8_t* at) {
    std::uint64_t w;
    std::memcpy(&w, at, 8);
    return w;
  }

  Index matched(Index k, Index j) const {
    Index i = j - k;
    while (i + 8 <= m_ && j + 8 <= n_) {
      const std::uint64_t differ = Step > 0 ? word(q_ + i) ^ word(t_ + j) : word(q_ - i - 8) ^ word(t_ - j - 8);
      if (differ) return j + ((Step > 0 ? __builtin_ctzll(differ) : __builtin_clzll(differ)) >> 3);
      i += 8, j += 8;
    }
    while (i < m_ && j < n_ && query(i) == target(j)) ++i, ++j;
    return j;
  }

  const std::uint8_t *q_, *t_;
  const Index m_, n_;
  Index rows_[2][kRoom];
  Index origin_ = -kRoom / 2, low_ = 0, high_ = 0;
};

// Return the first occurrence of `seed` (at least 11 symbols) within text[from, to), or -1.
Index first_of(const std::uint8_t* seed, Index length, const std::uint8_t* text, Index from, Index to) {
  constexpr Index block = 64;
  const std::uint8_t a = seed[0], b = seed[1], c = seed[2], d = seed[3], e = seed[4];
  const auto same = [&](Index at) { return !std::memcmp(text + at, seed, static_cast<std::size_t>(length)); };
  const Index last = to - length;
  Index at = from;
  for (; at + block - 1 <= last; at += block) {
    std::uint8_t hit[block];
    const std::uint8_t* t = text + at;
    for (Index x = 0; x < block; ++x)  // vectorised by the compiler
      hit[x] = static_cast<std::uint8_t>((t[x] == a) & (t[x + 1] == b) & (t[x + 2] == c) & (t[x + 3] == d) &
                                         (t[x + 4] == e));
    std::uint64_t any[block / 8];
    std::memcpy(any, hit, block);
    for (Index w = 0; w < block / 8; ++w)
      for (; any[w]; any[w] &= any[w] - 1)
        if (const Index x = at + 8 * w + (__builtin_ctzll(any[w]) >> 3); same(x)) return x;
  }
  for (; at <= last; ++at)
    if (same(at)) return at;
  return -1;
}

class Estimate {
 public:
  explicit Estimate(const LongPair& pair) : p_(pair), unlike_(kUnlike * (1 - std::sqrt(chance(pair)))) {}

  double edits() {
    const Index m = p_.query_len, n = p_.target_len;
    if (!m || !n) return static_cast<double>(std::max(m, n));
    const Index places = std::clamp(m / kAnchorSpacing, Index{1}, kPlaces);
    const Index allowance = (std::min(kSearched, kSearchedBase * n) + n) / places;
    std::vector<Point> anchors{{0, 0}};
    for (Index p = 1; p < places; ++p) {
      searched_ = std::min(std::max(searched_, Index{0}) + allowance, 4 * allowance);
      Point found;
      if (place(m * p / places, anchors, found)) anchors.push_back(found);
    }
    anchors.push_back({m, n});
    const std::vector<Point> chain = chained(anchors, static_cast<double>(m / places));
    double sum = 0;
    for (std::size_t x = 1; x < chain.size(); ++x) {
      const double share = static_cast<double>(chain[x].i - chain[x - 1].i) / static_cast<double>(m);
      sum += between(chain[x - 1], chain[x], std::max(static_cast<int>(kEffort * share), kMinEffort), kDepth);
    }
    return std::clamp(sum, static_cast<double>(std::abs(m - n)), static_cast<double>(std::max(m, n)));
  }

 private:
  // Return the probability that two random symbols of the pair are equal, from a sample of either sequence. It is 1/4
  // for A C G T, for which unrelated sequences have about half as many edits as bases.
  static double chance(const LongPair& pair) {
    constexpr Index sample = 2048;
    std::vector<Index> of[2] = {std::vector<Index>(256), std::vector<Index>(256)};
    Index taken[2] = {0, 0};
    const auto take = [&](int side, const std::uint8_t* bases, Index length) {
      const Index step = std::max(length / sample, Index{1});
      for (Index x = 0; x < length; x += step) ++of[side][bases[x]], ++taken[side];
    };
    take(0, pair.query, pair.query_len);
    take(1, pair.target, pair.target_len);
    double same = 0;
    for (int base = 0; base < 256; ++base) same += static_cast<double>(of[0][base] * of[1][base]);
    return same / std::max(static_cast<double>(taken[0] * taken[1]), 1.0);
  }

  // Find an anchor at about query position i: first near the diagonals of the last anchors, one of which may be in a
  // repeat, then further away.
  bool place(Index i, const std::vector<Point>& anchors, Point& found) {
    const Point begin{0, 0}, end{p_.query_len, p_.target_len};
    const auto diagonal = [&](std::size_t back) {
      const Point& one = anchors[anchors.size() - back];
      return one.j - one.i;
    };
    for (std::size_t back = 1; back <= std::min(anchors.size(), kRecent); ++back)
      if (anchor(begin, end, i, i + diagonal(back), 0, kNear, found)) return true;
    for (std::size_t back = 1; back <= std::min(anchors.size(), std::size_t{2}); ++back)
      if (anchor(begin, end, i, i + diagonal(back), kNear, kFar, found)) return true;
    return false;
  }

  // Return the chain of anchors with the fewest edits, where a change of diagonal costs a gap, and an anchor left out
  // costs an unrelated stretch.
  std::vector<Point> chained(const std::vector<Point>& all, double stretch) const {
    const std::size_t count = all.size();
    std::vector<double> min_cost(count, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(count, 0);
    min_cost[0] = 0;
    for (std::size_t x = 1; x < count; ++x)
      for (std::size_t y = 0; y < x; ++y) {
        if (all[x].j < all[y].j || all[x].i < all[y].i) continue;
        const double gap = std::abs(static_cast<double>((all[x].j - all[x].i) - (all[y].j - all[y].i)));
        const double cost = min_cost[y] + gap + unlike_ * stretch * static_cast<double>(x - y - 1);
        if (cost < min_cost[x]) min_cost[x] = cost, from[x] = y;
      }
    std::vector<Point> chain;
    for (std::size_t x = count - 1; x; x = from[x]) chain.push_back(all[x]);
    chain.push_back(all[0]);
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  // Estimate the edits between two points.
  double between(Point a, Point b, int effort, int depth) {
    Index m = b.i - a.i, n = b.j - a.j;
    if (!m || !n) return static_cast<double>(std::max(m, n));
    const WalkResult ahead = Walk<1>(p_.query + a.i, m, p_.target + a.j, n).extend_to(effort);
    if (ahead.whole) return ahead.edits;
    if (!ahead.lost) return in_proportion(ahead, m, n);
    double sum = ahead.edits;
    a.i += ahead.i, a.j += ahead.j, m -= ahead.i, n -= ahead.j;
    if (!m || !n) return sum + static_cast<double>(std::max(m, n));
    const WalkResult behind = Walk<-1>(p_.query + a.i, m, p_.target + a.j, n).extend_to(effort);
    if (behind.whole) return sum + behind.edits;
    if (!behind.lost) return sum + in_proportion(behind, m, n);
    sum += behind.edits;
    b.i -= behind.i, b.j -= behind.j, m -= behind.i, n -= behind.j;
    Point middle;
    if (depth && std::min(m, n) >= kDivided) {
      const Index half = m / 2;
      if (anchor(a, b, a.i + half, a.j + half, 0, kFar, middle) ||
          anchor(a, b, a.i + half, b.j - (m - half), 0, kFar, middle)) {
        const int each = std::max(effort / 2, kMinEffort);
        return sum + between(a, middle, each, depth - 1) + between(middle, b, each, depth - 1);
      }
    }
    return sum + static_cast<double>(std::abs(m - n)) + unlike_ * static_cast<double>(std::min(m, n));
  }

  // Scale the edits of a walk to m by n symbols. The walk's drift in diagonals is scaled too; the part of n - m that
  // neither drift nor chance explains is added as a gap.
  static double in_proportion(const WalkResult& result, Index m, Index n) {
    const double length = std::max(static_cast<double>(result.i + result.j) / 2, 1.0);
    const double times = std::max(static_cast<double>(std::min(m, n)) / length, 1.0);
    const double edits = result.edits * times, drift = static_cast<double>(result.j - result.i) * times;
    const double chance = 2 * std::sqrt(edits * (1 + times));
    return edits + std::max(0.0, std::abs(static_cast<double>(n - m) - drift) - chance);
  }

  // Search the target between points a and b for a seed from about query position i, in rings of growing distance from
  // `expected`.
  bool anchor(Point a, Point b, Index i, Index expected, int first, int last, Point& found) {
    const Index inner = first ? kRings[first - 1] : 0;
    Index from = std::clamp(expected - inner, a.j, b.j),
          to = std::clamp(expected + inner, a.j, b.j);  // the part that has been searched
    for (; first < last; ++first) {
      const Index ring = kRings[first], low = std::max(expected - ring, a.j), high = std::min(expected + ring, b.j);
      if (low >= from && high <= to) continue;
      const int length =
          kSure + static_cast<int>(std::ceil(std::log(2.0 * static_cast<double>(ring)) / std::log(4.0)));
      for (int seed = 0; seed < kSeeds; ++seed) {
        const Index at = i + Index{seed} * length;
        if (at + length > b.i) break;
        if (is_on_path(a, b, at, to, std::min(high + Index{seed} * length + length, b.j), length, found)) return true;
        if (is_on_path(a, b, at, low, std::min(from + Index{seed} * length + length, b.j), length, found)) return true;
        if (searched_ <= 0 && first) return false;
      }
      from = std::min(from, low), to = std::max(to, high);
    }
    return false;
  }

  // Return true if a seed of the query occurs in target [from, to) on a path that continues in both directions.
  bool is_on_path(Point a, Point b, Index i, Index from, Index to, int length, Point& found) {
    if (to - from < length) return false;
    const Index j = first_of(p_.query + i, length, p_.target, from, to);
    searched_ -= (j < 0 ? to : j) - from;
    if (j < 0) return false;
    const WalkResult on = Walk<1>(p_.query + i, b.i - i, p_.target + j, b.j - j).extend_to(kTrial);
    const WalkResult back = Walk<-1>(p_.query + a.i, i - a.i, p_.target + a.j, j - a.j).extend_to(kTrial);
    found = {i, j};
    return on.whole || back.whole || on.gain - length + back.gain >= kProved;
  }

  const LongPair p_;
  const double unlike_;  // edits per symbol of unrelated stretches
  Index searched_ = 0;   // symbols that searches may still read
};

}  // namespace

double estimate_long(const LongPair& pair) { return Estimate(pair).edits(); }

}  // namespace wfacli

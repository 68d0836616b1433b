#include "estimate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace wfacli {
namespace {

constexpr int kEdits = 6;  // that a sample may hold: enough for a rate within a third, few enough to cost little
constexpr std::uint64_t kFold = 0xdfdfdfdfdfdfdfdfull;

constexpr std::int32_t kLong = 2000;  // letters from which samples from inside are taken too
constexpr int kAnchors = 3;
constexpr std::int32_t kEnough = 512; // letters of a sample, however few its edits
// Errors between which samples from inside are worth their time: below, one kernel is best whatever they say; above, a
// few letters rarely match, so that none are found.
constexpr double kClean = 0.01, kNoisy = 0.05;

struct Sample {
  std::int32_t edits, letters;
  bool whole;  // both sequences end within it

  void add(const Sample& other) {
    edits += other.edits;
    letters += other.letters;
  }
  double rate() const { return static_cast<double>(edits) / letters; }
};

// Letters of a sequence from its beginning (Step 1) or from its end (Step -1).
template <int Step>
struct Side {
  const std::uint8_t* letters;
  std::int32_t length;

  std::uint8_t at(std::int32_t i) const { return letters[Step > 0 ? i : length - 1 - i] & 0xdf; }
  // Eight letters from i on; the first in the lowest byte.
  std::uint64_t word(std::int32_t i) const {
    std::uint64_t w;
    std::memcpy(&w, Step > 0 ? letters + i : letters + (length - 8 - i), 8);
    return (Step > 0 ? w : __builtin_bswap64(w)) & kFold;
  }
};

template <int Step>
std::int32_t extended(const Side<Step>& q, const Side<Step>& t, std::int32_t k, std::int32_t off) {
  while (off + 8 <= t.length && off - k + 8 <= q.length) {
    const std::uint64_t d = q.word(off - k) ^ t.word(off);
    if (d) return off + (__builtin_ctzll(d) >> 3);
    off += 8;
  }
  while (off < t.length && off - k < q.length && q.at(off - k) == t.at(off)) ++off;
  return off;
}

// Edit distance by furthest-reaching points (Ukkonen 1985), for kEdits scores, kEnough letters, or to the end.
template <int Step>
Sample sample(const Side<Step>& q, const Side<Step>& t) {
  std::int32_t rows[2][2 * kEdits + 5];
  const std::int32_t last = t.length - q.length;
  for (auto& row : rows) std::fill(std::begin(row), std::end(row), -2);
  std::int32_t reached = 0;
  for (std::int32_t s = 0; s <= kEdits; ++s) {
    std::int32_t* now = rows[s & 1] + kEdits + 2;
    const std::int32_t* before = rows[~s & 1] + kEdits + 2;
    for (std::int32_t k = -s; k <= s; ++k) {
      std::int32_t off = s == 0 ? 0 : std::max({before[k + 1], before[k - 1] + 1, before[k] + 1});
      off = std::min({off, t.length, q.length + k});
      if (off < 0 || off < k) continue;
      now[k] = off = extended(q, t, k, off);
      reached = std::max(reached, off - k / 2);
      if (k == last && off == t.length) return {s, std::max(q.length, t.length), true};
    }
    if (reached >= kEnough) return {s, reached, false};
  }
  return {kEdits, std::max(reached, 1), false};
}

std::uint64_t word_at(const std::uint8_t* letters) {
  std::uint64_t w;
  std::memcpy(&w, letters, 8);
  return w & kFold;
}

// Where in the target the query's 16 letters at `at` stand, near `expected`; -1 where they do not.
std::int32_t anchor(const PairView& p, std::int32_t at, std::int32_t expected) {
  const std::int32_t drift = 32 + p.target_len / 32;
  const std::int32_t from = std::max(expected - drift, 0), to = std::min(expected + drift, p.target_len - 16);
  const std::uint64_t first = word_at(p.query + at), second = word_at(p.query + at + 8);
  for (std::int32_t t = from; t <= to; ++t)
    if (word_at(p.target + t) == first && word_at(p.target + t + 8) == second) return t;
  return -1;
}

// Samples around places inside, where the pair has few enough edits for letters to be found again.
void add_inside(const PairView& p, Sample& sum) {
  for (std::int32_t a = 1; a <= kAnchors; ++a) {
    const std::int32_t q = static_cast<std::int32_t>(std::int64_t{p.query_len} * a / (kAnchors + 1));
    const std::int32_t expected = static_cast<std::int32_t>(std::int64_t{p.target_len} * a / (kAnchors + 1));
    const std::int32_t t = anchor(p, q, expected);
    if (t < 0) continue;
    sum.add(sample<1>({p.query + q, p.query_len - q}, {p.target + t, p.target_len - t}));
    sum.add(sample<-1>({p.query, q}, {p.target, t}));
  }
}

}  // namespace

std::int32_t estimate_edits(const PairView& pair) {
  const std::int32_t longest = std::max(pair.query_len, pair.target_len);
  const std::int32_t least = std::abs(pair.query_len - pair.target_len);
  if (pair.query_len == 0 || pair.target_len == 0) return longest;
  Sample sum = sample<1>({pair.query, pair.query_len}, {pair.target, pair.target_len});
  if (sum.whole) return sum.edits;
  sum.add(sample<-1>({pair.query, pair.query_len}, {pair.target, pair.target_len}));
  if (std::min(pair.query_len, pair.target_len) >= kLong && sum.rate() > kClean && sum.rate() < kNoisy)
    add_inside(pair, sum);
  const double edits = std::min(std::ceil(sum.rate() * longest), static_cast<double>(longest));
  return std::max(static_cast<std::int32_t>(edits), least);
}

}  // namespace wfacli

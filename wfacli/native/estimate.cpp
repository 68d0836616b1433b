#include "estimate.hpp"

#include <algorithm>
#include <cmath>

namespace wfacli {
namespace {

constexpr int kEdits = 8;  // that a sample may hold: enough for a rate within a third, few enough to cost little
constexpr std::uint64_t kFold = 0xdfdfdfdfdfdfdfdfull;

struct Sample {
  std::int32_t edits, letters;
  bool whole;  // both sequences end within it
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

// Edit distance by furthest-reaching points (Ukkonen 1985), for kEdits scores or to the end.
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
  }
  return {kEdits, std::max(reached, 1), false};
}

}  // namespace

std::int32_t estimate_edits(const PairView& pair) {
  const std::int32_t longest = std::max(pair.query_len, pair.target_len);
  const std::int32_t least = std::abs(pair.query_len - pair.target_len);
  if (pair.query_len == 0 || pair.target_len == 0) return longest;
  const Sample first = sample<1>({pair.query, pair.query_len}, {pair.target, pair.target_len});
  if (first.whole) return first.edits;
  const Sample second = sample<-1>({pair.query, pair.query_len}, {pair.target, pair.target_len});
  const double rate = static_cast<double>(first.edits + second.edits) / (first.letters + second.letters);
  const double edits = std::min(std::ceil(rate * longest), static_cast<double>(longest));
  return std::max(static_cast<std::int32_t>(edits), least);
}

}  // namespace wfacli

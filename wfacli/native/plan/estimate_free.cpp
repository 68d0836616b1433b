#include <algorithm>
#include <cmath>

#include "plan/estimate.hpp"

namespace wfacli {
namespace {

constexpr std::int32_t kPiece = 64;                   // letters of the query that are looked for: a word
constexpr std::int32_t kApart = 400, kMost = 48;      // letters between their beginnings, and how many there are
constexpr std::int32_t kFewest = 3;                   // of them
constexpr std::int32_t kDrift = 32, kDriftShare = 16; // letters by which they may lie further along, and a share of the query
constexpr std::int32_t kNear = 64;                    // letters beside where the piece before would have it
constexpr std::int32_t kTooFar = 16;                  // times the query: so long a target takes as long to look through as to align

// The part of a text that is most like a piece: edits, and where it ends.
struct Found {
  std::int32_t edits, end;
};

// G. Myers' bit-vectors (J. ACM 1999).
Found most_like(const std::uint8_t* piece, std::int32_t length, const std::uint8_t* text, std::int32_t text_len) {
  std::uint64_t where[4] = {};
  const auto code = [](std::uint8_t letter) { return letter >> 1 & 3; };  // A C G T in either case; others as one of them
  for (std::int32_t i = 0; i < length; ++i) where[code(piece[i])] |= std::uint64_t{1} << i;
  const std::uint64_t last = std::uint64_t{1} << (length - 1);
  std::uint64_t up = ~std::uint64_t{0}, down = 0;  // vertical differences of a column: +1, -1
  std::int32_t edits = length;
  Found best{length, 0};
  for (std::int32_t j = 0; j < text_len; ++j) {
    const std::uint64_t equal = where[code(text[j])];
    const std::uint64_t x = equal | down, diagonal = (((equal & up) + up) ^ up) | x;
    const std::uint64_t right = down | ~(diagonal | up), left = up & diagonal;  // horizontal: +1, -1
    edits += (right & last) != 0;
    edits -= (left & last) != 0;
    if (edits < best.edits) best = {edits, j + 1};
    up = left << 1 | ~(diagonal | right << 1);
    down = right << 1 & diagonal;
  }
  return best;
}

}  // namespace

std::int32_t estimate_free_edits(const PairView& pair, std::int32_t free_begin, std::int32_t free_end,
                                 const EditCosts& costs) {
  const std::int32_t n = pair.query_len, m = pair.target_len, apart = m - n;
  if (n == 0 || m == 0) return n;
  // Diagonals between which a path with few gaps lies.
  std::int32_t lo = std::max(0, apart - std::min(free_end, m)), hi = std::min(std::min(free_begin, m), apart);
  if (lo > hi) std::swap(lo, hi);
  const std::int32_t drift = kDrift + n / kDriftShare, length = std::min(n, kPiece);
  if (std::int64_t{hi} - lo + 2 * drift > std::int64_t{kTooFar} * n + kTooFar * kPiece) return -1;
  const std::int32_t pieces = n < 2 * kPiece ? 1 : std::clamp(n / kApart, std::min(kFewest, n / kPiece), kMost);
  // Of a part of the target, as far as there is one; the end becomes the target's.
  const auto within = [&](std::int32_t at, std::int64_t first, std::int64_t last) {
    const auto from = static_cast<std::int32_t>(std::clamp<std::int64_t>(first, 0, m));
    const auto to = static_cast<std::int32_t>(std::clamp<std::int64_t>(last, from, m));
    Found found = most_like(pair.query + at, length, pair.target + from, to - from);
    found.end += from;
    return found;
  };
  double cost = 0;
  std::int64_t diagonal = -1;  // of the piece before, if it was found
  for (std::int32_t p = 0; p < pieces; ++p) {
    const auto at = static_cast<std::int32_t>(pieces == 1 ? 0 : std::int64_t{n - length} * p / (pieces - 1));
    const std::int64_t end = std::int64_t{at} + length;
    Found found{length, 0};
    if (diagonal >= 0) found = within(at, at + diagonal - kNear, end + diagonal + kNear);
    if (found.edits > length / 4) found = within(at, at + lo - drift, end + hi + drift);
    diagonal = found.edits > length / 4 ? -1 : std::max<std::int64_t>(found.end - end, 0);
    // What is like nothing there is one long insertion.
    cost += std::min(found.edits * costs.average(), static_cast<double>(length) * costs.extend);
  }
  const double edits = cost / costs.average() * n / (static_cast<double>(length) * pieces);
  return std::max(static_cast<std::int32_t>(std::ceil(std::min<double>(edits, n))), std::max(-apart, 0));
}

}  // namespace wfacli

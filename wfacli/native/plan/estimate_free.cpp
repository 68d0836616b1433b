#include <algorithm>
#include <cmath>

#include "plan/estimate.hpp"

namespace wfacli {
namespace {

constexpr std::int32_t kPiece = 64;               // piece length in bases: one machine word
constexpr std::int32_t kApart = 400,
                       kMaxPieces = 48;  // distance between piece starts in bases; maximum number of pieces
constexpr std::int32_t kMinPieces = 3;       // minimum number of pieces
constexpr std::int32_t kDrift = 32, kDriftShare = 16;  // drift of a piece: kDrift bases + query length / kDriftShare
constexpr std::int32_t kNear = 64;                // search margin in bases around the diagonal of the previous piece
// Diagonals per query base above which a search takes as long as the alignment.
constexpr std::int32_t kTooFar = 16;

// Best match of a piece in a text: its edits, and the position after its last base.
struct Found {
  std::int32_t edits, end;
};

// Find the best match of a piece of up to 64 bases by bit-vectors (G. Myers, J. ACM 1999).
Found most_similar(const std::uint8_t* piece, std::int32_t length, const std::uint8_t* text, std::int32_t text_len) {
  std::uint64_t where[4] = {};
  const auto code = [](std::uint8_t base) { return base >> 1 & 3; };  // A C G T in either case; others alias them
  for (std::int32_t i = 0; i < length; ++i) where[code(piece[i])] |= std::uint64_t{1} << i;
  const std::uint64_t last = std::uint64_t{1} << (length - 1);
  std::uint64_t up = ~std::uint64_t{0}, down = 0;  // vertical deltas of a column: +1, -1
  std::int32_t edits = length;
  Found best{length, 0};
  for (std::int32_t j = 0; j < text_len; ++j) {
    const std::uint64_t equal = where[code(text[j])];
    const std::uint64_t x = equal | down, diagonal = (((equal & up) + up) ^ up) | x;
    const std::uint64_t right = down | ~(diagonal | up), left = up & diagonal;  // horizontal deltas: +1, -1
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
  const std::int32_t n = pair.query_len, m = pair.target_len, last_diagonal = m - n;
  if (n == 0 || m == 0) return n;
  // Range of diagonals of a path with few gaps.
  std::int32_t lo = std::max(0, last_diagonal - std::min(free_end, m)),
               hi = std::min(std::min(free_begin, m), last_diagonal);
  if (lo > hi) std::swap(lo, hi);
  const std::int32_t drift = kDrift + n / kDriftShare, length = std::min(n, kPiece);
  if (std::int64_t{hi} - lo + 2 * drift > std::int64_t{kTooFar} * n + kTooFar * kPiece) return -1;
  const std::int32_t pieces =
      n < 2 * kPiece ? 1 : std::clamp(n / kApart, std::min(kMinPieces, n / kPiece), kMaxPieces);
  // Search target bases first .. last - 1, clipped to the target; `end` of the result is a target position.
  const auto within = [&](std::int32_t at, std::int64_t first, std::int64_t last) {
    const auto from = static_cast<std::int32_t>(std::clamp<std::int64_t>(first, 0, m));
    const auto to = static_cast<std::int32_t>(std::clamp<std::int64_t>(last, from, m));
    Found found = most_similar(pair.query + at, length, pair.target + from, to - from);
    found.end += from;
    return found;
  };
  double cost = 0;
  std::int64_t diagonal = -1;  // diagonal of the previous piece; -1 if it was not found
  for (std::int32_t p = 0; p < pieces; ++p) {
    const auto at = static_cast<std::int32_t>(pieces == 1 ? 0 : std::int64_t{n - length} * p / (pieces - 1));
    const std::int64_t end = std::int64_t{at} + length;
    Found found{length, 0};
    if (diagonal >= 0) found = within(at, at + diagonal - kNear, end + diagonal + kNear);
    if (found.edits > length / 4) found = within(at, at + lo - drift, end + hi + drift);
    diagonal = found.edits > length / 4 ? -1 : std::max<std::int64_t>(found.end - end, 0);
    // A piece without a match is one long insertion.
    cost += std::min(found.edits * costs.average(), static_cast<double>(length) * costs.extend);
  }
  const double edits = cost / costs.average() * n / (static_cast<double>(length) * pieces);
  return std::max(static_cast<std::int32_t>(std::ceil(std::min<double>(edits, n))), std::max(-last_diagonal, 0));
}

}  // namespace wfacli

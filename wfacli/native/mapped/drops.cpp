#include "mapped/drops.hpp"

#include <algorithm>
#include <vector>

#include "format/record_fields.hpp"

namespace wfacli {
namespace {

// Position between two operations of a path: index of the next operation, bases before it, and score up to it.
struct Place {
  std::int64_t run = 0, query = 0, target = 0, score = 0;
  std::int64_t diagonal() const { return target - query; }
};

struct Piece {
  Place from, to;
  std::int64_t best = 0;  // highest score of any part of it
};

// Finds the pieces of a path of `count` operations, the best one first; a single piece if the path is not split.
//
// The drop is measured from the last peak. A score that rises by `recovery` after its lowest value since the peak makes a
// new peak, even a lower one: the path is reliable again, as between seeds of a chain. Otherwise a long gap, whose
// diagonals count in favour of the path, would hide each later drop, or be one with the next gap.
void find_pieces(const std::uint32_t* runs, std::int64_t count, const SplitThresholds& b, const AlignOptions& scores,
                 std::vector<Piece>& pieces) {
  pieces.clear();
  const std::int64_t recovery = b.zdrop / 2;
  Place at;
  Piece piece;  // `to` is the last peak
  std::int64_t lowest = 0, trough = 0;  // lowest scores: since the peak, and since the piece's beginning
  bool broken = false, beginning = false;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint32_t op = runs[k] & 15;
    const std::int64_t length = runs[k] >> 4;
    at.run = k + 1;
    at.query += op != kDeletion ? length : 0;
    at.target += op != kInsertion ? length : 0;
    at.score += score_of(op, length, scores);
    const std::int64_t distance = std::abs(at.diagonal() - piece.to.diagonal());
    trough = std::min(trough, at.score);
    piece.best = std::max(piece.best, at.score - trough);
    if (at.score >= piece.to.score || at.score - lowest >= recovery) {
      piece.to = at;
      lowest = at.score;
    } else if (piece.to.score - at.score > b.zdrop + b.extend * distance) {
      if (piece.best > 0) pieces.push_back(piece);
      broken = beginning = true;
      piece = {at, at};
      lowest = trough = at.score;
    }
    lowest = std::min(lowest, at.score);
    if (beginning && at.score < piece.from.score) {  // a piece begins at its minimum, which comes before its recovery
      piece = {at, at};
      lowest = trough = at.score;
    }
    beginning = beginning && at.score - piece.from.score < recovery;
  }
  piece.to = at;
  pieces.push_back(piece);
  if (!broken) return;
  const auto best = std::max_element(pieces.begin(), pieces.end(),
                                     [](const Piece& x, const Piece& y) { return x.best < y.best; });
  std::rotate(pieces.begin(), best, best + 1);
  const auto poor = [&](const Piece& p) { return p.best < std::max<std::int64_t>(b.min_score, 1); };
  pieces.erase(std::remove_if(pieces.begin() + 1, pieces.end(), poor), pieces.end());
}

void add_piece(const AlignmentView& a, std::int64_t row, const Piece& piece, const AlignOptions& options, Pieces& out) {
  const std::uint32_t* runs = a.cigar + a.cigar_start[row];
  const std::int32_t* span = a.span + 4 * row;
  std::int64_t score = 0;
  for (std::int64_t k = piece.from.run; k < piece.to.run; ++k) score += score_of(runs[k] & 15, runs[k] >> 4, options);
  out.score.push(static_cast<std::int32_t>(score));
  out.span.push(span[0] + static_cast<std::int32_t>(piece.from.query));
  out.span.push(span[0] + static_cast<std::int32_t>(piece.to.query));
  out.span.push(span[2] + static_cast<std::int32_t>(piece.from.target));
  out.span.push(span[2] + static_cast<std::int32_t>(piece.to.target));
  out.cigar.runs().append(runs + piece.from.run, static_cast<std::size_t>(piece.to.run - piece.from.run));
}

// Appends the span between the pieces before and after piece `at`.
void add_outer(const BatchView& batch, const AlignmentView& a, std::int64_t row, const std::vector<Piece>& pieces, std::size_t at,
               Pieces& out) {
  const std::int32_t* span = a.span + 4 * row;
  std::int32_t outer[4] = {0, batch.q_len[row], 0, batch.t_len[row]};
  for (const Piece& other : pieces) {
    if (other.to.run <= pieces[at].from.run) {
      outer[0] = std::max(outer[0], span[0] + static_cast<std::int32_t>(other.to.query));
      outer[2] = std::max(outer[2], span[2] + static_cast<std::int32_t>(other.to.target));
    } else if (other.from.run >= pieces[at].to.run) {
      outer[1] = std::min(outer[1], span[0] + static_cast<std::int32_t>(other.from.query));
      outer[3] = std::min(outer[3], span[2] + static_cast<std::int32_t>(other.from.target));
    }
  }
  std::copy_n(outer, 4, out.outer.extend(4));
}

void add_whole(const AlignmentView& a, std::int64_t row, Pieces& out) {
  out.score.push(a.score[row]);
  std::copy_n(a.span + 4 * row, 4, out.span.extend(4));
  out.cigar.runs().append(a.cigar + a.cigar_start[row],
                          static_cast<std::size_t>(a.cigar_start[row + 1] - a.cigar_start[row]));
}

}  // namespace

Pieces split_at_zdrops(const BatchView& batch, const AlignmentView& a, const SplitThresholds& breaks,
                       const AlignOptions& scores, const AlignOptions& options) {
  Pieces out;
  if (breaks.zdrop <= 0) return out;
  out.cigar_start.push(0);
  std::vector<Piece> pieces;
  for (std::int64_t row = 0; row < a.n; ++row) {
    pieces.clear();
    if (is_placed(a, row))
      find_pieces(a.cigar + a.cigar_start[row], a.cigar_start[row + 1] - a.cigar_start[row], breaks, scores, pieces);
    const bool secondary = (batch.mapped.sam_flags[row] & kSecondary) != 0;
    const bool broken =
        pieces.size() > 1 ||
        (pieces.size() == 1 && (pieces[0].from.run != 0 || pieces[0].to.run != a.cigar_start[row + 1] - a.cigar_start[row]));
    const std::size_t count = !broken || secondary ? 1 : pieces.size();
    for (std::size_t k = 0; k < count; ++k) {
      if (broken) {
        add_piece(a, row, pieces[k], options, out);
        add_outer(batch, a, row, pieces, k, out);
      } else {
        add_whole(a, row, out);
      }
      out.rows.push(static_cast<std::int32_t>(row));
      out.is_minor.push(k > 0);
      out.is_split.push(broken);
      out.cigar_start.push(static_cast<std::int64_t>(out.cigar.runs().size()));
    }
    out.any |= broken;
  }
  return out;
}

}  // namespace wfacli

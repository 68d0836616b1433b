#include "refine/drops.hpp"

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

// Walks along a path of CIGAR elements.
class Walk {
 public:
  Walk(const std::uint32_t* runs, const AlignOptions& scores) : runs_(runs), scores_(scores) {}
  const Place& at() const { return at_; }
  void step() {
    const std::uint32_t op = runs_[at_.run] & 15;
    const std::int64_t length = runs_[at_.run] >> 4;
    ++at_.run;
    at_.query += op != kDeletion ? length : 0;
    at_.target += op != kInsertion ? length : 0;
    at_.score += score_of(op, length, scores_);
  }

 private:
  const std::uint32_t* runs_;
  const AlignOptions& scores_;
  Place at_;
};

// Returns the path from its current place to operation `end`.
Piece piece_up_to(Walk& walk, std::int64_t end) {
  Piece piece{walk.at(), walk.at()};
  std::int64_t lowest = walk.at().score;
  while (walk.at().run < end) {
    walk.step();
    lowest = std::min(lowest, walk.at().score);
    piece.best = std::max(piece.best, walk.at().score - lowest);
  }
  piece.to = walk.at();
  return piece;
}

// Finds the pieces between drops [first, end), the best one first, without those that score too little.
void find_pieces(const std::uint32_t* runs, std::int64_t count, const ChosenDrops& drops, std::int64_t first,
                 std::int64_t end, const AlignOptions& scores, std::vector<Piece>& pieces) {
  pieces.clear();
  Walk walk(runs, scores);
  for (std::int64_t k = first; k < end; ++k) {
    pieces.push_back(piece_up_to(walk, drops.run[2 * k]));
    piece_up_to(walk, drops.run[2 * k + 1]);
  }
  pieces.push_back(piece_up_to(walk, count));
  if (first == end) return;
  const auto best = std::max_element(pieces.begin(), pieces.end(),
                                     [](const Piece& x, const Piece& y) { return x.best < y.best; });
  std::rotate(pieces.begin(), best, best + 1);
  const auto poor = [&](const Piece& p) { return p.best < std::max<std::int64_t>(drops.min_score, 1); };
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
void add_outer(const std::int32_t* room, const std::int32_t* span, const std::vector<Piece>& pieces, std::size_t at, Pieces& out) {
  std::int32_t* outer = out.outer.extend(4);
  std::copy_n(room, 4, outer);
  for (const Piece& other : pieces) {
    if (other.to.run <= pieces[at].from.run) {
      outer[0] = std::max(outer[0], span[0] + static_cast<std::int32_t>(other.to.query));
      outer[2] = std::max(outer[2], span[2] + static_cast<std::int32_t>(other.to.target));
    } else if (other.from.run >= pieces[at].to.run) {
      outer[1] = std::min(outer[1], span[0] + static_cast<std::int32_t>(other.from.query));
      outer[3] = std::min(outer[3], span[2] + static_cast<std::int32_t>(other.from.target));
    }
  }
}

void add_whole(const AlignmentView& a, std::int64_t row, Pieces& out) {
  out.score.push(a.score[row]);
  std::copy_n(a.span + 4 * row, 4, out.span.extend(4));
  out.cigar.runs().append(a.cigar + a.cigar_start[row],
                          static_cast<std::size_t>(a.cigar_start[row + 1] - a.cigar_start[row]));
}

}  // namespace

// The drop is measured from the last peak. A score that rises by half the Z-drop after its lowest value since the peak
// makes a new peak, even a lower one: the path is reliable again, as between seeds of a chain. Otherwise a long gap,
// whose diagonals count in favour of the path, would hide each later drop, or be one with the next gap.
Drops find_drops(const AlignmentView& a, const DropThresholds& t, const AlignOptions& scores) {
  Drops out;
  if (t.zdrop <= 0) return out;
  const std::int64_t recovery = t.zdrop / 2, least = t.inversion > 0 ? std::min(t.zdrop, t.inversion) : t.zdrop;
  for (std::int64_t row = 0; row < a.n; ++row) {
    if (!is_placed(a, row)) continue;
    const std::int32_t* span = a.span + 4 * row;
    const std::int64_t count = a.cigar_start[row + 1] - a.cigar_start[row];
    Walk walk(a.cigar + a.cigar_start[row], scores);
    Place peak, lowest;
    std::int64_t depth = 0;
    const auto end_drop = [&] {
      if (depth <= least) return;
      out.rows.push(static_cast<std::int32_t>(row));
      for (const Place& place : {peak, lowest}) out.run.push(static_cast<std::int32_t>(place.run));
      for (const Place& place : {peak, lowest}) out.span.push(span[0] + static_cast<std::int32_t>(place.query));
      for (const Place& place : {peak, lowest}) out.span.push(span[2] + static_cast<std::int32_t>(place.target));
      out.is_deep.push(depth > t.zdrop);
    };
    while (walk.at().run < count) {
      walk.step();
      const Place& at = walk.at();
      if (at.score >= peak.score || at.score - lowest.score >= recovery) {
        end_drop();
        peak = lowest = at;
        depth = 0;
        continue;
      }
      depth = std::max(depth, peak.score - at.score - t.extend * std::abs(at.diagonal() - peak.diagonal()));
      if (at.score < lowest.score) lowest = at;
    }
    end_drop();
  }
  return out;
}

Pieces split_at_drops(const BatchView& batch, const AlignmentView& a, const ChosenDrops& drops,
                      const AlignOptions& scores, const AlignOptions& options) {
  Pieces out;
  out.cigar_start.push(0);
  std::vector<Piece> pieces;
  for (std::int64_t row = 0, drop = 0, first = 0; row < a.n; ++row, first = drop) {
    while (drop < drops.n && drops.rows[drop] == row) ++drop;
    const bool is_split = drop > first, is_secondary = (batch.mapped.sam_flags[row] & kSecondary) != 0;
    if (is_split)
      find_pieces(a.cigar + a.cigar_start[row], a.cigar_start[row + 1] - a.cigar_start[row], drops, first, drop, scores,
                  pieces);
    const std::size_t count = is_split && !is_secondary ? pieces.size() : 1;
    for (std::size_t k = 0; k < count; ++k) {
      if (is_split) {
        add_piece(a, row, pieces[k], options, out);
        add_outer(drops.room + 4 * row, a.span + 4 * row, pieces, k, out);
      } else {
        add_whole(a, row, out);
      }
      out.rows.push(static_cast<std::int32_t>(row));
      out.is_minor.push(k > 0);
      out.is_split.push(is_split);
      out.cigar_start.push(static_cast<std::int64_t>(out.cigar.runs().size()));
    }
  }
  return out;
}

}  // namespace wfacli

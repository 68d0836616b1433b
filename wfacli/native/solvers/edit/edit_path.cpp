#include "solvers/edit/edit_path.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace wfacli {
namespace {

using Index = std::int64_t;
constexpr Index kNone = -(Index{1} << 60);
constexpr Index kWhole = 48;            // maximum edits of a piece that is traced back through all rows
constexpr Index kMaxRunLength = 1 << 28;  // maximum length per call of Cigar::add

// Two sequences, read from their beginnings (Step 1) or from their ends (Step -1).
template <class Symbol, int Step>
struct Sides {
  const Symbol *query, *target;  // the first symbols (Step 1), or the ends (Step -1)
  Index m, n;                    // lengths of query and target

  // Return the column after the run of matches from column j of diagonal k (column - row).
  Index matched(Index k, Index j) const {
    for (; j < n && j - k < m; ++j)
      if (Step > 0 ? query[j - k] != target[j] : query[-1 - (j - k)] != target[-1 - j]) break;
    return j;
  }
  Index first(Index s) const { return -std::min(s, m); }
  Index last(Index s) const { return std::min(s, n); }
};

// The furthest column that a number of edits reaches on each diagonal. A row grows with the edits.
class Row {
 public:
  Index& operator[](Index k) { return values_[static_cast<std::size_t>(k + zero_)]; }
  Index operator[](Index k) const { return values_[static_cast<std::size_t>(k + zero_)]; }
  // Make room for diagonals -s - 1 to s + 1.
  void reach(Index s) {
    if (s < zero_) return;
    const Index zero = 2 * s + 8;
    std::vector<Index> grown(static_cast<std::size_t>(2 * zero + 1), kNone);
    std::copy(values_.begin(), values_.end(), grown.begin() + (zero - zero_));
    values_ = std::move(grown);
    zero_ = zero;
  }

 private:
  Index zero_ = 0;
  std::vector<Index> values_{kNone};
};

// Compute row s from the row before it; points outside the matrix are ignored.
template <class Sides>
void next_row(const Sides& sides, Index s, Row& before, Row& now) {
  before.reach(s), now.reach(s);
  for (Index k = sides.first(s); k <= sides.last(s); ++k) {
    Index j = kNone;
    for (const Index from : {before[k + 1], before[k - 1] + 1, before[k] + 1})
      if (from > j && from <= sides.n && from - k <= sides.m) j = from;
    now[k] = j < 0 ? kNone : sides.matched(k, j);
  }
}

template <class Symbol>
class PathFinder {
 public:
  PathFinder(const EditPair& pair, const CancelFlag& stop, Cigar& cigar)
      : query_(static_cast<const Symbol*>(pair.query)),
        target_(static_cast<const Symbol*>(pair.target)),
        stop_(stop),
        cigar_(cigar) {}

  // Append the path of m rows and n columns from row i and column j on. Return false if stopped.
  bool find(Index i, Index m, Index j, Index n) {
    const Index ahead = Sides<Symbol, 1>{query_ + i, target_ + j, m, n}.matched(0, 0);
    add(kEqual, ahead);
    i += ahead, j += ahead, m -= ahead, n -= ahead;
    const Index behind = Sides<Symbol, -1>{query_ + i + m, target_ + j + n, m, n}.matched(0, 0);
    m -= behind, n -= behind;
    if (!m || !n) {
      add(kInsertion, m);
      add(kDeletion, n);
    } else {
      const std::optional<Meeting> met = meet(i, m, j, n);
      if (!met) return false;
      if (met->edits <= kWhole)
        trace({query_ + i, target_ + j, m, n}, met->edits);
      else if (!find(i, met->row, j, met->column) ||
               !find(i + met->row, m - met->row, j + met->column, n - met->column))
        return false;
    }
    add(kEqual, behind);
    return true;
  }

 private:
  // A cell near the middle of a best path, and the edits of that path.
  struct Meeting {
    Index edits, row, column;
  };

  void add(Op op, Index length) {
    for (; length > kMaxRunLength; length -= kMaxRunLength) cigar_.add(op, static_cast<std::int32_t>(kMaxRunLength));
    cigar_.add(op, static_cast<std::int32_t>(length));
  }

  // Find a cell of a best path where the two fronts meet; nothing if stopped.
  //
  // The fronts alternate, so their first meeting has the fewest edits. Along a diagonal the distance to the end never
  // grows, so where they overlap, the cell of the forward front is at most r edits from the end.
  std::optional<Meeting> meet(Index i, Index m, Index j, Index n) {
    const Sides<Symbol, 1> forward{query_ + i, target_ + j, m, n};
    const Sides<Symbol, -1> backward{query_ + i + m, target_ + j + n, m, n};
    Row ahead[2], behind[2];
    ahead[0].reach(0), behind[0].reach(0);
    ahead[0][0] = forward.matched(0, 0), behind[0][0] = backward.matched(0, 0);
    for (Index s = 0, r = 0; !stop_.is_set();) {
      const Row &one = ahead[s & 1], &other = behind[r & 1];
      const Index first = std::max(forward.first(s), n - m - backward.last(r));
      const Index last = std::min(forward.last(s), n - m - backward.first(r));
      for (Index k = first; k <= last; ++k)
        if (one[k] >= 0 && one[k] + other[n - m - k] >= n) return Meeting{s + r, one[k] - k, one[k]};
      if (s == r)
        ++s, next_row(forward, s, ahead[~s & 1], ahead[s & 1]);
      else
        ++r, next_row(backward, r, behind[~r & 1], behind[r & 1]);
    }
    return std::nullopt;
  }

  // Append a path of few edits by traceback through all rows.
  void trace(const Sides<Symbol, 1>& sides, Index edits) {
    std::vector<Row> rows(static_cast<std::size_t>(edits + 1));
    rows[0].reach(0);
    rows[0][0] = sides.matched(0, 0);
    for (Index s = 1; s <= edits; ++s)
      next_row(sides, s, rows[static_cast<std::size_t>(s - 1)], rows[static_cast<std::size_t>(s)]);
    struct Step {
      Op op;
      Index matches;  // run of matches after the operation
    };
    std::vector<Step> back;
    Index k = sides.n - sides.m, j = sides.n;
    for (Index s = edits; s > 0; --s) {
      const Row& before = rows[static_cast<std::size_t>(s - 1)];
      const Index sources[] = {before[k + 1], before[k - 1] + 1, before[k] + 1};
      constexpr Op ops[] = {kInsertion, kDeletion, kDifferent};
      int best = -1;
      for (int source = 0; source < 3; ++source)
        if (sources[source] >= 0 && sources[source] <= j && sources[source] - k <= sides.m &&
            (best < 0 || sources[source] > sources[best]))
          best = source;
      back.push_back({ops[best], j - sources[best]});
      j = best == 0 ? sources[0] : sources[best] - 1;
      k += best == 0 ? 1 : best == 1 ? -1 : 0;
    }
    add(kEqual, j);
    for (std::size_t x = back.size(); x-- > 0;) {
      add(back[x].op, 1);
      add(kEqual, back[x].matches);
    }
  }

  const Symbol *query_, *target_;
  const CancelFlag& stop_;
  Cigar& cigar_;
};

}  // namespace

bool edit_path(const EditPair& pair, const CancelFlag& stop, Cigar& cigar) {
  if (pair.symbol_bytes == 4)
    return PathFinder<std::uint32_t>(pair, stop, cigar).find(0, pair.query_len, 0, pair.target_len);
  return PathFinder<std::uint8_t>(pair, stop, cigar).find(0, pair.query_len, 0, pair.target_len);
}

}  // namespace wfacli

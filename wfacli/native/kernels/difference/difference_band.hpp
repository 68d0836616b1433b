// Bands: the diagonals that a path of bounded cost can visit. Also computes anti-diagonals of a wide band in memory.
#pragma once

#include "kernels/difference/difference_seeds.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Inclusive range of diagonals (target minus query) of a band.
struct Band {
  std::int32_t lo, hi;
  // First and last slot of row r.
  WFACLI_INLINE std::int32_t first(std::int32_t r) const { return (r - hi + 1) >> 1; }
  WFACLI_INLINE std::int32_t last(std::int32_t r) const { return (r - lo) >> 1; }
  WFACLI_INLINE std::int32_t cells(std::int32_t r) const { return last(r) - first(r) + 1; }
  WFACLI_INLINE std::int32_t width() const { return (hi - lo) / 2 + 2; }
};

// Computed part of the matrix: cells (i, j) with i <= query_len and j <= target_len.
struct Corner {
  std::int32_t query_len, target_len;
};

class Bounds {
 public:
  explicit Bounds(const KernelTask& task)
      : c_(task.costs),
        n_(task.query_len),
        m_(task.target_len),
        end_(m_ - n_),
        extend_(c_.gap[0].extend),
        start_(smaller(task.free.target_end, m_)),
        start_low_(-smaller(task.free.query_end, n_)),
        end_low_(end_ - smaller(task.free.target_begin, m_)),
        end_high_(end_ + smaller(task.free.query_begin, n_)),
        min_cost_(task.free.query_begin || task.free.query_end
                      ? 0
                      : std::int64_t{c_.skip} * larger(0, smaller(end_, smaller(start_, end_ - end_low_)))) {
    if (c_.pieces == 2) extend_ = smaller(extend_, c_.gap[1].extend);
  }

  // Returns the diagonals of all paths that cost at most `bound`, including that of the first cell. Paths begin on
  // diagonals start_low_ to start_ and end on end_low_ to end_high_.
  Band band(std::int64_t bound) const {
    const std::int64_t above = larger<std::int64_t>(beyond(start_, end_high_, bound), larger(0, end_low_));
    const std::int64_t below = larger<std::int64_t>(beyond(-start_low_, -end_low_, bound), larger(0, -end_high_));
    return ordered(smaller<std::int64_t>(m_, above), larger<std::int64_t>(-n_, -below));
  }
  // Narrows the band of a bound by the seeds of the whole query. Some path costs no more than the bound.
  void narrow_by_all(Band& band, const SeedBound& seeds, std::int64_t bound) const {
    narrow_by_seeds(band, seeds, seeds.charge(0), seeds.charge(0), SeedBound::kScale * bound);
  }
  // Returns the band between two diagonals.
  Band between(std::int32_t low, std::int32_t high) const { return ordered(high, low); }
  // Returns true if the band contains the whole matrix.
  bool whole(const Band& band) const { return band.lo <= -n_ && band.hi >= m_; }
  // Returns true if row r of the band has cells of the matrix.
  bool meets(const Band& band, std::int32_t r) const {
    return larger(band.first(r), r - m_) <= smaller(band.last(r), n_);
  }
  // Returns a lower bound of the cost of every path. Each query symbol outside a gap uses one target symbol, so the
  // surplus of target symbols stays unaligned or lies in gaps, which cost more.
  std::int64_t min_cost() const { return min_cost_; }

  // Returns the largest bound whose band a window of `cells` cells always covers, or a negative value if there is
  // none.
  std::int64_t provable(std::int32_t cells) const {
    const std::int64_t diagonals = 2 * static_cast<std::int64_t>(cells) - 4;
    if (n_ + m_ <= diagonals) return gap_cost(c_, n_) + gap_cost(c_, m_);
    if (skew() > diagonals) return -1;
    const std::int64_t l = (diagonals - skew()) / 2 + 1;
    return gap_cost(c_, l) + gap_cost(c_, l + skew()) - 1;
  }

  // Narrows `band` to the diagonals that a path of cost `bound` through row r can still visit. Returns false if there
  // is no such path. Requires that no end of the query is free, and with `seeds`, which may be null, no end at all.
  template <class S>
  bool narrow(Band& band, const Rows<S>& rows, Tracked& tracked, std::int64_t bound, const SeedBound* seeds) const {
    const std::int32_t r = rows.row;
    const std::int32_t lo = larger(larger(rows.lo, band.first(r)), r - m_);
    const std::int32_t hi = smaller(smaller(rows.hi, band.last(r)), n_);
    if (lo > hi) return true;
    rows.move(tracked, lo);
    const std::int64_t e = extend_;
    std::int64_t right = kFar, left = kFar, cost = tracked.cost;
    std::int64_t seed_right = kFar, seed_left = kFar;
    // Slack: the path may already be inside its last gap, whose opening cost is then paid. Or it may cross the row
    // along a diagonal; then the cell beside it costs at most one gap more.
    std::int64_t over = gap_cost(c_, 1) + e;
    for (int g = 0; g < c_.pieces; ++g) over = larger<std::int64_t>(over, c_.gap[g].open);
    for (std::int32_t i = lo;; cost -= rows.rise(i)) {
      const std::int64_t k = e * (r - 2 * i);
      if (cost <= bound + over) {
        right = smaller(right, cost - over - k);
        left = smaller(left, cost - over + k);
        if (seeds) {
          const std::int64_t least = SeedBound::kScale * (cost - over) + seeds->charge(i);
          seed_right = smaller(seed_right, least - seeds->deletion() * (r - 2 * i));
          seed_left = smaller(seed_left, least + seeds->insertion() * (r - 2 * i));
        }
      }
      if (++i > hi) break;
    }
    // Paths may still begin at the next target symbols, on diagonals up to the band's last one.
    const bool begins = r < smaller(start_, band.hi);
    if (begins) {
      right = -kFar;
      left = smaller<std::int64_t>(left, (c_.skip + e) * (r + 1));
    }
    if (right + e * end_low_ > bound || left - e * end_ > bound) return false;
    // The rest of the bound pays for reaching the nearest diagonal where paths end, or for l symbols beyond the last
    // such diagonal and back.
    const std::int64_t above = bound - right - e * end_, below = bound - left + e * end_low_;
    const std::int64_t max_hi = above < 0 ? rounded_down(bound - right, e) : end_ + max_gap_length(above);
    const std::int64_t min_lo = below < 0 ? -rounded_down(bound - left, e) : end_low_ - max_gap_length(below);
    const std::int64_t first = begins ? smaller<std::int64_t>(min_lo, r) : min_lo;
    band = ordered(smaller<std::int64_t>(band.hi, max_hi), larger<std::int64_t>(band.lo, first));
    if (seeds && !narrow_by_seeds(band, *seeds, seed_right, seed_left, SeedBound::kScale * bound)) return false;
    return band.first(r) <= hi && band.last(r) >= lo;
  }

 private:
  // The same by the seeds that are left: a path deletes the symbols up to the highest diagonal that it visits, and inserts
  // those from there to the last one; the other way round on the other side.
  bool narrow_by_seeds(Band& band, const SeedBound& seeds, std::int64_t right, std::int64_t left, std::int64_t bound) const {
    const std::int64_t deletion = seeds.deletion(), insertion = seeds.insertion(), both = deletion + insertion;
    if (right + deletion * end_ > bound || left - insertion * end_ > bound) return false;
    const std::int64_t max_hi = rounded_down(bound - right + insertion * end_, both);
    const std::int64_t min_lo = -rounded_down(bound - left - deletion * end_, both);
    band = ordered(smaller<std::int64_t>(band.hi, max_hi), larger<std::int64_t>(band.lo, min_lo));
    return true;
  }

  static constexpr std::int64_t kFar = INT64_MAX / 4;  // no path

  std::int64_t skew() const { return end_ < 0 ? -end_ : end_; }
  static std::int64_t rounded_down(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }
  // Returns the highest diagonal reached by paths of cost `bound` that begin on `first` or below and end on `last` or
  // below. Such a path needs one gap beyond the lower of the two, and a second one beyond the higher.
  std::int64_t beyond(std::int32_t first, std::int32_t last, std::int64_t bound) const {
    const std::int64_t low = smaller(first, last), difference = larger(first, last) - low, left = bound - min_cost_;
    std::int64_t one = 0, two = 0;
    for (int g = 0; g < c_.pieces; ++g) {
      one = larger(one, (left - c_.gap[g].open) / c_.gap[g].extend);
      for (int h = 0; h < c_.pieces; ++h)
        two = larger(two, (left - c_.gap[g].open - c_.gap[h].open - c_.gap[h].extend * difference) /
                              (c_.gap[g].extend + c_.gap[h].extend));
    }
    return one < difference ? low + one : low + difference + two;
  }
  // Rounds to borders of windows, which stay on the first row and move on the second: the upper border's diagonal
  // occurs on odd rows (from the first row on), the lower border's on even rows. So switching between a window and a
  // band never widens the band.
  Band ordered(std::int64_t hi, std::int64_t lo) const {
    return {static_cast<std::int32_t>(lo - ((lo ^ end_) & 1)), static_cast<std::int32_t>(hi + (~(hi ^ end_) & 1))};
  }
  // Returns the maximum length l of two gaps that together cost at most `bound`, one of them already open at the
  // cheapest extension.
  std::int64_t max_gap_length(std::int64_t bound) const {
    std::int64_t l = 0;
    for (int g = 0; g < c_.pieces; ++g)
      l = larger(l, (bound - c_.gap[g].open) / (extend_ + c_.gap[g].extend));
    return l;
  }

  const Costs& c_;
  std::int32_t n_, m_, end_, extend_, start_, start_low_, end_low_, end_high_;
  std::int64_t min_cost_;
};

// Rows of a band in memory, updated in place. A cell depends on slots i - 1 and i of the previous row, so descending i
// overwrites no value that is still needed.
template <class S>
class Wide {
  using L = Lanes<typename S::Lane>;
  using Lane = typename S::Lane;
  using Vector = typename L::Vector;
  using R = Rows<S>;
  static constexpr int P = S::kPieces;

 public:
  Wide(const S& scheme, const Text& text) : step_(scheme), text_(text) {}

  // Computes `count` rows after rows.row.
  void run(R& rows, std::int32_t count, const Band& band, const Corner& corner, Tracked* tracked) const {
    const std::int32_t middle = band.lo + (band.hi - band.lo) / 2, end = rows.row + count;
    const auto on_row = [&](std::int32_t r) {
      const std::int32_t lo = larger(rows.lo, r - corner.target_len), hi = smaller(rows.hi, corner.query_len);
      return larger(smaller((r - middle) >> 1, hi), lo);
    };
    if (tracked) {
      const std::int32_t to = on_row(rows.row);
      rows.move(*tracked, larger(smaller(to, band.last(rows.row)), band.first(rows.row)));
    }
    while (rows.row < end) {
      row(rows, band, corner);
      if (!tracked) continue;
      const std::int32_t to = on_row(rows.row);
      tracked->cost += (to > tracked->slot ? rows.array[R::kU] : rows.array[R::kV])[to] + rows.s.extend;
      tracked->slot = to;
    }
  }

 private:
  void row(R& rows, const Band& band, const Corner& corner) const {
    const std::int32_t r = ++rows.row;
    const std::int32_t first = band.first(r), last = band.last(r);
    const std::int32_t lo = larger(larger(first, 1), r - corner.target_len);
    const std::int32_t hi = smaller(smaller(last, r - 1), corner.query_len);
    if (lo > rows.lo)
      keep_low(rows, lo - 1);
    else
      rows.beside_low(lo - 1);
    for (std::int32_t i = rows.hi + 1; i <= hi; ++i) rows.beside_high(i);
    if (lo <= hi) vectors(rows, lo, hi);
    rows.lo = lo;
    rows.hi = hi;
    if (first <= 0 && r <= corner.target_len) {
      rows.top_edge();
      rows.lo = 0;
    }
    if (r <= last && r <= corner.query_len) {
      rows.left_edge();
      rows.hi = r;
    }
  }

  void keep_low(R& rows, std::int32_t i) const {
    Lane gaps[P + 1];
    for (int g = 0; g < P; ++g) gaps[g] = rows.array[R::kB + g][i];
    rows.keep_low(i, rows.row - 1, gaps);
  }

  void vectors(R& rows, std::int32_t lo, std::int32_t hi) const {
    const Step<S> step = step_;
    const std::uint8_t* q = text_.query - 1;
    const std::uint8_t* t = text_.target + (text_.target_len - rows.row);
    // Local copies: as far as the compiler knows, a byte store might change the members.
    Lane* const us = rows.array[R::kU];
    Lane* const vs = rows.array[R::kV];
    Lane *as[P + 1], *bs[P + 1];
    for (int g = 0; g < P; ++g) {
      as[g] = rows.array[R::kA + g];
      bs[g] = rows.array[R::kB + g];
    }
    // Aligned vectors: their stores would often span two cache lines. Slots beyond lo and hi are set before they are read.
    for (std::int32_t i = hi / L::kCount * L::kCount; i > lo - L::kCount; i -= L::kCount) {
      Vector u = L::load(us + i), v = L::load(vs + i - 1), a[P + 1], b[P + 1];
      for (int g = 0; g < P; ++g) {
        a[g] = L::load(as[g] + i - 1);
        b[g] = L::load(bs[g] + i);
      }
      step(q + i, t + i, u, v, a, b);
      L::store(us + i, u);
      L::store(vs + i, v);
      for (int g = 0; g < P; ++g) {
        L::store(as[g] + i, a[g]);
        L::store(bs[g] + i, b[g]);
      }
    }
  }

  const Step<S> step_;
  const Text& text_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

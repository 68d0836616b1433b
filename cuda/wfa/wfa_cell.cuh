// A wavefront cell: its sources and where it is stored.
#pragma once

#include "wfa/wfa_ring.cuh"

namespace wfacli {

// Byte offsets from `ring` of the rows, all in shared memory, that a score's row reads, and of the rows it writes. Gap
// components: insertions and deletions of each piece.
template <int Pieces, class R>
struct Rows {
  static constexpr int kCount = Pieces ? Pieces : 1;
  std::uint8_t* ring;
  std::int32_t m, mismatch, opened[kCount];
  std::int32_t gap[2 * kCount], longer[2 * kCount];  // empty if there are no pieces

  WFACLI_DEVICE Rows(const R& r, const Slots<Pieces>& slots, const Penalties<Pieces>& p)
      : ring(r.near()), m(R::place_of_row(slots.m(0))), mismatch(R::place_of_row(slots.m(p.costs.mismatch))) {
#pragma unroll
    for (int g = 0; g < kCount; ++g) opened[g] = R::place_of_row(slots.m(p.opened(g)));
#pragma unroll
    for (int i = 0; i < 2 * Pieces; ++i) {
      gap[i] = R::place_of_row(slots.insertion(i / 2) + i % 2 * p.rows_gap(i / 2));
      longer[i] = R::place_of_row(slots.longer_insertion(i / 2) + i % 2 * p.rows_gap(i / 2));
    }
  }
  WFACLI_DEVICE typename R::Offset& at(std::int32_t row, std::int32_t column) const {
    return *reinterpret_cast<typename R::Offset*>(ring + (row + column));
  }
};

// Byte offsets of a diagonal and its neighbours within each of these rows.
struct Places {
  std::int32_t column, beside[2];  // beside: source of an insertion, and of a deletion
  template <class R>
  WFACLI_DEVICE static Places of(std::int32_t k) {
    return {R::place_of(k), {R::place_of(k + 1), R::place_of(k - 1)}};
  }
};

// A diagonal k of a row. limit: the highest offset inside the matrix, or kNoCell if the row does not have the
// diagonal; end: the offset that ends the pair; query: the position of the next query base is query - offset.
constexpr std::int32_t kNoCell = INT32_MIN;
struct Diagonal {
  std::int32_t k, limit, end, query;
  Places places;

  WFACLI_DEVICE void keep_in_registers() {
    WFACLI_KEEP(k);
    WFACLI_KEEP(limit);
    WFACLI_KEEP(end);
    WFACLI_KEEP(query);
    WFACLI_KEEP(places.column);
    WFACLI_KEEP(places.beside[0]);
    WFACLI_KEEP(places.beside[1]);
  }
};

// Two columns of a thread: their diagonals, and whether any thread of the warp has one there.
struct Columns {
  Diagonal a, b;
  bool any_a, any_b;

  WFACLI_DEVICE void keep_in_registers() {
    a.keep_in_registers();
    b.keep_in_registers();
  }
};

// A cell of these rows. All its sources are read at once: the stores of one cell would otherwise delay the loads of
// the next one.
template <int Pieces, class R>
class NearCell {
 public:
  WFACLI_DEVICE NearCell(const Rows<Pieces, R>& rows, const Places& in)
      : rows_(rows), column_(in.column), same_(rows.at(rows.mismatch, column_)) {
#pragma unroll
    for (int i = 0; i < kGaps; ++i) {
      first_[i] = rows.at(rows.opened[i / 2], in.beside[i % 2]);
      further_[i] = Pieces ? rows.at(rows.longer[i], in.beside[i % 2]) : 0;
    }
  }
  WFACLI_DEVICE std::int32_t mismatch() const { return same_; }
  WFACLI_DEVICE std::int32_t opened(int g, bool insertion) const { return first_[2 * g + !insertion]; }
  WFACLI_DEVICE std::int32_t longer(int g, bool insertion) const { return further_[2 * g + !insertion]; }
  WFACLI_DEVICE void set_gap(int g, bool insertion, std::int32_t off) const {
    rows_.at(rows_.gap[2 * g + !insertion], column_) = static_cast<typename R::Offset>(off);
  }
  WFACLI_DEVICE void set(std::int32_t off) const {
    rows_.at(rows_.m, column_) = static_cast<typename R::Offset>(off);
  }

 private:
  static constexpr int kGaps = 2 * Rows<Pieces, R>::kCount;
  const Rows<Pieces, R>& rows_;
  const std::int32_t column_, same_;
  std::int32_t first_[kGaps], further_[kGaps];
};

// A cell whose diagonals may be outside shared memory. Sources are read when asked for.
template <int Pieces, class R>
class FarCell {
 public:
  WFACLI_DEVICE FarCell(R& ring, const Slots<Pieces>& slots, const Penalties<Pieces>& p, std::int32_t k)
      : ring_(ring), slots_(slots), p_(p), k_(k) {}
  WFACLI_DEVICE std::int32_t mismatch() const { return at(slots_.m(p_.costs.mismatch), k_); }
  WFACLI_DEVICE std::int32_t opened(int g, bool insertion) const { return at(slots_.m(p_.opened(g)), from(insertion)); }
  WFACLI_DEVICE std::int32_t longer(int g, bool insertion) const {
    return at(slots_.longer_insertion(g) + (insertion ? 0 : p_.rows_gap(g)), from(insertion));
  }
  WFACLI_DEVICE void set_gap(int g, bool insertion, std::int32_t off) const {
    ring_.template set_offset<true>(slots_.insertion(g) + (insertion ? 0 : p_.rows_gap(g)), k_, off);
  }
  WFACLI_DEVICE void set(std::int32_t off) const { ring_.template set_offset<true>(slots_.m(0), k_, off); }

 private:
  WFACLI_DEVICE std::int32_t from(bool insertion) const { return insertion ? k_ + 1 : k_ - 1; }
  WFACLI_DEVICE std::int32_t at(std::int32_t row, std::int32_t diagonal) const {
    return ring_.template offset<true>(row, diagonal);
  }

  R& ring_;
  const Slots<Pieces>& slots_;
  const Penalties<Pieces>& p_;
  const std::int32_t k_;
};

}  // namespace wfacli

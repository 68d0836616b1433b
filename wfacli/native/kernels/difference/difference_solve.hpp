// Aligns one pair: tries bands of growing cost until one is proved wide enough, then traces the path in bounded
// memory.
#pragma once

#include "kernels/difference/difference_bound.hpp"
#include "kernels/difference/difference_checkpoints.hpp"
#include "kernels/difference/difference_traceback.hpp"
#include "kernels/difference/difference_window.hpp"
#include "kernels/difference/difference_within.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class S>
class Difference {
  using Lane = typename S::Lane;
  using Checkpoint = DifferenceMemory::Checkpoint;
  using Piece = DifferenceMemory::Piece;
  static constexpr std::size_t kRowBytes = S::kPlanes * sizeof(Lane);  // per cell of the table
  static constexpr std::size_t kWholeTable = std::size_t{1} << 20;     // limit for storing a whole band's planes
  static constexpr std::int32_t kSpan = 256;                           // rows between attempts to narrow the band
  static constexpr std::int32_t kWide = 192;                           // cells of a band that counting seeds pays for
  static constexpr std::int32_t kNarrow = 64;                          // cells of a band that need not be narrowed

 public:
  static constexpr std::int32_t kDivided = 512;  // cells of a band that dividing the pair pays for
  // The same for similar pairs: their bound is at most a mismatch for each kSimilar symbols.
  static constexpr std::int32_t kDividedSimilar = 64, kSimilar = 64;

  Difference(const KernelTask& task, DifferenceMemory& memory, Cigar& cigar)
      : Difference(task, {task.query[-1], task.target[-1]}, memory, cigar) {
    divides_ = !free_ && !task.wildcards;
  }

  // `task`: a part of a pair with these sentinels, which is not divided again. `within`: where all cheapest paths are, if
  // that is known.
  Difference(const KernelTask& task, const Sentinels& sentinels, DifferenceMemory& memory, Cigar& cigar,
             const Corridor* within = nullptr)
      : t_(task), m_(memory), cigar_(cigar), free_(task.free.any()),
        free_query_(task.free.query_begin || task.free.query_end),
        s_(task.costs, task.by_bits, smaller(task.free.target_end, task.target_len),
           smaller(task.free.query_end, task.query_len)),
        bounds_(task), search_(task, bounds_, memory),
        text_(task, sentinels, memory.text), rows_(s_, task, memory.rows), wide_(s_, text_),
        checkpoints_(rows_, memory, task.checkpoint_bytes - Rows<S>::bytes(task)),
        total_(task.query_len + task.target_len), within_(within, bounds_, total_, S::kWindowCells) {
    set_piece();
  }

  // Aligns the pair, or divides it.
  KernelAnswer run() {
    if (divides_ && search_.is_far() && divide()) return {};
    for (search_.start(within_.known());;) {
      if (divides_ && bounds_.band(search_.bound()).cells(0) > divided_cells() && divide()) return {};
      const std::int64_t cost = forward();
      if (halt_ != Status::Ok) return {halt_};
      if (cost <= search_.bound()) {
        KernelAnswer answer;
        answer.score = static_cast<std::int32_t>(cost);
        if (t_.path) path(answer);
        return answer;
      }
      if (!search_.raise(cost, rows_.row)) return {Status::ScoreLimit};
    }
  }

  // Returns true if run() did not align the pair, but found a path: DifferenceMemory::certain has its parts.
  bool divided() const { return divided_; }

 private:
  static constexpr std::int64_t kNone = INT64_MAX;

  // Divides the pair, if possible; tries it only once.
  bool divide() {
    divides_ = false;
    return divided_ = find_certain(t_, m_.certain);
  }

  // Returns the cells of a band above which the pair is divided.
  std::int32_t divided_cells() const {
    const std::int64_t most = std::int64_t{t_.costs.mismatch} * smaller(t_.query_len, t_.target_len);
    return search_.bound() * kSimilar <= most ? kDividedSimilar : kDivided;
  }

  // Cells where one sequence ends: the cheapest one so far, including the symbols then skipped, and the last one
  // visited.
  struct Ending {
    std::int64_t cost = kNone;
    std::int32_t before = 0;   // symbols of the other sequence before the cheapest one
    std::int32_t row = -1;     // anti-diagonal of the last one
    Tracked at{};
  };

  // Returns the minimum cost inside the band that paths within the current bound need, or kNone if there is no such path.
  // Stores what the traceback needs.
  std::int64_t forward() {
    const std::int64_t bound = search_.bound();
    const bool narrows = search_.narrows();
    Band band = within_.known() ? within_.hull() : bounds_.band(bound);
    m_.pieces.clear();
    checkpoints_.drop(0);
    const std::int32_t start = total_ & 1;
    Tracked tracked = rows_.begin(start);
    const SeedBound* seeds = narrows && !free_ && band.cells(start) > kWide ? search_.seeds() : nullptr;
    if (seeds && !bounds_.narrow(band, rows_, tracked, bound, seeds)) return kNone;
    const std::size_t cells = window_cells(band.cells(start));
    whole_ = t_.path && !free_ && !within_.known() && cells <= S::kWindowCells && cells * total_ * kRowBytes <= smaller(t_.table_bytes, kWholeTable);
    spacing_ = t_.path && !whole_ ? piece_rows_ : kSpan;
    if (whole_) m_.table.resize(larger(m_.table.size(), cells * total_ * kRowBytes + 64));
    const Corner corner{t_.query_len, t_.target_len};
    std::size_t table = 0;
    std::int32_t narrowed = start;
    query_end_ = target_end_ = {};
    if (free_ && start) end_here(tracked);  // a whole sequence may stay unaligned
    while (rows_.row < total_ && may_end_after(band)) {
      if (t_.cancelled->is_set()) return stop(Status::Dropped);
      const std::int32_t r = rows_.row;
      if (narrows && r - narrowed >= larger(kSpan, band.width())) {
        narrowed = r;
        if (!bounds_.narrow(band, rows_, tracked, bound, seeds)) return query_end_.cost;  // no path of this cost continues
      }
      if (t_.path && !whole_ && !checkpoints_.save(band, 0, start, spacing_)) return stop(Status::MemoryLimit);
      const bool last = (whole_ || !t_.path) && (!narrows || band.cells(r) <= kNarrow);
      const std::int32_t count = last ? total_ - r : smaller(spacing_ - (r - start) % spacing_, total_ - r);
      if (free_) {
        advance_to_ends(band, corner, count, tracked);
      } else if (whole_) {
        const Frame frame = framed(band.first(r), window_cells(band.cells(r)), corner);
        m_.pieces.push({r, frame.cells, frame.slot, table});
        advance(band, corner, count, &tracked, table_at(table));
        table += static_cast<std::size_t>(frame.cells) * count * kRowBytes;
      } else {
        advance_by(band, corner, count, &tracked);
      }
    }
    if (free_) return smaller(query_end_.cost, target_end_.cost);
    rows_.move(tracked, t_.query_len);
    return tracked.cost;
  }

  // Computes up to `count` (even) rows: either rows at whose end no path of the band can end, or, one by one, rows
  // where one can.
  void advance_to_ends(const Band& band, const Corner& corner, std::int32_t count, Tracked& tracked) {
    const std::int32_t first =
        free_query_ ? smaller(t_.query_len, t_.target_len) : larger(t_.query_len, 2 * t_.query_len + band.lo);
    const std::int32_t before = (first - rows_.row - 1) / 2 * 2;
    if (before > 0) return advance(band, corner, smaller(count, before), &tracked, nullptr);
    for (const std::int32_t end = rows_.row + count; rows_.row < end && may_end_after(band);) {
      wide_.run(rows_, 1, band, corner, &tracked);
      end_here(tracked);
    }
  }

  // Returns true if a later row may have a cell where a path of the band ends.
  bool may_end_after(const Band& band) const {
    if (free_query_) return bounds_.meets(band, rows_.row + 1);
    return !free_ || band.first(rows_.row + 1) <= t_.query_len;
  }

  // Checks the row's cells at the end of the query and at the end of the target: the path may end there.
  WFACLI_INLINE void end_here(const Tracked& tracked) {
    if (t_.free.query_begin) end_beside(tracked);
    const std::int32_t j = rows_.row - t_.query_len, left = t_.target_len - j;
    if (rows_.hi < t_.query_len || rows_.lo > t_.query_len) return;
    if (query_end_.row == rows_.row - 1) {
      query_end_.at.cost += rows_.array[Rows<S>::kV][t_.query_len] + s_.extend;
    } else {
      query_end_.at = tracked;
      rows_.move(query_end_.at, t_.query_len);
    }
    query_end_.row = rows_.row;
    // Of equal cells the last one is kept, which skips the fewest target symbols.
    const std::int64_t cost = query_end_.at.cost + std::int64_t{s_.c.skip} * left;
    if (left <= t_.free.target_begin && cost <= query_end_.cost) {
      query_end_.cost = cost;
      query_end_.before = j;
    }
  }
  // The same at the end of the target, where query symbols are skipped.
  void end_beside(const Tracked& tracked) {
    const std::int32_t i = rows_.row - t_.target_len, left = t_.query_len - i;
    if (i < 0 || left <= 0 || rows_.lo > i || rows_.hi < i) return;
    if (target_end_.row == rows_.row - 1) {
      target_end_.at.cost += rows_.array[Rows<S>::kU][i] + s_.extend;
    } else {
      target_end_.at = tracked;
      rows_.move(target_end_.at, i);
    }
    target_end_.row = rows_.row;
    const std::int64_t cost = target_end_.at.cost + std::int64_t{s_.c.skip} * left;
    if (left <= t_.free.query_begin && cost <= target_end_.cost) {
      target_end_.cost = cost;
      target_end_.before = i;
    }
  }

  std::int64_t stop(Status status) {
    halt_ = status;
    return kNone;
  }

  // Computes `count` rows inside of `limit`.
  void advance_by(const Band& limit, const Corner& corner, std::int32_t count, Tracked* tracked) {
    for (const std::int32_t end = rows_.row + count; rows_.row < end;)
      advance(within_.after(limit, rows_.row), corner, smaller(within_.rows_after(rows_.row), end - rows_.row), tracked, nullptr);
  }

  // Computes `count` rows, in registers if the band fits them.
  void advance(const Band& band, const Corner& corner, std::int32_t count, Tracked* tracked, Lane* table) {
    const std::int32_t cells = band.cells(rows_.row);
    if (cells > S::kWindowCells) {
      if (grows(band, corner)) rows_.widen(band.first(rows_.row), band.last(rows_.row));
      wide_.run(rows_, count, band, corner, tracked);
      return;
    }
    const Frame frame = grows(band, corner) ? Frame{band.first(rows_.row), window_cells(cells)}
                                            : framed(band.first(rows_.row), window_cells(cells), corner);
    if (tracked) {
      const std::int32_t lo = larger(larger(rows_.lo, frame.slot), rows_.row - t_.target_len);
      const std::int32_t hi = smaller(smaller(rows_.hi, frame.slot + frame.cells - 1), t_.query_len);
      rows_.move(*tracked, larger(lo, smaller(hi, (rows_.row - t_.target_len + t_.query_len) >> 1)));
    }
    window(frame.cells, count, frame.slot, tracked, table);
  }

  // Returns the position of a window of `cells` slots from `slot` on, moved to where the row has cells.
  struct Frame {
    std::int32_t slot, cells;
  };
  Frame framed(std::int32_t slot, std::int32_t cells, const Corner& corner) const {
    const std::int32_t r = rows_.row;
    const std::int32_t first = larger(0, r - corner.target_len), last = smaller(r, corner.query_len);
    const bool low_edge = rows_.lo > larger(slot, first), high_edge = rows_.hi < smaller(slot + cells - 1, last);
    if (high_edge) slot = smaller(slot, rows_.hi - cells + 1);
    if (low_edge) slot = larger(slot, rows_.lo);
    if (high_edge && slot + cells - 1 > rows_.hi) cells = smaller(cells, window_cells(rows_.hi - slot + 1));
    return {slot, cells};
  }

  // Returns true if a row of the band has cells beside those that hold costs.
  bool grows(const Band& band, const Corner& corner) const {
    const std::int32_t r = rows_.row;
    return within_.known() && (larger(band.first(r), larger(0, r - corner.target_len)) < rows_.lo ||
                       smaller(band.last(r), smaller(r, corner.query_len)) > rows_.hi);
  }
  // Returns true if the band grows in the next `count` rows.
  bool grows_within(const Band& limit, const Corner& corner, std::int32_t count) const {
    for (std::int32_t r = rows_.row; r < rows_.row + count; r += within_.rows_after(r))
      if (grows(within_.after(limit, r), corner)) return true;
    return false;
  }

  void window(std::int32_t cells, std::int32_t count, std::int32_t slot, Tracked* tracked, Lane* table) {
    if (table)
      window_of<32, true>(cells, count, slot, tracked, table);
    else
      window_of<32, false>(cells, count, slot, tracked, table);
  }
  template <int Cells, bool Trace>
  void window_of(std::int32_t cells, std::int32_t count, std::int32_t slot, Tracked* tracked, Lane* table) {
    if constexpr (Cells < S::kWindowCells) {
      if (cells > Cells) return window_of<(Cells + 64) / 64 * 64, Trace>(cells, count, slot, tracked, table);
    }
    Window<S, Cells, Trace> w(s_, text_);
    w.run(rows_, count, slot, tracked, table);
  }

  // Sets the size of a piece of the traceback: as many rows as a window can cover with all cells that lead to its last
  // cell.
  void set_piece() {
    piece_cells_ = kVectorBytes < 64 || S::kWindowCells < 128 || 126 * 128 * kRowBytes > t_.table_bytes ? 64 : 128;
    const std::size_t max_rows = t_.table_bytes / (piece_cells_ * kRowBytes) / 2 * 2;
    piece_rows_ = static_cast<std::int32_t>(larger<std::size_t>(2, smaller<std::size_t>(max_rows, piece_cells_ - 2)));
  }

  Lane* table_at(std::size_t bytes) {
    const auto start = reinterpret_cast<std::uintptr_t>(m_.table.data());
    return reinterpret_cast<Lane*>(m_.table.data() + (64 - start % 64) % 64 + bytes);
  }

  __attribute__((noinline)) void path(KernelAnswer& answer) {
    WindowTraceback<S> traceback(s_, text_, cigar_);
    TracePosition place{t_.query_len, t_.target_len, -1};
    if (target_end_.cost < query_end_.cost)  // of equal ends, the one that skips no query symbol
      place.i = target_end_.before;
    else if (free_)
      place.j = query_end_.before;
    answer.query_skip = t_.query_len - place.i;
    answer.target_skip = t_.target_len - place.j;
    if (whole_) {
      while (!m_.pieces.empty() && place.i > 0 && place.j > 0) {
        const Piece piece = m_.pieces.back();
        traceback.trace_piece(piece, table_at(piece.at), place);
        m_.pieces.resize(m_.pieces.size() - 1);
      }
    } else {
      while (place.i > 0 && place.j > 0) {
        if (answer.status = trace_piece(traceback, place); answer.status != Status::Ok) return;
      }
    }
    traceback.finish(place, answer);
  }

  // Recomputes the rows before `place`, only in cells that lead to it, and traces the path through them.
  Status trace_piece(WindowTraceback<S>& traceback, TracePosition& place) {
    if (t_.cancelled->is_set()) return Status::Dropped;
    while (m_.checkpoints.back().row >= place.row()) checkpoints_.drop(m_.checkpoints.size() - 1);
    const Checkpoint from = m_.checkpoints.back();
    const Band band{from.k_lo, from.k_hi};
    const Corner corner{place.i, place.j};
    checkpoints_.go_to(from);
    if (place.row() - from.row > piece_rows_) {
      checkpoints_.restore(from, from.lo, from.hi);
      return split(band, corner, place.row());
    }
    const std::int32_t count = (place.row() - from.row + 1) / 2 * 2;
    m_.table.resize(larger(m_.table.size(), count * piece_cells_ * kRowBytes + 64));
    const Frame frame = grows_within(band, corner, count) ? Frame{from.row - place.j, piece_cells_}
                                                          : framed(from.row - place.j, piece_cells_, corner);
    const Piece piece{from.row, frame.cells, frame.slot, 0};
    checkpoints_.restore(from, frame.slot, frame.slot + frame.cells - 1);
    window(frame.cells, count, frame.slot, nullptr, table_at(0));
    traceback.trace_piece(piece, table_at(0), place);
    return Status::Ok;
  }

  // Adds checkpoints to a piece that is too long for one window.
  Status split(const Band& band, const Corner& corner, std::int32_t end) {
    const std::size_t first = m_.checkpoints.size();
    const std::int32_t base = rows_.row;
    spacing_ = piece_rows_;
    while (rows_.row + spacing_ < end) {
      if (t_.cancelled->is_set()) return Status::Dropped;
      advance_by(band, corner, spacing_, nullptr);
      if (!checkpoints_.save(band, first, base, spacing_)) return Status::MemoryLimit;
    }
    return m_.checkpoints.size() > first ? Status::Ok : Status::MemoryLimit;
  }

  const KernelTask& t_;
  DifferenceMemory& m_;
  Cigar& cigar_;
  const bool free_, free_query_;  // any end is free; an end of the query is free
  const S s_;
  const Bounds bounds_;
  BoundSearch<S> search_;
  const Text text_;
  Rows<S> rows_;
  const Wide<S> wide_;
  Checkpoints<S> checkpoints_;
  const std::int32_t total_;
  const Within within_;
  std::int32_t piece_cells_ = 0, piece_rows_ = 0, spacing_ = 0;
  bool whole_ = false;
  bool divides_ = false, divided_ = false;  // the pair may be, or is, divided at certain matches
  Ending query_end_, target_end_;  // best cells at the end of the query and of the target
  Status halt_ = Status::Ok;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Wavefront alignment of reversed pairs by a group of threads per pair: costs and canonical paths.
//
// Recurrences: S. Marco-Sola et al., "Fast gap-affine pairwise alignment using the wavefront algorithm",
// Bioinformatics 2021. Groups stay resident and draw pairs from a counter, and the cells of a wavefront are computed
// in parallel: Q. Aguado-Puig et al., "WFA-GPU: gap-affine pairwise read-alignment using GPUs", Bioinformatics 2023,
// and "Accelerating edit-distance sequence alignment on GPU using the wavefront algorithm" (eWFA-GPU), IEEE Access
// 2022. Ties between equally far sources of a cell are resolved here, once, by the order of the CPU's
// wfacli/native/kernels/wavefront/wavefront_traceback.hpp, so every trace leads to the canonical path.
#pragma once

#include "wfa/wfa_band.cuh"
#include "wfa/wfa_cell.cuh"
#include "wfa/wfa_memory.cuh"
#include "wfa/wfa_path.cuh"
#include "wfa/wfa_replay.cuh"

namespace wfacli {

// Pieces: 0 to 2 pieces of the gap cost (Penalties). Pair: sequences (wfa_match.cuh). Trace: wfa_trace.cuh. Group:
// Lanes. Offset, Width, Out: Ring. The task's heuristic band applies if the ring is wrapped.
template <int Pieces, class Pair, class Trace, class Group, class Offset, int Width, Outside Out>
class Wavefront {
  static constexpr bool kBanded = Out == Outside::Wrapped, kSpills = Out == Outside::Spilled;
  static constexpr std::int32_t kReservedRows = 64;               // rows for which trace space is reserved at once
  static_assert(!kBanded || Width % (2 * Group::kThreads) == 0);  // each thread has two columns at a time
  using R = Ring<Offset, Trace::kWords, Width, Out>;
  using Cell = typename Trace::Cell;

 public:
  using Memory = WavefrontMemory<Pieces, Trace, Group, Offset, Width, Out>;
  struct Answer {
    Status status;
    std::int32_t cost = 0, ops = 0;
    bool cut = false;
  };

  // Set up a pair to be aligned up to score `bound`, at most Memory::cost_limit().
  WFACLI_DEVICE Wavefront(const AlignTask& task, const Memory& memory, std::int32_t row, std::int32_t bound)
      : task_(task), p_{task.costs}, memory_(memory), match_(task, row), n_(match_.query_length()),
        m_(match_.target_length()), last_(m_ - n_), bound_(bound),
        ring_(memory.ring, memory.spilled, p_.rows(), Memory::half(task, p_)), trace_(memory.trace), slots_(p_),
        reach_(p_, n_, m_), budget_(bound_, p_.min_gap_step(), last_), band_(task, p_, n_, m_, memory.ranges) {}

  WFACLI_DEVICE Answer align(std::int32_t slot) {
    if (max(n_, m_) > R::kMaxLength) return {Status::LengthLimit};
    if (!kBanded && max(last_, -last_) > p_.max_gap_length(bound_)) return {Status::ScoreLimit};
    std::int32_t s = 0;
    for (bool ended = begin();;) {
      if constexpr (Trace::kLinked)
        if (!trace_.fits(Group::shared_value(&memory_.state->blocks), s)) return failed(Status::MemoryLimit, s);
      if (ended) break;
      if (s >= bound_)
        return failed(s >= R::kMaxScore && s < task_.max_cost ? Status::LengthLimit : Status::ScoreLimit, s);
      if constexpr (kBanded) {
        if (s % kReservedRows == 0) {
          if (no_path_left(s)) return {Status::Dropped};
          if constexpr (Trace::kRuns)
            if (s > 0 && Group::rank() == 0) *trace_.middle(s) = static_cast<std::uint32_t>(band_.middle());
          if constexpr (Trace::kCodes)
            has_trace_space_ = trace_.fits(kReservedRows, s + kReservedRows, {0, Width - 1});
        }
        if constexpr (Trace::kCodes)
          if (band_.settled() ? settled_rows(s, ended) : shifting_rows(s, ended)) continue;
      }
      const Range at = range_of(++s);
      if (kBanded && at.lo > at.hi) return {Status::Dropped};
      if (kBanded && band_.span().hi - band_.span().lo >= Width) return failed(Status::MemoryLimit, s);
      if constexpr (Trace::kCodes) {
        if (!has_trace_space_ && !trace_.fits(1, s, at)) return failed(Status::MemoryLimit, s);
        trace_.next_row(s, at, Group::rank() == 0);
      }
      slots_.next();
      if constexpr (kBanded) {
        ended = banded_row(at, band_.span(), columns(0, at, band_.span()));
        band_.next(at);
      } else {
        ended = R::near({at.lo - 1, at.hi + 1}) ? row(at) : far_row(at);
        blank_.up_to(at, ring_);
      }
      ended = Group::any(ended);
      if (kBanded && band_.moves_at(s)) centre(at);
    }
    Answer answer{Status::Ok, s, 0, kBanded && band_.cut()};
    if constexpr (Trace::kCarried || Trace::kCodes) write_path(slot, answer);
    return answer;
  }

 private:
  // Compute row 0. Return whether it reaches the end.
  WFACLI_DEVICE bool begin() {
    if (Group::rank() == 0) memory_.state->blocks = 0;
    if constexpr (kBanded) {
      band_.begin();
      ring_.template blank<false>({0, Width - 1}, Group::rank(), Group::kThreads);
    } else {
      blank_ = {};
      blank_.up_to({0, 0}, ring_);
    }
    Group::sync();
    const std::int32_t run = match_.extend_together(0, 0);
    if (Group::rank() == 0) {
      ring_.template set_offset<true>(slots_.m(0), 0, run);
      if constexpr (Trace::kCarried) Trace::template store<true>(ring_, slots_.m(0), 0, Trace::empty());
    }
    Group::sync();
    return last_ == 0 && run == m_;
  }
  // Return a failure after score s; Dropped, if the band has lost all paths, takes precedence. All threads call it.
  WFACLI_DEVICE Answer failed(Status status, std::int32_t s) {
    if constexpr (kBanded)
      if (no_path_left(s)) return {Status::Dropped};
    return {status};
  }
  // Return whether no row in the ring has a path. All threads call it.
  WFACLI_DEVICE bool no_path_left(std::int32_t s) const {
    bool some = s <= p_.depth();
    for (std::int32_t column = Group::rank(); column < Width; column += Group::kThreads)
      for (std::int32_t row = 0; row < p_.rows_m(); ++row)
        some = some || ring_.template offset<false>(row, column) >= 0;
    return !Group::any(some);
  }

  WFACLI_DEVICE Range range_of(std::int32_t s) {
    const Range reached = reach_.next(s);
    if constexpr (kBanded) return band_.clip(reached);
    return budget_.clip(reached);
  }

  // Compute rows after s over the last row's diagonals, until the band moves or the pair ends. False: no such row.
  WFACLI_DEVICE bool settled_rows(std::int32_t& s, bool& ended) {
    const Range at = band_.diagonals(), span = band_.span();
    const std::int32_t before = s,
                       until = band_.last_before_move(s, min(bound_, (s / kReservedRows + 1) * kReservedRows));
    if (until <= s || (!has_trace_space_ && !trace_.fits(until - s, until, at))) return false;
    band_.record_settled(until - s);
    Columns first = columns(0, at, span);
    first.keep_in_registers();
    do {
      trace_.next_row(++s, at, false);
      slots_.next();
      ended = Group::any(banded_row(at, span, first));
    } while (s < until && !ended);
    trace_.template record_rows<Group>(s - before, s, at);
    band_.note_excluded(reach_.skip_to(s));
    if (band_.moves_at(s)) centre(at);
    return true;
  }

  WFACLI_DEVICE Diagonal diagonal(std::int32_t k, Range at) const {
    return {k, k >= at.lo && k <= at.hi ? min(n_ + k, m_) : kNoCell, k == last_ ? m_ : INT32_MIN, n_ - 1 + k,
            Places::of<R>(k)};
  }

  // The same while the rows shift to the band's new place.
  WFACLI_DEVICE bool shifting_rows(std::int32_t& s, bool& ended) {
    const std::int32_t until = band_.last_before_move(s, min(bound_, (s / kReservedRows + 1) * kReservedRows));
    if (until <= s || !has_trace_space_ || !band_.is_shifting(reach_.reached(), Width)) return false;
    Range at;
    do {
      at = band_.next_shifted_row();
      const Range span = band_.span();
      trace_.next_row(++s, at, Group::rank() == 0);
      slots_.next();
      ended = banded_row(at, span, columns(0, at, span));
      band_.next(at);
      ended = Group::any(ended);
    } while (s < until && !ended && !band_.settled());
    reach_.skip_to(s);
    if (band_.moves_at(s)) centre(at);
    return true;
  }

  // Each of the following computes the next row and returns whether this thread has seen the end.
  //
  // With a band, a thread has the same columns in every row. Columns of `span` outside the row become blank, because
  // what an earlier row left there is not a path of this row.
  WFACLI_DEVICE Columns columns(int pass, Range at, Range span) const {
    const std::int32_t column = 2 * Group::kThreads * pass + Group::rank() - span.lo;
    const std::int32_t a = span.lo + R::column(column), b = span.lo + R::column(column + Group::kThreads);
    return {diagonal(a, at), diagonal(b, at), Group::ballot(a <= span.hi) != 0, Group::ballot(b <= span.hi) != 0};
  }
  // `first` is columns(0, ...), which does not change over many rows.
  WFACLI_DEVICE bool banded_row(Range at, Range span, const Columns& first) {
    const Rows<Pieces, R> rows(ring_, slots_, p_);
    bool ended = false;
    for (int pass = 0; pass < Width / (2 * Group::kThreads); ++pass) {
      const Columns own = pass ? columns(pass, at, span) : first;
      if (own.any_a && own.any_b) {
        ended = two_cells(rows, own.a, own.b) || ended;
      } else if (own.any_a || own.any_b) {
        const Diagonal only = diagonal(own.any_a ? own.a.k : own.b.k, at);
        ended = one_cell(NearCell<Pieces, R>(rows, only.places), only) || ended;
      }
    }
    return ended;
  }
  // A row in shared memory; each warp works independently.
  WFACLI_DEVICE bool row(Range at) {
    const Rows<Pieces, R> rows(ring_, slots_, p_);
    bool ended = false;
    for (std::int32_t k = at.lo + Group::rank(); k - Group::lane() <= at.hi;) {
      const std::int32_t l = k + Group::kThreads;
      if (l - Group::lane() <= at.hi) {
        ended = two_cells(rows, diagonal(k, at), diagonal(l, at)) || ended;
        k += 2 * Group::kThreads;
      } else {
        ended = one_cell(NearCell<Pieces, R>(rows, Places::of<R>(min(k, at.hi))), diagonal(k, at)) || ended;
        k += Group::kThreads;
      }
    }
    return ended;
  }
  WFACLI_DEVICE bool far_row(Range at) {
    bool ended = false;
    for (std::int32_t first = at.lo; first <= at.hi; first += Group::kThreads) {
      const std::int32_t k = first + Group::rank();
      ended = one_cell(FarCell<Pieces, R>(ring_, slots_, p_, k), diagonal(k, at)) || ended;
    }
    return ended;
  }

  template <class Cell_>
  WFACLI_DEVICE bool one_cell(const Cell_& at, const Diagonal& d) {
    std::int32_t off = R::kNone;
    std::uint32_t code = 0;
    if (kBanded || d.limit != kNoCell) off = cell(at, d.k, d.limit, code);
    if constexpr (kBanded) {
      auto from = place(d, off);
      match_.extend_one(from);
      off += from.run;
      put(d, code, from.run);
    } else {
      off += match_.extend_each(off - d.k, off, off >= 0);
    }
    if (kBanded || d.limit != kNoCell) at.set(off);
    return off == d.end;
  }
  // The same for two diagonals, whose loads of bases overlap.
  WFACLI_DEVICE bool two_cells(const Rows<Pieces, R>& rows, const Diagonal& a, const Diagonal& b) {
    const bool own = kBanded || b.limit != kNoCell;
    Places other = b.places;
    if constexpr (!kBanded) other = Places::of<R>(own ? b.k : a.k);
    const NearCell<Pieces, R> at_a(rows, a.places), at_b(rows, other);
    std::uint32_t code_a = 0, code_b = 0;
    std::int32_t off_a = cell(at_a, a.k, a.limit, code_a), off_b = cell(at_b, b.k, b.limit, code_b);
    auto place_a = place(a, off_a), place_b = place(b, off_b);
    match_.extend_two(place_a, place_b);
    off_a += place_a.run;
    off_b += place_b.run;
    at_a.set(off_a);
    if (own) at_b.set(off_b);
    put(a, code_a, place_a.run);
    put(b, code_b, place_b.run);
    return off_a == a.end || off_b == b.end;
  }
  // Return the position of the bases that follow an offset; if there is no path, of arbitrary bases.
  WFACLI_DEVICE typename Matching<Pair, Group>::Place place(const Diagonal& d, std::int32_t off) const {
    return {min(d.query - off, n_ - 1), min(m_ - 1 - off, m_ - 1), off < 0 ? 0 : d.limit - off, 0};
  }

  // Store a code that includes the run of matches that follows.
  WFACLI_DEVICE void put(const Diagonal& d, std::uint32_t code, std::int32_t run) {
    if constexpr (Trace::kRuns)
      if (d.limit != kNoCell) trace_.put(d.k, code, run);
  }

  // Return the offset of diagonal k in the next row, before matches. Stores its gap components and its trace, except
  // codes that include match runs.
  template <class Cell_>
  WFACLI_DEVICE std::int32_t cell(const Cell_& at, std::int32_t k, std::int32_t limit, std::uint32_t& code) {
    std::int32_t best = ranked(R::inside(at.mismatch() + 1, limit), kFromMismatch);
    Cell path{};
    if constexpr (Pieces == 0) {
      best = max(best, ranked(R::inside(at.opened(0, true), limit), from_insertion(0)));
      best = max(best, ranked(R::inside(at.opened(0, false) + 1, limit), from_deletion(0)));
    } else {
#pragma unroll
      for (int g = 0; g < Pieces; ++g) {
        gap(at, k, g, true, limit, best, code, path);
        gap(at, k, g, false, limit, best, code, path);
      }
    }
    const std::uint32_t source = static_cast<std::uint32_t>(best) & 7;
    const std::int32_t off = best >> 3;
    code |= source;
    if constexpr (Trace::kCodes && !Trace::kRuns)
      if (limit != kNoCell) trace_.put(k, code);
    if constexpr (Trace::kCarried)
      if (off >= 0) carry(k, source, path);
    return off;
  }

  // Compute one gap component at diagonal k. If it is M's best source so far, update `best`, and `path` to its steps.
  template <class Cell_>
  WFACLI_DEVICE void gap(const Cell_& at, std::int32_t k, int g, bool insertion, std::int32_t limit, std::int32_t& best,
                         std::uint32_t& code, Cell& path) {
    const std::int32_t opened = at.opened(g, insertion), longer = at.longer(g, insertion);
    const bool opens = opened >= longer;
    const std::int32_t off = R::inside(max(opened, longer) + (insertion ? 0 : 1), limit);
    if (kBanded || limit != kNoCell) at.set_gap(g, insertion, off);
    const std::int32_t arrives = ranked(off, insertion ? from_insertion(g) : from_deletion(g));
    const bool taken = arrives > best;
    best = max(best, arrives);
    if (Trace::kCodes && opens) code |= insertion ? insertion_opens(g) : deletion_opens(g);
    if constexpr (Trace::kCarried) {
      if (off >= 0) {
        const std::int32_t before = opens ? slots_.m(p_.opened(g))
                                          : slots_.longer_insertion(g) + (insertion ? 0 : p_.rows_gap(g));
        Cell steps = Trace::template load<kSpills>(ring_, before, insertion ? k + 1 : k - 1);
        trace_.push(steps, insertion ? kStepInsertion : kStepDeletion);
        Trace::template store<kSpills>(ring_, slots_.insertion(g) + (insertion ? 0 : p_.rows_gap(g)), k, steps);
        if (taken) path = steps;
      }
    }
  }

  // Store the steps of M at diagonal k; `path` holds those of the gap that ends here, if one does.
  WFACLI_DEVICE void carry(std::int32_t k, std::uint32_t source, Cell& path) {
    if (Pieces == 0 || source == kFromMismatch) {
      const std::int32_t row = slots_.m(source == kFromMismatch ? p_.costs.mismatch : p_.costs.extend[0]);
      const std::int32_t by = source == kFromMismatch ? 0 : source == from_insertion(0) ? 1 : -1;
      path = Trace::template load<kSpills>(ring_, row, k + by);
    }
    const Step step = Pieces > 0 || source == kFromMismatch ? kStepMismatch  // or leaves the gap: the same code
                      : source == from_insertion(0)         ? kStepInsertion
                                                            : kStepDeletion;
    trace_.push(path, step);
    Trace::template store<kSpills>(ring_, slots_.m(0), k, path);
  }

  // Centre the band on the diagonal of the row where the longer remainder of the two sequences is shortest.
  WFACLI_DEVICE void centre(Range at) {
    std::int32_t shortest = INT32_MAX, diagonal = INT32_MAX;
    for (std::int32_t k = at.lo + Group::rank(); k <= at.hi; k += Group::kThreads) {
      const std::int32_t off = ring_.template offset<false>(slots_.m(0), k);
      const std::int32_t remainder = off < 0 ? INT32_MAX : max(m_ - off, n_ - (off - k));
      if (remainder >= shortest) continue;
      shortest = remainder;
      diagonal = k;
    }
    const std::int32_t shortest_of_all = Group::group_min(shortest, &memory_.state->scratch);
    diagonal = Group::group_min(shortest == shortest_of_all ? diagonal : INT32_MAX, &memory_.state->scratch);
    if (shortest_of_all != INT32_MAX) band_.centre(diagonal);
  }

  // Write the steps by one thread. Return the number of words, in the first thread.
  WFACLI_DEVICE std::int32_t steps_of_one(std::int32_t cost) const {
    Group::sync();
    if (Group::rank() != 0) return 0;
    if constexpr (Trace::kCarried)
      return trace_.steps(Trace::template load<true>(ring_, slots_.m(0), last_));
    else
      return trace_.steps(cost, last_, p_);
  }
  // Write the operations of the path that ends in the last row to the slot.
  WFACLI_DEVICE void write_path(std::int32_t slot, Answer& answer) {
    std::uint32_t* ops = task_.ops + static_cast<std::uint64_t>(slot) * task_.op_capacity;
    const Replay<Pieces, Pair, Group> replay(p_, match_);
    answer.ops = -1;
    if constexpr (Trace::kRuns)
      answer.ops =
          ParallelTraceback<Pieces, Trace, Group>(trace_, p_, answer.cost, last_, match_.extend_together(0, 0))
              .operations(ops, task_.op_capacity, memory_.state);
    if (answer.ops < 0) answer.ops = replayed(replay, ops, answer.cost);
    if (answer.ops > task_.op_capacity) {
      answer = {Status::MemoryLimit};
      return;
    }
    if constexpr (kBanded) {
      Group::sync();
      if (answer.cut) answer.cost = replay.priced(ops, answer.ops, &memory_.state->scratch);
    }
  }
  // The same from steps. Return the number of operations; those beyond the slot's capacity are not written.
  WFACLI_DEVICE std::int32_t replayed(const Replay<Pieces, Pair, Group>& replay, std::uint32_t* ops,
                                      std::int32_t cost) {
    std::int32_t steps = 0;
    if constexpr (Trace::kCodes && Group::kBlock)  // rows are no longer needed, so their memory is free
      steps = trace_.template steps_of_block<Group, 2 * R::place_of_row(1)>(cost, last_, p_, memory_.ring);
    else
      steps = steps_of_one(cost);
    return replay.all_operations(trace_.end(cost), steps, ops, task_.op_capacity, &memory_.state->words);
  }

  const AlignTask& task_;
  const Penalties<Pieces> p_;
  const Memory memory_;
  const Matching<Pair, Group> match_;
  const std::int32_t n_, m_, last_, bound_;  // last_: the diagonal on which alignments end
  R ring_;
  Trace trace_;
  Slots<Pieces> slots_;
  Reach<Pieces, kBanded> reach_;
  Budget budget_;
  Band<Pieces, Group> band_;
  bool has_trace_space_ = false;  // whether the trace has room for rows up to the next multiple of kReservedRows
  Blank<Group, R> blank_;
};

}  // namespace wfacli

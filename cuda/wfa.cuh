// Wavefront alignment of reversed pairs, a group of threads a pair: costs, and canonical paths.
//
// Recurrences: S. Marco-Sola et al., "Fast gap-affine pairwise alignment using the wavefront algorithm", Bioinformatics
// 2021. Groups stay resident and draw pairs from a counter, and the cells of a wavefront are computed side by side:
// Q. Aguado-Puig et al., "WFA-GPU: gap-affine pairwise read-alignment using GPUs", Bioinformatics 2023, and
// "Accelerating edit-distance sequence alignment on GPU using the wavefront algorithm" (eWFA-GPU), IEEE Access 2022.
// Which source a cell takes when several are equally far is decided here, once, as wfacli/native/wavefront_back.hpp
// decides it; so any trace leads to the canonical path.
#pragma once

#include "wfa_band.cuh"
#include "wfa_replay.cuh"

namespace wfacli {

// Pieces: of a gap's cost, 0 to 2 (Penalties). Pair: letters (wfa_match.cuh). Trace: wfa_trace.cuh. Group: Lanes.
// Offset, Width, Out: Ring. The band of the task applies where the ring is wrapped.
template <int Pieces, class Pair, class Trace, class Group, class Offset, int Width, Outside Out>
class Wavefront {
  static constexpr bool kBanded = Out == Outside::Wrapped;
  static constexpr std::int32_t kSettled = 64;  // rows for which a trace is asked for room at once
  using R = Ring<Offset, Trace::kWords, Width, Out>;
  using Cell = typename Trace::Cell;

 public:
  // Where a group's memory lies.
  struct Memory {
    GroupState* state;
    std::uint8_t* ring;     // shared
    Range* ranges;          // shared; only banded
    std::uint8_t* spilled;  // global
    TraceMemory trace;
  };
  struct Answer {
    Status status;
    std::int32_t cost = 0, ops = 0;
    bool cut = false;
  };

  // Everything that a group has for the whole launch, or why no pair of it can be aligned.
  WFACLI_DEVICE static Status memory_of(const AlignTask& task, std::uint8_t* shared, Memory& memory) {
    const Penalties<Pieces> p{task.costs};
    memory.state = reinterpret_cast<GroupState*>(shared) + Group::group();
    if (!p.served()) return Status::Unsupported;
    const std::int32_t rows = p.rows();
    memory.ring = shared + Group::kGroups * sizeof(GroupState) + Group::group() * shared_bytes(p);
    std::uint8_t* rest = memory.ring + R::shared_bytes(rows);
    memory.ranges = reinterpret_cast<Range*>(rest);
    if (kBanded) rest += (static_cast<std::uint32_t>(p.rows_m()) * sizeof(Range) + 15) & ~15u;
    const std::uint64_t unit = static_cast<std::uint64_t>(blockIdx.x) * Group::kGroups + Group::group();
    memory.spilled = task.workspace + unit * task.stride;
    const std::uint64_t spilled = R::global_bytes(rows, half(task, p));
    memory.trace = {memory.spilled + spilled, task.stride - spilled, memory.state};
    if (Trace::kCarried && !Trace::kLinked) memory.trace = {rest, 4 * Trace::kWords, memory.state};
    return spilled <= task.stride ? Status::Ok : Status::MemoryLimit;
  }

  WFACLI_DEVICE Wavefront(const AlignTask& task, const Memory& memory, std::int32_t row)
      : task_(task), p_{task.costs}, memory_(memory), match_(task, row), n_(match_.query_length()),
        m_(match_.target_length()), last_(m_ - n_), most_(most_cost(task, p_)),
        ring_(memory.ring, memory.spilled, p_.rows(), half(task, p_)), trace_(memory.trace), slots_(p_),
        reach_(p_, n_, m_), budget_(most_, p_.sideways(), last_), band_(task, p_, n_, m_, memory.ranges) {}

  WFACLI_DEVICE Answer align(std::int32_t slot) {
    if (max(n_, m_) > R::kLongest) return {Status::LengthLimit};
    if (!kBanded && max(last_, -last_) > p_.letters(most_)) return {Status::ScoreLimit};
    begin();
    std::int32_t s = 0;
    Range at{0, 0};
    for (std::int32_t dead = 0;;) {
      if (kBanded && dead > p_.depth()) return {Status::Dropped};
      if constexpr (Trace::kLinked)
        if (!trace_.fits(Group::shared_value(&memory_.state->blocks), s)) return {Status::MemoryLimit};
      if (at.lo <= last_ && last_ <= at.hi && ring_.template offset<true>(slots_.m(0), last_) == m_) break;
      if (s >= most_) return {s >= R::kHighest && s < task_.max_cost ? Status::LengthLimit : Status::ScoreLimit};
      if constexpr (kBanded && Trace::kCodes)
        if (band_.settled() && min(n_, m_) > 0 && settled_rows(s, dead)) continue;
      at = row_of(++s);
      if (kBanded && at.lo > at.hi) return {Status::Dropped};
      if (kBanded && band_.span().hi - band_.span().lo >= Width) return {Status::MemoryLimit};
      if constexpr (Trace::kCodes)
        if (!trace_.begin_row(s, at)) return {Status::MemoryLimit};
      slots_.next();
      const bool alive = R::near({at.lo - 1, at.hi + 1}) ? step<false>(at) : step<true>(at);
      if constexpr (kBanded)
        after_banded_row(s, at);
      else
        blank_up_to(at);
      if constexpr (kBanded)
        dead = Group::any(alive) ? 0 : dead + 1;
      else
        Group::sync();
    }
    Answer answer{Status::Ok, s, 0, kBanded && band_.cut()};
    if constexpr (Trace::kCarried || Trace::kCodes) write_path(slot, answer);
    return answer;
  }

 private:
  // Shared memory of a group besides its state.
  WFACLI_DEVICE static std::uint32_t shared_bytes(const Penalties<Pieces>& p) {
    std::uint32_t bytes = R::shared_bytes(p.rows());
    if (kBanded) bytes += (static_cast<std::uint32_t>(p.rows_m()) * sizeof(Range) + 15) & ~15u;
    if (Trace::kCarried && !Trace::kLinked) bytes += (4 * Trace::kWords + 15) & ~15;
    return (bytes + 15) & ~15u;
  }
  // The highest score that the task, the offsets and the trace allow.
  WFACLI_DEVICE static std::int32_t most_cost(const AlignTask& task, const Penalties<Pieces>& p) {
    std::int32_t most = min(task.max_cost, R::kHighest);
    if (Out == Outside::None) most = min(most, p.within(R::kMostHalf - 1));
    if (Trace::kMostSteps != INT32_MAX) most = min(most, Trace::kMostSteps * p.twice_step() / 2);
    return most;
  }
  // Diagonals on either side of 0 that the ring has room for: one more than are ever reached.
  WFACLI_DEVICE static std::int32_t half(const AlignTask& task, const Penalties<Pieces>& p) {
    return min(p.letters(most_cost(task, p)), task.longest) + 1;
  }

  WFACLI_DEVICE void begin() {
    if (Group::rank() == 0) memory_.state->blocks = 0;
    if constexpr (kBanded) {
      band_.begin(Group::rank(), Group::kThreads);
      ring_.template blank<false>({0, Width - 1}, Group::rank(), Group::kThreads);
    } else {
      blank_ = {0, -1};
      blank_up_to({0, 0});
    }
    Group::sync();
    const std::int32_t run = match_.together(0, 0);
    if (Group::rank() == 0) {
      ring_.template set_offset<true>(slots_.m(0), 0, run);
      if constexpr (Trace::kCarried) Trace::template store<true>(ring_, slots_.m(0), 0, Trace::empty());
    }
    Group::sync();
  }

  // Rows read one diagonal on either side of their own, in older rows, which have not come so far: those have no path.
  // A row gains one diagonal on either side at most, so that with `at` written the next one reads up to two further.
  WFACLI_DEVICE void blank_up_to(Range at) {
    const std::int32_t most = ring_.half();
    if (at.hi + 2 > blank_.hi && blank_.hi < most) {
      const Range more{blank_.hi + 1, min(max(at.hi + 2, blank_.hi + Group::kThreads), most)};
      blank(more);
      blank_.hi = more.hi;
    }
    if (at.lo - 2 < blank_.lo && blank_.lo > -most) {
      const Range more{max(min(at.lo - 2, blank_.lo - Group::kThreads), -most), blank_.lo - 1};
      blank(more);
      blank_.lo = more.lo;
    }
  }
  WFACLI_DEVICE void blank(Range more) {
    if (R::near(more))
      ring_.template blank<false>(more, Group::rank(), Group::kThreads);
    else
      ring_.template blank<true>(more, Group::rank(), Group::kThreads);
  }

  WFACLI_DEVICE Range row_of(std::int32_t s) {
    const Range reached = reach_.next(s);
    if constexpr (kBanded) return band_.clip(reached);
    return budget_.clip(reached);
  }

  // Rows after s with the diagonals that all rows in the ring have, until the band moves or the pair ends: none of them
  // is narrowed, or has anything to wipe. False if there is none. As align() has it, `dead` counts rows without a path.
  WFACLI_DEVICE bool settled_rows(std::int32_t& s, std::int32_t& dead) {
    const Range at = band_.diagonals();
    const std::int32_t until = band_.stays(s, min(most_, s + kSettled));
    if (until <= s || !trace_.fits(until - s, until, at)) return false;
    const bool ends = at.lo <= last_ && last_ <= at.hi;
    do {
      reach_.next(++s);
      trace_.next_row(s, at, Group::rank() == 0);
      slots_.next();
      dead = Group::any(settled_step(at)) ? 0 : dead + 1;
    } while (s < until && dead <= p_.depth() && !(ends && ring_.template offset<false>(slots_.m(0), last_) == m_));
    return true;
  }
  // The same as step(), two diagonals a thread at a time: while one waits for its letters, so does the other.
  WFACLI_DEVICE bool settled_step(Range at) {
    bool alive = false;
    for (std::int32_t first = at.lo; first <= at.hi; first += 2 * Group::kThreads) {
      const std::int32_t k = first + Group::rank(), l = k + Group::kThreads;
      if (l - Group::lane() <= at.hi)  // for some lanes
        alive = two(k, l, l <= at.hi) || alive;
      else if (k - Group::lane() <= at.hi)
        alive = one<false>(k, k <= at.hi) || alive;
    }
    return alive;
  }

  // Computes the next row; whether this thread has seen a path.
  template <bool Spill>
  WFACLI_DEVICE bool step(Range at) {
    bool alive = false;
    for (std::int32_t first = at.lo; first <= at.hi; first += Group::kThreads) {
      const std::int32_t k = first + Group::rank();
      alive = one<Spill>(k, k <= at.hi) || alive;
    }
    return alive;
  }
  // Diagonal k of it, if it is one.
  template <bool Spill>
  WFACLI_DEVICE bool one(std::int32_t k, bool own) {
    std::int32_t off = R::kNone;
    if (own) off = cell<Spill>(k, true, InRing<Spill>{*this, k});
    off += match_.each(off - k, off, off >= 0);
    if (own) ring_.template set_offset<Spill>(slots_.m(0), k, off);
    return off >= 0;
  }
  // Diagonal k, and l if it is one.
  WFACLI_DEVICE bool two(std::int32_t k, std::int32_t l, bool own) {
    const Gathered of_k(InRing<false>{*this, k}), of_l(InRing<false>{*this, l});
    const std::int32_t off = cell<false>(k, true, of_k), other = cell<false>(l, own, of_l);
    typename Matching<Pair, Group>::Place a{off - k, off, 0, off >= 0}, b{other - l, other, 0, own && other >= 0};
    match_.both(a, b);
    ring_.template set_offset<false>(slots_.m(0), k, off + a.run);
    if (own) ring_.template set_offset<false>(slots_.m(0), l, other + b.run);
    return off >= 0 || (own && other >= 0);
  }

  // What a cell is made of, read from the ring as it is asked for.
  template <bool Spill>
  struct InRing {
    const Wavefront& w;
    std::int32_t k;
    WFACLI_DEVICE std::int32_t mismatch() const { return at(w.slots_.m(w.p_.costs.mismatch), k); }
    WFACLI_DEVICE std::int32_t opened(int g, bool insertion) const { return at(w.slots_.m(w.p_.opened(g)), from(insertion)); }
    WFACLI_DEVICE std::int32_t longer(int g, bool insertion) const {
      return at(w.slots_.longer_insertion(g) + (insertion ? 0 : w.p_.rows_gap(g)), from(insertion));
    }
    WFACLI_DEVICE std::int32_t from(bool insertion) const { return insertion ? k + 1 : k - 1; }
    WFACLI_DEVICE std::int32_t at(std::int32_t row, std::int32_t diagonal) const {
      return w.ring_.template offset<Spill>(row, diagonal);
    }
  };
  // The same, all of it read at once: what is stored for one cell would else keep the next one's reading waiting.
  struct Gathered {
    static constexpr int kGaps = Pieces ? 2 * Pieces : 2;
    std::int32_t same, first[kGaps], further[kGaps];
    WFACLI_DEVICE explicit Gathered(const InRing<false>& ring) : same(ring.mismatch()) {
#pragma unroll
      for (int i = 0; i < kGaps; ++i) {
        first[i] = ring.opened(i / 2, i % 2 == 0);
        further[i] = Pieces ? ring.longer(i / 2, i % 2 == 0) : 0;
      }
    }
    WFACLI_DEVICE std::int32_t mismatch() const { return same; }
    WFACLI_DEVICE std::int32_t opened(int g, bool insertion) const { return first[2 * g + !insertion]; }
    WFACLI_DEVICE std::int32_t longer(int g, bool insertion) const { return further[2 * g + !insertion]; }
  };

  // The offset with which diagonal k begins in the next row, before matches; its trace and gap components are stored if
  // it is the thread's own.
  template <bool Spill, class Sources>
  WFACLI_DEVICE std::int32_t cell(std::int32_t k, bool own, const Sources& from) {
    const std::int32_t limit = min(n_ + k, m_);
    std::int32_t best = ranked(inside(from.mismatch() + 1, limit), kFromMismatch);
    std::uint32_t code = 0;
    Cell path{};
    if constexpr (Pieces == 0) {
      best = max(best, ranked(inside(from.opened(0, true), limit), from_insertion(0)));
      best = max(best, ranked(inside(from.opened(0, false) + 1, limit), from_deletion(0)));
    } else {
#pragma unroll
      for (int g = 0; g < Pieces; ++g) {
        gap<Spill>(k, g, true, own, from, limit, best, code, path);
        gap<Spill>(k, g, false, own, from, limit, best, code, path);
      }
    }
    const std::uint32_t source = static_cast<std::uint32_t>(best) & 7;
    const std::int32_t off = best >> 3;
    if constexpr (Trace::kCodes)
      if (own) trace_.put(k, code | source);
    if constexpr (Trace::kCarried)
      if (off >= 0) carry<Spill>(k, source, path);
    return off;
  }

  // One gap component at diagonal k. `best` takes what arrives in M, `path` the steps of what is taken.
  template <bool Spill, class Sources>
  WFACLI_DEVICE void gap(std::int32_t k, int g, bool insertion, bool own, const Sources& from, std::int32_t limit,
                         std::int32_t& best, std::uint32_t& code, Cell& path) {
    const std::int32_t row = slots_.insertion(g) + (insertion ? 0 : p_.rows_gap(g));
    const std::int32_t opened = from.opened(g, insertion), longer = from.longer(g, insertion);
    const bool opens = opened >= longer;
    const std::int32_t off = inside(max(opened, longer) + (insertion ? 0 : 1), limit);
    if (own) ring_.template set_offset<Spill>(row, k, off);
    const std::int32_t arrives = ranked(off, insertion ? from_insertion(g) : from_deletion(g));
    const bool taken = arrives > best;
    best = max(best, arrives);
    if (Trace::kCodes && opens) code |= insertion ? CellCodes::insertion_opens(g) : CellCodes::deletion_opens(g);
    if constexpr (Trace::kCarried) {
      if (off >= 0) {
        const std::int32_t before = opens ? slots_.m(p_.opened(g))
                                          : slots_.longer_insertion(g) + (insertion ? 0 : p_.rows_gap(g));
        Cell steps = Trace::template load<Spill>(ring_, before, insertion ? k + 1 : k - 1);
        trace_.push(steps, insertion ? kStepInsertion : kStepDeletion);
        Trace::template store<Spill>(ring_, row, k, steps);
        if (taken) path = steps;
      }
    }
  }

  // M's steps at diagonal k; `path` has those of the gap that it ends, if it does.
  template <bool Spill>
  WFACLI_DEVICE void carry(std::int32_t k, std::uint32_t source, Cell& path) {
    if (Pieces == 0 || source == kFromMismatch) {
      const std::int32_t row = slots_.m(source == kFromMismatch ? p_.costs.mismatch : p_.costs.extend[0]);
      const std::int32_t by = source == kFromMismatch ? 0 : source == from_insertion(0) ? 1 : -1;
      path = Trace::template load<Spill>(ring_, row, k + by);
    }
    const Step step = Pieces > 0 || source == kFromMismatch ? kStepMismatch  // or leaves the gap: the same code
                      : source == from_insertion(0)         ? kStepInsertion
                                                            : kStepDeletion;
    trace_.push(path, step);
    Trace::template store<Spill>(ring_, slots_.m(0), k, path);
  }

  WFACLI_DEVICE static std::int32_t inside(std::int32_t off, std::int32_t limit) {
    return off > limit ? R::kNone : off;
  }
  // Offsets that compare by their source where they are equal.
  WFACLI_DEVICE static std::int32_t ranked(std::int32_t off, std::uint32_t source) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(off) << 3 | source);
  }

  // What the row that was replaced had outside of `at` is no path of the new one; and the band may move.
  WFACLI_DEVICE void after_banded_row(std::int32_t s, Range at) {
    wipe(slots_.m(0), band_.replaced(p_.rows_m()), at);
#pragma unroll
    for (int g = 0; g < Pieces; ++g) {
      const Range old = band_.replaced(p_.rows_gap(g));
      wipe(slots_.insertion(g), old, at);
      wipe(slots_.insertion(g) + p_.rows_gap(g), old, at);
    }
    Group::sync();
    band_.next(at, Group::rank() == 0);
    if (!band_.moves(s)) return;
    std::int32_t least = INT32_MAX, diagonal = INT32_MAX;
    for (std::int32_t k = at.lo + Group::rank(); k <= at.hi; k += Group::kThreads) {
      const std::int32_t off = ring_.template offset<false>(slots_.m(0), k);
      const std::int32_t left = off < 0 ? INT32_MAX : max(m_ - off, n_ - (off - k));
      if (left >= least) continue;
      least = left;
      diagonal = k;
    }
    const std::int32_t of_all = Group::least(least, &memory_.state->scratch);
    diagonal = Group::least(least == of_all ? diagonal : INT32_MAX, &memory_.state->scratch);
    if (of_all != INT32_MAX) band_.centre(diagonal);
  }
  WFACLI_DEVICE void wipe(std::int32_t row, Range old, Range at) {
    for (std::int32_t k = old.lo + Group::rank(); k <= old.hi; k += Group::kThreads)
      if (k < at.lo || k > at.hi) ring_.template set_offset<false>(row, k, R::kNone);
  }

  // The operations of the path that ends in the last row, into the slot.
  WFACLI_DEVICE void write_path(std::int32_t slot, Answer& answer) {
    if (Group::rank() == 0) {
      if constexpr (Trace::kCarried)
        memory_.state->words = trace_.steps(Trace::template load<true>(ring_, slots_.m(0), last_));
      else
        memory_.state->words = trace_.steps(answer.cost, last_, p_);
    }
    Group::sync();
    const std::int32_t count = memory_.state->words;
    std::uint32_t* ops = task_.ops + static_cast<std::uint64_t>(slot) * task_.op_capacity;
    const Replay<Pieces, Pair, Group> replay(p_, match_);
    answer.ops = replay.operations(trace_.end(answer.cost) - count, count, ops, task_.op_capacity);
    if (answer.ops > task_.op_capacity) {
      answer = {Status::MemoryLimit};
      return;
    }
    Group::sync();
    for (std::int32_t i = Group::rank(); i < answer.ops / 2; i += Group::kThreads) {
      const std::uint32_t early = ops[i];
      ops[i] = ops[answer.ops - 1 - i];
      ops[answer.ops - 1 - i] = early;
    }
    if constexpr (kBanded) {
      Group::sync();
      if (answer.cut && Group::rank() == 0) answer.cost = replay.priced(ops, answer.ops);
    }
  }
  const AlignTask& task_;
  const Penalties<Pieces> p_;
  const Memory memory_;
  const Matching<Pair, Group> match_;
  const std::int32_t n_, m_, last_, most_;  // last_: the diagonal on which alignments end
  R ring_;
  Trace trace_;
  Slots<Pieces> slots_;
  Reach<Pieces, kBanded> reach_;
  Budget budget_;
  Band<Pieces> band_;
  Range blank_{0, -1};  // diagonals that were made blank for this pair
};

// Groups draw slots until none is left. Slots come with the most work first, so that the last ones are short.
template <class W, class Group>
WFACLI_DEVICE void align_all(const AlignTask& task, std::uint8_t* shared) {
  typename W::Memory memory;
  const Status able = W::memory_of(task, shared, memory);
  for (;;) {
    Group::sync();  // everyone knows the last slot
    if (Group::rank() == 0) memory.state->slot = atomicAdd(task.next, 1u);
    Group::sync();
    const std::uint32_t slot = memory.state->slot;
    if (slot >= static_cast<std::uint32_t>(task.count)) return;
    typename W::Answer answer{able};
    if (able == Status::Ok) answer = W(task, memory, task.rows[slot]).align(static_cast<std::int32_t>(slot));
    if (Group::rank() != 0) continue;
    task.status[slot] = static_cast<std::uint8_t>(answer.status);
    task.cost[slot] = answer.cost;
    task.op_count[slot] = answer.ops;
    if (task.cut) task.cut[slot] = answer.cut;
  }
}

}  // namespace wfacli

// A path's operations from codes that include match runs: all threads work on pieces of the path in parallel.
//
// A cell's code alone determines its predecessor, so two tracebacks that meet stay together. Each thread traces back
// through some rows, from the recorded centre of the band, which the path is never far from, then on until it meets
// where a thread further down has been. From the end of the path, these pieces are joined, each up to where it meets
// the next.
#pragma once

#include "common/cigar.cuh"
#include "wfa/wfa_trace.cuh"

namespace wfacli {

template <int Pieces, class Trace, class Group>
class ParallelTraceback {
  static constexpr std::int32_t kEvery = Trace::kEvery;
  static constexpr std::int32_t kMinRows = 8 * kEvery;  // minimum rows of a thread
  // Rows after which a thread that has met no other gives up. Where a band has lost the path and bases match only by
  // chance, tracebacks stay apart for long: up to 7,600 rows in an ONT pair, where half meet within 200.
  static constexpr std::int32_t kMaxFurtherRows = 192 * kEvery;
  static constexpr std::int32_t kBegin = -1, kLost = -2;
  static_assert(Group::kThreads >= 8);  // Trace::spare_bytes relies on it
  using Position = typename Trace::Position;

  // Position of a thread's traceback at or below a score, and how much it had written by then.
  struct Mark {
    std::int32_t s;
    std::uint32_t place;  // diagonal and component
    std::int32_t count, run_length;
  };
  // Where a thread's traceback ended: the mark at which it met another, or kBegin or kLost; and its element count.
  struct Link {
    std::int32_t mark, count;
  };
  // Elements that are copied to the slot unchanged.
  struct Piece {
    std::int32_t from, to, count, unused;
  };

 public:
  // A path from row 0 to (cost, last); `first`: matches in row 0.
  WFACLI_DEVICE ParallelTraceback(const Trace& trace, const Penalties<Pieces>& p, std::int32_t cost, std::int32_t last,
                                  std::int32_t first)
      : trace_(trace), p_(p), cost_(cost), last_(last), first_(first),
        rows_(max(kMinRows, (cost / Group::kThreads + kEvery) / kEvery * kEvery)),
        threads_((cost + rows_ - 1) / rows_), capacity_(16 * rows_), marks_(reinterpret_cast<Mark*>(trace.spare())),
        pieces_(reinterpret_cast<Piece*>(marks_ + cost / kEvery + 1)),
        links_(reinterpret_cast<Link*>(pieces_ + cost / kEvery + 1)),
        elements_(reinterpret_cast<std::uint32_t*>(links_ + cost / kEvery + 1)) {}

  // Write up to `capacity` operations. Return their number; negative if pieces do not meet, or if a run is longer than
  // codes can hold. All threads of the group call it and get the result.
  WFACLI_DEVICE std::int32_t operations(std::uint32_t* ops, std::int32_t capacity, GroupState* state) const {
    Group::sync();  // all rows are complete
    const std::int32_t t = Group::rank(), lowest = t * rows_, above = lowest + rows_;
    Tracer own{Position{cost_, last_}, RunWriter(elements_ + t * capacity_, t < threads_ ? capacity_ : 0), 0};
    if (t < threads_) {
      if (above < cost_) own.position = {above, static_cast<std::int32_t>(*trace_.middle(above))};
      trace_own_rows(own, lowest);
    }
    Group::sync();
    if (t < threads_) {
      const std::int32_t met = trace_until_met(own, max(lowest - kMaxFurtherRows, 0)), count = own.runs.finish();
      links_[t] = {own.long_run || count > capacity_ ? kLost : met, count};
    }
    Group::sync();
    if (t == 0) state->words = join(ops, capacity, &state->scratch);
    Group::sync();
    const std::int32_t count = state->words, pieces = count < 0 ? 0 : state->scratch;
    for (std::int32_t i = t / Group::kWarp; i < pieces; i += Group::kThreads / Group::kWarp)
      for (std::int32_t j = Group::lane(); j < pieces_[i].count; j += Group::kWarp)
        if (pieces_[i].to + j < capacity) ops[pieces_[i].to + j] = elements_[pieces_[i].from + j];
    return count;
  }

 private:
  struct Tracer {
    Position position;
    RunWriter runs;
    std::int32_t mark;  // index of the next mark
    bool long_run = false;

    WFACLI_DEVICE std::uint32_t place() const { return static_cast<std::uint32_t>(position.k) << 3 | position.gap; }
    // Convert a step to an operation.
    WFACLI_DEVICE void add(Step step) {
      if (step == kStepMismatch)  // or leaves a gap
        runs.add_short(kDifferent, position.gap == kFromMismatch);
      else
        runs.add_short(step == kStepInsertion ? kInsertion : kDeletion, 1);
    }
  };

  // Go back one step.
  WFACLI_DEVICE void step_back(Tracer& own) const {
    const std::uint32_t cell = trace_.around(own.position.s, own.position.k);
    if (own.position.gap == kFromMismatch) {
      const std::int32_t run = Trace::run_of(cell);
      own.long_run = own.long_run || run == Trace::kLongRun;
      own.runs.add_short(kEqual, run);
    }
    Trace::step(own.position, cell, own, p_);
  }
  // Trace back through the thread's own rows and leave marks.
  WFACLI_DEVICE void trace_own_rows(Tracer& own, std::int32_t lowest) const {
    own.mark = (own.position.s - 1) / kEvery;
    while (own.position.s > lowest) {
      step_back(own);
      for (; own.mark * kEvery >= lowest && own.position.s <= own.mark * kEvery; --own.mark)
        marks_[own.mark] = {own.position.s, own.place(), own.runs.count(), own.runs.pending_length()};
    }
  }
  // Trace back through rows of other threads, to `lowest` at most. Return where it ended, as Link::mark.
  WFACLI_DEVICE std::int32_t trace_until_met(Tracer& own, std::int32_t lowest) const {
    while (own.position.s > lowest) {
      step_back(own);
      for (; own.mark >= 0 && own.position.s <= own.mark * kEvery; --own.mark)
        if (marks_[own.mark].s == own.position.s && marks_[own.mark].place == own.place()) return own.mark;
    }
    return own.position.s == 0 && own.place() == 0 ? kBegin : kLost;
  }
  // Join the pieces, by one thread. It writes the ends of pieces, which may merge with their neighbours, and lists the
  // rest.
  WFACLI_DEVICE std::int32_t join(std::uint32_t* ops, std::int32_t capacity, std::int32_t* pieces) const {
    std::int32_t count = 0, made = 0;
    std::uint32_t tail = 0;
    const auto flush = [&] {
      if (tail && count < capacity) ops[count] = tail;
      count += tail != 0;
      tail = 0;
    };
    const auto put = [&](std::uint32_t element) {
      if ((tail & 15) == (element & 15)) element += tail & ~15u;
      else flush();
      tail = element;
    };
    Mark from{0, 0, 0, 0};
    for (std::int32_t t = threads_ - 1; t >= 0;) {
      const Link link = links_[t];
      if (link.mark == kLost) return -1;
      std::int32_t at = t * capacity_ + from.count;
      const std::int32_t end = t * capacity_ + link.count;
      if (from.run_length > 0) {  // the previous piece includes this part of the run
        const std::uint32_t rest = elements_[at++] - (static_cast<std::uint32_t>(from.run_length) << 4);
        if (rest >> 4) put(rest);
      }
      if (at < end) put(elements_[at++]);
      if (at < end) {
        flush();
        pieces_[made++] = {at, count, end - 1 - at, 0};
        count += end - 1 - at;
        tail = elements_[end - 1];
      }
      if (link.mark == kBegin) break;
      from = marks_[link.mark];
      t = link.mark * kEvery / rows_;
    }
    if (first_ > 0) put(static_cast<std::uint32_t>(first_) << 4 | kEqual);
    flush();
    *pieces = made;
    return count;
  }

  const Trace& trace_;
  const Penalties<Pieces>& p_;
  const std::int32_t cost_, last_, first_;
  const std::int32_t rows_, threads_, capacity_;  // rows of a thread; threads with rows; elements of a thread
  Mark* const marks_;
  Piece* const pieces_;
  Link* const links_;
  std::uint32_t* const elements_;
};

}  // namespace wfacli

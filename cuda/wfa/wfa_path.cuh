// A path's operations, out of codes that tell runs: pieces of it, by all threads side by side.
//
// A cell alone says which one comes before it, so two ways back that meet stay together. Each thread goes back through
// some rows, from where the band was, which the path is never far from; then on, until it comes to where another thread has been
// that began further down. From the end of the path these pieces are put together, each up to where it meets the next.
#pragma once

#include "common/cigar.cuh"
#include "wfa/wfa_trace.cuh"

namespace wfacli {

template <int Pieces, class Trace, class Group>
class Pathways {
  static constexpr std::int32_t kEvery = Trace::kEvery;
  static constexpr std::int32_t kRows = 8 * kEvery;      // that a thread begins with at least
  // After which one that has met no other is given up. Where a band has lost the path, and letters agree by chance alone,
  // ways stay apart for long: up to 7,600 rows of a pair of ONT's, where half meet within 200.
  static constexpr std::int32_t kFurther = 192 * kEvery;
  static constexpr std::int32_t kBegin = -1, kLost = -2;
  static_assert(Group::kThreads >= 8);  // Trace::spare_bytes counts on it
  using Way = typename Trace::Way;

  // Where a thread was at or below a score, and what it had then written.
  struct Mark {
    std::int32_t s;
    std::uint32_t place;  // diagonal and component
    std::int32_t count, letters;
  };
  // Where a thread has ended: the mark at which it met another, or one of the above; and its elements.
  struct Link {
    std::int32_t mark, count;
  };
  // Elements that go to the slot as they are.
  struct Piece {
    std::int32_t from, to, count, unused;
  };

 public:
  // Of a path from row 0 to (cost, last); `first`: letters that match in row 0.
  WFACLI_DEVICE Pathways(const Trace& trace, const Penalties<Pieces>& p, std::int32_t cost, std::int32_t last,
                         std::int32_t first)
      : trace_(trace), p_(p), cost_(cost), last_(last), first_(first),
        rows_(max(kRows, (cost / Group::kThreads + kEvery) / kEvery * kEvery)), threads_((cost + rows_ - 1) / rows_),
        room_(16 * rows_), marks_(reinterpret_cast<Mark*>(trace.spare())),
        pieces_(reinterpret_cast<Piece*>(marks_ + cost / kEvery + 1)),
        links_(reinterpret_cast<Link*>(pieces_ + cost / kEvery + 1)),
        elements_(reinterpret_cast<std::uint32_t*>(links_ + cost / kEvery + 1)) {}

  // Writes as many operations as there is room for. How many there are; negative where pieces do not meet, or a run is
  // longer than codes tell. All threads of the group call it and have its answer.
  WFACLI_DEVICE std::int32_t operations(std::uint32_t* ops, std::int32_t capacity, GroupState* state) const {
    Group::sync();  // all rows are there
    const std::int32_t t = Group::rank(), lowest = t * rows_, above = lowest + rows_;
    Walker own{Way{cost_, last_}, RunWriter(elements_ + t * room_, t < threads_ ? room_ : 0), 0};
    if (t < threads_) {
      if (above < cost_) own.way = {above, static_cast<std::int32_t>(*trace_.middle(above))};
      begin(own, lowest);
    }
    Group::sync();
    if (t < threads_) {
      const std::int32_t met = go_on(own, max(lowest - kFurther, 0)), count = own.runs.finish();
      links_[t] = {own.long_run || count > room_ ? kLost : met, count};
    }
    Group::sync();
    if (t == 0) state->words = joined(ops, capacity, &state->scratch);
    Group::sync();
    const std::int32_t count = state->words, pieces = count < 0 ? 0 : state->scratch;
    for (std::int32_t i = t / Group::kWarp; i < pieces; i += Group::kThreads / Group::kWarp)
      for (std::int32_t j = Group::lane(); j < pieces_[i].count; j += Group::kWarp)
        if (pieces_[i].to + j < capacity) ops[pieces_[i].to + j] = elements_[pieces_[i].from + j];
    return count;
  }

 private:
  struct Walker {
    Way way;
    RunWriter runs;
    std::int32_t mark;  // the next one
    bool long_run = false;

    WFACLI_DEVICE std::uint32_t place() const { return static_cast<std::uint32_t>(way.k) << 3 | way.gap; }
    // Steps become operations.
    WFACLI_DEVICE void add(Step step) {
      if (step == kStepMismatch)  // or leaves a gap
        runs.add_short(kDifferent, way.gap == kFromMismatch);
      else
        runs.add_short(step == kStepInsertion ? kInsertion : kDeletion, 1);
    }
  };

  // One step, from wherever a way has come to.
  WFACLI_DEVICE void go(Walker& own) const {
    const std::uint32_t cell = trace_.around(own.way.s, own.way.k);
    if (own.way.gap == kFromMismatch) {
      const std::int32_t run = Trace::run_of(cell);
      own.long_run = own.long_run || run == Trace::kLongRun;
      own.runs.add_short(kEqual, run);
    }
    Trace::step(own.way, cell, own, p_);
  }
  // Through the thread's own rows, whose marks it leaves.
  WFACLI_DEVICE void begin(Walker& own, std::int32_t lowest) const {
    own.mark = (own.way.s - 1) / kEvery;
    while (own.way.s > lowest) {
      go(own);
      for (; own.mark * kEvery >= lowest && own.way.s <= own.mark * kEvery; --own.mark)
        marks_[own.mark] = {own.way.s, own.place(), own.runs.count(), own.runs.open_letters()};
    }
  }
  // On through others' rows, to `lowest` at most. Where it ends: as in Link.
  WFACLI_DEVICE std::int32_t go_on(Walker& own, std::int32_t lowest) const {
    while (own.way.s > lowest) {
      go(own);
      for (; own.mark >= 0 && own.way.s <= own.mark * kEvery; --own.mark)
        if (marks_[own.mark].s == own.way.s && marks_[own.mark].place == own.place()) return own.mark;
    }
    return own.way.s == 0 && own.place() == 0 ? kBegin : kLost;
  }
  // The pieces' ends, of which neighbours may be equal, go to the slot one by one, by one thread; the rest is listed.
  WFACLI_DEVICE std::int32_t joined(std::uint32_t* ops, std::int32_t capacity, std::int32_t* pieces) const {
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
      std::int32_t at = t * room_ + from.count;
      const std::int32_t end = t * room_ + link.count;
      if (from.letters > 0) {  // which another thread has counted
        const std::uint32_t rest = elements_[at++] - (static_cast<std::uint32_t>(from.letters) << 4);
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
  const std::int32_t rows_, threads_, room_;  // of a thread; that have some; elements of each
  Mark* const marks_;
  Piece* const pieces_;
  Link* const links_;
  std::uint32_t* const elements_;
};

}  // namespace wfacli

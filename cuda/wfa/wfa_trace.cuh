// Traces of a wavefront, which record its paths. All yield the same: the path's steps, 2 bits each, first step first.
//
// A step is an edit; matches between steps are implicit. Inside a gap no mismatch can follow, so there the mismatch
// code marks the end of the gap, after which matches may follow. Steps fill 32-bit words from the top; the first word
// may begin with zeros, which are not steps.
#pragma once

#include "wfa/wfa_ring.cuh"

namespace wfacli {

enum Step : std::uint32_t { kStepMismatch = 1, kStepInsertion = 2, kStepDeletion = 3 };
constexpr Step kLeaveGap = kStepMismatch;
constexpr int kStepsOfWord = 16;

// Source of M's offset; of equally far sources the highest value wins, which is the canonical choice.
constexpr std::uint32_t kFromMismatch = 0;
WFACLI_DEVICE constexpr std::uint32_t from_deletion(int g) { return 2 - static_cast<std::uint32_t>(g); }
WFACLI_DEVICE constexpr std::uint32_t from_insertion(int g) { return 4 - static_cast<std::uint32_t>(g); }
// Bits of a cell's code, above those of M's source: whether a gap component opened there.
WFACLI_DEVICE constexpr std::uint32_t insertion_opens(int g) { return 8u << 2 * g; }
WFACLI_DEVICE constexpr std::uint32_t deletion_opens(int g) { return 16u << 2 * g; }

// Return an offset that compares by its source where offsets are equal.
WFACLI_DEVICE std::int32_t ranked(std::int32_t off, std::uint32_t source) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(off) << 3 | source);
}

// A group's shared memory: its current slot, and state of its trace.
struct GroupState {
  std::uint32_t slot;    // current slot
  std::uint32_t blocks;  // Carried: blocks drawn so far for this pair
  std::int32_t words;    // words of the path's steps
  std::int32_t scratch;  // scratch of Lanes
};

// Writes a path's steps from the last to the first, towards lower addresses.
class StepWriter {
 public:
  WFACLI_DEVICE explicit StepWriter(std::uint32_t* end) : at_(end), end_(end) {}
  WFACLI_DEVICE void add(Step step) {
    word_ |= step << shift_;
    shift_ += 2;
    if (shift_ == 2 * kStepsOfWord) flush();
  }
  // Add up to one word of steps, after whole words.
  WFACLI_DEVICE void add_word(std::uint32_t steps) {
    word_ = steps;
    flush();
  }
  // Return the number of words.
  WFACLI_DEVICE std::int32_t finish() {
    flush();
    return static_cast<std::int32_t>(end_ - at_);
  }
  // Return the maximum words of steps of a path of score s: a step costs at least half a unit.
  WFACLI_DEVICE static std::uint64_t max_words(std::int32_t s) {
    return static_cast<std::uint64_t>(s) / (kStepsOfWord / 2) + 2;
  }

 private:
  WFACLI_DEVICE void flush() {
    if (word_) *--at_ = word_;
    word_ = 0;
    shift_ = 0;
  }
  std::uint32_t* at_;
  std::uint32_t* const end_;
  std::uint32_t word_ = 0, shift_ = 0;
};

// Memory of a trace for one pair.
struct TraceMemory {
  std::uint8_t* bytes;  // 16-byte aligned, private to the group
  std::uint64_t size;   // a multiple of 4
  GroupState* state;
};

// No trace: scores only.
struct NoTrace {
  static constexpr bool kCarried = false, kCodes = false, kLinked = false, kRuns = false;
  static constexpr int kWords = 0;
  static constexpr std::int32_t kMaxSteps = INT32_MAX;
  struct Cell {};

  WFACLI_DEVICE explicit NoTrace(TraceMemory) {}
};

// Each cell carries the steps of its own path. Without `Linked` these are all, which bounds the path's length
// (eWFA-GPU, section III-A: 2, 4 or 8 words for up to 32, 64 or 128 edits). With it, full words are offloaded to a
// buffer as blocks {steps, previous block}, and cells carry the number of their last block (WFA-GPU, section 2.3.3).
// Each group has its own part of the buffer, and counts its blocks with an atomic in its shared memory: groups do not
// contend.
template <int StepWords, bool Linked>
class Carried {
 public:
  static constexpr bool kCarried = true, kCodes = false, kLinked = Linked, kRuns = false;
  static constexpr int kWords = StepWords + Linked;
  static constexpr std::int32_t kMaxSteps = Linked ? INT32_MAX : StepWords * kStepsOfWord;
  static constexpr std::uint32_t kNoBlock = 0xffffffffu;
  struct Cell {
    std::uint32_t word[kWords];
  };

  WFACLI_DEVICE explicit Carried(TraceMemory memory) : memory_(memory) {}
  WFACLI_DEVICE static Cell empty() {
    Cell cell = {};
    if (Linked) cell.word[kWords - 1] = kNoBlock;
    return cell;
  }
  template <bool Spill, class R>
  WFACLI_DEVICE static Cell load(const R& ring, std::int32_t row, std::int32_t k) {
    Cell cell;
#pragma unroll
    for (int w = 0; w < kWords; ++w) cell.word[w] = ring.template word<Spill>(row, k, w);
    return cell;
  }
  template <bool Spill, class R>
  WFACLI_DEVICE static void store(R& ring, std::int32_t row, std::int32_t k, const Cell& cell) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) ring.template set_word<Spill>(row, k, w, cell.word[w]);
  }
  WFACLI_DEVICE void push(Cell& cell, Step step) {
    if (Linked && cell.word[0] >> 30) offload(cell);
#pragma unroll
    for (int w = 0; w + 1 < StepWords; ++w) cell.word[w] = __funnelshift_l(cell.word[w + 1], cell.word[w], 2);
    cell.word[StepWords - 1] = cell.word[StepWords - 1] << 2 | step;
  }
  // Return whether `blocks` blocks and the steps of a path of score s fit. Blocks that do not fit are counted but not
  // written.
  WFACLI_DEVICE bool fits(std::uint32_t blocks, std::int32_t s) const {
    const std::uint64_t reserved = 4 * StepWriter::max_words(s);
    return 4 * std::uint64_t{kWords} * blocks + reserved <= memory_.size;
  }
  // Write the steps of a cell's path, by one thread, so that they end at end(). Return the number of words.
  WFACLI_DEVICE std::int32_t steps(const Cell& cell) const {
    StepWriter writer(end(0));
#pragma unroll
    for (int w = StepWords - 1; w >= 0; --w) writer.add_word(cell.word[w]);
    if constexpr (Linked) {
      for (std::uint32_t b = cell.word[StepWords]; b != kNoBlock; b = block(b)[StepWords])
#pragma unroll
        for (int w = StepWords - 1; w >= 0; --w) writer.add_word(block(b)[w]);
    }
    return writer.finish();
  }

  // Return where the steps of any path end.
  WFACLI_DEVICE std::uint32_t* end(std::int32_t) const {
    return reinterpret_cast<std::uint32_t*>(memory_.bytes + memory_.size);
  }

 private:
  WFACLI_DEVICE std::uint32_t* block(std::uint32_t number) const {
    return reinterpret_cast<std::uint32_t*>(memory_.bytes) + static_cast<std::uint64_t>(number) * kWords;
  }
  WFACLI_DEVICE void offload(Cell& cell) {
    const std::uint32_t number = atomicAdd(&memory_.state->blocks, 1u);
    if (number < memory_.size / (4 * kWords))
#pragma unroll
      for (int w = 0; w < kWords; ++w) block(number)[w] = cell.word[w];
    cell = empty();
    cell.word[kWords - 1] = number;
  }

  TraceMemory memory_;
};

// A code per score and diagonal: M's source in three bits, one bit per gap component for whether it opens there, and,
// if `Unit` is larger than a byte, the number of matches that follow, in the bits above `Bits`. Cells carry nothing
// with their offsets, and neighbours write to neighbouring places; the traceback reads one code per step. A table of
// where rows begin grows downwards from the end of the memory.
template <class Unit, int Bits>
class Codes {
 public:
  static constexpr bool kCarried = false, kCodes = true, kLinked = false;
  static constexpr bool kRuns = sizeof(Unit) > 1;
  static constexpr int kWords = 0;
  static constexpr std::int32_t kMaxSteps = INT32_MAX;
  struct Cell {};
  static constexpr std::uint32_t kSource = 7;
  static constexpr std::int32_t kLongRun = kRuns ? (1 << (8 * sizeof(Unit) - Bits)) - 1 : 0;  // this long or longer
  static constexpr std::int32_t kEvery = 64;  // scores between two recorded centres of the band
  WFACLI_DEVICE static std::int32_t run_of(std::uint32_t cell) { return static_cast<std::int32_t>(cell >> Bits); }

  WFACLI_DEVICE explicit Codes(TraceMemory memory) : memory_(memory) {}

  // Reserve the places of score s if they fit; all threads of the group call it. Not needed for score 0.
  WFACLI_DEVICE bool begin_row(std::int32_t s, Range at) {
    if (!fits(1, s, at)) return false;
    next_row(s, at, true);
    return true;
  }
  // Return whether `rows` further rows with these diagonals fit, of which score s has the last.
  WFACLI_DEVICE bool fits(std::int32_t rows, std::int32_t s, Range at) const {
    const std::uint64_t cells = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(at.hi - at.lo + 1);
    return sizeof(Unit) * (used_ + cells) + reserved_bytes(static_cast<std::uint64_t>(s)) <= memory_.size;
  }
  // Record where rows are that next_row() has reserved for the same diagonals; s is the last of them.
  template <class Group>
  WFACLI_DEVICE void record_rows(std::int32_t rows, std::int32_t s, Range at) const {
    const std::uint32_t size = static_cast<std::uint32_t>(at.hi - at.lo + 1);
    for (std::int32_t back = Group::rank(); back < rows; back += Group::kThreads)
      *row_of(s - back) = row_ - static_cast<std::uint32_t>(back) * size;
  }
  // Reserve the places of score s, which fit. `record`: record where they are; at least one thread must.
  WFACLI_DEVICE void next_row(std::int32_t s, Range at, bool record) {
    row_ = static_cast<std::uint32_t>(used_) - static_cast<std::uint32_t>(at.lo);
    used_ += static_cast<std::uint64_t>(at.hi - at.lo + 1);
    if (record) *row_of(s) = row_;
  }
  WFACLI_DEVICE void put(std::int32_t k, std::uint32_t code) {
    units()[row_ + static_cast<std::uint32_t>(k)] = static_cast<Unit>(code);
  }
  WFACLI_DEVICE void put(std::int32_t k, std::uint32_t code, std::int32_t run) {
    put(k, static_cast<std::uint32_t>(min(run, kLongRun)) << Bits | code);
  }
  // Address of the band's centre after score s, a multiple of kEvery above 0 whose row is reserved.
  WFACLI_DEVICE std::uint32_t* middle(std::int32_t s) const { return row_of(s) + 1; }
  // Return the bytes of spare memory beside steps and table; spare() is 16-byte aligned.
  WFACLI_DEVICE static constexpr std::uint64_t spare_bytes(std::uint64_t s) {
    return kRuns ? 64 * (s + s / 8 + 640) + 40 * (s / kEvery + 1) + 16 : 0;
  }
  WFACLI_DEVICE std::uint8_t* spare() const {
    return memory_.bytes + ((sizeof(Unit) * used_ + 15) & ~std::uint64_t{15});
  }

  // Return where the steps of a path of score s end.
  WFACLI_DEVICE std::uint32_t* end(std::int32_t s) const { return row_of(s); }
  // Trace back from M at (s, k), by one thread; the steps end at end(s). Return the number of words.
  template <int Pieces>
  WFACLI_DEVICE std::int32_t steps(std::int32_t s, std::int32_t k, const Penalties<Pieces>& p) const {
    StepWriter writer(end(s));
    Position position{s, k};
    trace_back(
        position, writer, p, [&](std::int32_t row, std::int32_t diagonal) { return at(row, diagonal); },
        [](std::int32_t, std::int32_t) { return true; });
    return writer.finish();
  }
  // The same by a block, whose threads load the codes around the path into `near` in shared memory, because a single
  // thread would wait for each code in turn. All threads call it; the first thread's result is right. `NearBytes`:
  // minimum bytes of `near`.
  template <class Group, int NearBytes, int Pieces>
  WFACLI_DEVICE std::int32_t steps_of_block(std::int32_t s, std::int32_t k, const Penalties<Pieces>& p,
                                            std::uint8_t* near) const {
    constexpr std::int32_t kNearDiagonals = 16,
                           kNearRows = NearBytes < 64 * kNearDiagonals ? NearBytes / kNearDiagonals : 64;
    constexpr std::int32_t kNear = kNearRows * kNearDiagonals;
    StepWriter writer(end(s));
    for (Position position{s, k}; position.s > 0;) {
      const std::int32_t last = position.s, first = position.k - kNearDiagonals / 2;
      Group::sync();  // all threads know the position, and are done with `near`
      constexpr int kEach = (kNear + Group::kThreads - 1) / Group::kThreads;
      std::uint8_t codes[kEach];  // codes without runs
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const std::int32_t cell = Group::rank() + i * Group::kThreads;
        codes[i] = static_cast<std::uint8_t>(around(last - cell / kNearDiagonals, first + cell % kNearDiagonals));
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (const std::int32_t cell = Group::rank() + i * Group::kThreads; cell < kNear) near[cell] = codes[i];
      Group::sync();
      if (Group::rank() == 0) {
        const auto place = [&](std::int32_t row, std::int32_t diagonal) {
          return (last - row) * kNearDiagonals + (diagonal - first);
        };
        trace_back(
            position, writer, p, [&](std::int32_t row, std::int32_t diagonal) { return near[place(row, diagonal)]; },
            [&](std::int32_t row, std::int32_t diagonal) {
              return last - row < kNearRows &&
                     static_cast<std::uint32_t>(diagonal - first) < static_cast<std::uint32_t>(kNearDiagonals);
            });
        memory_.state->scratch = position.s;
        memory_.state->words = position.k;
      }
      Group::sync();
      position.s = memory_.state->scratch;
      position.k = memory_.state->words;
    }
    Group::sync();  // all threads have read the position
    return writer.finish();
  }

  // Position of a traceback: in M, or in the gap component `gap`, a source of M.
  struct Position {
    std::int32_t s, k;
    std::uint32_t gap = kFromMismatch;
  };
  // Return a cell's code; an arbitrary one if the row does not have the diagonal.
  WFACLI_DEVICE std::uint32_t around(std::int32_t s, std::int32_t k) const {
    const std::uint32_t place = *row_of(max(s, 1)) + static_cast<std::uint32_t>(k);
    return units()[place < used_ ? place : 0];
  }
  // Go one step back from a cell: into a gap, along it, or over a mismatch; `writer` receives the steps.
  template <int Pieces, class Writer>
  WFACLI_DEVICE static void step(Position& position, std::uint32_t cell, Writer& writer, const Penalties<Pieces>& p) {
    if (position.gap == kFromMismatch) {
      position.gap = cell & kSource;
      if (position.gap == kFromMismatch) {
        writer.add(kStepMismatch);
        position.s -= p.costs.mismatch;
        return;
      }
      if (Pieces > 0) writer.add(kLeaveGap);
    }
    const bool insertion = position.gap >= from_insertion(1);
    const int g = Pieces == 2 && (position.gap == from_insertion(1) || position.gap == from_deletion(1));
    const bool opened = Pieces == 0 || (cell & (insertion ? insertion_opens(g) : deletion_opens(g))) != 0;
    writer.add(insertion ? kStepInsertion : kStepDeletion);
    position.k += insertion ? 1 : -1;
    position.s -= opened ? p.opened(g) : p.costs.extend[g];
    if (opened) position.gap = kFromMismatch;
  }

 private:
  WFACLI_DEVICE Unit* units() const { return reinterpret_cast<Unit*>(memory_.bytes); }
  WFACLI_DEVICE std::uint32_t* row_of(std::int32_t s) const {
    return reinterpret_cast<std::uint32_t*>(memory_.bytes + memory_.size) - (s + (kRuns ? s / kEvery + 2 : 1));
  }
  // Return the bytes for the table, the steps and the spare memory up to score s.
  WFACLI_DEVICE static std::uint64_t reserved_bytes(std::uint64_t s) {
    return 4 * (s + (kRuns ? s / kEvery + 2 : 1) + StepWriter::max_words(static_cast<std::int32_t>(s))) +
           spare_bytes(s);
  }
  WFACLI_DEVICE std::uint32_t at(std::int32_t s, std::int32_t k) const {
    return units()[*row_of(s) + static_cast<std::uint32_t>(k)];
  }

  // Trace back while near(s, k) is true, to the beginning at most; code(s, k) is a cell's code.
  template <int Pieces, class Code, class Near>
  WFACLI_DEVICE static void trace_back(Position& position, StepWriter& writer, const Penalties<Pieces>& p,
                                       const Code& code, const Near& near) {
    while (position.s > 0 && near(position.s, position.k)) step(position, code(position.s, position.k), writer, p);
  }

  TraceMemory memory_;
  std::uint64_t used_ = 0;
  std::uint32_t row_ = 0;
};

}  // namespace wfacli

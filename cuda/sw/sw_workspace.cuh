// Stripes of the matrices of a group's pairs, and their part of the workspace.
//
// A stripe is kWidth columns of the targets and all rows of the queries. Lane l of the group has kColumns of these
// columns, and is in row t - l + 1 at step t, from 0. Rows and columns count from 1; row 0 and column 0 are the edges
// of the matrix.
#pragma once

#include "common/symbols.cuh"
#include "sw/sw_words.cuh"

namespace wfacli::sw {

constexpr std::uint32_t kAllLanes = 0xffffffffu;
constexpr int kLanes = WFACLI_LANES;
constexpr int kColumns = WFACLI_COLUMNS;  // per lane
constexpr int kWidth = kLanes * kColumns;
constexpr int kSteps = WFACLI_STEPS;  // between two checkpoints
constexpr bool kPath = WFACLI_PATH != 0;
constexpr SwRule kRule = static_cast<SwRule>(WFACLI_RULE);  // Global includes Semiglobal
constexpr bool kLocal = kRule == SwRule::Local, kExtends = kRule == SwRule::Extension;
constexpr bool kFindsPath = kPath && !kExtends;                            // an extension only finds its end
constexpr bool kAllDirections = kFindsPath && WFACLI_ALL_DIRECTIONS != 0;  // directions of all cells are stored
constexpr bool kRecomputes = kFindsPath && !kAllDirections;                // parts on the path, from checkpoints
constexpr bool kFindsStartOnly = kPath && !kRecomputes;  // another launch traces the path from its first cell
#if WFACLI_BITS == 16
using Word = Halves;
#else
using Word = Whole;
#endif
constexpr int kPairs = Word::kPairs;  // per group

// What a row stores of each cell for the traceback, four bits per cell.
// Flags: see Direction in sw_traceback.cuh.
// Digits, where a gap opening costs 1 to 3: two digits, of the insertion and of the deletion that enter the cell. A
// digit is the cell's score less the score by that gap, at most the opening. Digits need no minima: the gap that
// leaves the cell is the greater of (gap that enters - extension) and (score - opening - extension), so score minus it
// is the digit plus the extension.
enum class Trace { None, Flags, Digits };
constexpr Trace kDefaultTrace = kAllDirections ? Trace::Flags : Trace::None;  // by the sweep, without digits

constexpr int kWarpPairs = kPairs * 32 / kLanes;
constexpr int kKeyColumns = 32;  // columns that a key of score and column can distinguish
static_assert(!kAllDirections || kColumns <= kKeyColumns);
static_assert(kColumns % 4 == 0 && kSteps >= kLanes && kLanes >= kPairs);

struct Pair {
  const std::uint8_t *query, *target;  // first symbols
  std::int32_t query_len, target_len;  // 0: no pair
  std::int32_t slot, row;

  WFACLI_DEVICE static Pair of(const SwTask& task, std::int32_t slot) {
    const std::int32_t at = min(slot, task.count - 1), row = task.rows[at];
    const Coded query = Coded::query(task.seq, row), target = Coded::target(task.seq, row);
    Pair pair{query.codes, target.codes, query.length, target.length, slot, row};
    if (task.prefixes) {
      pair.query_len = task.prefixes[at].x;
      pair.target_len = task.prefixes[at].y;
    }
    if (slot >= task.count || pair.target_len == 0) pair.query_len = pair.target_len = 0;
    if (pair.query_len == 0) pair.target_len = 0;
    return pair;
  }
  // Codes of row i and column j, which must be in range. They count from the end of the sequences, so that the
  // traceback is in forward order; those of an extension count from the beginning.
  WFACLI_DEVICE std::uint32_t query_code(std::int32_t i) const { return query[kExtends ? i - 1 : query_len - i]; }
  WFACLI_DEVICE std::uint32_t target_code(std::int32_t j) const { return target[kExtends ? j - 1 : target_len - j]; }
  // Codes of rows i to i + 3 and of columns j to j + 3, a byte each, the first in the lowest byte. Those beyond the
  // sequence are `beyond`.
  WFACLI_DEVICE std::uint32_t query_codes(std::int32_t i, std::uint32_t beyond) const {
    return codes(query, query_len, i, beyond);
  }
  WFACLI_DEVICE std::uint32_t target_codes(std::int32_t j, std::uint32_t beyond) const {
    return codes(target, target_len, j, beyond);
  }
  WFACLI_DEVICE static std::uint32_t codes(const std::uint8_t* symbols, std::int32_t length, std::int32_t i,
                                           std::uint32_t beyond) {
    const std::int32_t missing = min(max(i + 3 - length, 0), 4);
    // Sequences start at multiples of 16 bytes, and this one is not empty. There are no branches, so that loads need
    // not wait for each other.
    const auto first = static_cast<std::uint32_t>(kExtends ? min(i, max(length, 1)) - 1 : max(length - i - 3, 0));
    const std::uint32_t* const words = reinterpret_cast<const std::uint32_t*>(symbols) + first / 4;
    const bool more = first % 4 && (!kExtends || (first / 4 + 1) * 4 < static_cast<std::uint32_t>(length));
    const std::uint32_t four =
        __byte_perm(words[0], more ? words[1] : 0, (kExtends ? 0x3210u : 0x0123u) + 0x1111u * (first % 4));
    const std::uint32_t none = beyond * 0x01010101u;
    if (missing == 4) return none;
    if constexpr (kExtends) return __funnelshift_r(four << 8 * missing, none, 8 * static_cast<std::uint32_t>(missing));
    return __funnelshift_r(four, none, 8 * static_cast<std::uint32_t>(missing));
  }
  WFACLI_DEVICE std::int32_t stripes() const { return (target_len + kWidth - 1) / kWidth; }
};

// Keep a value in its register, so that the compiler does not recompute it at each use.
WFACLI_DEVICE std::uint32_t once(std::uint32_t value) {
#ifdef __CUDACC__
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
#endif
  return value;
}

// Gap costs, and scores on the edges of the matrix.
struct Gaps {
  std::int32_t open, extend;
  std::int32_t zero;                               // word value of score 0
  std::uint32_t opened_word, minus_extend, floor;  // opened gap, -extension, and score 0, as words
  // Constants whose values the assembler does not know, so that products remain multiplications.
  std::uint32_t minus_one, two_to_4, minus_4, five, two_to_5;
  bool free_rows, free_columns;  // true if unaligned ends of the query, of the target cost nothing

  WFACLI_DEVICE static Gaps of(const SwTask& task) {
    const std::int32_t zero = zero_of(task);
    const std::uint32_t opened = once(Word::all(task.open + task.extend)), extend = once(Word::all(-task.extend));
    const bool free_columns = kLocal || task.rule == SwRule::Semiglobal;
    const std::uint32_t one = task.codes > 0;
    return {task.open, task.extend,  zero,    opened,   extend, once(Word::all(zero)), 0u - one,
            one << 4,  0u - 4 * one, 5 * one, one << 5, kLocal, free_columns};
  }
  // Local scores are at least 0. From a score of 0 a gap may open and extend once more and still be above 0 in the
  // word, and adding a substitution score, which has 8 bits, must not fall below 0.
  WFACLI_DEVICE static std::int32_t zero_of(const SwTask& task) {
    return kPairs == 1 ? 0 : kLocal ? max(task.open + 2 * task.extend + 1, 128) : 0x8000;
  }
  // Return true if directions are stored as digits. If those of all cells of a local alignment are stored, a lane
  // finds its best cell by a 16-bit key of score and column, which must hold all scores of the launch.
  WFACLI_DEVICE static bool digits(const SwTask& task) {
    const bool keyed = kAllDirections && kLocal;
    const auto shorter = static_cast<std::uint32_t>(min(task.longest_query, task.longest_target));
    const std::int32_t headroom = 0xffff / kKeyColumns - zero_of(task);
    const bool held =
        !keyed || (headroom > 0 && shorter <= static_cast<std::uint32_t>(headroom / max(task.max_score, 1)));
    return task.open >= 1 && task.open <= 3 && held;
  }
  // What the four digits of a word contain too much: the extension of each gap.
  WFACLI_DEVICE std::uint32_t surplus() const {
    return Word::all(1) * 0x1111u * 5u * static_cast<std::uint32_t>(extend);
  }
  WFACLI_DEVICE std::int32_t opened() const { return open + extend; }
  WFACLI_DEVICE std::uint32_t word(std::int32_t score) const { return Word::all(score + zero); }
  WFACLI_DEVICE std::int32_t score(std::uint32_t word, int x) const { return Word::of(word, x) - zero; }
  // H(0, j) and H(i, 0).
  WFACLI_DEVICE std::int32_t above(std::int32_t j) const { return free_columns || j == 0 ? 0 : -(open + j * extend); }
  WFACLI_DEVICE std::int32_t left_of(std::int32_t i) const { return free_rows || i == 0 ? 0 : -(open + i * extend); }
};

// One row of the boundary between two stripes: the score of the last column, and the deletion that continues from it.
struct alignas(8) Edge {
  std::uint32_t value, deletion;

  // Store if `yes`, as a predicated instruction: after a branch the compiler would duplicate the code that follows.
  WFACLI_DEVICE static void put(Edge* to, std::uint32_t value, std::uint32_t deletion, bool yes) {
#ifdef __CUDACC__
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.global.v2.u32 [%0], {%1, %2}; }" ::"l"(to), "r"(value),
                 "r"(deletion), "r"(static_cast<std::uint32_t>(yes))
                 : "memory");
#else
    if (yes) *to = {value, deletion};
#endif
  }
};

// The group's part of the workspace. wfacli/gpu/kernels/sw.py mirrors its layout.
struct Workspace {
  static constexpr int kWords = 2 * kColumns + 3;                       // words of a lane's state
  static constexpr int kDirections = kColumns / 4;                      // words of a lane's directions of one row
  static constexpr int kLine = 128, kRows = kLine / (4 * kDirections);  // bytes per line; rows of a lane per line

  std::uint8_t* at;
  std::uint64_t edge_bytes, stored_bytes;  // per stripe; stored: checkpoints, or directions of all cells
  std::int32_t stripes, steps;             // steps: of a stripe of the longest query

  // Return the part of a group. If directions stay stored for another launch, every group of the launch has its own
  // part and `group` counts all of them; else it counts resident groups.
  WFACLI_DEVICE static Workspace of(const SwTask& task, std::int32_t group) {
    Workspace workspace;
    workspace.at = task.workspace + static_cast<std::uint64_t>(group) * task.stride;
    workspace.stripes = kRecomputes ? (task.longest_target - 1) / kWidth + 1 : 1;
    workspace.edge_bytes = static_cast<std::uint64_t>(task.longest_query) * sizeof(Edge);
    const std::uint64_t states = static_cast<std::uint64_t>(task.longest_query + kLanes - 2) / kSteps + 1;
    workspace.stored_bytes = kRecomputes ? states * kWords * 4 * kLanes : 0;
    workspace.steps = task.longest_query + kLanes - 1;
    if (kAllDirections)
      workspace.stored_bytes = static_cast<std::uint64_t>((workspace.steps - 1) / kRows + 1) * (kLanes * kLine);
    return workspace;
  }
  static constexpr bool kOfLaunch = kAllDirections;
  // Boundary after a stripe, from row 1. Unless parts are recomputed, all stripes share one boundary: a stripe writes
  // a row only after it has read the row of the previous stripe, since its value depends on it.
  WFACLI_DEVICE Edge* edge(std::int32_t stripe) const {
    return reinterpret_cast<Edge*>(at + edge_bytes * static_cast<std::uint32_t>(kRecomputes ? stripe : 0));
  }
  // Return word 0 of a lane's state before step kSteps * number of a stripe. Words of one lane are kLanes apart.
  WFACLI_DEVICE std::uint32_t* checkpoint(std::int32_t stripe, std::int32_t number, std::int32_t lane) const {
    std::uint8_t* const first =
        at + edge_bytes * static_cast<std::uint32_t>(stripes) + stored_bytes * static_cast<std::uint32_t>(stripe);
    return reinterpret_cast<std::uint32_t*>(first) + static_cast<std::uint64_t>(number) * (kWords * kLanes) + lane;
  }
  // Store a lane's words; `to` is aligned for all of them.
  WFACLI_DEVICE static void put(std::uint32_t* to, const std::uint32_t (&words)[kDirections]) {
    if constexpr (kDirections % 4 == 0) {
#pragma unroll
      for (int w = 0; w < kDirections; w += 4)
        *reinterpret_cast<uint4*>(to + w) = make_uint4(words[w], words[w + 1], words[w + 2], words[w + 3]);
    } else if constexpr (kDirections == 2) {
      *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
    } else {
#pragma unroll
      for (int w = 0; w < kDirections; ++w) to[w] = words[w];
    }
  }
  // Directions of step t, in the recomputed part of a stripe or in the whole stripe. A lane's words are contiguous,
  // and a line has consecutive rows of one lane.
  WFACLI_DEVICE std::uint32_t* directions(std::int32_t stripe, std::int32_t t, std::int32_t lane) const {
    if constexpr (kAllDirections)
      return reinterpret_cast<std::uint32_t*>(at + line(stripe, t / kRows, lane)) + t % kRows * kDirections;
    const std::uint64_t first = (edge_bytes + stored_bytes) * static_cast<std::uint32_t>(stripes);
    return reinterpret_cast<std::uint32_t*>(at + (first + 31) / 32 * 32) + (t * kLanes + lane) * kDirections;
  }
  // Return the offset in the room of a lane's line that has the steps from kRows * number on.
  WFACLI_DEVICE std::uint64_t line(std::int32_t stripe, std::int32_t number, std::int32_t lane) const {
    const std::uint64_t first =
        (edge_bytes + kLine - 1) / kLine * kLine + stored_bytes * static_cast<std::uint32_t>(stripe);
    return first + static_cast<std::uint64_t>(number * kLanes + lane) * kLine;
  }
};

}  // namespace wfacli::sw

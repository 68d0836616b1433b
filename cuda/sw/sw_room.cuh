// Stripes of the matrices of a group's pairs, and what of them is kept in the workspace.
//
// A stripe is kWidth columns of the targets and all rows of the queries. Lane l of the group has kColumns of them, and
// in step t, from 0, it is in row t - l + 1. Rows and columns count from 1; row and column 0 are the matrix' edges.
#pragma once

#include "common/letters.cuh"
#include "sw/sw_words.cuh"

namespace wfacli::sw {

constexpr std::uint32_t kAllLanes = 0xffffffffu;
constexpr int kLanes = WFACLI_LANES;
constexpr int kColumns = WFACLI_COLUMNS;  // of a lane
constexpr int kWidth = kLanes * kColumns;
constexpr int kSteps = WFACLI_STEPS;  // between two states that are kept
constexpr bool kPath = WFACLI_PATH != 0;
constexpr SwRule kRule = static_cast<SwRule>(WFACLI_RULE);  // Global stands for Semiglobal, too
constexpr bool kLocal = kRule == SwRule::Local, kExtends = kRule == SwRule::Extension;
constexpr bool kWalks = kPath && !kExtends;  // an extension only finds where it ends
constexpr bool kWhole = kWalks && WFACLI_WHOLE != 0;  // directions of all cells are kept,
constexpr bool kTwice = kWalks && !kWhole;  // or states, and what the path crosses is done again
constexpr bool kLeavesWay = kPath && !kTwice;  // where paths begin is all that is found: another launch makes them
#if WFACLI_BITS == 16
using Word = Halves;
#else
using Word = Whole;
#endif
constexpr int kPairs = Word::kPairs;  // of a group

// What a row leaves of its cells for the way back, four bits of each: the flags of sw_walk.cuh; or, where a gap's opening
// costs 1 to 3, two digits: by how much less than the cell's score is what an insertion brings into it, and a deletion, or
// the opening where that is less. Digits need no minima: of the score and of what goes on from the cell, the greater of
// what came less its extension and of the score less an opened gap, the difference is that and the extension.
enum class Trace { None, Flags, Digits };
constexpr Trace kTraced = kWhole ? Trace::Flags : Trace::None;  // of the sweep, where digits do not do

constexpr int kWarpPairs = kPairs * 32 / kLanes;
constexpr int kKeyColumns = 32;  // that a key of a score and a column tells apart
static_assert(!kWhole || kColumns <= kKeyColumns);
static_assert(kColumns % 4 == 0 && kSteps >= kLanes && kLanes >= kPairs);

struct Pair {
  const std::uint8_t *query, *target;  // the first letters
  std::int32_t query_len, target_len;  // 0: no pair
  std::int32_t slot, row;

  WFACLI_DEVICE static Pair of(const SwTask& task, std::int32_t slot) {
    const std::int32_t at = min(slot, task.count - 1), row = task.rows[at];
    const Coded query = Coded::query(task.seq, row), target = Coded::target(task.seq, row);
    Pair pair{query.letters, target.letters, query.length, target.length, slot, row};
    if (task.prefixes) {
      pair.query_len = task.prefixes[at].x;
      pair.target_len = task.prefixes[at].y;
    }
    if (slot >= task.count || pair.target_len == 0) pair.query_len = pair.target_len = 0;
    if (pair.query_len == 0) pair.target_len = 0;
    return pair;
  }
  // Codes of row i and of column j, which are in their sequences: from the end, so that the way back goes forward;
  // those of an extension from the beginning.
  WFACLI_DEVICE std::uint32_t query_code(std::int32_t i) const { return query[kExtends ? i - 1 : query_len - i]; }
  WFACLI_DEVICE std::uint32_t target_code(std::int32_t j) const { return target[kExtends ? j - 1 : target_len - j]; }
  // The codes of rows i to i + 3, and of columns j to j + 3, a byte each, the first the lowest; those beyond the sequence
  // are `beyond`.
  WFACLI_DEVICE std::uint32_t query_codes(std::int32_t i, std::uint32_t beyond) const {
    return codes(query, query_len, i, beyond);
  }
  WFACLI_DEVICE std::uint32_t target_codes(std::int32_t j, std::uint32_t beyond) const {
    return codes(target, target_len, j, beyond);
  }
  WFACLI_DEVICE static std::uint32_t codes(const std::uint8_t* letters, std::int32_t length, std::int32_t i,
                                           std::uint32_t beyond) {
    const std::int32_t missing = min(max(i + 3 - length, 0), 4);
    // Sequences begin at multiples of 16 bytes, and this one has a letter. No branches: loads shall not wait for others.
    const auto first = static_cast<std::uint32_t>(kExtends ? min(i, max(length, 1)) - 1 : max(length - i - 3, 0));
    const std::uint32_t* const words = reinterpret_cast<const std::uint32_t*>(letters) + first / 4;
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

// A value that stays in its register, and is not made anew where it is used.
WFACLI_DEVICE std::uint32_t once(std::uint32_t value) {
#ifdef __CUDACC__
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
#endif
  return value;
}

// Costs of gaps, and what the edges of the matrix score.
struct Gaps {
  std::int32_t open, extend;
  std::int32_t zero;                               // what stands in a word for a score of 0
  std::uint32_t opened_word, minus_extend, floor;  // of both costs, and of a score of 0
  std::uint32_t minus_one, two_to_4, minus_4, five, two_to_5;  // which no assembler knows: products are to stay products
  bool free_rows, free_columns;  // whether leaving letters of the query, of the target out costs nothing

  WFACLI_DEVICE static Gaps of(const SwTask& task) {
    const std::int32_t zero = zero_of(task);
    const std::uint32_t opened = once(Word::all(task.open + task.extend)), extend = once(Word::all(-task.extend));
    const bool free_columns = kLocal || task.rule == SwRule::Semiglobal;
    const std::uint32_t one = task.codes > 0;
    return {task.open, task.extend, zero, opened, extend, once(Word::all(zero)), 0u - one, one << 4, 0u - 4 * one, 5 * one,
            one << 5, kLocal, free_columns};
  }
  // Local scores are no less than 0: a gap that begins there and goes on leaves 1, and the score of two letters, which has
  // 8 bits, no less than 0.
  WFACLI_DEVICE static std::int32_t zero_of(const SwTask& task) {
    return kPairs == 1 ? 0 : kLocal ? max(task.open + 2 * task.extend + 1, 128) : 0x8000;
  }
  // Whether cells leave digits. Where those of all cells are kept a lane finds its best cell by a score and a column in
  // 16 bits, which have to hold all scores of the launch.
  WFACLI_DEVICE static bool digits(const SwTask& task) {
    const bool keyed = kWhole && kLocal;
    const auto shorter = static_cast<std::uint32_t>(min(task.longest_query, task.longest_target));
    const std::int32_t room = 0xffff / kKeyColumns - zero_of(task);
    const bool held = !keyed || (room > 0 && shorter <= static_cast<std::uint32_t>(room / max(task.most, 1)));
    return task.open >= 1 && task.open <= 3 && held;
  }
  // What all four digits of a word have too much.
  WFACLI_DEVICE std::uint32_t surplus() const { return Word::all(1) * 0x1111u * 5u * static_cast<std::uint32_t>(extend); }
  WFACLI_DEVICE std::int32_t opened() const { return open + extend; }
  WFACLI_DEVICE std::uint32_t word(std::int32_t score) const { return Word::all(score + zero); }
  WFACLI_DEVICE std::int32_t score(std::uint32_t word, int x) const { return Word::of(word, x) - zero; }
  // H(0, j) and H(i, 0).
  WFACLI_DEVICE std::int32_t above(std::int32_t j) const { return free_columns || j == 0 ? 0 : -(open + j * extend); }
  WFACLI_DEVICE std::int32_t left_of(std::int32_t i) const { return free_rows || i == 0 ? 0 : -(open + i * extend); }
};

// Where one stripe ends and the next begins, in one row: the last column's score, and what a deletion has that goes
// on.
struct alignas(8) Edge {
  std::uint32_t value, deletion;

  // Where `yes`: as an instruction with a condition, since all that comes after a branch would be there twice.
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

// The group's piece of the workspace; wfacli/gpu/kernels/sw.py mirrors it.
struct Room {
  static constexpr int kWords = 2 * kColumns + 3;   // of a lane's state
  static constexpr int kDirections = kColumns / 4;  // words of a lane's directions of a row
  static constexpr int kLine = 128, kRows = kLine / (4 * kDirections);  // bytes of a line, rows of a lane that it has

  std::uint8_t* at;
  std::uint64_t edge_bytes, kept_bytes;  // of a stripe; kept: states, or directions of all cells
  std::int32_t stripes, steps;  // steps: of a stripe of the longest query

  // Of a group: where directions are kept until another launch reads them, all groups of the launch have one, and `group`
  // counts these, else those that are resident.
  WFACLI_DEVICE static Room of(const SwTask& task, std::int32_t group) {
    Room room;
    room.at = task.workspace + static_cast<std::uint64_t>(group) * task.stride;
    room.stripes = kTwice ? (task.longest_target - 1) / kWidth + 1 : 1;
    room.edge_bytes = static_cast<std::uint64_t>(task.longest_query) * sizeof(Edge);
    const std::uint64_t states = static_cast<std::uint64_t>(task.longest_query + kLanes - 2) / kSteps + 1;
    room.kept_bytes = kTwice ? states * kWords * 4 * kLanes : 0;
    room.steps = task.longest_query + kLanes - 1;
    if (kWhole) room.kept_bytes = static_cast<std::uint64_t>((room.steps - 1) / kRows + 1) * (kLanes * kLine);
    return room;
  }
  static constexpr bool kOfLaunch = kWhole;
  // Rows of the edge behind a stripe, from row 1. Where nothing is done twice there is one edge: a stripe writes a row
  // when it has read what the stripe before left there, since what it writes depends on that.
  WFACLI_DEVICE Edge* edge(std::int32_t stripe) const {
    return reinterpret_cast<Edge*>(at + edge_bytes * static_cast<std::uint32_t>(kTwice ? stripe : 0));
  }
  // Word 0 of a lane's state before step kSteps * number of a stripe; words are kLanes apart.
  WFACLI_DEVICE std::uint32_t* kept(std::int32_t stripe, std::int32_t number, std::int32_t lane) const {
    std::uint8_t* const first =
        at + edge_bytes * static_cast<std::uint32_t>(stripes) + kept_bytes * static_cast<std::uint32_t>(stripe);
    return reinterpret_cast<std::uint32_t*>(first) + static_cast<std::uint64_t>(number) * (kWords * kLanes) + lane;
  }
  // A lane's words, of which `to` has room for all.
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
  // Directions of a part of a stripe, of step t, or of all of it: a lane's words side by side, and in a line its rows.
  WFACLI_DEVICE std::uint32_t* directions(std::int32_t stripe, std::int32_t t, std::int32_t lane) const {
    if constexpr (kWhole)
      return reinterpret_cast<std::uint32_t*>(at + line(stripe, t / kRows, lane)) + t % kRows * kDirections;
    const std::uint64_t first = (edge_bytes + kept_bytes) * static_cast<std::uint32_t>(stripes);
    return reinterpret_cast<std::uint32_t*>(at + (first + 31) / 32 * 32) + (t * kLanes + lane) * kDirections;
  }
  // Where a line of a lane lies in the room, which has its steps from kRows * number on.
  WFACLI_DEVICE std::uint64_t line(std::int32_t stripe, std::int32_t number, std::int32_t lane) const {
    const std::uint64_t first = (edge_bytes + kLine - 1) / kLine * kLine + kept_bytes * static_cast<std::uint32_t>(stripe);
    return first + static_cast<std::uint64_t>(number * kLanes + lane) * kLine;
  }
};

}  // namespace wfacli::sw

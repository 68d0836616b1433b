// Read bases of reversed sequences, several at a time, in both encodings that kernels are compiled for.
#pragma once

#include "common/task.cuh"

namespace wfacli {

// Two-bit code of a base: A 0, C 1, T 2, G 3, either case. Other symbols get an arbitrary code; their pairs use codes.
WFACLI_DEVICE std::uint32_t two_bits(std::uint32_t base) { return base >> 1 & 3; }

// A C G T only, 2 bits per base. Only runs of equal bases matter, so nothing is reversed in memory: reversed bases
// r, r + 1, ... are those at length - 1 - r and below, read downwards from the top of a word.
struct Packed {
  static constexpr int kWindow = 16;  // bases

  const std::uint32_t* words;
  std::int32_t length;

  WFACLI_DEVICE static Packed query(const Sequences& s, std::int32_t row) {
    return {s.packed + s.query_start[row], s.query_len[row]};
  }
  WFACLI_DEVICE static Packed target(const Sequences& s, std::int32_t row) {
    return {s.packed + s.target_start[row], s.target_len[row]};
  }
  // Return 16 reversed bases from r (0 <= r < length) on, the first in the top two bits; those past the end are
  // arbitrary.
  WFACLI_DEVICE std::uint32_t window(std::int32_t r) const {
    const std::int32_t last = length - 1 - r;  // the window's first base, its last one in input order
    const std::int32_t w = last >> 4, down = 2 * (15 - (last & 15));
    return __funnelshift_l(words[w - 1], words[w], down);
  }
  // Return the two-bit code of reversed base r.
  WFACLI_DEVICE std::uint32_t code(std::int32_t r) const {
    const std::int32_t at = length - 1 - r;
    return words[at >> 4] >> 2 * (at & 15) & 3;
  }
};

// Return how many reversed bases are equal from q in the query and t in the target on. Both positions are within their
// sequences or at their ends.
WFACLI_DEVICE std::int32_t equal_run(const Packed& query, std::int32_t q, const Packed& target, std::int32_t t) {
  const std::int32_t limit = min(query.length - q, target.length - t);
  std::int32_t run = 0;
  while (run < limit) {
    const std::uint32_t differ = query.window(q + run) ^ target.window(t + run);
    if (differ) return min(run + (__clz(static_cast<int>(differ)) >> 1), limit);
    run += Packed::kWindow;
  }
  return limit;
}

// Any symbols, one byte each; `wildcard` decides how two of them match (see codes_match).
struct Coded {
  const std::uint8_t* codes;
  std::int32_t length;

  WFACLI_DEVICE static Coded query(const Sequences& s, std::int32_t row) {
    return {s.codes + 16 * static_cast<std::uint64_t>(s.query_start[row]), s.query_len[row]};
  }
  WFACLI_DEVICE static Coded target(const Sequences& s, std::int32_t row) {
    return {s.codes + 16 * static_cast<std::uint64_t>(s.target_start[row]), s.target_len[row]};
  }
  WFACLI_DEVICE std::uint32_t code(std::int32_t r) const { return codes[length - 1 - r]; }
};

WFACLI_DEVICE bool codes_match(std::uint32_t a, std::uint32_t b, bool wildcard) {
  return wildcard ? (a & b) != 0 : a == b;
}

WFACLI_DEVICE std::int32_t equal_run(const Coded& query, std::int32_t q, const Coded& target, std::int32_t t,
                                     bool wildcard) {
  const std::int32_t limit = min(query.length - q, target.length - t);
  std::int32_t run = 0;
  while (run < limit && codes_match(query.code(q + run), target.code(t + run), wildcard)) ++run;
  return run;
}

}  // namespace wfacli

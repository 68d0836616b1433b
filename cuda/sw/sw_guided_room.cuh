// Extensions in a band: their stripes, and what of them is kept in the workspace.
//
// A pair's last column is the last one of a stripe, so that column 0 is a cell like any other, as is row 0, and no column
// lies behind the matrix. Before cell (0, 0), beside the matrix and outside the band all is Gaps::floor, which is less
// than any score in it. Rows of a stripe count from the column before it: row r and column c of it are on the diagonal
// c - r of the matrix, in the band where that is -band to band; so all stripes of all pairs look the same.
#pragma once

#include "sw/sw_sweep.cuh"

namespace wfacli::sw {

static_assert(kPairs == 2 && kExtends && !kPath && kColumns <= 32);

struct GuidedPair : Pair {
  std::int32_t before;   // the column before its first stripe, less than 0
  std::int32_t in_all;   // stripes
  bool covered;          // the band has all cells

  // Without letters that no cell of the band has.
  WFACLI_DEVICE static GuidedPair of(const SwTask& task, std::int32_t slot) {
    GuidedPair pair{Pair::of(task, slot), 0, 0, false};
    const std::int32_t n = pair.query_len, m = pair.target_len;
    pair.covered = n <= task.band && m <= task.band;
    pair.query_len = min(n, m + task.band);
    pair.target_len = min(m, n + task.band);
    pair.in_all = n > 0 ? pair.target_len / kWidth + 1 : 0;
    pair.before = pair.target_len - pair.in_all * kWidth;
    return pair;
  }
  // As Pair's, with columns and rows before the first.
  WFACLI_DEVICE std::uint32_t query_codes(std::int32_t i, std::uint32_t beyond) const {
    return codes_from(query, query_len, i, beyond);
  }
  WFACLI_DEVICE std::uint32_t target_codes(std::int32_t j, std::uint32_t beyond) const {
    return codes_from(target, target_len, j, beyond);
  }
  WFACLI_DEVICE static std::uint32_t codes_from(const std::uint8_t* letters, std::int32_t length, std::int32_t i,
                                                std::uint32_t beyond) {
    const std::int32_t missing = min(max(1 - i, 0), 4);
    const std::uint32_t none = beyond * 0x01010101u, four = codes(letters, length, max(i, 1), beyond);
    return missing == 4 ? none : __funnelshift_l(none, four, 8 * static_cast<std::uint32_t>(missing));
  }
};

// Rows of a stripe that a group goes through.
struct Slice {
  std::int32_t number;  // of the stripe
  std::int32_t first, rows;
  std::int32_t known;  // the last row that has an edge of the stripe before

  WFACLI_DEVICE std::int32_t last() const { return first + rows - 1; }
};

// The group's piece of the workspace; wfacli/gpu/kernels/sw_guided.py mirrors it.
//
// An edge is found by its row, counted from the first stripe, an anti-diagonal by twice that stripe's columns: in rings,
// since only those of some stripes are of use at a time. What lanes find best of anti-diagonals comes in the order in
// which their first column leaves them.
struct GuidedRoom {
  std::uint8_t* at;
  std::uint32_t edges, diagonals;  // less than a power of two: masks
  std::int32_t pitch;              // words of a lane

  WFACLI_DEVICE static GuidedRoom of(const SwTask& task, std::int32_t group) {
    GuidedRoom room;
    room.at = task.workspace + static_cast<std::uint64_t>(group) * task.stride;
    const std::int32_t rows = min(2 * task.band + kWidth + 1, task.longest_query + kWidth + 1) / 4 * 4 + 4;
    room.edges = ring(rows + kWidth);
    room.diagonals = ring(2 * (task.band + kWidth) + 48);
    room.pitch = rows + kColumns;
    return room;
  }
  WFACLI_DEVICE Edge* edge(std::int32_t stripe, std::int32_t row) const {
    return reinterpret_cast<Edge*>(at) + (static_cast<std::uint32_t>(stripe * kWidth + row) & edges);
  }
  // Keys of an anti-diagonal of both pairs.
  WFACLI_DEVICE uint2* keys(std::int32_t diagonal) const {
    uint2* const all = reinterpret_cast<uint2*>(at + (edges + 1) * sizeof(Edge));
    return all + (static_cast<std::uint32_t>(diagonal) & diagonals);
  }
  // The best of anti-diagonals that a lane has done with.
  WFACLI_DEVICE std::uint32_t* left(std::int32_t lane) const {
    std::uint8_t* const first = at + (edges + 1) * sizeof(Edge) + (diagonals + 1) * sizeof(uint2);
    return reinterpret_cast<std::uint32_t*>(first) + lane * pitch;
  }

 private:
  WFACLI_DEVICE static std::uint32_t ring(std::int32_t least) {
    return 0xffffffffu >> __clz(least - 1);
  }
};

// What lies before a stripe of a group's pairs: no score, beside the band. Rows are the stripe's, those of both pairs.
struct LeftOfBand {
  const GuidedRoom* room;
  const GuidedPair* pairs;
  Slice slice;
  std::int32_t band;
  std::uint32_t floor, beyond;

  WFACLI_DEVICE bool differ() const { return slice.number > 0; }
  WFACLI_DEVICE Entry all() const { return {floor, floor, 0}; }
  WFACLI_DEVICE Entry at(const std::int32_t (&row)[kPairs]) const {
    if (slice.number == 0 || row[0] > min(band, slice.known)) return all();
    const Edge edge = *room->edge(slice.number, row[0]);
    return {edge.value, edge.deletion, 0};
  }
  WFACLI_DEVICE std::uint32_t codes(int x, std::int32_t r) const {
    return pairs[x].query_codes(pairs[x].before + slice.number * kWidth + r, beyond);
  }
};

}  // namespace wfacli::sw

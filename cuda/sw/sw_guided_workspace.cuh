// Extensions in a band: their stripes, and their part of the workspace.
//
// The last column of a pair is the last column of a stripe, so that column 0 is a cell like any other, as is row 0,
// and no column lies after the matrix. All values before cell (0, 0), beside the matrix and outside the band are
// Gaps::floor, which is less than any score inside. Rows of a stripe count from the column before it: row r and column
// c of a stripe are on diagonal c - r of the matrix, which is in the band from -band to band. So all stripes of all
// pairs have the same shape.
#pragma once

#include "sw/sw_sweep.cuh"

namespace wfacli::sw {

static_assert(kPairs == 2 && kExtends && !kPath && kColumns <= 32);

struct GuidedPair : Pair {
  std::int32_t before;  // the column before its first stripe, less than 0
  std::int32_t stripe_count;
  bool covered;  // the band contains all cells

  // Trims both sequences to what the band covers.
  WFACLI_DEVICE static GuidedPair of(const SwTask& task, std::int32_t slot) {
    GuidedPair pair{Pair::of(task, slot), 0, 0, false};
    const std::int32_t n = pair.query_len, m = pair.target_len;
    pair.covered = n <= task.band && m <= task.band;
    pair.query_len = min(n, m + task.band);
    pair.target_len = min(m, n + task.band);
    pair.stripe_count = n > 0 ? pair.target_len / kWidth + 1 : 0;
    pair.before = pair.target_len - pair.stripe_count * kWidth;
    return pair;
  }
  // As in Pair, but also for rows and columns before the first.
  WFACLI_DEVICE std::uint32_t query_codes(std::int32_t i, std::uint32_t beyond) const {
    return codes_from(query, query_len, i, beyond);
  }
  WFACLI_DEVICE std::uint32_t target_codes(std::int32_t j, std::uint32_t beyond) const {
    return codes_from(target, target_len, j, beyond);
  }
  WFACLI_DEVICE static std::uint32_t codes_from(const std::uint8_t* symbols, std::int32_t length, std::int32_t i,
                                                std::uint32_t beyond) {
    const std::int32_t missing = min(max(1 - i, 0), 4);
    const std::uint32_t none = beyond * 0x01010101u, four = codes(symbols, length, max(i, 1), beyond);
    return missing == 4 ? none : __funnelshift_l(none, four, 8 * static_cast<std::uint32_t>(missing));
  }
};

// The rows of a stripe that a group computes.
struct Slice {
  std::int32_t number;  // of the stripe
  std::int32_t first, rows;
  std::int32_t known;  // last row for which the previous stripe has a boundary

  WFACLI_DEVICE std::int32_t last() const { return first + rows - 1; }
};

// The group's part of the workspace. wfacli/gpu/kernels/sw_guided.py mirrors its layout.
//
// The boundaries and the keys of anti-diagonals are ring buffers, since only those of some stripes are in use at a
// time. Boundary row r of a stripe has index stripe * kWidth + r, and anti-diagonal d of a stripe index
// 2 * stripe * kWidth + d. The lanes' best scores are stored in the order in which anti-diagonals leave the first
// column of a lane.
struct GuidedWorkspace {
  std::uint8_t* at;
  std::uint32_t edges, diagonals;  // sizes of the rings, powers of two, less 1: masks
  std::int32_t pitch;              // words per lane

  WFACLI_DEVICE static GuidedWorkspace of(const SwTask& task, std::int32_t group) {
    GuidedWorkspace workspace;
    workspace.at = task.workspace + static_cast<std::uint64_t>(group) * task.stride;
    const std::int32_t rows = min(2 * task.band + kWidth + 1, task.longest_query + kWidth + 1) / 4 * 4 + 4;
    workspace.edges = ring(rows + kWidth);
    workspace.diagonals = ring(2 * (task.band + kWidth) + 48);
    workspace.pitch = rows + kColumns;
    return workspace;
  }
  WFACLI_DEVICE Edge* edge(std::int32_t stripe, std::int32_t row) const {
    return reinterpret_cast<Edge*>(at) + (static_cast<std::uint32_t>(stripe * kWidth + row) & edges);
  }
  // Keys of an anti-diagonal, of both pairs.
  WFACLI_DEVICE uint2* keys(std::int32_t diagonal) const {
    uint2* const all = reinterpret_cast<uint2*>(at + (edges + 1) * sizeof(Edge));
    return all + (static_cast<std::uint32_t>(diagonal) & diagonals);
  }
  // Best scores of the anti-diagonals that a lane has finished.
  WFACLI_DEVICE std::uint32_t* left(std::int32_t lane) const {
    std::uint8_t* const first = at + (edges + 1) * sizeof(Edge) + (diagonals + 1) * sizeof(uint2);
    return reinterpret_cast<std::uint32_t*>(first) + lane * pitch;
  }

 private:
  WFACLI_DEVICE static std::uint32_t ring(std::int32_t minimum) { return 0xffffffffu >> __clz(minimum - 1); }
};

// Values to the left of a stripe of a group's pairs: those of the previous stripe, and the floor beside the band. Rows
// count in the stripe and are the same for both pairs.
struct LeftOfBand {
  const GuidedWorkspace* workspace;
  const GuidedPair* pairs;
  Slice slice;
  std::int32_t band;
  std::uint32_t floor, beyond;

  WFACLI_DEVICE bool differ() const { return slice.number > 0; }
  WFACLI_DEVICE Entry all() const { return {floor, floor, 0}; }
  WFACLI_DEVICE Entry at(const std::int32_t (&row)[kPairs]) const {
    if (slice.number == 0 || row[0] > min(band, slice.known)) return all();
    const Edge edge = *workspace->edge(slice.number, row[0]);
    return {edge.value, edge.deletion, 0};
  }
  WFACLI_DEVICE std::uint32_t codes(int x, std::int32_t r) const {
    return pairs[x].query_codes(pairs[x].before + slice.number * kWidth + r, beyond);
  }
};

}  // namespace wfacli::sw

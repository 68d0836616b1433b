// Traceback through the trace of bits_sweep.cuh, from (n, m) of the reversed matrix to (0, 0). It prefers insertions,
// then deletions, then the diagonal, and yields operations in forward order.
#pragma once

#include "bits/bits_band.cuh"
#include "bits/bits_group.cuh"
#include "common/cigar.cuh"

namespace wfacli {

template <int W, class Group>
class BitsTraceback {
 public:
  // `trace`: as in BitsSweep::run, but for lane 0 of the warp.
  WFACLI_DEVICE BitsTraceback(const BitsBand& band, const uint2* trace) : band_(band), trace_(trace) {}

  WFACLI_DEVICE void run(RunWriter& runs) {
    std::int32_t j = band_.m;
    bit_ = band_.end();
    while (j > 0) j -= trace_columns(j, runs);
    runs.add(kEqual, matches_);
    runs.add(kInsertion, bit_ - band_.origin());
  }

 private:
  // Trace back from column j, through the columns that the lanes have loaded, one each, within the path's current word
  // of the trace. Return the number of columns; insertions at the last one may remain.
  WFACLI_DEVICE std::int32_t trace_columns(std::int32_t j, RunWriter& runs) {
    const std::int32_t own = j - Group::lane(), word = bit_ >> 5, columns = min(j, Group::kColumns);
    const uint2 planes = own > 0 ? __ldg(trace_ + at(own, word)) : make_uint2(0, 0);
    std::int32_t done = 0;
    while (done < columns && bit_ >> 5 == word) {
      const std::uint32_t gaps = Group::votes(planes.x >> (bit_ & 31) & 1);
      const std::uint32_t others = Group::votes(planes.y >> (bit_ & 31) & 1);
      const std::uint32_t events = (gaps | others) >> done;
      if (events == 0) {
        matches_ += columns - done;
        return columns;
      }
      const std::int32_t matches = __ffs(static_cast<int>(events)) - 1;
      runs.add(kEqual, matches_ + matches);
      matches_ = 0;
      done += matches;
      const bool gap = gaps >> done & 1, other = others >> done & 1;
      runs.add(gap ? other ? kInsertion : kDeletion : kDifferent, 1);
      bit_ += gap ? other ? -1 : 1 : 0;
      done += !(gap && other);
    }
    return done;
  }

  WFACLI_DEVICE std::uint64_t at(std::int32_t column, std::int32_t word) const {
    const int lane = Group::kLanes == 1 ? static_cast<int>(threadIdx.x & 31) : word / W;
    const int own = Group::kLanes == 1 ? word : word % W;
    return (static_cast<std::uint64_t>(column - 1) * W + static_cast<std::uint32_t>(own)) * 32 +
           static_cast<std::uint32_t>(lane);
  }

  BitsBand band_;
  const uint2* trace_;
  std::int32_t bit_ = 0;      // current diagonal of the path
  std::int32_t matches_ = 0;  // pending run of matches
};

}  // namespace wfacli

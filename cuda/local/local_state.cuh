// What a lane of a strip (local_strip.cuh) carries from step to step, and the constants of its recurrence.
#pragma once

#include "local/local_layout.cuh"

namespace wfacli::local {

// State of a lane between two steps.
struct State {
  std::uint32_t score[kWords], along[kWords];  // of the latest column; horizontal gaps that enter the next one
  std::uint32_t corner;                        // of the row above, in the latest column
  std::uint32_t down;                          // vertical gap that enters the first row of the next lane

  WFACLI_DEVICE void begin(std::uint32_t floor) {
#pragma unroll
    for (int r = 0; r < kWords; ++r) score[r] = along[r] = floor;
    corner = down = floor;
  }
  template <class Each>
  WFACLI_DEVICE void each(const Each& change) {
#pragma unroll
    for (int r = 0; r < kWords; ++r) change(score[r], r), change(along[r], kWords + r);
    change(corner, 2 * kWords);
    change(down, 2 * kWords + 1);
  }
};

// Constants of the recurrence, as words.
struct Charges {
  std::uint32_t floor, first_gap, extend, extend_halves, one;

  WFACLI_DEVICE explicit Charges(const LocalTask& task)
      : floor(both(task.floor)), first_gap(added(-task.first_gap)), extend(added(-task.extend)),
        extend_halves(both(-task.extend)), one(static_cast<std::uint32_t>(task.one)) {}
  // Add words whose halves do not overflow.
  WFACLI_DEVICE std::uint32_t sum(std::uint32_t a, std::uint32_t b) const { return a * one + b; }
};

}  // namespace wfacli::local

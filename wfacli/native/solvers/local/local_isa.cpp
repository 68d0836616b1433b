// Kernels of local alignment, compiled once per instruction set, which WFACLI_ISA names.
#include "solvers/local/local_tile.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class L, int kDeep, class Look>
static LocalFound strip_tile(const LocalStrip& strip, const LocalTile& tile, LocalState& state) {
  if (strip.profile) return StripTile<L, kDeep, ProfileScores<L, kDeep>, Look>(strip, tile).run(state);
  return StripTile<L, kDeep, EqualScores<L, kDeep>, Look>(strip, tile).run(state);
}

template <class L, int kDeep>
static void begin_strip(LocalState& state) {
  const auto floor = L::all(L::kFloor);
  for (int d = 0; d < kDeep; ++d) {
    std::memcpy(state.h + d * sizeof floor, &floor, sizeof floor);
    std::memcpy(state.e + d * sizeof floor, &floor, sizeof floor);
  }
  for (unsigned char* row : {state.below_h, state.below_f, state.before_h}) std::memcpy(row, &floor, sizeof floor);
  state.base = 0;
}

template <class L, int kDeep>
static std::int32_t highest_input(const LocalState& state, const LocalTile& tile) {
  auto max_values = L::all(L::kFloor);
  const auto raise = [&](const unsigned char* from) {
    typename L::Vector v;
    std::memcpy(&v, from, sizeof v);
    max_values = L::max(max_values, v);
  };
  for (int d = 0; d < kDeep; ++d) raise(state.h + d * sizeof max_values);
  raise(state.before_h);
  std::int32_t found = L::highest(max_values);
  if (L::kNarrow) found += state.base - L::kFloor;
  const std::int64_t left = tile.columns - tile.first, end = tile.steps < left ? tile.steps : left;
  for (std::int64_t s = 0; s < end; ++s) found = tile.top_h[s] > found ? tile.top_h[s] : found;
  return found;
}

template <class Lane, int kDeep>
static LocalKernel local_kernel() {
  using L = ScoreLanes<Lane>;
  return {L::kCount,
          L::kCount * kDeep,
          L::kNarrow ? 32767 : INT32_MAX,
          begin_strip<L, kDeep>,
          highest_input<L, kDeep>,
          strip_tile<L, kDeep, ScoreOnly>,
          strip_tile<L, kDeep, SeekFirst>,
          strip_tile<L, kDeep, Traced>};
}

LocalKernels local_kernels() {
  return {local_kernel<std::int16_t, kLocalVectors>(), local_kernel<std::int32_t, kLocalVectors>()};
}

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Conversion of a long sequence, as copied from the host, to bit planes (common/planes.cuh).
//
// WFACLI_PLANES: 2: bases A C G T, one byte each; 4: symbols below 16, one byte each; 8: any symbols, one byte each;
// 32: any symbols, four bytes each.
// WFACLI_BLOCK: threads per block, a multiple of 32. Any grid size works.
#include "common/planes.cuh"
#include "common/symbols.cuh"
#include "common/task.cuh"

namespace wfacli {

WFACLI_DEVICE std::uint32_t bits_of_symbol(const void* symbols, std::uint64_t at) {
  if constexpr (WFACLI_PLANES == 32) return static_cast<const std::uint32_t*>(symbols)[at];
  const std::uint32_t symbol = static_cast<const std::uint8_t*>(symbols)[at];
  return WFACLI_PLANES == 2 ? two_bits(symbol) : symbol;
}

// Convert a row with one warp. Each lane loads one symbol, then stores one plane.
WFACLI_DEVICE void make_row(const PlanesTask& task, std::int64_t row) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const std::uint64_t at = static_cast<std::uint64_t>(row) * 32 + static_cast<std::uint64_t>(31 - lane);
  const std::uint32_t symbol = at < task.count ? bits_of_symbol(task.symbols, at) : 0;
  std::uint32_t own = 0;
#pragma unroll
  for (int p = 0; p < WFACLI_PLANES; ++p) {
    const std::uint32_t plane = __ballot_sync(0xffffffffu, symbol >> p & 1);
    if (lane == p) own = plane;
  }
  constexpr int kWords = kRowWords<WFACLI_PLANES>;
  if (lane >= WFACLI_PLANES) return;
  task.rows[row * kWords + lane] = own;
  if constexpr (WFACLI_PLANES == 2) task.rows[(row - 1) * kWords + 2 + lane] = own;
}

}  // namespace wfacli

WFACLI_KERNEL(make_planes, wfacli::PlanesTask) {
  const auto rows = static_cast<std::int64_t>((task.count + 31) / 32);
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (WFACLI_BLOCK / 32);
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + threadIdx.x / 32; row < rows;
       row += warps)
    wfacli::make_row(task, row);
}

// Convert a batch's sequences, copied to the GPU as read, to the encodings of the kernels.
//
// WFACLI_BLOCK: threads per block, a multiple of 32. Any grid.
#include "common/symbols.cuh"
#include "common/task.cuh"

namespace wfacli {

// Return two_bits of four bases, the first one lowest. The multiplication moves bits 8 k to 24 + 2 k; no two partial
// products overlap.
WFACLI_DEVICE std::uint32_t pack_four(std::uint32_t bases) { return (bases >> 1 & 0x03030303u) * 0x01041040u >> 24; }

WFACLI_DEVICE std::uint32_t pack_sixteen(uint4 bases) {
  return pack_four(bases.x) | pack_four(bases.y) << 8 | pack_four(bases.z) << 16 | pack_four(bases.w) << 24;
}

WFACLI_DEVICE std::uint32_t encode_four(std::uint32_t symbols, const std::uint8_t* table) {
  std::uint32_t codes = 0;
  for (int k = 0; k < 4; ++k) codes |= static_cast<std::uint32_t>(table[symbols >> 8 * k & 255]) << 8 * k;
  return codes;
}

// Write the codes of one sequence and of its padding, by a warp.
WFACLI_DEVICE void encode(const EncodeTask& task, std::uint64_t start, std::int32_t length, const std::uint8_t* table) {
  const uint4* from = reinterpret_cast<const uint4*>(task.bases) + start;
  uint4* to = reinterpret_cast<uint4*>(task.codes) + start;
  const std::int32_t groups = (length >> 4) + ((length & 15) != 0);
  for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x & 31); k < groups; k += 32) {
    const uint4 symbols = from[k];
    to[k] = make_uint4(encode_four(symbols.x, table), encode_four(symbols.y, table), encode_four(symbols.z, table),
                       encode_four(symbols.w, table));
  }
}

}  // namespace wfacli

// Pack all bases of a batch. The guard words before and after become zero.
WFACLI_KERNEL(pack_bases, wfacli::PackTask) {
  const uint4* from = reinterpret_cast<const uint4*>(task.bases);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * WFACLI_BLOCK;
  const auto words = static_cast<std::int64_t>(task.n_bases / 16);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * WFACLI_BLOCK + threadIdx.x;
  for (std::int64_t w = first - wfacli::kGuard; w < words + wfacli::kGuard; w += step)
    task.packed[w] = w >= 0 && w < words ? wfacli::pack_sixteen(from[w]) : 0;
}

// Write the codes of some rows' sequences. A sequence shared by several rows is written once per row, identically.
WFACLI_KERNEL(encode_symbols, wfacli::EncodeTask) {
  __shared__ std::uint8_t tables[512];
  for (int k = static_cast<int>(threadIdx.x); k < 512; k += WFACLI_BLOCK) tables[k] = task.tables[k];
  __syncthreads();
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (WFACLI_BLOCK / 32);
  for (std::int64_t w = static_cast<std::int64_t>(blockIdx.x) * (WFACLI_BLOCK / 32) + threadIdx.x / 32; w < task.count;
       w += warps) {
    const std::int32_t row = task.rows[w];
    wfacli::encode(task, task.query_start[row], task.query_len[row], tables);
    wfacli::encode(task, task.target_start[row], task.target_len[row], tables + 256);
  }
}

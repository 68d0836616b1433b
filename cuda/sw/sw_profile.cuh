// Scores of a lane's columns against each code of a row, as bytes in shared memory that only this lane reads (the query
// profile of Rognes and Seeberg, 2000, here of the columns of a stripe).
#pragma once

#include "sw/sw_workspace.cuh"

namespace wfacli::sw {

class Profile {
 public:
  static constexpr int kWords = kColumns / 4;
  // Contiguous words that are read at once. Those of neighbouring lanes are adjacent too, so that each bank serves one
  // lane.
  static constexpr int kAtOnce = kWords % 4 == 0 ? 4 : kWords;

  // `scores`: the task's scores in shared memory. `memory`: the warp's, of_warp(codes) bytes.
  WFACLI_DEVICE Profile(const std::uint32_t* scores, std::uint8_t* memory, std::int32_t codes)
      : scores_(scores), codes_(codes) {
    words_ = reinterpret_cast<std::uint32_t*>(memory) + (threadIdx.x & 31) * kAtOnce;
  }
  // Create the profile of each warp. All threads of a block call it: they copy the task's scores to `scores`, and each
  // warp uses its part of `memory`.
  WFACLI_DEVICE static Profile of_block(const SwTask& task, std::uint32_t* scores, std::uint8_t* memory) {
    for (int k = static_cast<int>(threadIdx.x); k < kSwCodes * kSwCodes / 4; k += WFACLI_BLOCK)
      scores[k] = task.scores[k];
    __syncthreads();
    return Profile(scores, memory + threadIdx.x / 32 * of_warp(task.codes), task.codes);
  }
  // Size in bytes: rows of all codes and of the one beyond, for each pair.
  WFACLI_DEVICE static std::int32_t of_warp(std::int32_t codes) { return kPairs * (codes + 1) * 32 * kColumns; }

  // Fill the profile of pair x with the columns after `before`.
  template <class AnyPair>
  WFACLI_DEVICE void make(const AnyPair& pair, int x, std::int32_t before) const {
    std::uint32_t codes[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      codes[w] = pair.target_codes(before + 4 * w + 1, static_cast<std::uint32_t>(codes_));
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const std::uint32_t* rows[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) rows[k] = scores_ + (codes[w] >> 8 * k & 0xff) * (kSwCodes / 4);
#pragma unroll 1
      for (std::int32_t c = 0; c <= codes_; c += 4) {
        // Transpose the scores of four codes in four columns.
        const std::uint32_t a = rows[0][c / 4], b = rows[1][c / 4], d = rows[2][c / 4], e = rows[3][c / 4];
        const std::uint32_t low_ab = __byte_perm(a, b, 0x5140), high_ab = __byte_perm(a, b, 0x7362);
        const std::uint32_t low_de = __byte_perm(d, e, 0x5140), high_de = __byte_perm(d, e, 0x7362);
        put(x, c, w, __byte_perm(low_ab, low_de, 0x5410));
        put(x, c + 1, w, __byte_perm(low_ab, low_de, 0x7632));
        put(x, c + 2, w, __byte_perm(high_ab, high_de, 0x5410));
        put(x, c + 3, w, __byte_perm(high_ab, high_de, 0x7632));
      }
    }
  }
  // Return the words of pair x for the code of a row.
  WFACLI_DEVICE void row(int x, std::uint32_t code, std::uint32_t (&words)[kWords]) const {
    const std::uint32_t* from = at(x, static_cast<std::int32_t>(code));
    if constexpr (kWords % 4 == 0) {
#pragma unroll
      for (int w = 0; w < kWords; w += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(from + w * 32);
        words[w] = four.x;
        words[w + 1] = four.y;
        words[w + 2] = four.z;
        words[w + 3] = four.w;
      }
    } else if constexpr (kWords == 2) {
      const uint2 two = *reinterpret_cast<const uint2*>(from);
      words[0] = two.x;
      words[1] = two.y;
    } else {
#pragma unroll
      for (int w = 0; w < kWords; ++w) words[w] = from[w];
    }
  }

 private:
  WFACLI_DEVICE std::uint32_t* at(int x, std::int32_t code) const {
    return words_ + (x * (codes_ + 1) + code) * (32 * kWords);
  }
  WFACLI_DEVICE void put(int x, std::int32_t code, int w, std::uint32_t word) const {
    if (code <= codes_) at(x, code)[w / kAtOnce * (32 * kAtOnce) + w % kAtOnce] = word;
  }

  const std::uint32_t* scores_;
  std::uint32_t* words_;
  std::int32_t codes_;
};

}  // namespace wfacli::sw

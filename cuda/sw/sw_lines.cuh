// Directions of all cells, staged in shared memory on their way to GPU memory. A traceback moves from one row of a lane
// to the next, so a 128-byte line has consecutive rows of one lane. A lane alone would write each line in many pieces,
// and all lanes at once would write to as many lines; instead the warp collects one line of every lane and writes four
// lines at a time.
#pragma once

#include "sw/sw_workspace.cuh"

namespace wfacli::sw {

class Lines {
 public:
  // `memory`: the warp's, of_warp() bytes of shared memory.
  WFACLI_DEVICE explicit Lines(std::uint8_t* memory) : memory_(memory) {}
  WFACLI_DEVICE static constexpr std::int32_t of_warp() { return 32 * Workspace::kLine; }

  // Stage the lane's directions of the row of step t.
  WFACLI_DEVICE void put(std::int32_t t, const std::uint32_t (&words)[Workspace::kDirections]) const {
    constexpr int kPieces = Workspace::kDirections >= 4 ? Workspace::kDirections / 4 : 1;  // per row
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const std::int32_t at = t % Workspace::kRows * Workspace::kDirections * 4 + p * kPiece;
      std::uint8_t* const to = piece(own(), at / kPiece) + at % kPiece;
      if constexpr (Workspace::kDirections >= 4)
        *reinterpret_cast<uint4*>(to) = make_uint4(words[4 * p], words[4 * p + 1], words[4 * p + 2], words[4 * p + 3]);
      else
#pragma unroll
        for (int w = 0; w < Workspace::kDirections; ++w) reinterpret_cast<std::uint32_t*>(to)[w] = words[w];
    }
  }
  // Write lines that are full, or the last ones, after step t of `steps`. All lanes of the warp have finished the step.
  WFACLI_DEVICE void flush(const SwTask& task, const Workspace& workspace, std::int32_t stripe, std::int32_t t,
                           std::int32_t steps) const {
    if (t % Workspace::kRows != Workspace::kRows - 1 && t + 1 != steps) return;
    __syncwarp();
    const std::uint64_t line = workspace.line(stripe, t / Workspace::kRows, 0);
    std::uint8_t* const first = workspace.at - task.stride * static_cast<std::uint32_t>(own() / kLanes) + line;
#pragma unroll 1
    for (std::int32_t of = own() / 8; of < 32; of += 4) {
      std::uint8_t* const to =
          first + task.stride * static_cast<std::uint32_t>(of / kLanes) + of % kLanes * Workspace::kLine;
      reinterpret_cast<uint4*>(to)[own() % 8] = *reinterpret_cast<const uint4*>(piece(of, own() % 8));
    }
    __syncwarp();
  }

 private:
  static constexpr int kPiece = 16;  // bytes

  WFACLI_DEVICE static std::int32_t own() { return static_cast<std::int32_t>(threadIdx.x & 31); }
  // Return a piece of a lane's line. Pieces are permuted, so that neither the pieces of one lane nor those of one line
  // share banks.
  WFACLI_DEVICE std::uint8_t* piece(std::int32_t of, std::int32_t number) const {
    return memory_ + of * Workspace::kLine + (number ^ (of % 8)) * kPiece;
  }

  std::uint8_t* memory_;
};

}  // namespace wfacli::sw

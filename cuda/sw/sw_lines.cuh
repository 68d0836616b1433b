// Directions of all cells on their way to memory, where a way back goes from one row of a lane to the next: so lines of
// 128 bytes have some rows of one lane. A lane by itself would write each line in many pieces, and all lanes at once as
// many lines; here the warp collects a line of every lane, and then writes four of them at a time.
#pragma once

#include "sw/sw_room.cuh"

namespace wfacli::sw {

class Lines {
 public:
  // `memory`: of the warp, of_warp() bytes of shared memory.
  WFACLI_DEVICE explicit Lines(std::uint8_t* memory) : memory_(memory) {}
  WFACLI_DEVICE static constexpr std::int32_t of_warp() { return 32 * Room::kLine; }

  // The lane's directions of a row in step t.
  WFACLI_DEVICE void put(std::int32_t t, const std::uint32_t (&words)[Room::kDirections]) const {
    constexpr int kPieces = Room::kDirections >= 4 ? Room::kDirections / 4 : 1;  // of the row
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const std::int32_t at = t % Room::kRows * Room::kDirections * 4 + p * kPiece;
      std::uint8_t* const to = piece(own(), at / kPiece) + at % kPiece;
      if constexpr (Room::kDirections >= 4)
        *reinterpret_cast<uint4*>(to) = make_uint4(words[4 * p], words[4 * p + 1], words[4 * p + 2], words[4 * p + 3]);
      else
#pragma unroll
        for (int w = 0; w < Room::kDirections; ++w) reinterpret_cast<std::uint32_t*>(to)[w] = words[w];
    }
  }
  // After step t of `steps`, which all lanes of the warp have done: writes lines that are full, or the last.
  WFACLI_DEVICE void flush(const SwTask& task, const Room& room, std::int32_t stripe, std::int32_t t,
                           std::int32_t steps) const {
    if (t % Room::kRows != Room::kRows - 1 && t + 1 != steps) return;
    __syncwarp();
    const std::uint64_t line = room.line(stripe, t / Room::kRows, 0);
    std::uint8_t* const first = room.at - task.stride * static_cast<std::uint32_t>(own() / kLanes) + line;
#pragma unroll 1
    for (std::int32_t of = own() / 8; of < 32; of += 4) {
      std::uint8_t* const to = first + task.stride * static_cast<std::uint32_t>(of / kLanes) + of % kLanes * Room::kLine;
      reinterpret_cast<uint4*>(to)[own() % 8] = *reinterpret_cast<const uint4*>(piece(of, own() % 8));
    }
    __syncwarp();
  }

 private:
  static constexpr int kPiece = 16;  // bytes

  WFACLI_DEVICE static std::int32_t own() { return static_cast<std::int32_t>(threadIdx.x & 31); }
  // A piece of a lane's line; turned, so that neither a lane's own nor a line's pieces lie in the same banks.
  WFACLI_DEVICE std::uint8_t* piece(std::int32_t of, std::int32_t number) const {
    return memory_ + of * Room::kLine + (number ^ (of % 8)) * kPiece;
  }

  std::uint8_t* memory_;
};

}  // namespace wfacli::sw

// Anti-diagonals that the forward pass keeps, from which the traceback computes again what it needs.
#pragma once

#include "kernels/difference/difference_band.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class S>
class Checkpoints {
  using Lane = typename S::Lane;
  using Checkpoint = DifferenceMemory::Checkpoint;

 public:
  // `room`: limit in bytes.
  Checkpoints(Rows<S>& rows, DifferenceMemory& memory, std::size_t room) : rows_(rows), m_(memory), room_(room) {}

  // Saves the row if it is a multiple of `spacing` after row `base`. If checkpoints exceed the memory limit, doubles the
  // spacing, and keeps only every other one from index `first` on. Returns false if they still exceed it by far.
  bool save(const Band& band, std::size_t first, std::int32_t base, std::int32_t& spacing) {
    const std::int32_t r = rows_.row;
    if ((r - base) % spacing != 0) return true;
    Checkpoint c{r, rows_.lo, rows_.hi, band.lo, band.hi, {}, m_.saved.size()};
    for (int g = 0; g < S::kPieces; ++g) c.low_gap[g] = rows_.low_gap[g];
    const std::size_t bytes = (c.hi - c.lo + 1) * sizeof(Lane);
    for (const Lane* values : rows_.array)
      m_.saved.append(reinterpret_cast<const std::uint8_t*>(values + c.lo), bytes);
    m_.checkpoints.push(c);
    while (m_.saved.size() > room_ && m_.checkpoints.size() > first + 1) {
      spacing *= 2;
      thin(first, base, spacing);
    }
    return m_.saved.size() <= 2 * room_;
  }

  // Drops checkpoints from index `from` on.
  void drop(std::size_t from) {
    if (from < m_.checkpoints.size()) m_.saved.resize(m_.checkpoints[from].at);
    m_.checkpoints.resize(from);
  }

  // Makes a checkpoint's row the current one, without its values.
  void go_to(const Checkpoint& c) {
    rows_.row = c.row;
    rows_.lo = c.lo;
    rows_.hi = c.hi;
    for (int g = 0; g < S::kPieces; ++g) rows_.low_gap[g] = static_cast<Lane>(c.low_gap[g]);
  }
  // Sets the values of a checkpoint's slots from `first` to `last`, as far as it has them.
  void restore(const Checkpoint& c, std::int32_t first, std::int32_t last) {
    const std::int32_t lo = larger(first, c.lo), hi = smaller(last, c.hi);
    if (lo > hi) return;
    const std::size_t stride = (c.hi - c.lo + 1) * sizeof(Lane), bytes = (hi - lo + 1) * sizeof(Lane);
    const std::uint8_t* from = m_.saved.data() + c.at + (lo - c.lo) * sizeof(Lane);
    for (Lane* values : rows_.array) {
      std::memcpy(values + lo, from, bytes);
      from += stride;
    }
  }

 private:
  void thin(std::size_t first, std::int32_t base, std::int32_t spacing) {
    std::size_t count = first, at = m_.checkpoints[first].at;
    for (std::size_t x = first; x < m_.checkpoints.size(); ++x) {
      Checkpoint c = m_.checkpoints[x];
      const std::size_t bytes = (c.hi - c.lo + 1) * S::kArrays * sizeof(Lane);
      if ((c.row - base) % spacing != 0) continue;
      std::memmove(m_.saved.data() + at, m_.saved.data() + c.at, bytes);
      c.at = at;
      at += bytes;
      m_.checkpoints[count++] = c;
    }
    m_.saved.resize(at);
    m_.checkpoints.resize(count);
  }

  Rows<S>& rows_;
  DifferenceMemory& m_;
  const std::size_t room_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

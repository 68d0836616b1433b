// Aligns one pair with cells left out: extension, and global alignment in a band.
#pragma once

#include "kernels/sw/sw_diagonals.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// SwKernels::extent. Returns ScoreLimit if 16 bits are too few.
template <class Lane, SwCells kCells, bool kPlain>
class SwExtension {
  using Sweep = SwDiagonals<Lane, kCells, kPlain>;
  using V = SwVector<Lane>;
  using Vector = typename V::Vector;
  static constexpr std::int32_t kWidest = 20'000;  // 16-bit limit on X-drop plus gap below the best score

 public:
  SwExtension(const SwTask& task, const SwPair& pair, const SwHeuristics& heuristics, SwMemory& memory)
      : task_(task),
        heuristics_(heuristics),
        n_(pair.query_len),
        m_(pair.target_len),
        band_(band_of(pair, heuristics)),
        sweep_(*task.scheme, pair, band_, memory) {}

  SwExtent run() {
    const SwScheme& s = *task_.scheme;
    if (Sweep::kBased && kCells == SwCells::Live && std::int64_t{heuristics_.xdrop} + s.open + s.extend > kWidest)
      return {.status = Status::ScoreLimit};
    best_.heuristic_applied = !band_.covers(n_, m_);
    sweep_.begin();
    aim();
    std::int32_t dead = 0;  // consecutive anti-diagonals without a live cell
    for (std::int32_t d = 1; d <= n_ + m_ && dead < 2; ++d) {
      if ((d & 255) == 0 && task_.cancelled->is_set()) return {.status = Status::Dropped};
      if (!sweep_.step(std::int64_t{best_.score} - heuristics_.xdrop, nullptr)) break;
      if (sweep_.base() != base_) aim();
      if constexpr (kCells == SwCells::Live) {
        best_.heuristic_applied |= sweep_.dropped();
        dead = sweep_.none() ? dead + 1 : 0;
      }
      if (nothing_new()) continue;
      if (!look(d)) break;
    }
    return best_;
  }

 private:
  static SwBand band_of(const SwPair& pair, const SwHeuristics& heuristics) {
    const std::int64_t width = heuristics.band ? heuristics.band : std::int64_t{pair.query_len} + pair.target_len;
    return {-width, width};
  }
  // Updates the values that scores are compared with, after a change of the best score or the base.
  void aim() {
    base_ = sweep_.base();
    above_ = V::all(sweep_.to_lane(best_.score));
    zdrop_floor_ = V::all(sweep_.to_lane(std::int64_t{best_.score} - heuristics_.zdrop));
  }

  // Returns true if no cell of the last anti-diagonal beats the best one, and at least one is too close to it for
  // Z-drop to stop.
  bool nothing_new() const {
    if (sweep_.tainted() || V::bits((Vector)((typename V::Signed)sweep_.max_scores() > (typename V::Signed)above_)))
      return false;
    return !heuristics_.zdrop ||
           V::bits((Vector)((typename V::Signed)sweep_.max_scores() >= (typename V::Signed)zdrop_floor_));
  }

  // Evaluates the last anti-diagonal's best cell. Returns false if it ends the extension or exceeds the lanes.
  bool look(std::int32_t d) {
    if (sweep_.none()) return true;
    const std::int32_t max_score = sweep_.best();
    if (sweep_.overrated(max_score) && (max_score > best_.score || heuristics_.zdrop)) {
      best_ = {.status = Status::ScoreLimit};
      return false;
    }
    if (max_score <= best_.score && !heuristics_.zdrop) return true;
    const std::int32_t i = sweep_.row_of(max_score), j = d - i;
    if (max_score > best_.score) {
      best_.score = max_score, best_.i = i, best_.j = j;
      aim();
      return true;
    }
    if (i < best_.i || j < best_.j) return true;
    const std::int64_t diagonal_shift = std::int64_t{i} - best_.i - (j - best_.j),
                       distance = diagonal_shift < 0 ? -diagonal_shift : diagonal_shift;
    if (std::int64_t{best_.score} - max_score <= heuristics_.zdrop + distance * task_.scheme->extend) return true;
    best_.heuristic_applied |= d < n_ + m_;
    return false;
  }

  const SwTask& task_;
  const SwHeuristics& heuristics_;
  const std::int32_t n_, m_;
  const SwBand band_;
  Sweep sweep_;
  SwExtent best_;
  std::int32_t base_ = 0;
  Vector above_{}, zdrop_floor_{};
};

// SwKernels::banded. The path is traced in blocks of anti-diagonals. A first sweep stores the state before each block;
// then each block that the traceback enters is swept again with flags, only in cells that lead to the traceback's
// position. Returns ScoreLimit if 16 bits are too few, and MemoryLimit if the states exceed task.memory_bytes.
template <class Lane, bool kPlain>
class SwBanded {
  template <SwCells kCells>
  using Sweep = SwDiagonals<Lane, kCells, kPlain>;
  static constexpr int kLanes = SwVector<Lane>::kCount;
  static constexpr std::int32_t kMinSpacing = 128;  // minimum anti-diagonals per block
  // Up to this many cells per anti-diagonal and bytes of flags, one sweep with flags is faster than two sweeps.
  static constexpr std::int32_t kMaxOnePassCells = 256;
  static constexpr std::size_t kMaxOnePassBytes = std::size_t{4} << 20;

 public:
  SwBanded(const SwTask& task, const SwPair& pair, const SwBand& band, SwMemory& memory)
      : task_(task), pair_(pair), band_(band), memory_(memory), n_(pair.query_len), m_(pair.target_len) {
    const std::int64_t low = band.low < -n_ ? -n_ : band.low, high = band.high > m_ ? m_ : band.high;
    low_ = static_cast<std::int32_t>(low);
    cells_ = smaller(smaller(n_, m_), static_cast<std::int32_t>((high - low) / 2)) + 1;
  }

  SwAnswer run() {
    answer_.query_at = n_;
    answer_.target_at = m_;
    const std::size_t max_bytes = kMaxOnePassBytes < task_.memory_bytes ? kMaxOnePassBytes : task_.memory_bytes;
    const bool whole = task_.path && cells_ <= kMaxOnePassCells && (std::int64_t{n_} + m_) * stride() <= max_bytes;
    if (whole) block_ = n_ + m_;
    begin_ = n_ + m_;
    if (whole)
      sweep_all<SwCells::Flags>();
    else
      sweep_all<SwCells::All>();
    if (answer_.status != Status::Ok || !task_.path) return answer_;
    trace_path();
    return answer_;
  }

 private:
  std::int32_t blocks() const { return (n_ + m_ + block_ - 1) / block_; }
  static std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
  // Returns the bytes of flags per anti-diagonal. With several blocks, the cells that lead to one cell of a block are
  // at most as many per anti-diagonal as the block has anti-diagonals.
  std::size_t stride() const {
    return (static_cast<std::size_t>(cells_ <= kMaxOnePassCells ? cells_ : smaller(cells_, block_)) / kLanes + 2) *
           kLanes;
  }
  // Returns the position where the flags of lane 0 of an anti-diagonal would be.
  std::uint8_t* flags_of(std::int32_t d) const {
    const std::int32_t last = smaller(smaller(corner_, d), (d - low_) >> 1), first = (n_ - last) / kLanes * kLanes;
    return flags_ + static_cast<std::size_t>(d - begin_ - 1) * stride_ - first;
  }
  bool stopped() {
    if (task_.cancelled && task_.cancelled->is_set()) answer_.status = Status::Dropped;
    return answer_.status != Status::Ok;
  }

  // Chooses the block size so that states and flags fit the memory limit. Returns false if none does.
  bool take_blocks(std::size_t state) {
    const auto bytes = [&] {
      return static_cast<std::size_t>(blocks()) * state + static_cast<std::size_t>(block_) * stride();
    };
    while (bytes() > task_.memory_bytes && block_ < n_ + m_) block_ *= 2;
    state_ = state;
    return bytes() <= task_.memory_bytes;
  }

  template <SwCells kCells>
  void sweep_all() {
    Sweep<kCells> sweep(*task_.scheme, pair_, band_, memory_);
    if (task_.path) {
      if (!take_blocks(sweep.state_bytes())) {
        answer_.status = Status::MemoryLimit;
        return;
      }
      saved_ = aligned_bytes(memory_.saved, static_cast<std::size_t>(blocks()) * state_);
    }
    sweep.begin();
    if constexpr (kCells == SwCells::Flags) {
      with_flags(sweep, n_ + m_, n_);
    } else {
      for (std::int32_t d = 0; d < n_ + m_; ++d) {
        if ((d & 255) == 0 && stopped()) return;
        if (task_.path && d % block_ == 0) sweep.save(saved_ + static_cast<std::size_t>(d / block_) * state_);
        sweep.step(0, nullptr);
      }
    }
    answer_.score = sweep.at(n_);
    if (sweep.overrated(answer_.score)) answer_.status = Status::ScoreLimit;
  }

  // Computes anti-diagonals with flags up to `end`, which contains the traceback's cell in row i.
  void with_flags(Sweep<SwCells::Flags>& sweep, std::int32_t end, std::int32_t i) {
    stride_ = stride();
    flags_ = aligned_bytes(memory_.table, static_cast<std::size_t>(block_) * stride_);
    begin_ = sweep.diagonal();
    corner_ = i;
    for (std::int32_t d = begin_ + 1; d <= end; ++d) {
      if ((d & 255) == 0 && stopped()) return;
      sweep.step(0, flags_of(d));
    }
  }

  void trace_path() {
    memory_.cigars.begin();
    answer_.cigar = static_cast<std::int64_t>(memory_.cigars.runs().size());
    SwTraceback traceback(task_, pair_, answer_);
    const auto has = [&](std::int32_t i, std::int32_t j) { return i + j > begin_; };
    const auto flags = [&](std::int32_t i, std::int32_t j) { return unsigned{flags_of(i + j)[n_ - i]}; };
    traceback.go(memory_.cigars, has, flags);
    if (!traceback.ended()) {
      Sweep<SwCells::Flags> sweep(*task_.scheme, pair_, band_, memory_);
      while (!traceback.ended()) {
        if (stopped()) return;
        const std::int32_t end = traceback.row() + traceback.column();
        sweep.restore(saved_ + static_cast<std::size_t>((end - 1) / block_) * state_);
        sweep.lead_to(traceback.row(), traceback.column());
        with_flags(sweep, end, traceback.row());
        traceback.go(memory_.cigars, has, flags);
      }
    }
    answer_.runs = static_cast<std::int64_t>(memory_.cigars.runs().size()) - answer_.cigar;
  }

  const SwTask& task_;
  const SwPair& pair_;
  const SwBand& band_;
  SwMemory& memory_;
  const std::int32_t n_, m_;
  std::int32_t block_ = kMinSpacing;
  std::size_t state_ = 0, stride_ = 0;
  std::uint8_t* saved_ = nullptr;  // state before each block
  std::uint8_t* flags_ = nullptr;  // flags of the anti-diagonals after begin_, in order
  std::int32_t begin_ = 0, corner_ = 0, low_ = 0, cells_ = 0;
  SwAnswer answer_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

// Aligns one pair by strips: its score, its best cell, and its path from stored states.
#pragma once

#include "kernels/sw/sw_strips.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Lane, bool kPlain>
class SwStrips {
  using V = SwVector<Lane>;
  static constexpr int kLanes = V::kCount;
  static constexpr std::int32_t kCheckpointSteps = 256;  // steps between two stored states

 public:
  SwStrips(const SwTask& task, const SwPair& pair, SwMemory& memory)
      : task_(task), s_(*task.scheme), pair_(pair), memory_(memory) {
    n_ = pair.query_len;
    m_ = pair.target_len;
    strips_ = (n_ + kLanes - 1) / kLanes;
    row_ = 2 * (static_cast<std::size_t>(m_) + kRoom) * sizeof(Lane);
  }

  SwAnswer run() {
    if (task_.path) {
      // Store the rows above all strips. If that is too much memory, store those of one strip in `every_`, and those of
      // `every_` adjacent strips at a time.
      every_ = 1;
      if (bytes_of(strips_) > task_.memory_bytes) {
        while (std::int64_t{every_} * every_ < strips_) ++every_;
        if ((strips_ / every_ + 1) * row_ + bytes_of(every_) > task_.memory_bytes) {
          answer_.status = Status::MemoryLimit;
          return answer_;
        }
      }
    }
    take_rows();
    switch (task_.rule) {
      case SwRule::Local:
        task_.path ? sweep_all<SwFind::Best>() : sweep_all<SwFind::Score>();
        break;
      case SwRule::Extension:
        sweep_all<SwFind::Furthest>();
        break;
      default:
        sweep_all<SwFind::Ends>();
    }
    if (answer_.status != Status::Ok || !task_.path) return answer_;
    if (task_.rule == SwRule::Local)
      trace_path<SwFind::Score, SwFind::BestFlags>();
    else
      trace_path<SwFind::Ends, SwFind::EndsFlags>();
    return answer_;
  }

 private:
  static constexpr bool kBased = sizeof(Lane) == 2;
  static constexpr std::int32_t kRoom = 3 * kLanes + kSwBlock;  // kLanes of it before the first column
  template <SwFind kFind>
  using Sweep = SwSweep<Lane, kFind, kPlain>;
  using State = typename Sweep<SwFind::Ends>::State;
  struct Raw {  // bytes of a State, whatever the SwFind
    alignas(64) std::uint8_t bytes[sizeof(State)];
  };

  std::size_t states() const { return static_cast<std::size_t>(m_ + kLanes) / kCheckpointSteps + 1; }
  std::size_t bytes_of(std::int64_t strips) const {
    return static_cast<std::size_t>(strips) * (row_ + states() * sizeof(Raw));
  }
  bool stopped() {
    if (task_.cancelled && task_.cancelled->is_set()) answer_.status = Status::Dropped;
    return answer_.status != Status::Ok;
  }

  // Initializes the row above the first strip, and the memory for stored rows and states.
  void take_rows() {
    std::uint8_t* rows = aligned_bytes(memory_.rows, row_);
    std::memset(rows, 0, row_);
    h_ = reinterpret_cast<Lane*>(rows) + kLanes;
    inserted_ = h_ + m_ + kRoom;
    const bool counts = task_.rule == SwRule::Global || task_.rule == SwRule::Extension;
    if (kBased && task_.rule != SwRule::Local) base_ = kSwMoves16 - INT16_MAX;
    const auto to_lane = [](std::int64_t score) {
      return static_cast<Lane>(kBased && score < INT16_MIN ? INT16_MIN : score);
    };
    for (std::int32_t j = 0; j <= m_; ++j) {
      const std::int64_t h = (counts && j ? -(s_.open + j * std::int64_t{s_.extend}) : 0) - base_;
      h_[j] = to_lane(h);
      inserted_[j] = to_lane(h - s_.open - s_.extend);
    }
    if (!task_.path) return;
    const std::size_t checkpoint_bytes = every_ > 1 ? (static_cast<std::size_t>(strips_) / every_ + 1) * row_ : 0;
    const std::size_t all = bytes_of(every_ > 1 ? every_ : strips_);
    memory_.bases.resize(2 * static_cast<std::size_t>(strips_) + 1);
    bases_ = memory_.bases.data();
    far_bases_ = bases_ + strips_;
    std::uint8_t* at = aligned_bytes(memory_.saved, checkpoint_bytes + all + 64);
    states_ = reinterpret_cast<Raw*>(at);
    at += (every_ > 1 ? every_ : strips_) * states() * sizeof(Raw);
    rows_ = at;
    far_rows_ = at + static_cast<std::size_t>(every_ > 1 ? every_ : strips_) * row_;
  }

  void save_rows(std::uint8_t* at, std::int32_t& base) const {
    std::memcpy(at, h_ - kLanes, row_);
    base = base_;
  }
  void restore_rows(const std::uint8_t* at, std::int32_t base) {
    std::memcpy(h_ - kLanes, at, row_);
    base_ = base;
  }

  // Rebases the row above a strip, so that its best score up to column `columns` is the maximum that lanes may hold
  // there. Scores below the lanes' minimum saturate and are then overrated, but no path from them scores more than
  // `overrated_`.
  void rebase(std::int32_t row, std::int32_t columns) {
    Lane max_value = h_[0];
    for (std::int32_t j = 1; j <= columns; ++j) max_value = h_[j] > max_value ? h_[j] : max_value;
    const std::int32_t up = max_value - (INT16_MAX - kSwMoves16);
    if (up > 0 || up < -kSwMoves16) {
      for (Lane* values : {h_, inserted_})
        for (std::int32_t j = 0; j < columns + kLanes; j += kLanes)  // and what lanes left past the last column
          V::store(values + j, V::minus(V::load(values + j), V::all(up)));
      base_ += up;
    }
    const std::int64_t from_least = std::int64_t{base_} + INT16_MIN + std::int64_t{n_ - row} * s_.max_score;
    overrated_ = from_least > overrated_ ? from_least : overrated_;
  }

  // Sweeps all strips: finds the score and the best cell, and stores what a path needs.
  template <SwFind kFind>
  void sweep_all() {
    Sweep<kFind> sweep(task_, pair_, h_, inserted_);
    SwBest best;
    for (std::int32_t strip = 0; strip < strips_; ++strip) {
      if (stopped()) return;
      if constexpr (kBased && !sw_local(kFind)) rebase(strip * kLanes, m_);
      if (task_.path && every_ > 1 && strip % every_ == 0)
        save_rows(far_rows_ + static_cast<std::size_t>(strip / every_) * row_, far_bases_[strip / every_]);
      one_strip(sweep, strip, task_.path && every_ == 1 ? strip : -1, m_);
      sweep.look(best);
    }
    if constexpr (kFind == SwFind::Ends) {
      best = {h_[m_] + base_, n_, m_};
      for (std::int32_t j = m_ - 1; task_.rule == SwRule::Semiglobal && j >= 0; --j)
        if (h_[j] + base_ >= best.score) best = {h_[j] + base_, n_, j};
    }
    answer_.score = best.score;
    answer_.query_at = best.i;
    answer_.target_at = best.j;
    if (kBased && (sw_local(kFind) ? best.score > INT16_MAX - s_.max_score : best.score <= overrated_))
      answer_.status = Status::ScoreLimit;
  }

  // Sweeps one strip up to a column. Unless `slot` is -1, stores the row above it and its states in that slot.
  template <SwFind kFind>
  void one_strip(Sweep<kFind>& sweep, std::int32_t strip, std::int32_t slot, std::int32_t columns) {
    sweep.begin(strip * kLanes, base_);
    const std::int32_t steps = Sweep<kFind>::steps(columns);
    if (slot < 0) return sweep.run(0, steps, nullptr);
    save_rows(rows_ + static_cast<std::size_t>(slot) * row_, bases_[slot]);
    for (std::int32_t u = 0; u < steps; u += kCheckpointSteps) {
      std::memcpy(
          states_[static_cast<std::size_t>(slot) * states() + static_cast<std::size_t>(u / kCheckpointSteps)].bytes,
          &sweep.state, sizeof(State));
      sweep.run(u, u + kCheckpointSteps < steps ? u + kCheckpointSteps : steps, nullptr);
    }
  }

  template <SwFind kAgain, SwFind kFlags>
  void trace_path() {
    memory_.cigars.begin();
    answer_.cigar = static_cast<std::int64_t>(memory_.cigars.runs().size());
    SwTraceback traceback(task_, pair_, answer_);
    Sweep<kFlags> sweep(task_, pair_, h_, inserted_);
    std::int32_t first = every_ > 1 ? strips_ : 0;  // strip in slot 0
    traceback.go(memory_.cigars, [](auto, auto) { return false; }, [](auto, auto) { return 0u; });
    while (!traceback.ended()) {
      if (stopped()) return;
      const std::int32_t strip = (traceback.row() - 1) / kLanes;
      if (strip < first) {
        first = strip / every_ * every_;
        restore_rows(far_rows_ + static_cast<std::size_t>(first / every_) * row_, far_bases_[first / every_]);
        Sweep<kAgain> again(task_, pair_, h_, inserted_);
        for (std::int32_t k = first; k <= strip; ++k) {
          if constexpr (kBased && !sw_local(kAgain)) rebase(k * kLanes, traceback.column());
          one_strip(again, k, k - first, traceback.column());
        }
      }
      through_strip(traceback, sweep, strip, strip - first);
    }
    answer_.query_left = traceback.row();
    answer_.target_left = traceback.column();
    answer_.runs = static_cast<std::int64_t>(memory_.cigars.runs().size()) - answer_.cigar;
  }

  // Traces the path through the cells of a strip that lie after the last stored state before it.
  template <SwFind kFlags>
  void through_strip(SwTraceback& traceback, Sweep<kFlags>& sweep, std::int32_t strip, std::int32_t slot) {
    const std::int32_t above = strip * kLanes;
    const auto step_of = [&](std::int32_t i, std::int32_t j) { return j + (i - above - 1); };
    const std::int32_t last = step_of(traceback.row(), traceback.column()),
                       first = last / kCheckpointSteps * kCheckpointSteps;
    restore_rows(rows_ + static_cast<std::size_t>(slot) * row_, bases_[slot]);
    sweep.begin(above, base_);
    std::memcpy(
        &sweep.state,
        states_[static_cast<std::size_t>(slot) * states() + static_cast<std::size_t>(first / kCheckpointSteps)].bytes,
        sizeof(State));
    std::uint8_t* flags = aligned_bytes(memory_.table, std::size_t{kCheckpointSteps} * kLanes);
    sweep.run(first, last + 1, flags);
    traceback.go(
        memory_.cigars, [&](std::int32_t i, std::int32_t j) { return i > above && step_of(i, j) >= first; },
        [&](std::int32_t i, std::int32_t j) {
          const std::int32_t lane = kLanes - (i - above);
          return flags[static_cast<std::size_t>(step_of(i, j) - first) * kLanes + lane];
        });
  }

  const SwTask& task_;
  const SwScheme& s_;
  const SwPair& pair_;
  SwMemory& memory_;
  std::int32_t n_, m_, strips_, every_ = 1;
  std::size_t row_;  // bytes of the row that a strip receives from the one above
  Lane *h_ = nullptr, *inserted_ = nullptr;
  std::int32_t base_ = 0;  // true scores minus those in h_ and inserted_
  std::int64_t overrated_ = INT64_MIN;
  std::int32_t *bases_ = nullptr, *far_bases_ = nullptr;  // base_ of each row in rows_ and far_rows_
  Raw* states_ = nullptr;                                 // [slot][step / kCheckpointSteps]
  std::uint8_t *rows_ = nullptr, *far_rows_ = nullptr;    // [slot], [strip / every_]
  SwAnswer answer_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli

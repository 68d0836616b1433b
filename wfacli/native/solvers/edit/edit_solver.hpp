// Base class of the algorithms for the edit distance of one pair of any length. They advance in steps, report their
// progress, and save and restore their state.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "solvers/edit/edit.hpp"
#include "base/saved_state.hpp"

namespace wfacli {

class EditSolver {
 public:
  // The sequences must outlive the object. `max_edits`: maximum edits of interest; negative: unlimited. Members that
  // allocate throw std::bad_alloc.
  EditSolver(const EditPair& pair, std::int64_t max_edits)
      : pair_(pair), max_edits_(max_edits < 0 || max_edits > pair.max_distance() ? pair.max_distance() : max_edits) {}
  virtual ~EditSolver() = default;
  EditSolver(const EditSolver&) = delete;
  EditSolver& operator=(const EditSolver&) = delete;

  // Continue for about `seconds` seconds, at least one step; return true at the end.
  virtual bool advance(double seconds) = 0;
  bool ended() const { return ended_; }
  // The edits; -1 before the end, or if there are more than `max_edits`.
  std::int64_t distance() const { return distance_; }
  std::int64_t lower_bound() const { return lower_bound_; }  // lower bound on the distance
  std::int64_t cells() const { return cells_; }        // cells computed so far
  virtual double share() const = 0;                    // progress, 0 to 1

  // Names of the arrays of a state, in the order that restore() requires.
  virtual std::vector<const char*> arrays() const = 0;
  virtual std::vector<SavedArray> save() const = 0;
  // Continue from a state. Throws std::invalid_argument, and changes nothing, if it is not a state of this pair.
  virtual void restore(const std::vector<SavedView>& state) = 0;

 protected:
  using Clock = std::chrono::steady_clock;
  static Clock::time_point deadline(double seconds) {
    const double bounded = seconds < 0 ? 0 : seconds > 1e6 ? 1e6 : seconds;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bounded));
  }
  void end(std::int64_t distance) {
    ended_ = true;
    distance_ = distance;
  }
  void raise_lower_bound(std::int64_t edits) {
    if (edits > lower_bound_) lower_bound_ = edits;
  }
  // The numbers that every state begins with: the pair that it belongs to, and its progress. `kind`: the algorithm.
  static constexpr std::size_t kNumbers = 9;
  Buffer<std::int64_t> numbers(std::int64_t kind) const;
  void take_numbers(std::int64_t kind, const SavedView& numbers);

  const EditPair pair_;
  const std::int64_t max_edits_;  // maximum edits of interest
  bool ended_ = false;
  std::int64_t distance_ = -1, lower_bound_ = 0, cells_ = 0;

 private:
  std::int64_t fingerprint() const;
};

}  // namespace wfacli

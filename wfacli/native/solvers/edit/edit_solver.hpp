// What all algorithms for the edit distance of one pair of any length have in common: they go on step by step, say how
// far they are, and give and take what they need to go on.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "solvers/edit/edit.hpp"
#include "base/saved.hpp"

namespace wfacli {

class EditSolver {
 public:
  // The letters must outlive it. `most` edits matter, negative: any. What allocates throws std::bad_alloc.
  EditSolver(const EditPair& pair, std::int64_t most)
      : pair_(pair), most_(most < 0 || most > pair.most() ? pair.most() : most) {}
  virtual ~EditSolver() = default;
  EditSolver(const EditSolver&) = delete;
  EditSolver& operator=(const EditSolver&) = delete;

  // Goes on for about so many seconds, one step at least; whether the end has been reached.
  virtual bool advance(double seconds) = 0;
  bool ended() const { return ended_; }
  // After the end: the edits, or -1: more than `most`.
  std::int64_t distance() const { return distance_; }
  std::int64_t at_least() const { return at_least_; }  // never more than the distance
  std::int64_t cells() const { return cells_; }        // computed so far
  virtual double share() const = 0;                    // of the sequences that is behind

  // The arrays' names, in the order in which `restore` takes them.
  virtual std::vector<const char*> arrays() const = 0;
  virtual std::vector<SavedArray> save() const = 0;
  // Throws std::invalid_argument where they are no state of this pair, and then leaves everything as it was.
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
  void raise_least(std::int64_t edits) {
    if (edits > at_least_) at_least_ = edits;
  }
  // What every state begins with: what it belongs to, and how far it is. `kind` is the algorithm's.
  static constexpr std::size_t kNumbers = 9;
  Buffer<std::int64_t> numbers(std::int64_t kind) const;
  void take_numbers(std::int64_t kind, const SavedView& numbers);

  const EditPair pair_;
  const std::int64_t most_;  // edits that matter
  bool ended_ = false;
  std::int64_t distance_ = -1, at_least_ = 0, cells_ = 0;

 private:
  std::int64_t fingerprint() const;
};

}  // namespace wfacli

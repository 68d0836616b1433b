// The best local alignment of one pair of any length, step by step: its score and where it begins, then its path.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "solvers/local/local_path.hpp"
#include "base/saved.hpp"

namespace wfacli {

struct LocalOptions {
  int threads = 1;
  bool path = true;                             // else the score and the beginning alone
  std::int64_t memory = std::int64_t{1} << 30;  // bytes of rows that are kept
  std::int64_t trace = std::int64_t{1} << 22;   // bytes of directions
  std::int64_t steps = kTileSteps;              // of a tile
  bool prune = true;
};

class LocalSolver {
 public:
  // Codes and `same` (of each code whether it is written as equal to itself) are copied. Throws
  // std::invalid_argument: codes, scores or runs that are out of range.
  LocalSolver(const std::uint8_t* query, std::int64_t query_len, const std::uint8_t* target, std::int64_t target_len,
              const LocalScheme& scheme, const std::uint8_t* same, const std::vector<LocalRun>& barred,
              const LocalOptions& options, const LocalKernels& kernels);

  // Goes on for about so many seconds, or until the score is known; whether the end has been reached.
  bool advance(double seconds);
  bool ended() const { return ended_; }
  std::int32_t score() const { return sweep_->best().score; }         // of the best alignment so far
  bool scored() const { return sweep_->next() >= sweep_->strips(); }  // whether that is the best
  double share() const;  // of the rows that are behind; of the path's, once the score is known
  std::int64_t cells() const { return sweep_->cells() + (path_ ? path_->cells() : 0); }
  // After the end: query and target from .. to, half open (all 0 without an alignment; without a path `to` is -1), ...
  std::vector<std::int64_t> span() const;
  // ... and operations as BAM has them, to be taken once.
  Buffer<std::uint32_t> cigar() { return path_ ? std::move(path_->cigar()) : Buffer<std::uint32_t>(); }

  std::vector<const char*> arrays() const { return {"numbers", "row", "kept"}; }
  // Of the search for the score; once that is over, a state from which the path is found anew.
  std::vector<SavedArray> save() const;
  // Throws std::invalid_argument where they are no state of this pair, and then leaves everything as it was.
  void restore(const std::vector<SavedView>& state);

 private:
  std::vector<std::int64_t> numbers() const;
  void step_of_path();

  LocalPair pair_;
  const LocalOptions options_;
  std::vector<std::uint8_t> same_;
  std::int64_t keep_ = 0;
  std::unique_ptr<LocalSweep> sweep_;
  std::optional<LocalPath> path_;
  bool ended_ = false;
};

}  // namespace wfacli

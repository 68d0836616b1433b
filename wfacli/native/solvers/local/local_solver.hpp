// The best local alignment of one pair of any length, in steps: its score and beginning first, then its path.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "solvers/local/local_path.hpp"
#include "base/saved_state.hpp"

namespace wfacli {

struct LocalOptions {
  int threads = 1;
  bool path = true;                             // false: the score and the beginning only
  std::int64_t memory = std::int64_t{1} << 30;  // bytes of kept rows
  std::int64_t trace = std::int64_t{1} << 22;   // bytes of traceback bits
  std::int64_t steps = kTileSteps;              // steps of a tile
  bool prune = true;                            // leave out tiles that cannot matter
};

class LocalSolver {
 public:
  // Copies the codes and `same` ([codes], whether a code aligned with itself is written as =). Throws
  // std::invalid_argument if codes, scores, runs or options are out of range.
  LocalSolver(const std::uint8_t* query, std::int64_t query_len, const std::uint8_t* target, std::int64_t target_len,
              const LocalScheme& scheme, const std::uint8_t* same, const std::vector<LocalRun>& excluded_runs,
              const LocalOptions& options, const LocalKernels& kernels);

  // Continue for about `seconds` seconds, or until the score is known; return true at the end.
  bool advance(double seconds);
  bool ended() const { return ended_; }
  std::int32_t score() const { return sweep_->best().score; }         // best score so far
  bool scored() const { return sweep_->next() >= sweep_->strips(); }  // true if score() is final
  double share() const;  // share of the rows computed; once the score is known, of the rows traced back
  std::int64_t cells() const { return sweep_->cells() + (path_ ? path_->cells() : 0); }  // cells computed so far
  // After the end: {query begin, query end, target begin, target end}, half-open. All 0 without an alignment; the ends
  // are -1 without a path.
  std::vector<std::int64_t> span() const;
  // After the end: move the CIGAR out, in BAM's packing. A second call returns an empty one.
  Buffer<std::uint32_t> cigar() { return path_ ? std::move(path_->cigar()) : Buffer<std::uint32_t>(); }

  std::vector<const char*> arrays() const { return {"numbers", "row", "kept"}; }
  // Save the search for the score. A state saved later holds the final score, and the path is computed again.
  std::vector<SavedArray> save() const;
  // Continue from a state. Throws std::invalid_argument, and changes nothing, if it is not a state of this pair.
  void restore(const std::vector<SavedView>& state);

 private:
  std::vector<std::int64_t> numbers() const;
  void step_of_path();

  LocalPair pair_;
  const LocalOptions options_;
  std::vector<std::uint8_t> same_;
  std::int64_t strips_per_checkpoint_ = 0;
  std::unique_ptr<LocalSweep> sweep_;
  std::optional<LocalPath> path_;
  bool ended_ = false;
};

}  // namespace wfacli

// Rows of a batch shared out among threads: each takes the next few until none are left.
#pragma once

#include <exception>
#include <list>
#include <mutex>
#include <vector>

#include "engine/extend.hpp"

namespace wfacli {

// How much a part has at least.
struct PartSize {
  std::int64_t letters, rows;
};

// One route of an Aligner or an Extender. What each row's answer is depends on no thread, and joined() has them in the
// route's order.
template <class Aligner, class Options>
class RowsJob {
 public:
  // Everything given must outlive the job.
  RowsJob(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const Options& options,
          const CancelFlag& cancelled, PartSize least);

  std::int64_t parts() const { return static_cast<std::int64_t>(parts_.size()); }
  // Aligns parts until all are taken, or until this has gone on for long enough (kPause): then it says true, and wants
  // to be called again. Called by any number of threads, each with an aligner of its own.
  bool work(Aligner& aligner);
  // Waits for the parts that other threads have taken, and puts all together. Throws what an aligner threw.
  AlignedRows joined();

 private:
  // Some rows, and where their answers are: from row `at` of what one thread has found.
  struct Part {
    std::int64_t first, last;
    AlignedRows* found = nullptr;
    std::size_t at = 0;
  };
  // What one aligner has found.
  struct Found {
    const Aligner* by;
    AlignedRows rows;
  };
  AlignedRows* found_by(const Aligner& aligner);
  void finish_part();
  void wait();

  const BatchView batch_;
  const std::int32_t* const rows_;
  const Options& options_;
  const CancelFlag& cancelled_;
  std::vector<Part> parts_;
  std::atomic<std::int64_t> next_{0}, done_{0};
  std::mutex lock_;  // of what follows
  std::list<Found> found_;
  std::exception_ptr error_;
};

using AlignJob = RowsJob<Aligner, AlignOptions>;
using ExtendJob = RowsJob<Extender, ExtendOptions>;

}  // namespace wfacli

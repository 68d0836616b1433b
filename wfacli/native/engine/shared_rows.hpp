// Rows of a batch shared among threads: each thread takes the next part until none is left.
#pragma once

#include <exception>
#include <list>
#include <mutex>
#include <vector>

#include "engine/extend.hpp"

namespace wfacli {

// Minimum size of a part: bases of both sequences, and rows.
struct PartSize {
  std::int64_t min_bases, min_rows;
};

// One route of an Aligner or an Extender. Results do not depend on the threads, and results() returns them in the
// order of the route.
template <class Aligner, class Options>
class SharedRowsTask {
 public:
  // All arguments except `min_size` must outlive the object.
  SharedRowsTask(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const Options& options,
                 const CancelFlag& cancelled, PartSize min_size);

  std::int64_t parts() const { return static_cast<std::int64_t>(parts_.size()); }
  // Align parts until all are taken, or until kPause has passed; in the latter case return true, and the caller should
  // call again. Any number of threads may call it, each with its own aligner.
  bool work(Aligner& aligner);
  // Wait for the parts that other threads have taken, and return the results of all rows. Rethrows an aligner's
  // exception.
  AlignedRows results();

 private:
  // Rows first .. last - 1, and their results: from row `at` of one thread's results.
  struct Part {
    std::int64_t first, last;
    AlignedRows* found = nullptr;
    std::size_t at = 0;
  };
  // Results of one aligner.
  struct Found {
    const Aligner* aligner;
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
  std::mutex lock_;  // guards the members below
  std::list<Found> found_;
  std::exception_ptr error_;
};

using AlignTask = SharedRowsTask<Aligner, AlignOptions>;
using ExtendTask = SharedRowsTask<Extender, ExtendOptions>;

}  // namespace wfacli

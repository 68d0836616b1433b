// Work in phases, which several threads share: a phase begins when the one before has ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace wfacli {

// A phase: `part` is called once for each number below `parts`, by any thread.
struct Phase {
  int parts;
  std::function<void(int)> part;
};

// Runs the phases with up to `threads` threads, one of which is the caller. After an exception the remaining parts are
// skipped, and it is rethrown; of several the first one.
inline void in_phases(int threads, const std::vector<Phase>& phases) {
  std::vector<std::atomic<int>> next(phases.size());
  std::barrier<> reached(threads);
  std::atomic<bool> failed{false};
  std::exception_ptr problem;
  std::mutex guard;
  const auto run = [&] {
    for (std::size_t i = 0; i < phases.size(); ++i) {
      try {
        for (int part; !failed && (part = next[i].fetch_add(1)) < phases[i].parts;) phases[i].part(part);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failed.exchange(true)) problem = std::current_exception();
      }
      reached.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<std::size_t>(threads));
    for (int other = 1; other < threads; ++other) {
      try {
        others.emplace_back(run);
      } catch (const std::system_error&) {  // the system has no more threads
        reached.arrive_and_drop();
      }
    }
    run();
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace wfacli

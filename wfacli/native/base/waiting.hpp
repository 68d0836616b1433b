// Waiting for an atomic value: spin first, then sleep.
#pragma once

#include <atomic>

namespace wfacli {

// Iterations to spin before sleeping: about 50 microseconds, the time that the system needs to wake a thread.
constexpr int kSpins = 800;

// Waits until `done(value)` is true and returns that value. Spins for kSpins iterations, then sleeps between changes.
template <class T, class Done>
inline T wait_until(const std::atomic<T>& value, const Done& done) {
  for (int look = 0;; ++look) {
    const T now = value.load(std::memory_order_acquire);
    if (done(now)) return now;
    if (look < kSpins) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      value.wait(now, std::memory_order_acquire);
    }
  }
}

}  // namespace wfacli

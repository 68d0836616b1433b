// Waiting for what another thread does.
#pragma once

#include <atomic>

namespace wfacli {

// About 50 microseconds: what a system takes to wake a thread.
constexpr int kLooks = 800;

// Until `done` holds of a value, which is returned: for a moment at once, then asleep until it changes.
template <class T, class Done>
inline T wait_until(const std::atomic<T>& value, const Done& done) {
  for (int look = 0;; ++look) {
    const T now = value.load(std::memory_order_acquire);
    if (done(now)) return now;
    if (look < kLooks) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      value.wait(now, std::memory_order_acquire);
    }
  }
}

}  // namespace wfacli

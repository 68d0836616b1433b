// A helper thread for short pieces of work. It is started with the first piece; between pieces it spins for a moment
// before it sleeps.
#pragma once

#include <atomic>
#include <system_error>
#include <thread>

#include "base/waiting.hpp"

namespace wfacli {

class EditHelper {
 public:
  EditHelper() = default;
  EditHelper(const EditHelper&) = delete;
  EditHelper& operator=(const EditHelper&) = delete;
  ~EditHelper() {
    if (!thread_.joinable()) return;
    give(nullptr, nullptr);
    thread_.join();
  }

  // Run both functions, `other` in the helper thread, or after `one` if no thread can be started. Neither may throw.
  template <class One, class Other>
  void both(const One& one, const Other& other) {
    const bool two = begin(other);
    one();
    if (two)
      end();
    else
      other();
  }

  // Start `other` in the helper thread; the caller must call end(). Return false if no thread can be started. `other`
  // must outlive the call of end(), and may not throw.
  template <class Other>
  bool begin(const Other& other) {
    if (!start()) return false;
    give([](const void* work) { (*static_cast<const Other*>(work))(); }, &other);
    return true;
  }
  // Wait for the function given to begin().
  void end() {
    wait_until(done_, [this](int done) { return done == given_.load(std::memory_order_relaxed); });
  }

 private:
  bool start() {
    if (thread_.joinable()) return true;
    if (refused_) return false;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      refused_ = true;
    }
    return !refused_;
  }
  void give(void (*call)(const void*), const void* work) {
    call_ = call;
    work_ = work;
    given_.fetch_add(1, std::memory_order_release);
    given_.notify_one();
  }
  void run() {
    for (int turn = 1;; ++turn) {
      wait_until(given_, [=](int given) { return given >= turn; });
      if (!call_) return;
      call_(work_);
      done_.store(turn, std::memory_order_release);
      done_.notify_one();
    }
  }

  std::thread thread_;
  bool refused_ = false;
  std::atomic<int> given_{0}, done_{0};
  void (*call_)(const void*) = nullptr;
  const void* work_ = nullptr;
};

}  // namespace wfacli

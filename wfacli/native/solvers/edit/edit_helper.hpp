// A second thread that lends a hand for short pieces of work: it is started at the first one, and between two it looks
// out for the next for a moment before it sleeps.
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

  // Does both, `other` in the second thread; where none is to be had, after `one`. Neither may throw.
  template <class One, class Other>
  void both(const One& one, const Other& other) {
    const bool two = begin(other);
    one();
    if (two)
      end();
    else
      other();
  }

  // The second thread begins with work that lasts until end(), unless there is none to be had. It may not throw.
  template <class Other>
  bool begin(const Other& other) {
    if (!start()) return false;
    give([](const void* work) { (*static_cast<const Other*>(work))(); }, &other);
    return true;
  }
  // Waits for it.
  void end() {
    wait_until(done_, [this](int done) { return done == given_.load(std::memory_order_relaxed); });
  }

 private:
  bool start() {
    if (thread_.joinable()) return true;
    if (refused_) return false;
    try {
      thread_ = std::thread([this] { serve(); });
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
  void serve() {
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

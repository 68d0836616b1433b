#include "base/thread_pool.hpp"

#include <algorithm>

#include "base/waiting.hpp"

namespace wfacli {

bool ThreadPool::Task::begin() {
  int waiting = kWaiting;
  return state_.compare_exchange_strong(waiting, kBegun, std::memory_order_acq_rel);
}

void ThreadPool::Task::wait() const {
  wait_until(state_, [](int state) { return state == kDone; });
}

void ThreadPool::Task::finish() {
  if (!begin()) return wait();
  work();
  state_.store(kDone, std::memory_order_release);
}

void ThreadPool::Task::drop() {
  if (!begin()) return wait();
  state_.store(kDone, std::memory_order_release);
}

ThreadPool::ThreadPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(lock_);
    stop_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::add(std::shared_ptr<Task> task, int max_queued) {
  bool wake;
  {
    const std::lock_guard<std::mutex> lock(lock_);
    tasks_.push_back(std::move(task));
    wake = asleep_ > 0 && static_cast<int>(tasks_.size()) > max_queued * (threads() - asleep_);
  }
  if (wake) more_.notify_one();
}

void ThreadPool::for_each(int count, const std::function<void(int)>& f) {
  struct Share : Task {
    Share(std::atomic<int>& numbers, int end, const std::function<void(int)>& function)
        : next(numbers), count(end), call(function) {}
    void work() override {
      for (int i; (i = next.fetch_add(1)) < count;) call(i);
    }
    std::atomic<int>& next;
    const int count;
    const std::function<void(int)>& call;
  };
  std::atomic<int> next{0};
  std::vector<std::shared_ptr<Share>> shares;
  for (int i = 0; i < std::min(threads(), count - 1); ++i) {
    shares.push_back(std::make_shared<Share>(next, count, f));
    shares.back()->prepare();
  }
  {
    const std::lock_guard<std::mutex> lock(lock_);
    tasks_.insert(tasks_.begin(), shares.begin(), shares.end());
  }
  if (!shares.empty()) more_.notify_all();
  for (int i; (i = next.fetch_add(1)) < count;) f(i);
  for (const auto& share : shares) share->drop();
}

void ThreadPool::run() {
  for (;;) {
    std::shared_ptr<Task> task;
    {
      std::unique_lock<std::mutex> lock(lock_);
      if (tasks_.empty() && !stop_) {
        ++asleep_;
        more_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
        --asleep_;
      }
      if (stop_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    if (!task->begin()) continue;
    task->work();
    task->state_.store(Task::kDone, std::memory_order_release);
    task->state_.notify_all();
  }
}

}  // namespace wfacli

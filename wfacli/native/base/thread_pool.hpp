// Threads that run queued tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wfacli {

// Thread pool with a queue of tasks, first in, first out.
class ThreadPool {
 public:
  // Task that runs once: in a thread of the pool, or in the thread that needs its result before the pool has begun it.
  class Task {
   public:
    virtual ~Task() = default;
    // Runs the task here if it has not begun; otherwise waits until it is done.
    void finish();
    // Cancels the task if it has not begun; otherwise waits until it is done.
    void drop();
    // Makes the task ready to be added (again).
    void prepare() { state_.store(kWaiting, std::memory_order_release); }

   protected:
    virtual void work() = 0;

   private:
    friend class ThreadPool;
    enum State { kWaiting, kBegun, kDone };
    bool begin();
    void wait() const;
    std::atomic<int> state_{kDone};
  };

  explicit ThreadPool(int threads);
  ~ThreadPool();  // waits for tasks that have begun; discards the others
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int threads() const { return static_cast<int>(threads_.size()); }
  // Adds a prepared task. Wakes a thread only if more than `max_queued` tasks are queued per thread that is awake,
  // since waking a thread is slow for the caller.
  void add(std::shared_ptr<Task> task, int max_queued = 0);
  // Calls a function with each number below `count`, before any queued task, and returns when all calls have returned.
  // The calling thread takes part. The function must not throw.
  void for_each(int count, const std::function<void(int)>& f);

 private:
  void run();

  std::vector<std::thread> threads_;
  std::mutex lock_;
  std::condition_variable more_;
  std::deque<std::shared_ptr<Task>> tasks_;
  int asleep_ = 0;
  bool stop_ = false;
};

}  // namespace wfacli

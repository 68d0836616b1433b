// Blocks of a regular file that threads read and parse ahead of who wants their records.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "io/records.hpp"

namespace wfacli {

// Reads up to `size` bytes from a place of a file; fewer only at its end. Throws InputFault.
std::size_t read_at(int descriptor, std::int64_t position, std::uint8_t* room, std::size_t size);

// A part of a file, and what could be made of it without knowing what comes before and behind.
struct ParsedBlock {
  std::int64_t position = 0;  // in the file
  std::size_t size = 0;       // bytes to read; of the file's last block there are fewer
  char mark = 0;              // what its records begin with
  RecordReader reader;        // its lines hold the block
  RecordBuilder builder;
  RecordColumns columns;      // its whole records

  bool parsed = false;        // where no record was seen to begin, nothing was
  std::size_t first = 0;      // where in the block the first record is believed to begin
  std::size_t rest = 0;       // what is not whole begins here
  std::int64_t lines = 0;     // from `first` to `rest`
  std::unique_ptr<InputFault> fault;  // after the records; its line counts from `first`
  std::exception_ptr error;

  explicit ParsedBlock(RecordParts::Keep keep) : builder(keep) {}
  // Reads the block from a descriptor, and parses it.
  void fill(int descriptor);

 private:
  void parse();
};

// Threads that take what there is to do in turn.
class Helpers {
 public:
  // Somebody's work; done once, by a helper or by who wants it sooner.
  class Task {
   public:
    virtual ~Task() = default;
    // Does it, unless somebody has or does; then waits for them.
    void finish();
    // Sees to it that nobody does it, or waits for who has begun.
    void drop();
    void prepare() { state_.store(kWaiting, std::memory_order_release); }

   protected:
    virtual void work() = 0;

   private:
    friend class Helpers;
    enum State { kWaiting, kBegun, kDone };
    bool begin();
    void wait() const;
    std::atomic<int> state_{kDone};
  };

  explicit Helpers(int threads);
  ~Helpers();  // after the work that has begun
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  int threads() const { return static_cast<int>(threads_.size()); }
  // Adds a task that is prepared. Up to so many may wait for each thread that is awake before another one is woken,
  // which takes whoever adds them long.
  void add(std::shared_ptr<Task> task, int patience = 0);

 private:
  void run();

  std::vector<std::thread> threads_;
  std::mutex lock_;
  std::condition_variable more_;
  std::deque<std::shared_ptr<Task>> tasks_;
  int asleep_ = 0;
  bool stop_ = false;
};

// The blocks of one file, in their order.
class ReadAhead {
 public:
  // Reads from `position` on, `block` bytes at a time, through a descriptor of its own: who opened the file may close it
  // while helpers are at work. Throws InputFault where there is none to be had.
  ReadAhead(std::shared_ptr<Helpers> helpers, int descriptor, std::int64_t position, std::size_t block, char mark,
            RecordParts::Keep keep);
  ~ReadAhead();

  // The next block, valid until the next call; null where the file has ended. Throws what reading it threw.
  ParsedBlock* next();

 private:
  struct Slot;
  void begin(const std::shared_ptr<Slot>& slot);

  std::shared_ptr<Helpers> helpers_;
  int descriptor_;
  std::int64_t position_;
  std::size_t block_;
  char mark_;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the file's order
  bool used_ = false, ended_ = false;        // whether the first was handed out; whether no more follows it
};

}  // namespace wfacli

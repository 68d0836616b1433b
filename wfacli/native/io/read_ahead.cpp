#include "io/read_ahead.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/waiting.hpp"

namespace wfacli {
namespace {

constexpr int kBlocksAhead = 2;    // blocks in flight per helper, for each file,
constexpr int kMinBlocks = 2;      // and in addition to them
constexpr int kPatience = 2;       // queued blocks per awake thread before another thread is woken

// Returns the offset of the next line, or npos.
std::size_t next_line(std::string_view text, std::size_t from) {
  const std::size_t end = text.find('\n', from);
  return end == text.npos ? end : end + 1;
}

// True if the four lines from `header` on look like a FASTQ record, followed by another one or by the end of the text.
bool looks_like_fastq(std::string_view text, std::size_t header) {
  std::size_t line[5] = {header};
  for (int i = 1; i < 5; ++i) {
    line[i] = next_line(text, line[i - 1]);
    if (line[i] == text.npos) return false;
  }
  const bool same = line[2] - line[1] == line[4] - line[3];
  return same && text[line[2]] == '+' && (line[4] == text.size() || text[line[4]] == '@');
}

// Returns the offset of the first record that seems to begin after a line feed, or npos. '>' is conclusive in FASTA; in
// FASTQ a quality line may begin with '@' too, so the lines that follow are checked.
std::size_t first_record(std::string_view text, char mark) {
  const char begin[] = {'\n', mark, 0};
  for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos; ++at)
    if (mark == '>' || looks_like_fastq(text, at + 1)) return at + 1;
  return text.npos;
}

}  // namespace

std::size_t read_at(int descriptor, std::int64_t position, std::uint8_t* room, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor, room + done, size - done, position + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputFault(std::strerror(errno), 0, {});
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void ParsedBlock::parse() {
  const std::string_view text = reader.lines().buffered();
  first = first_record(text, mark);
  parsed = first != text.npos;
  if (!parsed) return;
  reader.continue_at(first, mark);
  starts.clear();
  try {
    for (;;) {
      const RecordStart start{reader.offset(), reader.line_number()};
      if (reader.next(builder) != ParseResult::Item) break;
      if (tracked) starts.push_back(start);
    }
  } catch (const InputFault& found) {
    fault = std::make_unique<InputFault>(found);
  }
  builder.drop_record();
  rest = reader.rest_at();
  lines = reader.lines_before_rest();
  builder.take(columns);
}

void ParsedBlock::fill(int descriptor) {
  parsed = false;
  fault.reset();
  error = nullptr;
  try {
    Lines& block = reader.lines();
    block.clear();
    block.commit(read_at(descriptor, position, block.prepare(size), size));
    parse();
  } catch (...) {
    error = std::current_exception();
  }
}

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

struct ReadAhead::Slot : ThreadPool::Task {
  ParsedBlock block;
  int descriptor;

  Slot(RecordParts::Keep keep, int from) : block(keep), descriptor(from) {}
  void work() override { block.fill(descriptor); }
};

ReadAhead::ReadAhead(std::shared_ptr<ThreadPool> pool, int descriptor, std::int64_t position, std::int64_t end,
                     std::size_t block, char mark, RecordParts::Keep keep, bool tracked)
    : pool_(std::move(pool)),
      descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
      position_(position),
      end_(end),
      block_(block),
      mark_(mark),
      tracked_(tracked) {
  if (descriptor_ < 0) throw InputFault(std::strerror(errno), 0, {});
  const int ahead = kBlocksAhead * pool_->threads() + kMinBlocks;
  for (int i = 0; i < ahead; ++i) {
    slots_.push_back(std::make_shared<Slot>(keep, descriptor_));
    begin(slots_.back());
  }
}

ReadAhead::~ReadAhead() {
  for (const auto& slot : slots_) slot->drop();
  ::close(descriptor_);
}

void ReadAhead::begin(const std::shared_ptr<Slot>& slot) {
  slot->block.position = position_;
  slot->block.size = bytes_before(end_, position_, block_);
  slot->block.mark = mark_;
  slot->block.tracked = tracked_;
  position_ += static_cast<std::int64_t>(block_);
  slot->prepare();
  pool_->add(slot, kPatience);
}

ParsedBlock* ReadAhead::next() {
  if (used_ && !ended_) {
    std::shared_ptr<Slot> free = std::move(slots_.front());
    slots_.pop_front();
    begin(free);
    slots_.push_back(std::move(free));
  }
  if (ended_) return nullptr;
  used_ = true;
  Slot& slot = *slots_.front();
  slot.finish();
  if (slot.block.error) std::rethrow_exception(slot.block.error);
  ended_ = slot.block.reader.lines().buffered().size() < block_;
  return &slot.block;
}

}  // namespace wfacli

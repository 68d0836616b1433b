#include "solvers/local/local_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/waiting.hpp"

namespace wfacli {

namespace {

constexpr double kRoundSeconds = 0.05;  // minimum time of a round, so that the start of its threads is negligible
constexpr std::int64_t kMaxRoundStrips = 1 << 16;  // maximum strips of a round
constexpr std::int64_t kWorthThreads = 4'000'000;  // cells of a region from which several threads are used

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Cost of a gap of `length` symbols.
std::int64_t gap(const LocalPair& pair, std::int64_t length) {
  return length > 0 ? pair.open() + length * pair.extend() : 0;
}

}  // namespace

// Memory of one thread: the state of its strip, the inputs of the current tile (`now`), and those of the best tile of
// the strip so far (`candidate`), so that the place of its best cell can be found later.
struct LocalSweep::Thread {
  struct Begun {
    LocalState state;
    LocalTile tile;
    std::int32_t top[2][kTileSteps];

    void take(const LocalTile& from, const LocalState& before) {
      tile = from;
      state = before;
      const std::int64_t there = std::clamp<std::int64_t>(from.columns - from.first, 0, from.steps);
      std::copy_n(from.top_h, there, top[0]);
      std::copy_n(from.top_f, there, top[1]);
    }
  };
  LocalState state;
  Begun now, candidate;
  LocalBest best;  // best of the strip; row -1 until the cell of the candidate has been found
};

LocalSweep::LocalSweep(const LocalPair& pair, const LocalRegion& region, LocalRow top,
                       const LocalSweepOptions& options)
    : pair_(pair),
      region_(region),
      options_(options),
      strips_(ceil_div(region.rows, pair.kernel().rows)),
      steps_(ceil_div(region.columns + pair.kernel().lanes - 1, kLocalBlock) * kLocalBlock),
      row_(std::move(top)),
      trace_(options.room ? *options.room : own_trace_) {
  if (options_.trace) trace_.resize(static_cast<std::size_t>(strips_ * steps_ * pair.kernel().rows));
}

bool LocalSweep::advance(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
  while (next_ < strips_) {
    const bool small = region_.rows * region_.columns < kWorthThreads;
    const int threads = small ? 1 : options_.threads;
    const double max_seconds = std::max(std::min(seconds - spent(), 20 * kRoundSeconds), kRoundSeconds);
    std::int64_t count = strip_seconds_ > 0 ? static_cast<std::int64_t>(max_seconds / strip_seconds_) : threads;
    count = std::clamp<std::int64_t>(count, threads, kMaxRoundStrips);
    const std::int64_t together = kLocalStateRows / pair_.kernel().rows;
    count = ceil_div(count, together) * together;
    count = std::min(small ? strips_ : count, strips_ - next_);
    if (room_ < count)
      done_ = std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(count)), room_ = count;
    for (std::int64_t x = 0; x < count; ++x) done_[static_cast<std::size_t>(x)].store(0, std::memory_order_relaxed);
    while (options_.strips_per_checkpoint &&
           static_cast<std::int64_t>(checkpoints_.size()) < (next_ + count) / options_.strips_per_checkpoint) {
      LocalRow row;
      row.h.resize(static_cast<std::size_t>(region_.columns));
      row.f.resize(static_cast<std::size_t>(region_.columns));
      checkpoints_.push_back(std::move(row));
    }
    round_ = next_;
    taken_.store(next_, std::memory_order_relaxed);
    const auto round_begun = Clock::now();
    std::vector<std::unique_ptr<Thread>> memory;
    for (int t = 0; t < threads; ++t) memory.push_back(std::make_unique<Thread>());
    std::vector<std::thread> others;
    try {
      for (int t = 1; t < std::min<std::int64_t>(threads, count); ++t)
        others.emplace_back(
            [this, &memory, t, end = next_ + count] { work(*memory[static_cast<std::size_t>(t)], end); });
    } catch (const std::system_error&) {
      // Continue with the threads that were started.
    }
    work(*memory[0], next_ + count);
    for (std::thread& other : others) other.join();
    next_ += count;
    strip_seconds_ = std::chrono::duration<double>(Clock::now() - round_begun).count() / static_cast<double>(count);
    if (spent() >= seconds) break;
  }
  return next_ >= strips_;
}

void LocalSweep::work(Thread& thread, std::int64_t end) {
  for (;;) {
    const std::int64_t x = taken_.fetch_add(1, std::memory_order_relaxed);
    if (x >= end) return;
    strip(thread, x);
  }
}

LocalStrip LocalSweep::strip_of(std::int64_t x, const LocalTile& tile) const {
  const LocalKernel& kernel = pair_.kernel();
  return pair_.strip(region_.row + x * kernel.rows, region_.column, tile.first - kernel.lanes,
                     tile.first + tile.steps);
}

void LocalSweep::wait_for_strip_above(std::int64_t x, std::int64_t columns) const {
  if (x == round_) return;
  wait_until(done_[static_cast<std::size_t>(x - 1 - round_)], [=](std::int64_t done) { return done >= columns; });
}

void LocalSweep::strip(Thread& thread, std::int64_t x) {
  const LocalKernel& kernel = pair_.kernel();
  const std::int64_t columns = region_.columns;
  std::atomic<std::int64_t>& done = done_[static_cast<std::size_t>(x - round_)];
  kernel.begin(thread.state);
  thread.best = LocalBest();
  for (std::int64_t first = 0; first < steps_; first += options_.steps) {
    LocalTile now{};
    now.first = first;
    now.steps = std::min(options_.steps, steps_ - first);
    now.columns = columns;
    now.top_h = now.bottom_h = row_.h.data() + first;
    now.top_f = now.bottom_f = row_.f.data() + first;
    if (options_.trace) now.trace = trace_.data() + (x * steps_ + first) * kernel.rows;
    wait_for_strip_above(x, std::min(first + now.steps, columns));
    tile(thread, x, now);
    const std::int64_t from = std::max<std::int64_t>(first - (kernel.lanes - 1), 0);
    const std::int64_t to = std::min(first + now.steps - (kernel.lanes - 1), columns);
    if (from < to) save_checkpoint(x, from, to);
    done.store(first + now.steps >= steps_ ? columns : std::max<std::int64_t>(to, 0), std::memory_order_release);
    done.notify_all();
  }
  if (thread.best.score > 0) {
    const LocalBest found = resolved(thread, x);
    const std::lock_guard<std::mutex> guard(lock_);
    best_ = std::max(best_, found);
  }
}

void LocalSweep::tile(Thread& thread, std::int64_t x, LocalTile& tile) {
  const LocalKernel& kernel = pair_.kernel();
  const std::int32_t highest = kernel.highest(thread.state, tile);
  if (options_.prune && !matters(x, tile, highest)) return prune_tile(thread, tile);
  tile.base = std::max(0, highest - pair_.max_score_difference());
  const LocalStrip strip = strip_of(x, tile);
  cells_.fetch_add(tile.steps * kernel.rows, std::memory_order_relaxed);
  if (options_.trace) {
    kernel.trace(strip, tile, thread.state);
    return;
  }
  const std::int32_t max_score = highest + kernel.rows * pair_.match();
  const bool may_be_best = !options_.needed && max_score >= best_score_.load(std::memory_order_relaxed);
  if (may_be_best) thread.now.take(tile, thread.state);
  const LocalFound found = kernel.score(strip, tile, thread.state);
  if (may_be_best) consider(thread, x, found.best);
}

// Return true if a wanted path may pass through a tile whose inputs score at most `highest`.
bool LocalSweep::matters(std::int64_t x, const LocalTile& tile, std::int32_t highest) const {
  const LocalKernel& kernel = pair_.kernel();
  const std::int64_t rows = region_.rows - x * kernel.rows;
  const std::int64_t columns = region_.columns - std::max<std::int64_t>(tile.first - kernel.lanes, 0);
  const std::int64_t max_score = highest + std::min(rows, columns) * pair_.match();
  if (!options_.needed) return max_score > 0 && max_score >= best_score_.load(std::memory_order_relaxed);
  // The path to the last cell has gaps if fewer symbols are left of one sequence than of the other.
  const std::int64_t along = region_.columns - (tile.first + tile.steps) - rows;
  const std::int64_t down = rows - kernel.rows - columns;
  return max_score - gap(pair_, std::max(along, down)) >= options_.needed;
}

// Leave out a tile: set its outputs to 0.
void LocalSweep::prune_tile(Thread& thread, const LocalTile& tile) const {
  const LocalKernel& kernel = pair_.kernel();
  kernel.begin(thread.state);
  const std::int64_t late = kernel.lanes - 1, from = std::max<std::int64_t>(tile.first - late, 0);
  const std::int64_t to = std::min(tile.first + tile.steps - late, tile.columns);
  for (std::int64_t c = from; c < to; ++c) tile.bottom_h[c - tile.first] = tile.bottom_f[c - tile.first] = 0;
}

// Record a tile whose best cell scores `score`, if that may be the best of all cells.
void LocalSweep::consider(Thread& thread, std::int64_t x, std::int32_t score) {
  std::int32_t best_score = best_score_.load(std::memory_order_relaxed);
  while (score > best_score && !best_score_.compare_exchange_weak(best_score, score, std::memory_order_relaxed)) {
  }
  if (score <= 0 || score < best_score || score < thread.best.score) return;
  const bool tie = score == thread.best.score;
  const LocalBest before = tie ? resolved(thread, x) : LocalBest();
  std::swap(thread.now, thread.candidate);
  thread.best = LocalBest{score, -1, -1};
  if (tie) thread.best = std::max(before, resolved(thread, x));
}

// Return the best of the strip with its cell: compute the candidate tile again to find the first one, if need be.
LocalBest LocalSweep::resolved(Thread& thread, std::int64_t x) const {
  if (thread.best.row >= 0) return thread.best;
  Thread::Begun& begun = thread.candidate;
  LocalTile tile = begun.tile;
  tile.top_h = begun.top[0];
  tile.top_f = begun.top[1];
  tile.bottom_h = tile.bottom_f = nullptr;
  tile.wanted = thread.best.score;
  const LocalFound found = pair_.kernel().seek(strip_of(x, tile), tile, begun.state);
  return {thread.best.score, region_.row + x * pair_.kernel().rows + found.row, region_.column + found.column};
}

void LocalSweep::save_checkpoint(std::int64_t x, std::int64_t from, std::int64_t to) {
  if (!options_.strips_per_checkpoint || (x + 1) % options_.strips_per_checkpoint != 0) return;
  LocalRow& row = checkpoints_[static_cast<std::size_t>((x + 1) / options_.strips_per_checkpoint - 1)];
  std::copy(row_.h.data() + from, row_.h.data() + to, row.h.data() + from);
  std::copy(row_.f.data() + from, row_.f.data() + to, row.f.data() + from);
}

std::uint8_t LocalSweep::trace_at(std::int64_t row, std::int64_t column) const {
  const LocalKernel& kernel = pair_.kernel();
  const std::int64_t x = row / kernel.rows, lane = row % kernel.rows / kLocalVectors, deep = row % kLocalVectors;
  const std::int64_t step = x * steps_ + column + lane;
  return trace_[static_cast<std::size_t>((step * kLocalVectors + deep) * kernel.lanes + kernel.lanes - 1 - lane)];
}

void LocalSweep::restore(std::int64_t next, std::int64_t cells, const LocalBest& best, LocalRow row,
                         std::vector<LocalRow> checkpoints) {
  next_ = next;
  cells_.store(cells, std::memory_order_relaxed);
  best_ = best;
  best_score_.store(best.score, std::memory_order_relaxed);
  row_ = std::move(row);
  checkpoints_ = std::move(checkpoints);
}

}  // namespace wfacli

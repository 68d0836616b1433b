#include "engine/shared_rows.hpp"

#include <chrono>
#include <thread>

namespace wfacli {
namespace {

// Polls of a waiting thread before it sleeps: waking up takes longer than most parts.
constexpr int kSpins = 2000;
// Time after which work() returns between two parts. A part is not interrupted, and may take longer.
constexpr std::chrono::milliseconds kPause{20};

template <class T>
void append(const Buffer<T>& from, std::size_t at, std::size_t count, Buffer<T>& to) {
  to.append(from.data() + at, count);
}

void append_rows(AlignedRows& from, std::size_t at, std::size_t count, AlignedRows& to) {
  append(from.status, at, count, to.status);
  append(from.cut, at, count, to.cut);
  append(from.score, at, count, to.score);
  append(from.span, 4 * at, 4 * count, to.span);
  if (!from.second.empty()) append(from.second, at, count, to.second);
  const std::int64_t* start = from.cigar_start.data() + at;
  Buffer<std::uint32_t>& runs = to.cigar.runs();
  const std::int64_t moved = static_cast<std::int64_t>(runs.size()) - start[0];
  append(from.cigar.runs(), static_cast<std::size_t>(start[0]), static_cast<std::size_t>(start[count] - start[0]), runs);
  std::int64_t* ends = to.cigar_start.extend(count);
  for (std::size_t r = 0; r < count; ++r) ends[r] = start[r + 1] + moved;
}

}  // namespace

template <class A, class O>
SharedRowsTask<A, O>::SharedRowsTask(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                                     const O& options, const CancelFlag& cancelled, PartSize min_size)
    : batch_(batch), rows_(rows), options_(options), cancelled_(cancelled) {
  std::int64_t first = 0, bases = 0;
  for (std::int64_t r = 0; r < count; ++r) {
    bases += batch.q_len[rows[r]] + std::int64_t{batch.t_len[rows[r]]};
    if ((bases < min_size.min_bases || r + 1 - first < min_size.min_rows) && r + 1 < count) continue;
    parts_.push_back({first, r + 1});
    first = r + 1;
    bases = 0;
  }
}

template <class A, class O>
AlignedRows* SharedRowsTask<A, O>::found_by(const A& aligner) {
  const std::lock_guard<std::mutex> lock(lock_);
  for (Found& found : found_)
    if (found.aligner == &aligner) return &found.rows;
  return &found_.emplace_back(Found{&aligner, {}}).rows;
}

template <class A, class O>
bool SharedRowsTask<A, O>::work(A& aligner) {
  const auto begun = std::chrono::steady_clock::now();
  AlignedRows* found = nullptr;
  for (std::int64_t p; (p = next_.fetch_add(1, std::memory_order_relaxed)) < parts();) {
    Part& part = parts_[static_cast<std::size_t>(p)];
    try {
      if (!found) found = found_by(aligner);
      part.found = found;
      part.at = found->status.size();
      aligner.align(batch_, rows_ + part.first, part.last - part.first, options_, cancelled_, *found);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(lock_);
      error_ = std::current_exception();
    }
    finish_part();
    if (std::chrono::steady_clock::now() - begun > kPause) return true;
  }
  return false;
}

template <class A, class O>
void SharedRowsTask<A, O>::finish_part() {
  if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == parts()) done_.notify_all();
}

template <class A, class O>
void SharedRowsTask<A, O>::wait() {
  for (int look = 0; look < kSpins; ++look) {
    if (done_.load(std::memory_order_acquire) == parts()) return;
    std::this_thread::yield();
  }
  for (std::int64_t done; (done = done_.load(std::memory_order_acquire)) < parts();) done_.wait(done);
}

template <class A, class O>
AlignedRows SharedRowsTask<A, O>::results() {
  wait();
  if (error_) std::rethrow_exception(error_);
  if (found_.size() == 1) return std::move(found_.front().rows);  // one thread took all parts, in order
  AlignedRows all;
  std::size_t rows = 0, runs = 0;
  for (Found& found : found_) {
    rows += found.rows.status.size();
    runs += found.rows.cigar.runs().size();
  }
  all.status.reserve(rows);
  all.cut.reserve(rows);
  all.score.reserve(rows);
  all.span.reserve(4 * rows);
  all.cigar.runs().reserve(runs);
  all.cigar_start.reserve(rows + 1);
  all.cigar_start.push(0);
  for (const Part& part : parts_)
    append_rows(*part.found, part.at, static_cast<std::size_t>(part.last - part.first), all);
  return all;
}

template class SharedRowsTask<Aligner, AlignOptions>;
template class SharedRowsTask<Extender, ExtendOptions>;

}  // namespace wfacli

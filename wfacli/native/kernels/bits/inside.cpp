#include "kernels/bits/inside.hpp"

#include <algorithm>

namespace wfacli {
namespace {

std::int32_t net(const std::uint64_t* deltas) {
  return __builtin_popcountll(deltas[0]) - __builtin_popcountll(deltas[1]);
}

// Returns a lower bound of the costs of a word's cells, given the costs of the cells before and after it.
std::int64_t min_between(std::int64_t before, std::int64_t behind) {
  return std::max<std::int64_t>((before + behind - 64) / 2, 0);
}

template <class T>
void copy(const Buffer<T>& from, Buffer<T>& to) {
  to.clear();
  to.append(from.data(), from.size());
}

}  // namespace

InsidePart::InsidePart(std::int32_t query_len, std::int32_t target_len, std::int32_t begin, std::int32_t end_,
                       std::int64_t max_edits) {
  const std::int64_t n = query_len, m = target_len, b = std::min(begin, target_len), e = std::min(end_, target_len);
  // A path begins after at most b symbols, ends before at least e symbols, and spans at most n + most.
  first = static_cast<std::int32_t>(std::clamp<std::int64_t>(m - e - n - max_edits, 0, b));
  end = static_cast<std::int32_t>(std::clamp<std::int64_t>(b + n + max_edits, m - e, m));
  free_begin = static_cast<std::int32_t>(b) - first;
  free_end = static_cast<std::int32_t>(e - (m - end));
}

std::int64_t max_inside_cost(std::int32_t query_len, std::int32_t target_len, std::int32_t begin, std::int32_t end) {
  return query_len + std::max<std::int64_t>(0, std::int64_t{target_len} - begin - end);
}

InsideSearch::InsideSearch(const KernelTask& task, const SlabKernel& kernel, InsideMemory& memory)
    : t_(task), kernel_(kernel), m_(memory), n_(task.query_len), count_((task.target_len + 63) / 64),
      first_(task.target_len - std::min(task.free.target_begin, task.target_len)) {
  const EditPair pair = {task.query, task.target, n_, task.target_len, 1};
  kernel_.pack(pair, m_.planes, false);
}

KernelAnswer InsideSearch::run() {
  begin();
  down(std::min(kernel_.rows, n_));
  std::int64_t bound = t_.max_score;
  if (row_ < n_) {
    copy(m_.row, m_.first_row);
    copy(m_.cost, m_.first_cost);
    bound = std::min(bound, guess());
    // If that prunes too little, the cost of a path is a better bound and worth computing.
    if (crowded(bound)) bound = std::min(bound, near_best());
  }
  for (;; restart()) {
    descend([&] { return bound; });
    if (stopped()) return {Status::Dropped};
    const KernelAnswer found = best_answer();
    if (found.status == Status::Ok && found.score <= bound) return found;
    if (bound >= t_.max_score) return {Status::ScoreLimit};
    // The cost of a path bounds the optimum, unless the optimal path was pruned early and this one is bad.
    const bool good = found.status == Status::Ok && found.score <= 2 * bound;
    bound = std::min<std::int64_t>(good ? found.score : 2 * bound + 64, t_.max_score);
  }
}

InsideSearch::Skips InsideSearch::within(std::int64_t edits) {
  if (n_ > kernel_.rows) {
    restart();
    descend([&] { return edits; });
  }
  std::int64_t first = t_.target_len, last = first_;
  for (std::size_t x = 0; x < m_.words.size(); ++x)
    for (std::int64_t w = m_.words[x].first; w < m_.words[x].end; ++w) {
      const std::int32_t* cost = m_.cost.data() + w;
      if (min_between(cost[0], cost[1]) > edits) continue;
      first = std::min(first, 64 * w);
      last = std::max(last, 64 * (w + 1));
    }
  first = std::max(first, first_);
  last = std::min<std::int64_t>(last, t_.target_len);
  return {static_cast<std::int32_t>(t_.target_len - last), static_cast<std::int32_t>(t_.target_len - first)};
}

// Computes all remaining rows. `bound` returns the maximum cost of the paths to look for.
template <class Bound>
void InsideSearch::descend(const Bound& bound) {
  while (row_ < n_ && !m_.words.empty() && !stopped()) {
    const std::int64_t rows = std::min(kernel_.rows, n_ - row_);
    narrow(rows, bound());
    down(rows);
  }
}

// Returns to the first slab, which is the same for all bounds.
void InsideSearch::restart() {
  row_ = kernel_.rows;
  copy(m_.first_row, m_.row);
  copy(m_.first_cost, m_.cost);
  m_.words.clear();
  m_.words.push({0, count_});
}

// Returns the cost of a path that stays within kNear of the minimum of each row. It is only a guess, since parts of
// the row may meet here.
std::int64_t InsideSearch::near_best() {
  constexpr std::int64_t kNear = 48;
  descend([&] { return lowest() + kNear; });
  const KernelAnswer found = best_answer();
  restart();
  return found.status == Status::Ok ? std::max<std::int64_t>(found.score, 0) : t_.max_score;
}

// Sets row 0 over all columns.
void InsideSearch::begin() {
  row_ = 0;
  m_.row.resize(static_cast<std::size_t>(count_ + 1) * 2);
  m_.cost.resize(static_cast<std::size_t>(count_ + 1));
  const std::int64_t free = std::min(t_.free.target_end, t_.target_len);
  for (std::int64_t w = 0; w <= count_; ++w) {
    const std::int64_t flat = free - 64 * w;  // free columns from this word on
    std::uint64_t* deltas = m_.row.data() + 2 * w;
    deltas[0] = flat <= 0 ? ~std::uint64_t{0} : flat >= 64 ? 0 : ~std::uint64_t{0} >> flat;
    deltas[1] = 0;
    m_.cost[static_cast<std::size_t>(w)] = static_cast<std::int32_t>(flat < 0 ? -flat : 0);
  }
  m_.words.clear();
  m_.words.push({0, count_});
}

// Computes the next `rows` rows.
void InsideSearch::down(std::int64_t rows) {
  for (std::size_t x = 0; x < m_.words.size(); ++x) {
    const Words words = m_.words[x];
    const SlabTask task = {.query = m_.planes.rows.data() + row_ / 64 * m_.planes.planes,
                           .target = m_.planes.columns.data() + m_.planes.planes,
                           .row = m_.row.data(), .first = words.first, .falling = 0, .planes = m_.planes.planes,
                           .last = static_cast<std::int32_t>(rows)};
    SlabState state;
    kernel_.begin(task, state);
    kernel_.advance(task, state, words.first, words.end, true);
    std::int32_t* cost = m_.cost.data() + words.first;
    *cost += static_cast<std::int32_t>(rows);  // left of the slab, each row costs one edit more than the row above
    for (std::int64_t w = words.first; w < words.end; ++w, ++cost) cost[1] = cost[0] + net(m_.row.data() + 2 * w);
  }
  row_ += rows;
}

// Drops words that paths of at most `bound` edits cannot cross in the next `rows` rows. Such a path has a cell in the
// last computed row, costs no more than the bound there, and can still reach a column where paths may begin.
//
// Costs beside a part of the row are too high. So two parts stay separate only if enough words lie between them that
// no path from one part meets the other in any of the remaining rows.
void InsideSearch::narrow(std::int64_t rows, std::int64_t bound) {
  const std::int64_t left = n_ - row_, max_words = (left + bound) / 64 + 8;
  m_.next.clear();
  for (std::size_t x = 0; x < m_.words.size(); ++x) {
    const Words words = m_.words[x];
    Words part = {-1, -1};
    for (std::int64_t w = words.first; w < words.end; ++w) {
      const std::int32_t* cost = m_.cost.data() + w;
      const std::int64_t rest = bound - min_between(cost[0], cost[1]);
      if (rest < 0 || 64 * (w + 1) + left + rest < first_) continue;
      if (part.first >= 0 && w > part.end + max_words) {
        m_.next.push(part);
        part.first = -1;
      }
      if (part.first < 0) part = {w, w};
      part.end = std::max(part.end, std::min(count_, w + 2 + (rows + rest) / 64));
    }
    if (part.first < 0) continue;
    m_.next.push(part);
    fill(words.end, part.end);
  }
  std::swap(m_.words, m_.next);
}

// Extends the row beyond the computed cells: each cell costs one edit more than the one before.
void InsideSearch::fill(std::int64_t from, std::int64_t to) {
  for (std::int64_t w = from; w < to; ++w) {
    m_.row[static_cast<std::size_t>(2 * w)] = ~std::uint64_t{0};
    m_.row[static_cast<std::size_t>(2 * w + 1)] = 0;
    m_.cost[static_cast<std::size_t>(w + 1)] = m_.cost[static_cast<std::size_t>(w)] + 64;
  }
}

// Returns the minimum cost of the last computed row, over cells at word boundaries.
std::int64_t InsideSearch::lowest() const {
  std::int64_t best = INT64_MAX;
  for (std::size_t x = 0; x < m_.words.size(); ++x)
    for (std::int64_t w = m_.words[x].first; w <= m_.words[x].end; ++w)
      best = std::min<std::int64_t>(best, m_.cost[static_cast<std::size_t>(w)]);
  return best;
}

// Returns a guess of the cost: the larger of the estimate and an extrapolation of the first rows, plus a margin.
std::int64_t InsideSearch::guess() const {
  const std::int64_t likely = std::max<std::int64_t>(lowest() * n_ / row_, t_.estimate);
  return likely + likely / 4 + 32;
}

// Returns true if paths within a bound can cross more than a quarter of the row.
bool InsideSearch::crowded(std::int64_t bound) const {
  std::int64_t words = 0;
  for (std::size_t w = 0; w < static_cast<std::size_t>(count_); ++w)
    words += min_between(m_.cost[w], m_.cost[w + 1]) <= bound;
  return 4 * words > count_;
}

// Returns the minimum of the last row, in a column where a path may begin; of equal columns the last.
KernelAnswer InsideSearch::best_answer() const {
  std::int64_t best = INT64_MAX, at = 0;
  const auto look = [&](std::int64_t column, std::int64_t cost) {
    if (column < first_ || column > t_.target_len || cost > best) return;
    best = cost;
    at = column;
  };
  if (row_ < n_) return {Status::ScoreLimit};
  for (std::size_t x = 0; x < m_.words.size(); ++x) {
    const Words words = m_.words[x];
    look(64 * words.first, m_.cost[static_cast<std::size_t>(words.first)]);
    for (std::int64_t w = words.first; w < words.end; ++w) {
      std::int64_t cost = m_.cost[static_cast<std::size_t>(w)];
      if (min_between(cost, m_.cost[static_cast<std::size_t>(w + 1)]) > best) continue;
      const std::uint64_t *deltas = m_.row.data() + 2 * w, plus = deltas[0], minus = deltas[1];
      for (int c = 1; c <= 64; ++c) {
        cost += static_cast<std::int64_t>(plus >> (64 - c) & 1) - static_cast<std::int64_t>(minus >> (64 - c) & 1);
        look(64 * w + c, cost);
      }
    }
  }
  if (best > t_.max_score) return {Status::ScoreLimit};
  KernelAnswer answer;
  answer.score = static_cast<std::int32_t>(best);
  answer.target_skip = t_.target_len - static_cast<std::int32_t>(at);
  return answer;
}

}  // namespace wfacli

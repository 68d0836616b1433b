#include "solvers/edit/edit_wavefront.hpp"

#include <algorithm>
#include <stdexcept>

namespace wfacli {

namespace {

// Points of a round: the minimum for two threads, and the maximum between two checks of the time.
constexpr std::int64_t kWorthTwoThreads = 60'000, kMaxRoundPoints = 20'000'000;

}  // namespace

template <class Offset>
EditWavefront<Offset>::EditWavefront(const EditPair& pair, std::int64_t max_edits, int threads,
                                     const EditKernels& kernels)
    : EditSolver(pair, max_edits),
      reach_{pair.query_len, pair.target_len, max_edits_},
      threads_(threads),
      kernel_([&] {
        if constexpr (sizeof(Offset) == 4)
          return kernels.narrow;
        else
          return kernels.wide;
      }()) {
  lower_bound_ = std::min(pair.min_distance(), max_edits_ + 1);
  if (pair.min_distance() > max_edits_)
    end(-1);
  else if (pair.query_len == 0 || pair.target_len == 0)
    end(pair.max_distance());
  if (ended_) return;
  for (Front* front : {&ahead_, &behind_}) {
    reserve(*front, 0);
    kernel_.begin(task(*front));
  }
  cells_ = 2;
  if (meet()) end(0);
}

template <class Offset>
FrontTask<Offset> EditWavefront<Offset>::task(Front& front) const {
  return {pair_, reach_, front.from_end, {front.row(), front.memory[1].data() + front.zero}};
}

// Make room for rows up to `score`.
template <class Offset>
void EditWavefront<Offset>::reserve(Front& front, std::int64_t score) {
  const std::int64_t left = std::min(score, pair_.query_len), right = std::min(score, pair_.target_len);
  const auto room = [&](std::int64_t zero) { return static_cast<std::size_t>(zero + right + kFrontMargin + 1); };
  if (front.zero >= left + kFrontMargin && front.memory[0].size() >= room(front.zero)) return;
  const std::int64_t zero = std::min(left + left / 2, pair_.query_len) + kFrontMargin;
  const std::int64_t last = std::min(right + right / 2, pair_.target_len) + kFrontMargin;
  for (Buffer<Offset>& row : front.memory) {
    Buffer<Offset> grown;
    grown.resize(static_cast<std::size_t>(zero + last + 1));
    std::fill_n(grown.data(), grown.size(), kUnreached<Offset>);
    if (row.size()) std::copy_n(row.data(), row.size(), grown.data() + zero - front.zero);
    row = std::move(grown);
  }
  front.zero = zero;
}

// Reset the front to row `score` with the given values; remove all points of later rows.
template <class Offset>
void EditWavefront<Offset>::put(Front& front, std::int64_t score, const Offset* values) {
  reserve(front, score);
  for (Buffer<Offset>& row : front.memory) std::fill_n(row.data(), row.size(), kUnreached<Offset>);
  const std::int64_t first = reach_.first(score);
  std::copy_n(values, reach_.last(score) - first + 1, front.row() + first);
  front.score = score;
}

template <class Offset>
Buffer<Offset> EditWavefront<Offset>::values(const Front& front) const {
  Buffer<Offset> all;
  const std::int64_t first = reach_.first(front.score), last = reach_.last(front.score);
  if (!front.memory[0].empty()) all.append(front.row() + first, static_cast<std::size_t>(last - first + 1));
  return all;
}

template <class Offset>
void EditWavefront<Offset>::go(Front& front, std::int64_t rows) {
  if (kernel_.advance(task(front), front.score, rows)) std::swap(front.memory[0], front.memory[1]);
  front.score += rows;
}

template <class Offset>
bool EditWavefront<Offset>::meet() const {
  const std::int64_t s = ahead_.score, r = behind_.score, last_diagonal = pair_.last_diagonal();
  return kernel_.meet(pair_, ahead_.row(), behind_.row(), std::max(reach_.first(s), last_diagonal - reach_.last(r)),
                      std::min(reach_.last(s), last_diagonal - reach_.first(r)));
}

// Rows beyond the meeting are wasted, and the rows of its round are computed again, so a round is a small part (1/48)
// of the rows so far.
template <class Offset>
std::int64_t EditWavefront<Offset>::rows_per_round() const {
  const std::int64_t s = behind_.score, row = reach_.last(s) - reach_.first(s) + 1;
  return std::max<std::int64_t>(1, std::min(s / 48, kMaxRoundPoints / row));
}

template <class Offset>
void EditWavefront<Offset>::round(EditHelper& helper) {
  const std::int64_t s = ahead_.score, r = behind_.score, left = max_edits_ - s - r;
  const std::int64_t rows = rows_per_round();
  const std::int64_t ahead = std::min(rows, (left + 1) / 2), behind = std::min(rows, left - ahead);
  for (Front* front : {&ahead_, &behind_}) {
    front->saved = values(*front);
    reserve(*front, front->score + rows);
  }
  const std::int64_t points = rows * static_cast<std::int64_t>(ahead_.saved.size() + behind_.saved.size());
  if (threads_ > 1 && points >= kWorthTwoThreads) {
    helper.both([&] { go(ahead_, ahead); }, [&] { go(behind_, behind); });
  } else {
    go(ahead_, ahead);
    go(behind_, behind);
  }
  cells_ += points;
  if (meet())
    find_first_overlap(s, r);
  else if (raise_lower_bound(s + ahead + r + behind + 1); lower_bound_ > max_edits_)
    end(-1);
}

// Find the minimum sum of scores at which the fronts overlap; at scores `ahead` and `behind` they did not.
template <class Offset>
void EditWavefront<Offset>::find_first_overlap(std::int64_t ahead, std::int64_t behind) {
  put(behind_, behind, behind_.saved.data());
  Front* front = &ahead_;
  if (meet())
    put(ahead_, ahead, ahead_.saved.data());
  else front = &behind_;
  do {
    cells_ += reach_.last(front->score) - reach_.first(front->score) + 1;
    go(*front, 1);
  } while (!meet());
  raise_lower_bound(ahead_.score + behind_.score);
  end(lower_bound_);
}

template <class Offset>
bool EditWavefront<Offset>::advance(double seconds) {
  const Clock::time_point until = deadline(seconds);
  EditHelper helper;
  while (!ended_) {
    round(helper);
    if (Clock::now() >= until) break;
  }
  return ended_;
}

// Symbols of both sequences up to the furthest points of both fronts, as a share of all.
template <class Offset>
double EditWavefront<Offset>::share() const {
  if (ended_) return 1;
  double symbols = 0;
  for (const Front* front : {&ahead_, &behind_}) {
    std::int64_t max_symbols = 0;
    for (std::int64_t k = reach_.first(front->score); k <= reach_.last(front->score); ++k)
      max_symbols = std::max(max_symbols, 2 * std::int64_t{front->row()[k]} - k);
    symbols += static_cast<double>(max_symbols);
  }
  return std::min(1.0, symbols / static_cast<double>(pair_.query_len + pair_.target_len));
}

template <class Offset>
std::vector<SavedArray> EditWavefront<Offset>::save() const {
  std::vector<SavedArray> state;
  state.push_back({"numbers", numbers(kKind)});
  state[0].values.push(ahead_.score);
  state[0].values.push(behind_.score);
  for (const Front* front : {&ahead_, &behind_}) {
    Buffer<std::int64_t> row;
    if (!ended_) {
      const Buffer<Offset> values = this->values(*front);
      row.reserve(values.size());
      for (std::size_t k = 0; k < values.size(); ++k) row.push(values[k]);
    }
    state.push_back({front == &ahead_ ? "ahead" : "behind", std::move(row)});
  }
  return state;
}

template <class Offset>
void EditWavefront<Offset>::restore(const std::vector<SavedView>& state) {
  if (state[0].size != kNumbers + 2) throw std::invalid_argument("the state is damaged");
  const std::int64_t* scores = state[0].values + kNumbers;
  const bool ended = state[0].values[5] != 0;
  Buffer<Offset> rows[2];
  for (int f = 0; f < 2 && !ended; ++f) {
    const std::int64_t s = scores[f];
    if (s < 0 || s > max_edits_ || scores[0] + scores[1] > max_edits_ || pair_.min_distance() > max_edits_ ||
        pair_.query_len == 0 || pair_.target_len == 0)
      throw std::invalid_argument("the state is damaged");
    const std::int64_t first = reach_.first(s), count = reach_.last(s) - first + 1;
    if (static_cast<std::int64_t>(state[1 + f].size) != count) throw std::invalid_argument("the state is damaged");
    for (std::int64_t x = 0; x < count; ++x) {
      const std::int64_t j = state[1 + f].values[x], i = j - (first + x);
      if (j < 0 || j > pair_.target_len || i < 0 || i > pair_.query_len)
        throw std::invalid_argument("the state is damaged");
      rows[f].push(static_cast<Offset>(j));
    }
  }
  take_numbers(kKind, state[0]);
  if (ended) return;
  put(ahead_, scores[0], rows[0].data());
  put(behind_, scores[1], rows[1].data());
}

template class EditWavefront<std::int32_t>;
template class EditWavefront<std::int64_t>;

}  // namespace wfacli

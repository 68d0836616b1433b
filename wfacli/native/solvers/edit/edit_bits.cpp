#include "solvers/edit/edit_bits.hpp"

#include <algorithm>
#include <stdexcept>

namespace wfacli {

namespace {

constexpr std::int64_t kAny = INT64_MAX / 4;
constexpr std::int64_t kFirstSlack = 1024, kLost = 350;  // edits; edits per 1,000 rows of a pass that lost the path
// Units are words of columns. A thread reports its progress every kChunk words. A thread that has to wait for the
// other waits until that is up to kAhead words ahead, so that it does not wait again at once. Two threads are used
// from kWorthTwoThreads words per row.
constexpr std::int64_t kChunk = 8, kAhead = 128, kWorthTwoThreads = 96;

// The longer sequence becomes the rows, which are computed in slabs.
EditPair upright(const EditPair& pair) {
  if (pair.query_len >= pair.target_len) return pair;
  return {pair.target, pair.query, pair.target_len, pair.query_len, pair.symbol_bytes};
}

std::int64_t net(const std::uint64_t* deltas, std::uint64_t mask = ~std::uint64_t{0}) {
  return __builtin_popcountll(deltas[0] & mask) - __builtin_popcountll(deltas[1] & mask);
}

}  // namespace

EditBits::EditBits(const EditPair& pair, std::int64_t max_edits, int threads, const EditKernels& kernels)
    : EditSolver(upright(pair), max_edits), threads_(threads), kernel_(kernels.slab) {
  lower_bound_ = std::min(pair_.min_distance(), max_edits_ + 1);
  if (pair_.min_distance() > max_edits_)
    end(-1);
  else if (pair_.target_len == 0)
    end(pair_.max_distance());
  if (ended_) return;
  kernel_.pack(pair_, planes_, true);
  row_.resize(static_cast<std::size_t>((pair_.target_len + 63) / 64 + 1) * 2);
  std::fill_n(row_.data(), row_.size(), 0);
  pass_.upper = pair_.max_distance();
  begin_pass(kFirstSlack);
}

// The padding rows continue the diagonals of row 0 upwards: their cells cost column - row, whatever their symbols.
void EditBits::begin_pass(std::int64_t slack) {
  const std::int64_t n = pair_.query_len, last_diagonal = pair_.last_diagonal(), upper = pass_.upper;
  const std::int64_t bound = std::min(max_edits_, upper);
  if (slack >= bound / 2) slack = kAny;
  const std::int64_t cut = std::min(bound, pair_.min_distance() + slack);
  const std::int64_t row = -((n + kSlabRows - 1) / kSlabRows * kSlabRows - n);
  pass_ = {.bound = bound,
           .slack = slack,
           .proved = cut,
           .row = row,
           .lo = row - (cut - last_diagonal) / 2,
           .hi = row + (cut + last_diagonal) / 2,
           .first = 0,
           .filled = 0,
           .anchor = -row,
           .best = pair_.min_distance(),
           .steepest = 0,
           .upper = upper};
}

// Range of words of slab x from the current row. Cells of a diagonal that has stopped to matter never matter again.
std::int64_t EditBits::left_word(int x) const { return std::max<std::int64_t>(pass_.lo + x * kSlabRows - 1, 0) / 64; }
std::int64_t EditBits::right_word(int x) const {
  return (std::min(pair_.target_len, pass_.hi + (x + 1) * kSlabRows) - 1) / 64 + 1;
}

// Sum of the row's deltas over words from .. to - 1.
std::int64_t EditBits::below(std::int64_t from, std::int64_t to) const {
  std::int64_t sum = 0;
  for (; from < to; ++from) sum += net(row_.data() + 2 * from);
  return sum;
}

void EditBits::move_anchor(std::int64_t word) {
  pass_.anchor += below(pass_.first, word);
  pass_.first = word;
}

// Minimum edits from a cell of the row to the end, by its diagonal.
std::int64_t EditBits::rest(std::int64_t column) const {
  const std::int64_t off = pair_.last_diagonal() - (column - pass_.row);
  return off < 0 ? -off : off;
}

// Compute slab x from the current row. `above`: words completed by the slab above, which this one waits for; null: all
// are there. `done`: receives the number of completed words of this slab's last row, if not null.
void EditBits::slab(int x, std::atomic<std::int64_t>* done, const std::atomic<std::int64_t>* above) {
  const std::int64_t first = left_word(x), end = right_word(x), given = x ? right_word(x - 1) : 0;
  const std::int64_t top = pass_.row + x * kSlabRows, ahead = std::min((end - first) / 16, kAhead);
  std::int64_t ready = 0;
  const std::int64_t padded = static_cast<std::int64_t>(planes_.rows.size()) / planes_.planes * 64;
  const std::int64_t block = (top + padded - pair_.query_len) / 64;
  for (std::int64_t down = 0; down < kSlabRows; down += kernel_.rows) {
    const SlabTask task = {.query = planes_.rows.data() + (block + down / 64) * planes_.planes,
                           .target = planes_.columns.data() + planes_.planes, .row = row_.data(), .first = first,
                           .falling = -(top + down), .planes = planes_.planes};
    const bool last = down + kernel_.rows == kSlabRows;
    SlabState state;
    kernel_.begin(task, state);
    for (std::int64_t from = first; from < end;) {
      const std::int64_t to = std::min(end, from + kChunk);
      if (above && down == 0 && ready < std::min(to, given)) {
        const std::int64_t needed = std::min(to + ahead, given);
        ready = wait_until(*above, [=](std::int64_t words) { return words >= needed; });
      }
      kernel_.advance(task, state, from, to, to == end);
      from = to;
      if (done && last) {
        done->store(to == end ? end : to - 1, std::memory_order_release);
        done->notify_one();
      }
    }
  }
}

void EditBits::step(EditHelper& helper) {
  const std::int64_t width = right_word(0) - left_word(0);
  const bool two = threads_ > 1 && width >= kWorthTwoThreads && pass_.row + 2 * kSlabRows <= pair_.query_len &&
                   pass_.lo + kSlabRows <= pair_.target_len;
  const int count = two ? 2 : 1;
  const std::int64_t end = right_word(count - 1);
  for (std::int64_t w = pass_.filled; w < end; ++w) {
    row_[2 * static_cast<std::size_t>(w)] = ~std::uint64_t{0};
    row_[2 * static_cast<std::size_t>(w) + 1] = 0;
  }
  move_anchor(left_word(0));
  std::atomic<std::int64_t> done{0};
  if (two) helper.both([&] { slab(0, &done, nullptr); }, [&] { slab(1, nullptr, &done); });
  else slab(0, nullptr, nullptr);
  for (int x = 0; x < count; ++x) {
    const std::int64_t first = left_word(x);
    if (x) move_anchor(first);
    const std::int64_t top = pass_.row + x * kSlabRows, falling = std::clamp<std::int64_t>(-top, 0, kSlabRows);
    pass_.anchor += kSlabRows - 2 * falling;
    cells_ += (right_word(x) - first) * 64 * kSlabRows;
  }
  pass_.filled = end;
  pass_.row += count * kSlabRows;
  if (pass_.row < pair_.query_len) return narrow(count * kSlabRows);
  const std::int64_t last = pair_.target_len / 64, bits = pair_.target_len & 63;
  const std::uint64_t mask = bits ? ~std::uint64_t{0} << (64 - bits) : 0;
  conclude(pass_.anchor + below(pass_.first, last) + (bits ? net(row_.data() + 2 * last, mask) : 0));
}

// Narrow the columns to those that can matter in the next rows. `rows`: number of rows computed since the last call.
void EditBits::narrow(std::int64_t rows) {
  std::int64_t cost = pass_.anchor, best = kAny;
  for (std::int64_t w = pass_.first; w < pass_.filled; ++w) {
    best = std::min(best, cost + rest(64 * w));
    cost += net(row_.data() + 2 * w);
  }
  const std::int64_t cut = std::min(pass_.bound, best + pass_.slack);
  pass_.steepest = std::max(pass_.steepest, (best - pass_.best) * 1000 / rows);
  pass_.best = best;
  pass_.proved = std::min(pass_.proved, cut);
  // Columns of a word are at most 64 away from its left border, and each step changes cost + rest by at most 2.
  raise_lower_bound(std::min(best - 128, pass_.proved + 1));
  if (narrow_left(cut)) narrow_right(cut, cost);
  else nothing_left();
}

// Return the first or the last column of a word that a path within `cut` may visit, or 0 if there is none. `cost` is the
// cost of the cell left of the word.
std::int64_t EditBits::column_within(std::int64_t word, std::int64_t cost, std::int64_t cut, bool last) const {
  const std::uint64_t* deltas = row_.data() + 2 * word;
  std::int64_t found = 0;
  const std::int64_t end = std::min(pair_.target_len, 64 * word + 64);
  for (std::int64_t j = 64 * word + 1; j <= end; ++j) {
    const int bit = static_cast<int>(63 - (j - 1) % 64);
    cost += static_cast<std::int64_t>(deltas[0] >> bit & 1) - static_cast<std::int64_t>(deltas[1] >> bit & 1);
    if (cost + rest(j) > cut) continue;
    found = j;
    if (!last) break;
  }
  return found;
}

bool EditBits::narrow_left(std::int64_t cut) {
  if (pass_.first == 0 && pass_.anchor + rest(0) <= cut) {  // paths may still begin further down
    pass_.lo = pass_.row - (cut - pair_.last_diagonal()) / 2;
    return true;
  }
  std::int64_t cost = pass_.anchor;
  for (std::int64_t w = pass_.first; w < pass_.filled; ++w) {
    if (cost + rest(64 * w) - 128 <= cut) {
      const std::int64_t j = column_within(w, cost, cut, false);
      if (j) {
        pass_.lo = j;
        return true;
      }
    }
    cost += net(row_.data() + 2 * w);
  }
  return false;
}

// `cost`: cost of the last column.
void EditBits::narrow_right(std::int64_t cut, std::int64_t cost) {
  pass_.hi = 0;
  for (std::int64_t w = pass_.filled - 1; w >= pass_.first; --w) {
    cost -= net(row_.data() + 2 * w);
    if (cost + rest(64 * w) - 128 > cut) continue;
    const std::int64_t j = column_within(w, cost, cut, true);
    if (!j) continue;
    pass_.hi = j;
    return;
  }
}

// End with a path of `found` edits if it is proved to be a best one, else begin the next pass.
void EditBits::conclude(std::int64_t found) {
  if (found <= pass_.proved) {
    raise_lower_bound(found);
    return end(found);
  }
  raise_lower_bound(std::min(found, pass_.proved + 1));
  next_pass(found);
}

void EditBits::nothing_left() {
  raise_lower_bound(pass_.proved + 1);
  next_pass(kAny);
}

// Widen the slack as long as that finds much better paths, because such a pass is cheap compared to the proof. If
// `best` never rose by more than kLost edits per 1,000 rows, the path was never lost, and no path is much better.
void EditBits::next_pass(std::int64_t found) {
  if (lower_bound_ > max_edits_) return end(-1);
  const std::int64_t before = pass_.upper, slack = pass_.slack;
  const bool better = found < before - before / 32;
  pass_.upper = std::min(before, found);
  begin_pass(better && pass_.steepest > kLost ? 4 * slack : kAny);
}

bool EditBits::advance(double seconds) {
  const Clock::time_point until = deadline(seconds);
  EditHelper helper;
  while (!ended_) {
    step(helper);
    if (Clock::now() >= until) break;
  }
  return ended_;
}

// Besides the rest of this pass, count a proving pass, unless this is one. A proving pass narrows to nothing as its
// rows cost edits.
double EditBits::share() const {
  if (ended_) return 1;
  const double n = static_cast<double>(pair_.query_len);
  const double done = static_cast<double>(std::max<std::int64_t>(pass_.row, 1));
  const double width = static_cast<double>(std::min(pair_.target_len, pass_.hi - pass_.lo) + kSlabRows);
  double left = (n - done) * width;
  if (pass_.slack == kAny) {
    left /= 2;
  } else {
    const double edits =
        std::min(static_cast<double>(pass_.best) * n / done, static_cast<double>(pair_.max_distance()));
    left += n * edits / 2;
  }
  const double cells = static_cast<double>(cells_);
  return cells > 0 ? cells / (cells + left) : 0;
}

std::vector<SavedArray> EditBits::save() const {
  std::vector<SavedArray> state;
  state.push_back({"numbers", numbers(kKind)});
  state.push_back({"pass", {}});
  state.push_back({"row", {}});
  if (ended_) return state;
  std::int64_t pass[kPassNumbers];
  std::memcpy(pass, &pass_, sizeof pass_);
  state[1].values.append(pass, kPassNumbers);
  const auto* deltas = reinterpret_cast<const std::int64_t*>(row_.data());
  state[2].values.append(deltas + 2 * pass_.first, static_cast<std::size_t>(2 * (pass_.filled - pass_.first)));
  return state;
}

void EditBits::restore(const std::vector<SavedView>& state) {
  const auto check = [](bool good) {
    if (!good) throw std::invalid_argument("the state is damaged");
  };
  check(state[0].size == kNumbers);
  const bool ended = state[0].values[5] != 0;
  Pass pass = pass_;
  if (!ended) {
    const std::int64_t n = pair_.query_len, m = pair_.target_len, words = (m + 63) / 64;
    check(row_.size() && state[1].size == kPassNumbers);
    std::memcpy(&pass, state[1].values, sizeof pass);
    const std::int64_t padding = (n + kSlabRows - 1) / kSlabRows * kSlabRows - n;
    const auto between = [](std::int64_t value, std::int64_t lower, std::int64_t upper) {
      return lower <= value && value <= upper;
    };
    check(between(pass.row, -padding, n - kSlabRows) && (pass.row + padding) % kSlabRows == 0);
    check(between(pass.upper, pair_.min_distance(), n) && pass.bound == std::min(max_edits_, pass.upper));
    check((pass.slack == kAny || between(pass.slack, kFirstSlack, n)) && between(pass.proved, 0, pass.bound));
    check(between(pass.lo, -n - kSlabRows, m) && between(pass.hi, std::max(-padding, pass.lo), n + m));
    check(between(pass.filled, 0, words) && between(pass.first, 0, pass.filled) && between(pass.best, 0, n + m));
    check(between(pass.steepest, 0, 2 * 1000 * (n + m)));
    check(between(pass.anchor, 0, n + m + kSlabRows));
    check(static_cast<std::int64_t>(state[2].size) == 2 * (pass.filled - pass.first));
  }
  take_numbers(kKind, state[0]);
  if (ended) return;
  pass_ = pass;
  if (state[2].size) std::memcpy(row_.data() + 2 * pass.first, state[2].values, state[2].size * sizeof(std::int64_t));
}

}  // namespace wfacli

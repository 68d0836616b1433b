#include "solvers/local/local_solver.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace wfacli {

namespace {

// Pack two 32-bit scores into one 64-bit number, as in saved states.
std::int64_t packed(std::int32_t h, std::int32_t f) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(h)) << 32 |
                                   static_cast<std::uint32_t>(f));
}

void pack(const LocalRow& row, std::int64_t* to) {
  for (std::size_t c = 0; c < row.h.size(); ++c) to[c] = packed(row.h[c], row.f[c]);
}

LocalRow unpacked(const std::int64_t* from, std::int64_t columns) {
  LocalRow row;
  row.h.resize(static_cast<std::size_t>(columns));
  row.f.resize(static_cast<std::size_t>(columns));
  for (std::size_t c = 0; c < row.h.size(); ++c) {
    row.h[c] = static_cast<std::int32_t>(from[c] >> 32);
    row.f[c] = static_cast<std::int32_t>(from[c]);
  }
  return row;
}

LocalRow zeros(std::int64_t columns) {
  LocalRow row;
  for (Buffer<std::int32_t>* part : {&row.h, &row.f}) {
    part->resize(static_cast<std::size_t>(columns));
    std::fill_n(part->data(), columns, 0);
  }
  return row;
}

}  // namespace

LocalSolver::LocalSolver(const std::uint8_t* query, std::int64_t query_len, const std::uint8_t* target,
                         std::int64_t target_len, const LocalScheme& scheme, const std::uint8_t* same,
                         const std::vector<LocalRun>& excluded_runs, const LocalOptions& options,
                         const LocalKernels& kernels)
    : pair_(query, query_len, target, target_len, scheme, kernels),
      options_(options),
      same_(same, same + scheme.num_codes) {
  if (options_.threads < 1 || options_.steps < kLocalBlock || options_.steps > kTileSteps ||
      options_.steps % kLocalBlock)
    throw std::invalid_argument("threads or steps are out of range");
  pair_.exclude(excluded_runs);
  LocalSweepOptions sweep;
  sweep.threads = options_.threads;
  sweep.steps = options_.steps;
  sweep.prune = options_.prune;
  if (options_.path && target_len) {
    const std::int64_t strips = (query_len + pair_.kernel().rows - 1) / pair_.kernel().rows;
    const std::int64_t together = kLocalStateRows / pair_.kernel().rows;
    const std::int64_t strips_apart = strips_per_checkpoint(strips, target_len, options_.memory);
    strips_per_checkpoint_ = sweep.strips_per_checkpoint = (strips_apart + together - 1) / together * together;
  }
  const LocalRegion all{0, target_len ? query_len : 0, 0, target_len};
  sweep_ = std::make_unique<LocalSweep>(pair_, all, zeros(target_len), sweep);
}

bool LocalSolver::advance(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  const auto rest = [&] { return seconds - std::chrono::duration<double>(Clock::now() - begun).count(); };
  while (!ended_) {
    if (!scored()) {
      sweep_->advance(std::max(rest(), 0.0));
      if (scored()) break;  // so that the caller can report the score
    } else if (!options_.path || sweep_->best().score <= 0) {
      ended_ = true;
    } else {
      if (!path_) {
        const LocalPath::Options path{options_.threads, options_.memory / 2, options_.trace, options_.steps};
        const LocalBest& best = sweep_->best();
        path_.emplace(pair_, LocalEntry{best.row, best.column, best.score, false, false}, same_.data(), path);
      }
      step_of_path();
      ended_ = path_->ended();
    }
    if (rest() <= 0) break;
  }
  return ended_;
}

// Trace back through the rows between two kept rows.
void LocalSolver::step_of_path() {
  const std::int64_t every = sweep_->checkpoint_distance(), checkpoint = path_->row() / every;
  const LocalRow none;
  path_->trace(checkpoint * every,
               checkpoint ? sweep_->checkpoints()[static_cast<std::size_t>(checkpoint - 1)] : none);
}

double LocalSolver::share() const {
  if (ended_) return 1;
  if (!scored()) return static_cast<double>(sweep_->next()) / static_cast<double>(sweep_->strips());
  if (!path_) return 0;
  return 1 - static_cast<double>(path_->row() + 1) / static_cast<double>(sweep_->best().row + 1);
}

std::vector<std::int64_t> LocalSolver::span() const {
  const LocalBest& best = sweep_->best();
  if (best.score <= 0) return {0, 0, 0, 0};
  const std::int64_t query = pair_.rows() - 1 - best.row, target = pair_.columns() - 1 - best.column;
  if (!path_) return {query, -1, target, -1};
  return {query, pair_.rows() - 1 - path_->row(), target, pair_.columns() - 1 - path_->column()};
}

std::vector<std::int64_t> LocalSolver::numbers() const {
  const LocalBest& best = sweep_->best();
  const std::int64_t rows = pair_.kernel().rows;
  return {pair_.rows(),
          pair_.columns(),
          strips_per_checkpoint_ * rows,
          std::min(sweep_->next() * rows, pair_.rows()),
          sweep_->cells(),
          best.score,
          best.row,
          best.column};
}

std::vector<SavedArray> LocalSolver::save() const {
  std::vector<SavedArray> arrays;
  for (const char* name : this->arrays()) arrays.push_back({name, {}});
  for (std::int64_t number : numbers()) arrays[0].values.push(number);
  const std::size_t columns = static_cast<std::size_t>(pair_.columns());
  pack(sweep_->row(), arrays[1].values.extend(columns));
  if (strips_per_checkpoint_)
    for (std::int64_t x = 0; x < sweep_->next() / strips_per_checkpoint_; ++x)
      pack(sweep_->checkpoints()[static_cast<std::size_t>(x)], arrays[2].values.extend(columns));
  return arrays;
}

void LocalSolver::restore(const std::vector<SavedView>& state) {
  const std::vector<std::int64_t> own = numbers();
  const std::int64_t* is = state[0].values;
  if (state[0].size != own.size() || !std::equal(is, is + 2, own.begin()))
    throw std::invalid_argument("the state is of other sequences");
  if (is[2] != own[2]) throw std::invalid_argument("the state is of a run with other memory");
  const std::int64_t columns = pair_.columns(), of_strip = pair_.kernel().rows;
  const std::int64_t next = is[3] == pair_.rows() ? sweep_->strips() : is[3] / of_strip;
  const std::int64_t checkpoint = strips_per_checkpoint_ ? next / strips_per_checkpoint_ : 0;
  if (is[3] < 0 || is[3] > pair_.rows() || (is[3] < pair_.rows() && is[3] % of_strip) || is[4] < 0 || is[5] < 0 ||
      is[5] > INT32_MAX || is[6] < -1 || is[6] >= pair_.rows() || is[7] < -1 || is[7] >= columns ||
      (is[5] > 0) != (is[6] >= 0 && is[7] >= 0) || state[1].size != static_cast<std::size_t>(columns) ||
      state[2].size != static_cast<std::size_t>(columns * checkpoint))
    throw std::invalid_argument("the state is damaged");
  std::vector<LocalRow> rows;
  for (std::int64_t x = 0; x < checkpoint; ++x) rows.push_back(unpacked(state[2].values + x * columns, columns));
  sweep_->restore(next, is[4], {static_cast<std::int32_t>(is[5]), is[6], is[7]}, unpacked(state[1].values, columns),
                  std::move(rows));
  path_.reset();
  ended_ = false;
}

}  // namespace wfacli

#include "solvers/edit/edit_solver.hpp"

#include <stdexcept>

namespace wfacli {

namespace {

// Hash of a sequence, which tells states of other sequences of the same length apart.
std::uint64_t digest(std::uint64_t hash, const void* symbols, std::int64_t bytes) {
  const auto* at = static_cast<const unsigned char*>(symbols);
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  };
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    add(word);
  }
  std::uint64_t rest = 0;
  if (bytes) std::memcpy(&rest, at, static_cast<std::size_t>(bytes));
  add(rest);
  return hash;
}

}  // namespace

std::int64_t EditSolver::fingerprint() const {
  const std::uint64_t hash = digest(1, pair_.query, pair_.query_len * pair_.symbol_bytes);
  return static_cast<std::int64_t>(digest(hash, pair_.target, pair_.target_len * pair_.symbol_bytes));
}

Buffer<std::int64_t> EditSolver::numbers(std::int64_t kind) const {
  Buffer<std::int64_t> all;
  for (std::int64_t number : {kind, pair_.query_len, pair_.target_len, fingerprint(), max_edits_, std::int64_t{ended_},
                              distance_, lower_bound_, cells_})
    all.push(number);
  return all;
}

void EditSolver::take_numbers(std::int64_t kind, const SavedView& numbers) {
  const std::int64_t* is = numbers.values;
  if (is[0] != kind) throw std::invalid_argument("the state is of another algorithm");
  if (is[1] != pair_.query_len || is[2] != pair_.target_len || is[3] != fingerprint())
    throw std::invalid_argument("the state is of other sequences");
  if (is[4] != max_edits_) throw std::invalid_argument("the state is of another greatest distance");
  if ((is[5] != 0 && is[5] != 1) || is[6] < -1 || is[6] > max_edits_ || (!is[5] && is[6] != -1) || is[7] < 0 ||
      is[7] > max_edits_ + 1 || is[8] < 0)
    throw std::invalid_argument("the state is damaged");
  ended_ = is[5] != 0;
  distance_ = is[6];
  lower_bound_ = is[7];
  cells_ = is[8];
}

}  // namespace wfacli

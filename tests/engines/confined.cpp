// Diagonals of all cheapest paths of pairs, along given paths (kernels/confined/confinement.hpp): reads lines
// "ambiguous mismatch open extend open extend query target CIGAR", where a negative second opening means one piece, and prints two
// lines for each: twice what all blocks cost at least, with the slope that says most, and the first and the last diagonal of
// each 128 anti-diagonals; and the indels of the blocks of 32 rows, one behind the other, without the matches of the path.
// Compiled and run by test_confined.py.
#include "kernels/confined/confinement.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>

using namespace wfacli;
using namespace wfacli::WFACLI_ISA;

// Matches of the path, and the target's other symbols, in order.
static void count(const KernelTask& task, const Buffer<ExactRun>& runs) {
  constexpr std::int32_t kBlock = BlockIndels::kBlock, kRows = kBlock * BlockIndels::kBlocks;
  BlockIndels indels;
  for (std::int32_t first = 0; first + kBlock <= task.query_len; first += kRows) {
    indels.set(task, first, kBlock);
    std::size_t r = 0;
    for (std::int32_t j = 0; j < task.target_len; ++j) {
      while (r < runs.size() && runs[r].j + runs[r].length <= j) ++r;
      const std::int32_t row = r < runs.size() && runs[r].j <= j ? runs[r].i + j - runs[r].j - first : -1;
      if (row >= 0 && row < kRows) {
        indels.choose_block(row / kBlock);
        indels.take_beside(task.target[j], row % kBlock);
      } else {
        indels.take(task.target[j]);
      }
    }
    for (int b = 0; b < BlockIndels::kBlocks && first + (b + 1) * kBlock <= task.query_len; ++b) std::cout << indels.least(b) << ' ';
  }
}

// Twice what all blocks cost at least, with the diagonals between both ends, which are exchanged if the sequences were.
static std::int64_t paid(CertainMemory& memory) {
  const ExactRun& last = memory.clipped.back();
  std::int64_t most = 0;
  for (int s = 0; s < PaidMemory::kSlopes; ++s)
    most = std::max(most, memory.paid.until[s].back() + 2 * memory.paid.slopes[s] * (last.j - last.i));
  return most;
}

int main() {
  CertainMemory memory;
  CancelFlag cancelled;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    Costs costs;
    std::string query, target, path;
    fields >> costs.ambiguous >> costs.mismatch >> costs.gap[0].open >> costs.gap[0].extend >> costs.gap[1].open >> costs.gap[1].extend;
    fields >> query >> target >> path;
    costs.pieces = costs.gap[1].open < 0 ? 1 : 2;
    KernelTask task{};
    task.query = reinterpret_cast<const std::uint8_t*>(query.data());
    task.target = reinterpret_cast<const std::uint8_t*>(target.data());
    task.query_len = static_cast<std::int32_t>(query.size());
    task.target_len = static_cast<std::int32_t>(target.size());
    task.costs = costs;
    task.cancelled = &cancelled;
    RunBuilder runs(costs, memory.runs);
    std::istringstream operations(path);
    std::int32_t length;
    for (char op; operations >> length >> op;)
      runs.add(op == '=' ? kEqual : op == 'X' ? kDifferent : op == 'I' ? kInsertion : kDeletion, length);
    memory.corridors.clear();
    const std::int32_t ranges = Confinement(task, memory).find(0, 0, {-task.query_len, task.target_len});
    std::cout << paid(memory);
    for (std::int32_t c = 0; c < ranges; ++c) std::cout << ' ' << memory.corridors[c].low << ' ' << memory.corridors[c].high;
    std::cout << '\n';
    count(task, memory.runs);
    std::cout << '\n';
  }
}

// Divides pairs along given paths (kernels/certain/): reads lines "mismatch open extend open extend query target CIGAR",
// where a negative second opening means one piece, and prints the parts of each pair: "i j rows columns cost matches",
// separated by semicolons. CIGAR "*": along a path through seeds. Compiled and run by test_certain_parts.py.
#include "kernels/certain/certain.hpp"

#include <iostream>
#include <sstream>
#include <string>

int main() {
  wfacli::CertainMemory memory;
  wfacli::Buffer<wfacli::CertainPart>& parts = memory.parts;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    wfacli::Costs costs;
    std::string query, target, path;
    fields >> costs.mismatch >> costs.gap[0].open >> costs.gap[0].extend >> costs.gap[1].open >> costs.gap[1].extend;
    fields >> query >> target >> path;
    costs.ambiguous = costs.mismatch;
    costs.pieces = costs.gap[1].open < 0 ? 1 : 2;
    wfacli::KernelTask task{};
    task.query = reinterpret_cast<const std::uint8_t*>(query.data());
    task.target = reinterpret_cast<const std::uint8_t*>(target.data());
    task.query_len = static_cast<std::int32_t>(query.size());
    task.target_len = static_cast<std::int32_t>(target.size());
    task.costs = costs;
    wfacli::RunBuilder runs(costs, memory.runs);
    std::istringstream operations(path);
    std::int32_t length;
    for (char op; operations >> length >> op;)
      runs.add(op == '='   ? wfacli::kEqual
               : op == 'X' ? wfacli::kDifferent
               : op == 'I' ? wfacli::kInsertion
                           : wfacli::kDeletion,
               length);
    parts.clear();
    if (path == "*") {
      task.max_score = INT32_MAX;
      task.checkpoint_bytes = std::size_t{1} << 26;
      if (!wfacli::find_certain(task, memory)) return 1;
    } else {
      wfacli::find_certain_beside(task, {0, 0, 0, 0, 0, 0}, memory, parts);
    }
    for (std::size_t x = 0; x < parts.size(); ++x) {
      const wfacli::CertainPart& p = parts[x];
      std::cout << p.i << ' ' << p.j << ' ' << p.query_len << ' ' << p.target_len << ' ' << p.max_cost << ' ' << p.matches << ';';
    }
    std::cout << '\n';
  }
}

// A main() for compilers without libFuzzer: runs a target on the files given as arguments.
#include <fstream>
#include <iterator>

#include "fuzz.hpp"

int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(names[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", names[i]);
      return 2;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::fprintf(stderr, "%s\n", names[i]);  // the last name printed is that of a failing file
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return 0;
}

// Prints the newest level of x86-64 that this machine has: CMakeLists.txt asks for it before a build for this machine only.
#include "base/instruction_sets.hpp"

#include <cstdio>

int main() { return std::printf("%d", wfacli::newest_level()) != 1; }

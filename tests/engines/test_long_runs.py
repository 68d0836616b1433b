"""wfacli/native/kernels/bits/bits_runs.hpp splits runs that exceed BAM's 28-bit lengths."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "wfacli" / "native"
SOURCES = [NATIVE / "base" / name for name in ("buffer.cpp", "allocator.cpp")]
# Arguments: alternating operations and lengths; operation 7 is a run of matches. Prints the resulting runs.
PROGRAM = r"""
#define WFACLI_ISA baseline
#include "kernels/bits/bits_runs.hpp"
#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
  wfacli::Buffer<std::uint32_t> ops;
  wfacli::baseline::RunWriter runs(ops, 4);
  for (int a = 1; a + 1 < argc; a += 2) {
    const int op = std::atoi(argv[a]), length = std::atoi(argv[a + 1]);
    if (op == 7) runs.matches(length);
    else runs.add(op, length);
  }
  runs.finish();
  for (std::size_t x = 0; x < ops.size(); ++x) std::printf("%u:%u ", ops[x] & 15, ops[x] >> 4);
}
"""
LONGEST = 2**28 - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "runs.cpp").write_text(PROGRAM)
    flags = ["-std=c++20", "-fsanitize=undefined,address", "-fno-sanitize-recover=all", "-w", f"-I{NATIVE}"]
    subprocess.run(["g++", *flags, folder / "runs.cpp", *SOURCES, "-o", folder / "runs"], check=True)
    return folder / "runs"


@pytest.mark.parametrize(
    ("runs", "written"),
    [
        ([], []),
        ([(7, 3), (8, 1), (8, 1), (7, 0), (8, 1), (1, 2), (7, 4)], [(7, 3), (8, 3), (1, 2), (7, 4)]),
        ([(7, LONGEST), (1, LONGEST), (2, LONGEST)], [(7, LONGEST), (1, LONGEST), (2, LONGEST)]),
        ([(2, LONGEST), (2, 1), (2, 5), (8, 1)], [(2, LONGEST), (2, 6), (8, 1)]),
        ([(2, 1), (2, LONGEST), (2, LONGEST)], [(2, 1), (2, LONGEST), (2, LONGEST)]),
        ([(8, 3), (7, 2**28)], [(8, 3), (7, LONGEST), (7, 1)]),
        ([(1, 3), (1, 2**31 - 1), (7, 2**31 - 1)], [(1, 3), *[(1, LONGEST)] * 8, (1, 7), *[(7, LONGEST)] * 8, (7, 7)]),
    ],
)
def test_runs(program, runs, written):
    arguments = [str(value) for run in runs for value in run]
    found = subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout.split()
    assert [tuple(map(int, one.split(":"))) for one in found] == written

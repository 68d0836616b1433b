"""Test how cuda/common/cigar.cuh merges runs."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.emulation.launching import ROOT

# Arguments: capacity, then alternating operations and lengths. Prints the count, then the runs.
PROGRAM = r"""
#include "common/cigar.cuh"
int main(int argc, char** argv) {
  std::uint32_t ops[16] = {};
  wfacli::RunWriter runs(ops, std::atoi(argv[1]));
  for (int a = 2; a + 1 < argc; a += 2) runs.add(static_cast<wfacli::Op>(std::atoi(argv[a])), std::atoi(argv[a + 1]));
  std::printf("%d", runs.finish());
  for (std::uint32_t op : ops) if (op) std::printf(" %u:%u", op & 15, op >> 4);
}
"""
LONGEST = 2**28 - 1


@functools.cache
def program() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="wfacli-runs-"))
    (folder / "runs.cpp").write_text(PROGRAM)
    flags = ["-std=c++20", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-w"]
    includes = [f"-I{ROOT / part}" for part in ("cuda", "tests/emulation")]
    subprocess.run(["g++", *flags, *includes, str(folder / "runs.cpp"), "-o", str(folder / "runs")], check=True)
    return folder / "runs"


@pytest.mark.parametrize(
    ("capacity", "runs", "written"),
    [
        (4, [], "0"),
        (4, [(7, 0), (8, 0)], "0"),
        (4, [(7, 3), (7, 4), (8, 1), (8, 1), (1, 0), (8, 1)], "2 7:7 8:3"),
        (1, [(7, 3), (2, 4)], "2 7:3"),
        (0, [(7, 3)], "1"),
        (4, [(7, LONGEST)], f"1 7:{LONGEST}"),
        (4, [(1, LONGEST), (1, 1), (2, 1)], f"3 1:{LONGEST} 1:1 2:1"),
        (9, [(7, 2**30), (7, 2**30 - 1)], "9" + f" 7:{LONGEST}" * 8 + " 7:7"),
    ],
)
def test_runs(capacity, runs, written):
    arguments = [str(capacity), *(str(part) for run in runs for part in run)]
    assert subprocess.run([program(), *arguments], check=True, capture_output=True, text=True).stdout == written

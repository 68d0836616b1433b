"""The targets of `make fuzz-native`: libFuzzer runs one for two seconds, and GCC's build of it replays the seeds."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGET = "tags"  # it needs one source file
SCRIPT = Path("tests/input_fuzz/native/run.sh")


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script, which builds in `folder`."""
    more = {"FUZZ_HOME": str(folder), **environment}
    return subprocess.run(
        ["sh", SCRIPT, *arguments, TARGET], cwd=ROOT, env={**os.environ, **more}, text=True, capture_output=True
    )


def clang() -> str | None:
    """Return $FUZZ_CXX, or a clang++ with or without a version in its name; None without any."""
    names = [os.environ.get("FUZZ_CXX", "clang++"), *(f"clang++-{version}" for version in range(30, 13, -1))]
    return next((name for name in names if shutil.which(name)), None)


def test_a_target_runs(tmp_path: Path) -> None:
    if (compiler := clang()) is None:
        pytest.skip("there is no clang++")
    done = run(tmp_path, "--seconds", "2", FUZZ_CXX=compiler)
    if done.returncode == 2 and "has no libFuzzer" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr[-5000:]
    assert "stat::number_of_executed_units" in done.stderr
    assert list((tmp_path / "corpus" / TARGET).iterdir())
    assert not list((tmp_path / "found").iterdir())


def test_seeds_are_replayed_without_libfuzzer(tmp_path: Path) -> None:
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        pytest.skip("there is no C++ compiler")
    done = run(tmp_path, "--replay")
    assert done.returncode == 0, done.stderr[-5000:]
    seeds = list((tmp_path / "seeds" / TARGET).iterdir())
    assert seeds and done.stderr.count(f"/{TARGET}/seed") == len(seeds)


def test_a_compiler_without_libfuzzer_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, FUZZ_CXX="false")
    assert done.returncode == 2 and "'false' has no libFuzzer" in done.stderr

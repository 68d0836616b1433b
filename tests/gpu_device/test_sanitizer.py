"""Every kernel on small pairs under NVIDIA's compute-sanitizer: memcheck, racecheck, synccheck and initcheck."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .support import gpu_environment

ROOT = Path(__file__).parents[2]
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
FAMILIES = ("bits", "dp", "local", "long", "sw", "tiles", "wfa")
_FOUND = 86  # exit status of a tool with findings
_SECONDS = 300
# Answers are downloaded with space for the longest CIGARs, most of which is never written.
_OPTIONS = {"initcheck": ("--check-api-memory-access", "no")}
_KINDS = r"Invalid|Uninitialized|Error|Warning|Race|Barrier|Divergent|Program hit|Misaligned|Fatal|Internal"
_NUMBERS = r"0x[0-9a-f]+|(?<=\()\d+,\d+,\d+(?=\))"
# Messages if the tool cannot work at all, as on some virtual machines.
_UNSUPPORTED = ("Device not supported", "not supported on this device", "LibraryNotLoaded", "debugger is attached")


@dataclass(frozen=True)
class Check:
    """A running tool, its output file, and its deadline (time.monotonic())."""

    process: subprocess.Popen[bytes]
    output: Path
    end: float

    def text(self) -> str:
        """Return the output of the tool and the program so far."""
        return self.output.read_text(errors="replace")


@pytest.fixture(scope="module")
def checks(gpu: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], Check]]:
    """Start every tool on every kernel family at once: each keeps one core busy, and the GPU mostly idle."""
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if tool is None:
        pytest.skip("no compute-sanitizer on the PATH: install the CUDA toolkit")
    folder, started = tmp_path_factory.mktemp("sanitizer"), {}
    for name, family in itertools.product(TOOLS, FAMILIES):
        output = folder / f"{name}-{family}"
        program = [sys.executable, "-m", "tests.gpu_device.every_kernel", family]
        options = ("--error-exitcode", str(_FOUND), "--print-limit", "100", *_OPTIONS.get(name, ()))
        command = [tool, "--tool", name, *options, *program]
        with output.open("wb") as out:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            process = subprocess.Popen(command, cwd=ROOT, env=gpu_environment(), start_new_session=True, **streams)
        started[name, family] = Check(process, output, time.monotonic() + _SECONDS)
    yield started
    for check in started.values():
        with contextlib.suppress(ProcessLookupError):  # the tool, and the program that it runs
            os.killpg(check.process.pid, signal.SIGKILL)
        check.process.wait()


def findings(text: str) -> list[str]:
    """Return the findings, one line for each kind and place, with counts."""
    found: Counter[str] = Counter()
    lines = [line.removeprefix("========= ").strip() for line in text.splitlines() if line.startswith("=========")]
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if re.match(_KINDS, line):
            found[f"{re.sub(_NUMBERS, '…', line)} | {re.sub(_NUMBERS, '…', after)}"] += 1
    return [f"{n} × {what}" for what, n in found.most_common(20)]


@pytest.mark.gpu
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tool", TOOLS)
def test_compute_sanitizer(
    checks: dict[tuple[str, str], Check], say: Callable[[str], None], tool: str, family: str
) -> None:
    check = checks[tool, family]
    try:
        code = check.process.wait(timeout=max(0.1, check.end - time.monotonic()))
    except subprocess.TimeoutExpired:
        pytest.fail(f"{tool}, {family}: more than {_SECONDS} s; the end of what it said: {check.text()[-2000:]}")
    text = check.text()
    if reason := next((line for line in text.splitlines() if any(words in line for words in _UNSUPPORTED)), None):
        reason = reason.strip("= ")
        say(f"compute-sanitizer {tool}, {family}: nothing was checked, as it does not work with this GPU: {reason}")
        pytest.skip(f"compute-sanitizer does not work with this GPU: {reason}")
    for line in findings(text):
        say(f"{tool}, {family}: {line}")
    said = [line for line in text.splitlines() if not line.startswith("=========")]
    say(f"compute-sanitizer {tool}, {family}: exit {code}; {'; '.join(said[-2:])}")
    assert "every row was launched" in text, text[-3000:]
    assert code == 0, findings(text) or text[-3000:]


def test_findings_are_read() -> None:
    text = """========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at bits_align+0x1f0
=========     by thread (3,0,0) in block (1,0,0)
========= Uninitialized __global__ memory read of size 4 bytes
=========     at bits_align+0x2f0
========= ERROR SUMMARY: 2 errors"""
    assert findings(text) == ["2 × Uninitialized __global__ memory read of size 4 bytes | at bits_align+…"]
    assert findings("========= Error: Race reported between Write access at f+0x10 (a.cu:3)\n") != []

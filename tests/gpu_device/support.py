"""Run `wfacli align` in separate processes, with and without a GPU, and compare the outputs."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.support import command as installed
from tests.cli.support import environment, run
from tests.emulation import command as emulated
from tests.gpus import smi

from . import twins

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "kernels"
EMULATED, TWINS = emulated.wanted() > 0, twins.wanted() > 0
SUFFIX = {"edit": ".paf", "affine": ".sam", "affine2p": ".tsv"}
_NEAR = 256  # MiB of GPU memory that may differ between two queries
_MOST = 300  # characters of a line shown in a failure
_names = itertools.count()


def gpu_environment(**more: str) -> dict[str, str]:
    """Return the environment of a command: with the tests' kernel cache, unless one is set, and additions."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    cache = os.environ.get("WFACLI_CACHE_DIR") or str(CACHE)
    return environment(**{"WFACLI_CACHE_DIR": cache, "PYTHONPATH": path, **more})


def program() -> list[str]:
    """Return the command, with emulated GPUs (tests/emulation/command.py) or twins (twins.py) if requested."""
    module = emulated if EMULATED else twins
    return [sys.executable, "-m", module.__name__] if EMULATED or TWINS else installed()


@dataclass(frozen=True)
class Run:
    """A run of the command.

    Attributes:
        code: exit status.
        err: standard error.
        text: its output, without the header's command line; empty if it did not finish.
        report: content of --stats.
        seconds: total time.
    """

    code: int
    err: str
    text: bytes
    report: dict[str, Any]
    seconds: float

    @property
    def by_kernel(self) -> dict[str, int]:
        """Number of pairs by the kernel that answered."""
        return self.report.get("pairs_by_kernel", {})

    @property
    def on_gpu(self) -> int:
        """Number of pairs that the GPU answered."""
        return sum(n for name, n in self.by_kernel.items() if name.startswith("gpu-"))


def align(
    folder: Path,
    engine: str,
    *arguments: object,
    suffix: str = ".paf",
    timeout: float = 120,
    command: str = "align",
    by: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Run:
    """Run `wfacli align --engine …`, or another command, with these arguments.

    `by`: a program to run instead; `env`: additions to the environment.
    """
    number = next(_names)
    out, stats = folder / f"{number}{suffix}", folder / f"{number}.json"
    begun = time.monotonic()
    words = [command, *map(str, arguments), "--engine", engine, "-o", str(out), "--stats", str(stats)]
    own = gpu_environment(**(env or {}))
    done = run(*words, cwd=folder, env=own, program=list(by) or program(), timeout=timeout)
    seconds = time.monotonic() - begun
    text = re.sub(rb"\tCL:[^\n]*", b"", out.read_bytes()) if out.exists() else b""
    report = json.loads(stats.read_text()) if stats.exists() and stats.stat().st_size else {}
    out.unlink(missing_ok=True)
    return Run(done.code, done.err, text, report, seconds)


def assert_same(found: Run, wanted: Run, what: str = "") -> None:
    """Assert that both runs succeeded with the same output, and that the GPU did not fail in between."""
    assert wanted.code == 0, f"{what}: {wanted.err}"
    assert found.code == 0, f"{what}: {found.err}"
    assert "Traceback" not in found.err, found.err
    if found.text != wanted.text:
        lines = zip(wanted.text.splitlines(), found.text.splitlines(), strict=False)
        at, (cpu, gpu) = next(((i, p) for i, p in enumerate(lines) if p[0] != p[1]), (-1, (b"", b"")))
        raise AssertionError(
            f"{what}: line {at} is\n{gpu[:_MOST]!r}\non the GPU, and\n{cpu[:_MOST]!r}\n"
            f"without it ({len(found.text)} and {len(wanted.text)} bytes); {found.by_kernel}"
        )


def assert_no_failure(found: Run) -> None:
    """Assert that the GPU did not fail, and that there was no warning."""
    assert found.report["engine"]["failure"] is None, found.report["engine"]
    assert "warning" not in found.err, found.err


def assert_clear_error(found: Run, code: int = 1) -> None:
    """Assert that the run ended with this exit status and one line of explanation."""
    assert found.code == code, (found.code, found.err)
    assert "Traceback" not in found.err, found.err
    assert sum(line.startswith("wfacli: error: ") for line in found.err.splitlines()) == 1, found.err


@dataclass(frozen=True)
class Case:
    """Options of a call of `wfacli align`."""

    metric: str
    score_only: bool = False
    more: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("--metric", self.metric, *(["--score-only"] * self.score_only), *self.more)

    @property
    def suffix(self) -> str:
        return ".tsv" if self.score_only else SUFFIX[self.metric]

    def __str__(self) -> str:
        return " ".join((self.metric, "scores" if self.score_only else "CIGARs", *self.more))


CASES = tuple(Case(metric, only) for metric in SUFFIX for only in (False, True))


def compared(folder: Path, files: Sequence[Path], cases: Iterable[Case], at_once: int = 3) -> dict[str, Run]:
    """Run every case on both engines, several at a time; compare, and return the GPU's runs."""

    def both(case: Case) -> Run:
        wanted, found = (
            align(folder, engine, *files, *case.arguments, *memory, suffix=case.suffix)
            for engine, memory in (("cpu", ()), ("gpu", ("--gpu-memory", f"{0.6 / at_once:.2f}")))
        )
        assert_same(found, wanted, f"{files[0].name}, {case}")
        assert_no_failure(found)
        return found

    cases = tuple(cases)
    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip(map(str, cases), pool.map(both, cases), strict=True))


def line_of(name: str, case: str, done: Run) -> str:
    """Return a readable summary of a run."""
    counts = ", ".join(f"{kernel} {n:,}" for kernel, n in sorted(done.by_kernel.items(), key=lambda kn: -kn[1]))
    share = done.on_gpu / max(done.report["pairs"], 1)
    return f"{name}, {case}: {done.report['pairs']:,} pairs, {share:.0%} on the GPU, {done.seconds:.1f} s: {counts}"


# Resources in use on a GPU


@dataclass(frozen=True)
class Occupied:
    """Processes on all GPUs, and memory (MiB) in use on each; empty if nvidia-smi cannot tell."""

    processes: frozenset[str] = field(default_factory=frozenset)
    memory: tuple[int, ...] = ()

    @classmethod
    def now(cls) -> Occupied:
        """Query the current state."""
        processes = smi("--query-compute-apps=pid", "--format=csv,noheader")
        memory = smi("--query-gpu=memory.used", "--format=csv,noheader,nounits")
        return cls(frozenset(processes), tuple(int(m) for m in memory if m.strip().isdigit()))

    def holds_more_than(self, before: Occupied) -> bool:
        """Return whether a GPU has more memory in use, or a new process."""
        grown = any(now > then + _NEAR for now, then in zip(self.memory, before.memory, strict=False))
        return grown or bool(self.processes - before.processes)


def wait_until_free(before: Occupied, seconds: float = 15) -> None:
    """Assert that the GPU becomes as free as before."""
    end = time.monotonic() + seconds
    while (now := Occupied.now()).holds_more_than(before):
        assert time.monotonic() < end, f"the GPU is not free: {now}, before: {before}"
        time.sleep(0.2)

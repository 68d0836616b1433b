"""Our algorithms for one long pair, on the CPU and on a GPU; the only module here that uses their interface."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from wfacli._native import estimate_long
from wfacli.core import tuning
from wfacli.gpu.kernels.catalogue import ROWS
from wfacli.gpu.runtime.driver import Driver
from wfacli.solve.base import Solver
from wfacli.solve.distance import cpu
from wfacli.solve.distance.cpu import CpuBits, CpuWavefront
from wfacli.solve.gpu import bits as gpu_bits
from wfacli.solve.gpu import wavefront as gpu_wavefront
from wfacli.solve.gpu.bits import GpuBits
from wfacli.solve.gpu.wavefront import GpuWavefront

from .distance_work import Work

SLICE = 0.25  # seconds between two checks of the time limit


@dataclass
class Measured:
    """The result of an aligner on a pair.

    Attributes:
        seconds: of each repeat; empty if it was stopped.
        distance: distance found.
        facts: further facts, plain values for JSON.
    """

    seconds: list[float] = field(default_factory=list)
    distance: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """Seconds of the fastest repeat."""
        return min(self.seconds)

    def report(self, cells: int) -> dict[str, Any]:
        """Return plain values for JSON, for a pair whose matrix has `cells` cells."""
        times = {"best_seconds": round(self.best, 6), "all_seconds": [round(s, 6) for s in self.seconds]}
        return {**times, "distance": self.distance, "tcups": tcups(cells, self.best), **self.facts}


def tcups(cells: int, seconds: float) -> float:
    """Return 10^12 cells of the whole matrix per second, whether computed or not."""
    return float(f"{cells / max(seconds, 1e-9) / 1e12:.4g}")


class NoAnswer(Exception):
    """An aligner that failed or ran out of time; the message says why."""


@dataclass(frozen=True)
class Rules:
    """Numbers of repeats and time limits.

    Attributes:
        repeats: of each aligner.
        patience: seconds; what takes longer is not repeated.
        longest: seconds; an aligner that is expected to take longer is left out, and one that does is stopped.
        threads: threads of our CPU solvers.
        deadline: end of all measurements, as time.monotonic() counts.
    """

    repeats: int
    patience: float
    longest: float
    threads: int
    deadline: float

    @property
    def limit(self) -> float:
        """Seconds that an aligner which starts now may take."""
        return min(self.longest, self.deadline - time.monotonic())

    def repeated(self, seconds: list[float]) -> bool:
        """Return whether an aligner with these repeats is repeated again."""
        return len(seconds) < self.repeats and max(seconds) <= self.patience


@dataclass(frozen=True)
class Algorithm:
    """One of our algorithms.

    Attributes:
        engine: "gpu" or "cpu".
        kind: "wavefront" or "bits".
        make: makes the solver of a pair, ready to advance; for gpu-bits including an estimate.
        forecast: expected seconds for a pair with a number of edits.
    """

    engine: str
    kind: str
    make: Callable[[Work], Solver]
    forecast: Callable[[Work, int], float]

    @property
    def name(self) -> str:
        """Name in the table."""
        return f"{self.engine}-{self.kind}"


def estimate(work: Work) -> int:
    """Return the expected edits of a pair, from samples of it."""
    return round(estimate_long(work.pair.query, work.pair.target))


def likely(work: Work) -> int:
    """Return edits that suffice for most pairs with this estimate, since a band that proves nothing is wasted work."""
    return min(round(estimate(work) * tuning.GPU_BITS_MARGIN) + 1, max(work.lengths))


def on_cpu(threads: int) -> list[Algorithm]:
    """Return our algorithms with a number of CPU threads."""
    return [
        Algorithm(
            "cpu",
            "wavefront",
            lambda work: CpuWavefront(work.pair, None, threads),
            lambda work, edits: cpu.forecast(work.pair, edits, threads)["wavefront"],
        ),
        Algorithm(
            "cpu",
            "bits",
            lambda work: CpuBits(work.pair, None, threads),
            lambda work, edits: cpu.forecast(work.pair, edits, threads)["bits"],
        ),
    ]


def on_gpu(driver: Driver) -> list[Algorithm]:
    """Return our algorithms on an open GPU."""
    gpu = driver.gpu
    return [
        Algorithm(
            "gpu",
            "wavefront",
            lambda work: GpuWavefront(driver, work.pair),
            lambda work, edits: gpu_wavefront.forecast(gpu, work.lengths, edits, 2 if work.pair.plain else 8),
        ),
        Algorithm(
            "gpu",
            "bits",
            lambda work: GpuBits(driver, work.pair, expected_edits=likely(work)),
            lambda work, edits: gpu_bits.forecast(gpu, work.lengths, edits, work.pair.plain),
        ),
    ]


def load_kernels(driver: Driver, plain: bool, paths: bool = False) -> int:
    """Compile and load the kernels that pairs may need before they are timed; return the number of kernels.

    Args:
        driver: an open GPU.
        plain: True if all bases are A, C, G or T.
        paths: True if alignments are wanted too.
    """
    kinds = ("2",) if plain else ("4", "8")
    names = [f"{kind}-{planes}" for kind in ("long-wavefront", "long-bases") for planes in kinds] + ["long-bits-meet"]
    begin = tuple(f"long-bits-{planes}-" for planes in kinds)
    if paths:
        names.append("long-path-guess")
        steps = ("sweep", "walk", "front-sweep", "front-walk")
        begin += tuple(f"long-path-{step}-{planes}" for step in steps for planes in kinds)
    rows = [row for name, row in ROWS.items() if name in names or name.startswith(begin)]
    for row in rows:
        driver.kernel(row)
    return len(rows)


def run(algorithm: Algorithm, work: Work, rules: Rules) -> Measured:
    """Run all repeats. On a GPU the first does not count, unless it takes so long that there is no other.

    Raises:
        NoAnswer: it was stopped, or its results differ.
        WfacliError, MemoryError: it failed.
    """
    found = Measured()
    first, distance, facts = _once(algorithm, work, rules)
    if algorithm.engine == "cpu" or first > rules.patience:
        found.seconds.append(first)
    else:
        facts["first_seconds"] = round(first, 6)
    found.distance, found.facts = distance, facts
    while not found.seconds or rules.repeated(found.seconds):
        seconds, distance, again = _once(algorithm, work, rules)
        if distance != found.distance:
            raise NoAnswer(f"a repeat says {distance}, the first run {found.distance}")
        if seconds <= min(found.seconds, default=seconds):
            found.facts["ready_seconds"] = again["ready_seconds"]
        found.seconds.append(seconds)
    return found


def _once(algorithm: Algorithm, work: Work, rules: Rules) -> tuple[float, int | None, dict[str, Any]]:
    """Return seconds, the distance, and facts of one run."""
    limit = rules.limit
    begun = time.perf_counter()
    solver = algorithm.make(work)
    try:
        ready = time.perf_counter() - begun
        while not solver.advance(SLICE):
            if time.perf_counter() - begun > limit:
                raise NoAnswer(f"stopped after {limit:.0f} s, at {solver.position.lower_bound:,} edits or more")
        seconds = time.perf_counter() - begun
        facts = {"ready_seconds": round(ready, 6), "cells": int(solver.position.cells)}
        return seconds, solver.distance, facts
    finally:
        solver.close()

"""Engines on emulated GPUs, and checks for their tests."""

from __future__ import annotations

import contextlib
import faulthandler
import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from tests.emulation.driver import EmulatedDriver, leaks
from tests.pairgen import mutated, sequence
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.batch import AlignmentBatch, PairBatch, PartialResult
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.gpu import GpuEngine
from wfacli.io.read.memory import pairs_of

SEED = 31
EDIT = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT))
AFFINE = AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE))
_COLUMNS = ("status", "cut", "score", "span", "cigar", "cigar_start")
_SECONDS = 30  # timeout of calls that may hang

T = TypeVar("T")
Result = PartialResult | AlignmentBatch


def some_pairs(count: int, longest: int = 90, error: float = 0.05, seed: int = SEED) -> list[tuple[bytes, bytes]]:
    """Return similar pairs of 0 to `longest` bases."""
    rng = random.Random(seed)
    targets = [sequence(rng, rng.randrange(longest + 1), b"ACGT") for _ in range(count)]
    return [(mutated(rng, target, b"ACGT", error), target) for target in targets]


def batch_of(pairs: list[tuple[bytes, bytes]]) -> PairBatch:
    return pairs_of([q for q, _ in pairs], [t for _, t in pairs])


def all_rows(batch: PairBatch) -> np.ndarray:
    return np.arange(len(batch), dtype=np.int32)


@contextlib.contextmanager
def opened_gpu(
    spec: AlignSpec,
    memory: float | None = 1 << 28,
    stats: Stats | None = None,
    prepare: Callable[[EmulatedDriver], None] = lambda driver: None,
    clean: bool = True,
    **gpu,
) -> Iterator[tuple[GpuEngine, EmulatedDriver]]:
    """Open an engine and its emulated GPU; check for leaks after closing (if `clean`)."""
    drivers: list[EmulatedDriver] = []

    def opened() -> EmulatedDriver:
        drivers.append(EmulatedDriver(**gpu))
        prepare(drivers[-1])
        return drivers[-1]

    engine = GpuEngine(spec, opened, stats, memory)
    try:
        yield engine, drivers[0]
    finally:
        within(engine.close)
    assert not any(thread.name == "wfacli-gpu" for thread in threading.enumerate())
    assert not clean or leaks(drivers[0]) == {}


def of_cpu(spec: AlignSpec, batch: PairBatch, rows: np.ndarray | None = None) -> PartialResult:
    cpu = CpuEngine(spec, Limits(), 1)
    try:
        return cpu.collect(cpu.submit(batch, Route(all_rows(batch) if rows is None else rows, "wavefront-table")))
    finally:
        cpu.close()


def aligned(engine, batch: PairBatch, kernel: str, rows: np.ndarray | None = None) -> PartialResult:
    return engine.collect(engine.submit(batch, Route(all_rows(batch) if rows is None else rows, kernel)))


def assert_equal(
    found: PartialResult | AlignmentBatch, wanted: PartialResult | AlignmentBatch, what: str = ""
) -> None:
    """Assert that all columns are equal, byte for byte."""
    for name in _COLUMNS:
        left, right = getattr(found, name), getattr(wanted, name)
        assert left.dtype == right.dtype, f"{what} {name}"
        assert left.tobytes() == right.tobytes(), f"{what} {name}: {left} is not {right}"


def within(work: Callable[[], T], seconds: float = _SECONDS) -> T:
    """Return or raise what `work` does; after a timeout, fail with the stack of every thread."""
    answer: list[T] = []
    problem: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # raised again in the waiting thread
            problem.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        faulthandler.dump_traceback(sys.__stderr__)
        raise AssertionError(f"it hangs: no end after {seconds} s")
    if problem:
        raise problem[0]
    return answer[0]

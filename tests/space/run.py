"""Align a block in one of its ways; return columns."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

import wfacli
from tests.cli import support
from tests.emulation.driver import EmulatedDriver
from tests.engines.agreement import align_batch, with_estimates
from wfacli.config import MIB, AlignSpec, Mode
from wfacli.core.batch import Status
from wfacli.core.cores import usable_cores
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.gpu import GpuEngine
from wfacli.engines.hybrid import HybridEngine
from wfacli.errors import Cancelled
from wfacli.gpu.runtime.driver import Driver
from wfacli.io.read.memory import pairs_of

from .ways import BATCH, COMMAND, ENGINE, GPU, SINGLE, Way

Pair = tuple[bytes, bytes]
T = TypeVar("T")
_RUN = re.compile(r"(\d+)([=XIDM])")
NOTHING = 255  # status of a record without an alignment, or with an empty one
open_driver: Callable[[], Driver] = EmulatedDriver  # opens the GPU; replaced by a real one in tests/gpu_device
_OPERATIONS = {"I": 1, "D": 2, "=": 7, "X": 8, "M": 0}


class TooSlow(Exception):
    """A block exceeded its time limit."""


@dataclass(frozen=True)
class Answers:
    """Alignments of n pairs, in columns like those of wfacli.core.batch.AlignmentBatch.

    `edits` (i64[n]) is None if the entry does not return it; `origin` holds indices into `kernels`; `heuristic`
    (bool[n]) marks alignments that are not reported as exact.
    """

    status: np.ndarray
    heuristic: np.ndarray
    score: np.ndarray
    span: np.ndarray
    cigar: np.ndarray
    cigar_start: np.ndarray
    edits: np.ndarray | None = None
    origin: np.ndarray | None = None
    kernels: tuple[str, ...] = ()


def run(pairs: Sequence[Pair], spec: AlignSpec, way: Way, seconds: float) -> Answers:
    """Align pairs in one way; on a machine with more work than cores, a slow call gets a second, longer try.

    Raises:
        TooSlow: the call exceeded `seconds`.
    """
    try:
        return _timed(pairs, spec, way, seconds)
    except TooSlow:
        if (busy := os.getloadavg()[0] / usable_cores()) <= 1:
            raise
        return _timed(pairs, spec, way, 2 * busy * seconds)


def _timed(pairs: Sequence[Pair], spec: AlignSpec, way: Way, seconds: float) -> Answers:
    began = time.monotonic()
    entries = {ENGINE: _engine, GPU: _engine, BATCH: _batch, SINGLE: _single, COMMAND: _command}
    found = entries[way.entry](pairs, spec, way, seconds)
    if (took := time.monotonic() - began) > seconds:
        raise TooSlow(f"{took:.1f} s")
    return found


def _engine(pairs: Sequence[Pair], spec: AlignSpec, way: Way, seconds: float) -> Answers:
    stats, gpu = Stats(), way.entry == GPU
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec, gpu)
    cpu = CpuEngine(spec, way.limits, way.threads, way.isa, stats)
    engine = HybridEngine(GpuEngine(spec, open_driver, memory=3 << 28), cpu) if gpu else cpu
    guard = threading.Timer(seconds, engine.cancel)
    guard.start()
    try:
        done = align_batch(engine, batch, spec, way.limits, stats, way.kernel)
    except Cancelled as error:
        raise TooSlow(f"stopped after {seconds} s") from error
    finally:
        guard.cancel()
        engine.close()
    columns = (done.status, done.cut != 0, done.score, done.span, done.cigar, done.cigar_start)
    return Answers(*columns, origin=done.origin, kernels=done.kernels)


def _aligner(spec: AlignSpec, way: Way) -> wfacli.Aligner:
    p = spec.penalties
    aligner = wfacli.Aligner(
        metric=spec.metric,
        penalties=_values(spec),
        match=p.match,
        mode=spec.mode,
        free=spec.free.as_tuple() if spec.mode is Mode.ENDS_FREE else (0, 0, 0, 0),
        ambiguous=spec.ambiguous,
        n_penalty=p.ambiguous,
        score_only=spec.score_only,
        max_cost=spec.max_cost,
        limits=way.limits,
        threads=way.threads,
    )
    assert aligner.spec == spec
    return aligner


def _values(spec: AlignSpec) -> tuple[int, ...] | None:
    """Return the penalties in the order of the metric's parameters, or None if it has none."""
    p = spec.penalties
    both = {"linear": (p.gaps[0][1],), "edit": None, "indel": None}.get(spec.metric, sum(p.gaps, ()))
    return None if both is None else (p.mismatch, *both)


def within(work: Callable[[], T], seconds: float) -> T:
    """Call `work` in a thread and return its result; after a timeout, the thread keeps running.

    Raises:
        TooSlow: the call exceeded `seconds`.
    """
    found: list[T] = []
    problem: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again in the caller's thread
            problem.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if problem:
        raise problem[0]
    if not found:
        raise TooSlow(f"no end after {seconds} s")
    return found[0]


def _batch(pairs: Sequence[Pair], spec: AlignSpec, way: Way, seconds: float) -> Answers:
    with _aligner(spec, way) as aligner:
        done = within(lambda: aligner.align_batch(*map(list, zip(*pairs, strict=True))), seconds)
    columns = (done.status, done.cut != 0, done.score, done.span, done.cigar, done.cigar_start, done.edits)
    return Answers(*columns, origin=done.origin, kernels=done.kernels)


def _single(pairs: Sequence[Pair], spec: AlignSpec, way: Way, seconds: float) -> Answers:
    with _aligner(spec, way) as aligner:
        found = within(lambda: [aligner.align(query, target) for query, target in pairs], seconds)
    score, cigar, edits, span, exact, status = zip(*found, strict=True)
    runs, starts = runs_of(cigar)
    return Answers(np.array(status), ~np.array(exact), np.array(score), np.array(span), runs, starts, np.array(edits))


def runs_of(cigars: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Parse CIGARs into the columns `cigar` and `cigar_start`."""
    runs = [_RUN.findall(text) for text in cigars]
    starts = np.cumsum([0, *map(len, runs)])
    return np.array([int(n) << 4 | _OPERATIONS[op] for row in runs for n, op in row], np.uint32), starts


def _command(pairs: Sequence[Pair], spec: AlignSpec, way: Way, seconds: float) -> Answers:
    options = ["--metric", spec.metric, "--match", spec.penalties.match, "--ambiguous", spec.ambiguous]
    options += ["--mode", spec.mode, "--threads", way.threads, "--format", "paf", "--quiet"]
    if values := _values(spec):
        options += ["--penalties", ",".join(map(str, values))]
    if spec.mode is Mode.ENDS_FREE:
        options += ["--free", ",".join(map(str, spec.free.as_tuple()))]
    if spec.max_cost is not None:
        options += ["--max-cost", spec.max_cost]
    if spec.penalties.ambiguous is not None:
        options += ["--n-penalty", spec.penalties.ambiguous]
    if way.kernel:
        options += ["--kernel", way.kernel]
    if not way.ample:
        options += ["--max-memory", f"{max(1, (way.limits.table + way.limits.checkpoints) // MIB)}M"]
    table = b"".join(b"n%d\t%s\t%s\n" % (at, *pair) for at, pair in enumerate(pairs))
    done = support.run("align", "-", *map(str, options), cwd=Path.cwd(), stdin=table, timeout=seconds + 1)
    assert done.code == 0, f"exit status {done.code}: {done.err}"
    rows = [line.split("\t") for line in done.text.splitlines()]
    assert [row[0] for row in rows] == [f"n{at}" for at in range(len(pairs))], "records are missing"
    tags = [support.tags_of(row) for row in rows]
    status = [int(Status.OK) if row[4] == "+" else NOTHING for row in rows]
    score, edits = ([int(tag.get(name, 0)) for tag in tags] for name in ("AS", "NM"))
    span = [[int(row[at]) for at in (2, 3, 7, 8)] for row in rows]
    runs, starts = runs_of([tag.get("cg", "") for tag in tags])
    heuristic = np.array(["xh" in tag for tag in tags])
    return Answers(np.array(status), heuristic, np.array(score), np.array(span), runs, starts, np.array(edits))

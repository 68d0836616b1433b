"""Solvers for the controller's tests: plain dynamic programming, and a scripted one."""

from __future__ import annotations

import math

import numpy as np

from tests.engines.agreement import align_batch
from wfacli.config import AlignSpec, Ambiguous, EngineName, Limits, Metric, Penalties
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.solve.base import Pair, Position
from wfacli.solve.distance.choose import Algorithm
from wfacli.solve.distance.inputs import Inputs, Side, Unit


def edit_distance(a, b):
    """Return the edit distance, computed row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def solved(solver):
    """Run a solver to its end, close it, and return its distance."""
    try:
        while not solver.advance(1.0):
            pass
        return solver.distance
    finally:
        solver.close()


def cpu_path(pair: Pair, distance: int) -> np.ndarray:
    """Return the canonical path of a pair of byte symbols, by the CPU's kernels (u32[C], BAM's packing)."""
    symbols = [side.tobytes() for side in (pair.query, pair.target)]
    first = -(-len(symbols[0]) // 16) * 16  # start of the target
    bases = np.frombuffer(symbols[0].ljust(first) + symbols[1] + bytes(64), np.uint8)
    sides = [Side("", "", len(side)) for side in symbols]
    pairs = Inputs(*sides, Unit.SYMBOLS, pair, bases, (0, first)).as_batch(distance)
    spec, stats = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT), Ambiguous.LITERAL), Stats()
    engine = CpuEngine(spec, Limits(), 2, stats=stats)
    try:
        return align_batch(engine, pairs, spec, Limits(), stats).cigar
    finally:
        engine.close()


def pair_of(query: bytes, target: bytes) -> Pair:
    plain = not (query + target).translate(None, b"ACGT")
    return Pair(np.frombuffer(query, np.uint8), np.frombuffer(target, np.uint8), plain)


class Scripted:
    """A solver that proves `step` more edits, up to the distance, in each slice of `seconds` on its clock.

    `closed` counts the calls of close().
    """

    def __init__(self, clock, name, distance, most, seconds=1.0, share=(), step=1):
        self.name, self._distance, self._most, self._clock = name, distance, most, clock
        self._seconds, self._share, self._step = seconds, share, step
        self.proved, self.closed = 0, 0

    def advance(self, seconds):
        assert not self.closed
        self._clock.now += self._seconds
        self.proved = min(self.proved + self._step, self._distance)
        return self.proved == self._distance or (self._most is not None and self.proved > self._most)

    @property
    def distance(self):
        return None if self._most is not None and self._distance > self._most else self._distance

    @property
    def position(self):
        share = self.proved / self._distance if self.name in self._share else None
        return Position(self.proved, share, 10 * self.proved)

    def save(self):
        return {"proved": np.array([self.proved]), "empty": np.zeros((0, 3), np.int32)}

    def restore(self, state):
        if "proved" not in state:
            raise ValueError("there is no 'proved'")
        self.proved = int(state["proved"][0])

    def close(self):
        self.closed += 1


class Clock:
    """A clock that tests advance."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def _too_wide(kind, pair):
    return kind == "bits" and pair.query.itemsize > 1


class Table:
    """Algorithms that create scripted solvers, and the solvers created so far (`made`).

    Args:
        clock: clock of the solvers.
        distance: distance that all solvers find.
        bits: expected seconds of the bits algorithm for a number of edits.
    """

    def __init__(self, clock, distance, bits=lambda edits: 1e9, wavefront=lambda edits: edits**2, **options):
        self.made = []

        def make_as(name):
            def make(pair, most, means):
                self.made.append(Scripted(clock, name, distance, most, **options))
                return self.made[-1]

            return make

        self.algorithms = tuple(
            Algorithm(
                f"cpu-{kind}",
                kind,
                EngineName.CPU,
                make_as(f"cpu-{kind}"),
                lambda pair, edits, _, kind=kind, of=of: math.inf if _too_wide(kind, pair) else of(edits),
            )
            for kind, of in (("wavefront", wavefront), ("bits", bits))
        )

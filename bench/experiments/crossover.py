"""Measure each kernel alone over lengths and error rates, and fit the models of wfacli/core/tuning.py.

    python -m bench.experiments.crossover [--quick]

Every pair is forced through one kernel (pairs that it cannot align are left out); one thread, with CIGARs, best of
three. Prints the models in microseconds, to be copied into wfacli/core/tuning.py, and saves the measurement.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import saving, table
from bench.harness.pairs import mutated
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.batch import PairBatch, Status
from wfacli.core.route import Route
from wfacli.engines.cpu import CpuEngine
from wfacli.io.read.memory import pairs_of
from wfacli.plan.forecast import F64
from wfacli.plan.kernels import BITS, CPU, DIFFERENCE, READS, STRIPES, TABLE
from wfacli.plan.traits import CostTraits

LENGTHS = (75, 150, 300, 1000, 3000, 10_000, 20_000)
ERRORS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.10, 0.15, 0.20)
BASES = 3_000_000  # bases of a measurement's targets
LONGEST_TRY = 30.0  # seconds; a kernel whose first pairs predict more for all is left out
MODELS = {
    "BITS_64": (Metric.EDIT, tuple(BITS)[:1]),
    "BITS": (Metric.EDIT, tuple(BITS)[1:]),
    "STRIPES": (Metric.EDIT, (STRIPES,)),
    "WAVEFRONT_LINEAR": (Metric.EDIT, (TABLE,)),
    "DIFFERENCE": (Metric.AFFINE, (DIFFERENCE,)),
    "READS": (Metric.AFFINE, (READS,)),
    "WAVEFRONT": (Metric.AFFINE, (TABLE,)),
}


@dataclass(frozen=True)
class Point:
    """The time of a kernel for pairs of one length and error rate.

    Attributes:
        metric: edit or affine.
        longest, work: means of the model's variables.
        microseconds: per pair.
    """

    metric: str
    kernel: str
    length: int
    error: float
    longest: float
    work: float
    microseconds: float


def batch(length: int, error: float, bases: int) -> PairBatch:
    """Return random pairs with about `bases` bases of targets, and at least 4 pairs."""
    rng = np.random.default_rng(length + round(1e6 * error))
    count = max(bases // length, 4)
    targets = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (count, length))]
    queries, lengths = mutated(targets, round(length * error), rng)
    return pairs_of(
        [queries[i, : lengths[i]].tobytes() for i in range(count)], [targets[i].tobytes() for i in range(count)]
    )


def measured(kernel: str, spec: AlignSpec, pairs: PairBatch) -> float | None:
    """Return microseconds per pair, best of three; None if the kernel does not suit these pairs."""
    limits = Limits()
    engine = CpuEngine(spec, limits, 1)
    try:
        few = timed(engine, kernel, pairs.head(2))
        if few is None or few / 2 * len(pairs) > LONGEST_TRY:
            return None
        times = [timed(engine, kernel, pairs) for _ in range(3)]
    finally:
        engine.close()
    return None if None in times else min(t for t in times if t is not None) / len(pairs) * 1e6


def timed(engine: CpuEngine, kernel: str, pairs: PairBatch) -> float | None:
    """Return the seconds of a route, None if a tenth of its pairs or more have no alignment."""
    route = Route(np.arange(len(pairs), dtype=np.int32), kernel)
    begun = time.perf_counter()
    result = engine.collect(engine.submit(pairs, route))
    seconds = time.perf_counter() - begun
    return seconds if (result.status == Status.OK).mean() > 0.9 else None


def features(kernel: str, spec: AlignSpec, pairs: PairBatch) -> tuple[F64, F64]:
    """Return the arguments of a CPU kernel's model: length of the longer sequence, and work (both f64[n])."""
    work = CPU[kernel].work(CostTraits.of(spec))
    query, edits = pairs.q_len.astype(float), pairs.est_edits.astype(float)
    longest = np.maximum(pairs.q_len, pairs.t_len).astype(float)
    units = work.longest * longest + work.cells * query * pairs.t_len
    return longest, units + edits * (work.band * query + work.edit + work.square * edits)


def points(metric: Metric, kernels: tuple[str, ...], bases: int) -> list[Point]:
    """Return all measurements of some kernels."""
    spec, found = AlignSpec(metric, Penalties.of(metric)), []
    for length in LENGTHS:
        for error in ERRORS:
            pairs = batch(length, error, bases)
            edits = np.full(len(pairs), round(length * error), np.int32)
            pairs = dataclasses.replace(pairs, est_edits=edits)
            for kernel in kernels:
                longest, work = features(kernel, spec, pairs)
                time_each = measured(kernel, spec, pairs)
                if time_each is not None:
                    point = Point(
                        metric.value, kernel, length, error, float(longest.mean()), float(work.mean()), time_each
                    )
                    found.append(point)
    return found


def fitted(found: list[Point]) -> tuple[float, float, float]:
    """Return start, base and unit of the model with the least relative error, none of them negative."""
    time_each = np.array([p.microseconds for p in found])
    columns = np.array([[1.0, p.longest, p.work] for p in found]) / time_each[:, None]
    free = [0, 1, 2]
    while True:
        values = np.zeros(3)
        values[free] = np.linalg.lstsq(columns[:, free], np.ones(len(found)), rcond=None)[0]
        if (values >= 0).all():
            return float(values[0]), float(values[1]), float(values[2])
        free.remove(int(values.argmin()))


def main() -> None:
    """Run the command."""
    parser = table.options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the bases")
    bases = BASES // 10 if parser.parse_args().quick else BASES
    models: dict[str, Any] = {}
    everything: list[Point] = []
    for name, (metric, kernels) in MODELS.items():
        found = points(metric, kernels, bases)
        start, base, unit = fitted(found)
        promised = np.array([start + base * p.longest + unit * p.work for p in found])
        ratio = promised / np.array([p.microseconds for p in found])
        models[name] = {
            "start": start,
            "base": base,
            "unit": unit,
            "off_by": float(np.exp(np.abs(np.log(ratio)).mean())),
        }
        print(
            f"{name} = Model({start:.3g}, {base:.3g}, {unit:.3g})  # off by {models[name]['off_by']:.2f}x on average"
        )
        everything += found
    show(everything)
    timed_text = {"microseconds": "engine.submit to collect of one route over its pairs, one thread, with CIGARs"}
    rows = [p.__dict__ for p in everything]
    print(saving.save("crossover", timed_text, {"models": models, "points": rows}))


def show(everything: list[Point]) -> None:
    """Print the measurements as a table of microseconds per pair."""
    kernels = list(dict.fromkeys((p.metric, p.kernel) for p in everything))
    table = Table("length", "error", *(" ".join(kernel) for kernel in kernels), box=None)
    times = {(p.length, p.error, p.metric, p.kernel): p.microseconds for p in everything}
    for length in LENGTHS:
        for error in ERRORS:
            cells = [times.get((length, error, *kernel)) for kernel in kernels]
            table.add_row(f"{length:,}", f"{error:.1%}", *("" if c is None else f"{c:.3g}" for c in cells))
    Console(width=160).print(table)


if __name__ == "__main__":
    main()

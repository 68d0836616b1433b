"""Run pairs through every kernel that supports a spec, and compare with the oracle."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from tests import pairgen
from tests.oracle_spans import EXTENSION, Ends, Optimum, optima
from tests.oracles import Pair
from wfacli._native import instruction_sets
from wfacli.config import AlignSpec, FreeEnds, Limits, Metric, Mode, Penalties
from wfacli.core import cigar
from wfacli.core.batch import AlignmentBatch, PairBatch, Status
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines.base import Engine
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.execute import execute
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import BITS, CAPPED, DIFFERENCE, GOTOH, INSIDE, LINEAR, READS, STRIPES, TABLE
from wfacli.plan.planner import Planner
from wfacli.plan.traits import free_in_query, free_in_target, is_edit, is_inside

TIMES = int(os.environ.get("WFACLI_FUZZ") or 1)  # multiplier of the number of pairs
# Limits that lead to different checkpoints and recomputed parts.
AMPLE, TIGHT, NARROW = Limits(), Limits(table=3000, checkpoints=1 << 30), Limits(table=1, checkpoints=1 << 22)
ERRORS = (0.0, 0.05, 0.15, 0.4, 0.8)
FREE = (0, 1, 10, 40, 200, 1 << 30)  # free bases of an end
SCHEMES = [
    (Metric.EDIT, None, 0),
    (Metric.EDIT, None, 1),
    (Metric.INDEL, None, 0),
    (Metric.INDEL, None, 3),
    (Metric.LINEAR, (4, 2), 0),
    (Metric.LINEAR, (3, 2), 2),
    (Metric.AFFINE, (4, 6, 2), 0),
    (Metric.AFFINE, (1, 1, 3), 0),
    (Metric.AFFINE, (5, 1, 7), 1),
    (Metric.AFFINE, (4, 6, 2), 2),
    (Metric.AFFINE, (40, 60, 1), 5),
    (Metric.AFFINE2P, (4, 6, 2, 24, 1), 0),
    (Metric.AFFINE2P, (4, 4, 2, 8, 1), 0),
    (Metric.AFFINE2P, (4, 4, 2, 24, 1), 2),
    (Metric.AFFINE2P, (3, 1, 4, 9, 1), 1),
]


def seed_of(*parts: object) -> int:
    """Return a seed that depends only on `parts`; rounds of `make fuzz` pass different ones."""
    return zlib.crc32(repr(parts).encode())


def free_ends(rng_seed: int) -> FreeEnds:
    """Return random numbers of free bases for the four ends; 0 and all bases are among the choices."""
    choices = np.random.default_rng(rng_seed).choice([0, 0, 1, 3, 10, 1 << 30], 4)
    return FreeEnds(*(int(symbols) for symbols in choices))


def spec_for(scheme: tuple, mode: Mode = Mode.GLOBAL, free: FreeEnds | None = None, **rest) -> AlignSpec:
    """Return the spec of an item of SCHEMES."""
    metric, penalties, match = scheme
    ends = FreeEnds.of(mode) if free is None else free
    return AlignSpec(metric, Penalties.of(metric, penalties, match), mode=mode, free=ends, **rest)


def with_estimates(pairs: PairBatch, spec: AlignSpec, gpu: bool = False) -> PairBatch:
    """Return the batch with a planner's estimates, with or without a GPU."""
    return Planner(spec, gpus=int(gpu)).estimated(pairs)


def route(
    pairs: PairBatch, spec: AlignSpec, limits: Limits | None = None, forced: str | None = None, gpu: bool = False
) -> list[Route]:
    """Return the first routes of a batch, based on its estimates."""
    return Planner(spec, limits, forced, int(gpu)).routes(pairs)


def after(
    done: Route, status: np.ndarray, rows: np.ndarray, spec: AlignSpec, pairs: PairBatch, limits: Limits | None = None
) -> list[Route]:
    """Return the next routes of rows that a route answered with the given statuses."""
    return Planner(spec, limits, gpus=1).further(done, status, rows, pairs)


def align_batch(
    engine: Engine, pairs: PairBatch, spec: AlignSpec, limits: Limits, stats: Stats, forced: str | None = None
) -> AlignmentBatch:
    """Align every pair of a batch, based on its estimates."""
    planner = Planner(spec, limits, forced, int(engine.name == "gpu"))
    return execute(engine, pairs, planner.routes(pairs), planner, stats)


def ends_of(spec: AlignSpec) -> Ends:
    """Convert the spec's ends for the oracle."""
    return EXTENSION if spec.mode is Mode.EXTENSION else Ends(*spec.free.as_tuple())


def ways(spec: AlignSpec) -> Iterator[tuple[str | None, Limits]]:
    """Yield the kernels that support a spec, with memory limits; None is dispatch's choice."""
    yield None, AMPLE
    yield from ((TABLE, AMPLE), (LINEAR, TIGHT), (LINEAR, NARROW))
    if not spec.heuristics:
        yield from ((GOTOH, AMPLE), (GOTOH, NARROW))
    if free_in_target(spec):
        yield from ((DIFFERENCE, AMPLE), (DIFFERENCE, TIGHT), (READS, AMPLE))
    if free_in_query(spec):
        yield from ((CAPPED, AMPLE), (DIFFERENCE, AMPLE), (DIFFERENCE, TIGHT), (READS, AMPLE), (READS, TIGHT))
    if is_inside(spec):
        yield from ((INSIDE, AMPLE), (INSIDE, TIGHT))
    if spec.mode is not Mode.GLOBAL or spec.heuristics:
        return
    yield from ((CAPPED, AMPLE), (DIFFERENCE, AMPLE), (DIFFERENCE, TIGHT), (READS, AMPLE), (READS, TIGHT))
    if is_edit(spec):
        yield from ((name, AMPLE) for name in BITS)
        yield from ((STRIPES, AMPLE), (STRIPES, TIGHT))


def aligned(
    pairs: Sequence[Pair], spec: AlignSpec, kernel: str | None, limits: Limits, isa: str = ""
) -> AlignmentBatch:
    """Return the engine's answers; pairs that the kernel cannot align are retried by others."""
    stats = Stats()
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
    engine = CpuEngine(spec, limits, 1, isa, stats)
    try:
        return align_batch(engine, batch, spec, limits, stats, kernel)
    finally:
        engine.close()


def optimum(result: AlignmentBatch, row: int) -> Optimum:
    """Return a row's answer in the oracle's form."""
    assert result.status[row] == Status.OK and not result.cut[row]
    runs = result.cigar[result.cigar_start[row] : result.cigar_start[row + 1]]
    return Optimum(int(result.score[row]), cigar.to_text(runs), tuple(result.span[row].tolist()))


def assert_optimal(
    pairs: Sequence[Pair], spec: AlignSpec, rule: str = "mismatch", isa: str = "", kernels: Sequence[str] = ()
) -> None:
    """Assert that every kernel (or the named ones) returns the canonical alignment of every pair."""
    expected = optima(pairs, spec.penalties, ends_of(spec), rule)
    right: AlignmentBatch | None = None
    for kernel, limits in ways(spec):
        if kernels and kernel not in kernels:
            continue
        result = aligned(pairs, spec, kernel, limits, isa)
        if right and same(result, right):  # compare columns: checking each row takes longer than aligning it
            continue
        right = result
        for row, (pair, best) in enumerate(zip(pairs, expected, strict=True)):
            if (found := optimum(result, row)) != best:
                raise AssertionError(f"{kernel} {limits} {isa} {spec} on {pair}: {found}, not {best}")


def assert_as_all_cells(pairs: Sequence[Pair], spec: AlignSpec, kernel: str) -> None:
    """Assert that a kernel aligns pairs as the kernel of all cells does, on every instruction set."""
    wanted = aligned(pairs, spec, GOTOH, AMPLE)
    for isa in instruction_sets():
        found = aligned(pairs, spec, kernel, AMPLE, isa)
        for column in ("status", "score", "span", "cigar", "cigar_start"):
            assert np.array_equal(getattr(found, column), getattr(wanted, column)), (isa, column)


def same(one: AlignmentBatch, other: AlignmentBatch) -> bool:
    """Return whether two results agree in all columns that optimum() reads."""
    columns = ("status", "cut", "score", "span", "cigar", "cigar_start")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)


def mixed_pairs(seed: int, count: int, longest: int, alphabet: bytes) -> list[Pair]:
    """Return pairs of all kinds and error rates, including three with empty sequences."""
    pairs = pairgen.random_pairs(seed, count, longest, alphabet)
    return [*pairs, (b"", b""), (b"", pairs[0][1] or b"A"), (pairs[0][0] or b"C", b"")]

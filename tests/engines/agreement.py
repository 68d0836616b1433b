"""Pairs through every kernel that serves a spec, against the oracle."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from tests import pairgen
from tests.oracle_spans import EXTENSION, Ends, Optimum, optima
from tests.oracles import Pair
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

TIMES = int(os.environ.get("WFACLI_FUZZ") or 1)  # as many pairs
# Each pair of bounds makes kernels keep other checkpoints and compute other pieces again.
AMPLE, TIGHT, NARROW = Limits(), Limits(table=3000, checkpoints=1 << 30), Limits(table=1, checkpoints=1 << 22)
ERRORS = (0.0, 0.05, 0.15, 0.4, 0.8)
FREE = (0, 1, 10, 40, 200, 1 << 30)  # letters of an end
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
    """Of its own for each test, and the same in each run; another one in each round of `make fuzz`."""
    return zlib.crc32(repr(parts).encode())


def free_ends(rng_seed: int) -> FreeEnds:
    """Some free lengths, among them none and all."""
    choices = np.random.default_rng(rng_seed).choice([0, 0, 1, 3, 10, 1 << 30], 4)
    return FreeEnds(*(int(letters) for letters in choices))


def spec_for(scheme: tuple, mode: Mode = Mode.GLOBAL, free: FreeEnds | None = None, **rest) -> AlignSpec:
    """A spec of one of SCHEMES."""
    metric, penalties, match = scheme
    ends = FreeEnds.of(mode) if free is None else free
    return AlignSpec(metric, Penalties.of(metric, penalties, match), mode=mode, free=ends, **rest)


def with_estimates(pairs: PairBatch, spec: AlignSpec, gpu: bool = False) -> PairBatch:
    """The batch with the estimates that a planner makes, beside a GPU or without one."""
    return Planner(spec, gpus=int(gpu)).estimated(pairs)


def route(
    pairs: PairBatch, spec: AlignSpec, limits: Limits | None = None, forced: str | None = None, gpu: bool = False
) -> list[Route]:
    """First routes by the estimates that a batch has."""
    return Planner(spec, limits, forced, int(gpu)).routes(pairs)


def after(
    done: Route, status: np.ndarray, rows: np.ndarray, spec: AlignSpec, pairs: PairBatch, limits: Limits | None = None
) -> list[Route]:
    """Routes of rows that a route answered with a status."""
    return Planner(spec, limits, gpus=1).further(done, status, rows, pairs)


def align_batch(
    engine: Engine, pairs: PairBatch, spec: AlignSpec, limits: Limits, stats: Stats, forced: str | None = None
) -> AlignmentBatch:
    """Every pair of a batch aligned, by the estimates that it has."""
    planner = Planner(spec, limits, forced, int(engine.name == "gpu"))
    return execute(engine, pairs, planner.routes(pairs), planner, stats)


def ends_of(spec: AlignSpec) -> Ends:
    """The spec's ends as the oracle has them."""
    return EXTENSION if spec.mode is Mode.EXTENSION else Ends(*spec.free.as_tuple())


def ways(spec: AlignSpec) -> Iterator[tuple[str | None, Limits]]:
    """Kernels that serve a spec, with bounds on their memory; None is dispatch's own choice."""
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
    """The engine's answers; pairs that the kernel hands on are aligned by others."""
    stats = Stats()
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
    engine = CpuEngine(spec, limits, 1, isa, stats)
    try:
        return align_batch(engine, batch, spec, limits, stats, kernel)
    finally:
        engine.close()


def optimum(result: AlignmentBatch, row: int) -> Optimum:
    """A row's answer as the oracle puts it."""
    assert result.status[row] == Status.OK and not result.cut[row]
    runs = result.cigar[result.cigar_start[row] : result.cigar_start[row + 1]]
    return Optimum(int(result.score[row]), cigar.to_text(runs), tuple(result.span[row].tolist()))


def assert_optimal(
    pairs: Sequence[Pair], spec: AlignSpec, rule: str = "mismatch", isa: str = "", kernels: Sequence[str] = ()
) -> None:
    """Every kernel (or those named) writes the canonical alignment of every pair."""
    expected = optima(pairs, spec.penalties, ends_of(spec), rule)
    right: AlignmentBatch | None = None
    for kernel, limits in ways(spec):
        if kernels and kernel not in kernels:
            continue
        result = aligned(pairs, spec, kernel, limits, isa)
        if right and same(result, right):  # in columns, as looking at each row takes longer than to align it
            continue
        right = result
        for row, (pair, best) in enumerate(zip(pairs, expected, strict=True)):
            if (found := optimum(result, row)) != best:
                raise AssertionError(f"{kernel} {limits} {isa} {spec} on {pair}: {found}, not {best}")


def same(one: AlignmentBatch, other: AlignmentBatch) -> bool:
    """Whether two answers are the same in all that optimum() looks at."""
    columns = ("status", "cut", "score", "span", "cigar", "cigar_start")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)


def mixed_pairs(seed: int, count: int, longest: int, alphabet: bytes) -> list[Pair]:
    """Pairs of all kinds and errors, a few of them empty on a side."""
    pairs = pairgen.random_pairs(seed, count, longest, alphabet)
    return [*pairs, (b"", b""), (b"", pairs[0][1] or b"A"), (pairs[0][0] or b"C", b"")]

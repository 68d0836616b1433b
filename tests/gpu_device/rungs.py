"""Compare every GPU kernel with the CPU engine, on pairs at the limit of its reach."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tests.engines.agreement import align_batch, with_estimates
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.batch import PairBatch, PartialResult, Status
from wfacli.core.costs import NO_BOUND
from wfacli.core.route import GPU_PREFIX, Route, on_gpu
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.gpu import GpuEngine
from wfacli.gpu.kernels import wfa
from wfacli.gpu.kernels.launch_plan import plan_of
from wfacli.gpu.kernels.plans import Shape
from wfacli.io.read.memory import pairs_of
from wfacli.plan import gpu_kernels
from wfacli.plan.kernels import candidates
from wfacli.plan.traits import CostTraits

from .inputs import LONGEST_GAP, Pair, at_distance, gap_cost, length_for, mixed, symbols

SEED = 72
LONGEST = 200_000
EDGES = 2  # of each kind
SCHEMES = {
    "edit": (Metric.EDIT, None),
    "linear": (Metric.LINEAR, (4, 2)),
    "affine": (Metric.AFFINE, (4, 6, 2)),
    "affine2p": (Metric.AFFINE2P, (4, 6, 2, 24, 1)),
    "affine2p-low": (Metric.AFFINE2P, (4, 4, 2, 8, 1)),  # supported by the widest groups of tiles
}


def spec_of(scheme: str, score_only: bool) -> AlignSpec:
    """Return the global specification of one of SCHEMES."""
    metric, values = SCHEMES[scheme]
    return AlignSpec(metric, Penalties.of(metric, values), score_only=score_only)


def kernels_of(spec: AlignSpec) -> list[str]:
    """Return the GPU kernels for a spec."""
    return [name for name in candidates(spec, gpu=True) if on_gpu(name)]


def batch_of(pairs: list[Pair]) -> PairBatch:
    return pairs_of([q for q, _ in pairs], [t for _, t in pairs])


def reach(kernel: str, lengths: np.ndarray, spec: AlignSpec) -> np.ndarray:
    """Return the cost (f64[n], in units) below which pairs are certain to be aligned.

    `lengths` (i32[n, 2]) is all that is known of the pairs. A wavefront stops at the maximum cost of its plan.
    """
    mismatch, gaps = units_of(spec)
    q_len, t_len = np.ascontiguousarray(lengths.T.astype(np.int32))
    pairs = gpu_kernels.PairCosts(q_len, t_len, np.zeros(len(lengths)), mismatch, gaps)
    shape = Shape(len(lengths), int(lengths.max()), mismatch, gaps, NO_BOUND, path=not spec.score_only)
    return np.minimum(gpu_kernels.KERNELS[kernel].reach(pairs), plan_of(kernel, shape).max_cost + 1.0)


@functools.cache
def units_of(spec: AlignSpec) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return mismatch and gaps, in units."""
    costs = CostTraits.of(spec)
    return costs.mismatch, costs.gaps


def lengths_of(pairs: list[Pair]) -> np.ndarray:
    return np.array([[len(side) for side in pair] for pair in pairs], np.int32).reshape(-1, 2)


@dataclass(frozen=True)
class Edge:
    """A pair of known cost (in units), and its difference from the maximum that is certainly aligned."""

    pair: Pair
    cost: int
    beyond: int


def longest_of(kernel: str) -> int:
    """Return the maximum sequence length of a kernel, up to LONGEST."""
    variant = wfa.VARIANTS.get(kernel.removeprefix(GPU_PREFIX))
    return min(LONGEST, variant.longest if variant else LONGEST)


def edges(kernel: str, spec: AlignSpec, longest: int = LONGEST) -> Iterator[Edge]:
    """Yield pairs that cost up to two less than a kernel's reach, exactly its reach, and up to two more.

    Pairs that would be too long are left out.
    """
    rng = np.random.default_rng(SEED)
    for beyond in (-2, -1, 0, 1, 2):  # with some costs, only every other sum is possible
        found = (_edge(rng, kernel, spec, beyond, gap, min(longest, longest_of(kernel))) for gap in range(LONGEST_GAP))
        yield from itertools.islice((edge for edge in found if edge is not None), EDGES)


def _edge(rng: np.random.Generator, kernel: str, spec: AlignSpec, beyond: int, gap: int, longest: int) -> Edge | None:
    """Return an edge with a gap of this length, if mismatches can make up the rest of its cost."""
    mismatch, gaps = units_of(spec)
    lengths = (longest, longest - gap)
    for _ in range(4):  # the reach depends on the lengths, which depend on the cost
        last = _last(kernel, lengths, spec)
        mismatches, rest = divmod(last + beyond - gap_cost(gaps, gap), mismatch)
        if rest or mismatches < 0:
            return None
        length = length_for(mismatches, gap, longest)
        if length is None:
            return None
        lengths = (length - gap, length) if gap % 2 == 0 else (length, length - gap)
        if last == _last(kernel, lengths, spec):
            return Edge(at_distance(rng, mismatches, gap, length, deleted=gap % 2 == 0), last + beyond, beyond)
    return None


@functools.cache
def _last(kernel: str, lengths: tuple[int, int], spec: AlignSpec) -> int:
    """Return the maximum cost that is certainly aligned."""
    return int(min(reach(kernel, np.array([lengths]), spec)[0], 1e9)) - 1


def others(longest: int, seed: int = SEED) -> list[Pair]:
    """Return pairs that fill warps: short ones, some up to `longest`, empty ones, and one that is all gap."""
    rng = np.random.default_rng(seed)
    lengths = [*range(0, 70, 3), *rng.integers(0, longest, 60).tolist()]
    some = symbols(rng, 40).tobytes()
    return [*mixed(seed, lengths, (0, 0.01, 0.05, 0.3)), (b"", b""), (some, b""), (b"", some)]


def of_cpu(batch: PairBatch, spec: AlignSpec, threads: int) -> list[tuple[int, bytes]]:
    """Return score and operations of every pair."""
    stats, cpu = Stats(), CpuEngine(spec, Limits(), threads)
    try:
        found = align_batch(cpu, with_estimates(batch, spec), spec, Limits(), stats)
    finally:
        cpu.close()
    assert (found.status == Status.OK).all()
    return [answer(found, row) for row in range(len(batch))]


def answer(found: PartialResult, at: int) -> tuple[int, bytes]:
    """Return score and operations."""
    runs = found.cigar[found.cigar_start[at] : found.cigar_start[at + 1]]
    return int(found.score[at]), runs.tobytes()


@dataclass
class Count:
    """Number of pairs that a kernel aligned, and that it did not."""

    aligned: int = 0
    handed_on: int = 0
    edges: int = 0

    def __str__(self) -> str:
        return f"{self.aligned} aligned, {self.handed_on} handed on, {self.edges} at the edge"


def check_rung(
    engine: GpuEngine, kernel: str, spec: AlignSpec, more: list[Pair], threads: int, longest: int = LONGEST
) -> Count:
    """Assert that a kernel's answers are the CPU's, and that it aligns all pairs within its reach."""
    at_edge = list(edges(kernel, spec, longest))
    pairs = [*(edge.pair for edge in at_edge), *more]
    batch = batch_of(pairs)
    wanted = of_cpu(batch, spec, threads)
    unit = CostTraits.of(spec).unit
    for number, edge in enumerate(at_edge):
        assert -wanted[number][0] == edge.cost * unit, f"seed {SEED}: this pair was made to cost {edge.cost * unit}"
    found = engine.collect(engine.submit(batch, Route(np.arange(len(batch), dtype=np.int32), kernel)))
    certain = reach(kernel, lengths_of(pairs), spec)
    count = Count(edges=len(at_edge))
    for at, row in enumerate(found.rows.tolist()):
        status, cost = Status(int(found.status[at])), -wanted[row][0] // unit
        what = f"seed {SEED} {kernel} {spec} pair {row} of {len(pairs[row][0])} and {len(pairs[row][1])}, cost {cost}"
        if status == Status.OK:
            assert answer(found, at) == wanted[row], what
            count.aligned += 1
        else:
            allowed = {Status.SCORE_LIMIT} | ({Status.MEMORY_LIMIT} if kernel.endswith("-blocks") else set())
            assert status in allowed, f"{what}: {status!r}"
            assert cost >= certain[row] or status == Status.MEMORY_LIMIT, f"{what}: not aligned"
            count.handed_on += 1
    return count


@functools.cache
def by_scheme() -> dict[tuple[str, bool], list[str]]:
    """Return the kernels of every scheme, with and without paths."""
    return {(scheme, only): kernels_of(spec_of(scheme, only)) for scheme in SCHEMES for only in (False, True)}


def check_all(
    open_engine: Callable[[AlignSpec], GpuEngine], scheme: str, score_only: bool, threads: int
) -> Iterator[tuple[str, Count]]:
    """Check every kernel of a scheme on one engine."""
    spec = spec_of(scheme, score_only)
    engine = open_engine(spec)
    try:
        for kernel in by_scheme()[scheme, score_only]:
            yield kernel, check_rung(engine, kernel, spec, others(2000), threads)
    finally:
        engine.close()

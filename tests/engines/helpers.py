"""Run pairs through kernels and engines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from tests.oracles import EDIT, Costs, Pair
from wfacli.config import AlignSpec, Ambiguous, Limits, Metric, Penalties
from wfacli.core import cigar
from wfacli.core.batch import AlignmentBatch, PartialResult, Status
from wfacli.core.route import Route
from wfacli.engines.cpu import CpuEngine
from wfacli.io.read.memory import pairs_of

AMPLE = Limits()
Answer = tuple[int, str]  # cost, CIGAR


def spec_of(metric: str, costs: Costs, rule: str = "mismatch") -> AlignSpec:
    """Return the specification that the command line would build."""
    penalties = Penalties.of(Metric(metric), None if metric == "edit" else costs)
    return AlignSpec(Metric(metric), penalties, Ambiguous(rule))


def cost_spec(costs: Costs) -> AlignSpec:
    """Return the specification of a metric with these costs: edit distance for EDIT."""
    return spec_of("edit" if costs == EDIT else "affine", costs)


@contextlib.contextmanager
def engine(spec: AlignSpec, limits: Limits = AMPLE, threads: int = 1, isa: str = "") -> Iterator[CpuEngine]:
    """Create an engine, and close it at the end."""
    cpu = CpuEngine(spec, limits, threads, isa)
    try:
        yield cpu
    finally:
        cpu.close()


def through(cpu: CpuEngine, pairs: Sequence[Pair], kernel: str, rows: Sequence[int] | None = None) -> PartialResult:
    """Align the given rows of pairs (default: all) with one kernel."""
    batch = pairs_of(*zip(*pairs, strict=True))
    chosen = np.arange(len(pairs)) if rows is None else np.array(rows)
    return cpu.collect(cpu.submit(batch, Route(chosen.astype(np.int32), kernel)))


def answers(result: PartialResult | AlignmentBatch) -> list[Answer | Status]:
    """Return each row's (cost, CIGAR), or its status if it has none."""
    found: list[Answer | Status] = []
    for row, status in enumerate(result.status.tolist()):
        runs = result.cigar[result.cigar_start[row] : result.cigar_start[row + 1]]
        score = int(result.score[row])
        if status == Status.OK:
            found.append((-score, cigar.to_text(runs)))
        else:
            assert score == 0 and len(runs) == 0 and not result.span[row].any()
            found.append(Status(status))
    return found

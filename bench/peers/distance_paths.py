"""The path of one long pair on a GPU, after its distance; the only module here that uses its interface."""

from __future__ import annotations

import time

import numpy as np

from wfacli._native import check_batch
from wfacli.config import AlignSpec, Ambiguous, Limits, Metric, Penalties
from wfacli.core.batch import U32, AlignmentBatch
from wfacli.engines.cpu import native_options
from wfacli.gpu.runtime.driver import Driver
from wfacli.plan.kernels import TABLE
from wfacli.solve.gpu.path import GpuPath, find_path, forecast

from .distance_ours import Measured, NoAnswer, Rules
from .distance_work import Work

NAME = "gpu-path"
_SPEC = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT), Ambiguous.LITERAL)


def run(driver: Driver, work: Work, distance: int, rules: Rules) -> Measured:
    """Run all repeats as `wfacli distance --path` does; the first does not count if there are others.

    Each path is replayed over the bases, and must cost the distance.

    Raises:
        NoAnswer: no algorithm on a GPU supports this pair, it would take too long, or a path is wrong.
        DeviceError: the GPU failed.
    """
    expected, way = forecast(driver.gpu, work.pair, distance)
    if not way:
        raise NoAnswer("no way of the GPU")
    if expected > rules.limit:
        raise NoAnswer(f"about {expected:,.0f} s")
    found = Measured(distance=distance)
    first, path = _once(driver, work, distance, way)
    found.facts = {"way": path.method, "rounds": path.rounds, "operations": len(path.cigar)}
    if first > rules.patience:
        found.seconds.append(first)
    else:
        found.facts["first_seconds"] = round(first, 6)
    while not found.seconds or rules.repeated(found.seconds):
        found.seconds.append(_once(driver, work, distance, way)[0])
    return found


def _once(driver: Driver, work: Work, distance: int, way: str) -> tuple[float, GpuPath]:
    """Return seconds, and a path that was checked."""
    begun = time.perf_counter()
    path = find_path(driver, work.pair, distance, way, lambda: None)
    seconds = time.perf_counter() - begun
    if fault := fault_of(work, path.cigar, distance):
        raise NoAnswer(f"the path is wrong: {fault}")
    return seconds, path


def fault_of(work: Work, cigar: U32, distance: int) -> str:
    """Return what is wrong with a path of a pair with this distance, "" if nothing is."""
    zero = np.zeros(1, np.uint8)
    alignments = AlignmentBatch(
        ordinal=0,
        status=zero,
        cut=zero,
        score=np.array([-distance], np.int32),
        span=np.array([[0, work.lengths[0], 0, work.lengths[1]]], np.int32),
        cigar=cigar,
        cigar_start=np.array([0, len(cigar)], np.int64),
        origin=zero,
        kernels=(NAME,),
    )
    fault = check_batch(work.batch, alignments, native_options(_SPEC, Limits(), TABLE))
    return fault[1] if fault else ""

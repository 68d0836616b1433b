"""Why pairs went to their first kernels: the expected times that the choice compared. Pure functions of columns."""

from __future__ import annotations

import numpy as np

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import PairBatch
from ..core.route import Route
from .dispatch import expected_us
from .forecast import ExpectedTime, Forecast, forecaster
from .kernels import candidates
from .traits import free_in_target


def reasons(
    pairs: PairBatch, spec: AlignSpec, limits: Limits, routes: list[Route], gpu: bool = False
) -> dict[tuple[str, str], ExpectedTime]:
    """Return, for each route's kernel and each that it was compared with, the expected time of the same pairs.

    A time includes what a kernel takes until it gives pairs up and what the best kernel then takes for them. It is
    that of the sample, if the kernel was chosen by one. A kernel that a rule chose, without expected times, stands
    alone.

    Args:
        pairs: the batch, with the estimates that the routes were chosen by.
        spec: what to compute.
        limits: bounds on memory.
        routes: first routes of the batch, not of a forced kernel.
        gpu: whether there is a GPU.
    """
    found: dict[tuple[str, str], ExpectedTime] = {}
    for part in routes:
        for name, time in _compared(pairs, spec, limits, part, gpu).items():
            key = part.kernel, name
            found[key] = found[key] + time if key in found else time
    return found


def _compared(pairs: PairBatch, spec: AlignSpec, limits: Limits, part: Route, gpu: bool) -> dict[str, ExpectedTime]:
    rows = part.rows if part.sample is None else part.sample
    if part.compared:
        return {name: ExpectedTime(len(part.rows), len(part.rows) * mean) for name, mean in part.compared}
    names = candidates(spec)
    if part.kernel not in names or not len(rows):
        times = Forecast(pairs.subset(part.rows), spec, limits, gpu).microseconds(part.kernel)
        able = np.isfinite(times)
        return {part.kernel: ExpectedTime(int(able.sum()), float(times[able].sum()))}
    if free_in_target(spec):  # here no kernel is tried that does not support all of them
        totals = expected_us(pairs.subset(rows), spec, limits, gpu).sum(axis=1)
    else:
        totals = forecaster(spec, limits, names, tuning.THREADS_WITH_GPU if gpu else 1).totals(pairs, rows)
    return {name: ExpectedTime(len(rows), float(total)) for name, total in zip(names, totals, strict=True)}

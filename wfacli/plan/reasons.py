"""Why pairs went to their first kernels: the expected times that the choice compared. Pure functions of columns."""

from __future__ import annotations

import numpy as np

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, PairBatch
from ..core.route import Route
from .dispatch import candidates, promised
from .forecast import F64, Forecast, Promise, forecaster, free_in_target


def reasons(
    pairs: PairBatch, spec: AlignSpec, limits: Limits, routes: list[Route], gpu: bool = False
) -> dict[tuple[str, str], Promise]:
    """Return, for each route's kernel and each that it was compared with, the expected time of the same pairs.

    A time includes what a kernel takes until it gives pairs up and what the best kernel then takes for them. It is of
    the pairs that were looked at: where some spoke for all, of these alone. A kernel that a rule chose, without a look
    at expected times, stands alone.

    Args:
        pairs: the batch, with the estimates that the routes were chosen by.
        spec: what to compute.
        limits: bounds on memory.
        routes: first routes of the batch, not of a forced kernel.
        gpu: whether there is a GPU.
    """
    found: dict[tuple[str, str], Promise] = {}
    for way in routes:
        for name, promise in _compared(pairs, spec, limits, way, gpu).items():
            key = way.kernel, name
            found[key] = found[key] + promise if key in found else promise
    return found


def _compared(pairs: PairBatch, spec: AlignSpec, limits: Limits, way: Route, gpu: bool) -> dict[str, Promise]:
    rows = way.rows if way.spoke is None else way.spoke
    if way.jobs:
        return {name: Promise(len(way.rows), len(way.rows) * mean) for name, mean in way.jobs}
    names = candidates(spec)
    if way.kernel not in names or not len(rows):
        times = Forecast(pairs.part(way.rows), spec, limits, gpu).microseconds(way.kernel)
        able = np.isfinite(times)
        return {way.kernel: Promise(int(able.sum()), float(times[able].sum()))}
    totals = _totals(pairs, rows, spec, limits, names, gpu)
    return {name: Promise(len(rows), float(total)) for name, total in zip(names, totals, strict=True)}


def _totals(pairs: PairBatch, rows: I32, spec: AlignSpec, limits: Limits, names: tuple[str, ...], gpu: bool) -> F64:
    """Return the microseconds (f64[names]) of some rows with each kernel, as dispatch.route compares them."""
    if free_in_target(spec):  # of these no kernel is tried that cannot align them all
        return np.asarray(promised(pairs.part(rows), spec, limits, gpu).sum(axis=1))
    return forecaster(spec, limits, names, tuning.THREADS_BESIDE_A_GPU if gpu else 1).totals(pairs, rows)

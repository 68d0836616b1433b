"""Which kernel a pair goes to, and where it goes when that kernel gives up. Pure functions of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .batch import I32, U8, PairBatch, Status
from .config import AlignSpec, Limits, Metric

TABLE = "wavefront-table"  # every row of the wavefront in memory
LINEAR = "wavefront-linear"  # checkpoints, and pieces computed again
CPU_KERNELS = (TABLE, LINEAR)


@dataclass(frozen=True)
class Route:
    """Rows of a batch (i32[m]) and the kernel that they go to."""

    rows: I32
    kernel: str


def route(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> list[Route]:
    """First routes of a batch: together they hold every row once.

    A pair whose estimate alone says that its rows cannot fit the table skips that try.
    """
    most = pairs.est_edits.max(initial=0)
    if _least_table_bytes(np.array([most]), spec)[0] <= limits.table:
        return [Route(np.arange(len(pairs), dtype=np.int32), TABLE)] if len(pairs) else []
    hopeless = _least_table_bytes(pairs.est_edits, spec) > limits.table
    routes = []
    for kernel, mask in ((TABLE, ~hopeless), (LINEAR, hopeless)):
        rows = np.flatnonzero(mask).astype(np.int32)
        if len(rows):
            routes.append(Route(rows, kernel))
    return routes


def next_rung(kernel: str, status: U8, rows: I32) -> Route | None:
    """Where rows (i32[m]) that a kernel answered with status (u8[m]) go next, if any has somewhere to go."""
    if kernel != TABLE:
        return None
    failed = rows[status == Status.MEMORY_LIMIT]
    return Route(failed, LINEAR) if len(failed) else None


def _least_table_bytes(gap: I32, spec: AlignSpec) -> npt.NDArray[np.float64]:
    """Bytes, from below, of a table whose last row holds a diagonal `gap` (i32[n]) away from the first.

    A row reaches one diagonal further for every `extend` of score, so the diagonals on that side alone add up to
    extend * gap^2 / 2, with one offset of 4 bytes a component.
    """
    if spec.metric is Metric.EDIT:
        extend, components = 1, 1
    else:
        p = spec.penalties
        extend, components = p.extend // np.gcd.reduce(p.as_tuple()), 3
    return np.asarray(4.0 * components * extend * gap.astype(np.float64) ** 2 / 2)

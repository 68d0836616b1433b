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


def _least_table_bytes(edits: I32, spec: AlignSpec) -> npt.NDArray[np.float64]:
    """Bytes that the rows up to the least score for so many edits take, from below."""
    least = edits.astype(np.float64)
    if spec.metric is Metric.EDIT:
        return 4.0 * least * least  # one offset a diagonal; 2s + 1 diagonals at score s
    p = spec.penalties
    unit = np.gcd.reduce(p.as_tuple())
    scores = (p.open + least * min(p.mismatch, p.extend)) / unit
    return np.asarray(12.0 * scores * scores * unit / p.extend)

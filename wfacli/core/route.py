"""Routes: rows of a batch with the kernel that aligns them."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import I32


@dataclass(frozen=True)
class Route:
    """Rows of a batch (i32[m]) and the kernel that they go to.

    Attributes:
        rows: which.
        kernel: its name.
        cut: what it is cut to; see gpu.plans.Shape.
        again: whether another kernel of the GPU has failed them; of LINEAR, whether the table has.
        bands: i32[m], the diagonals of each pair's own band, where a kernel takes any.
        spoke: i32[k], the rows by whose expected times it was chosen; None: its own; empty: a rule chose it.
        jobs: kernels of the GPU that were compared for it, and microseconds a pair with each; see jobs.Job.
    """

    rows: I32
    kernel: str
    cut: int = 0
    again: bool = False
    bands: I32 | None = None
    spoke: I32 | None = None
    jobs: tuple[tuple[str, float], ...] = ()

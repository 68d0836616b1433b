"""Routes: rows of a batch with the kernel that aligns them."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import I32


@dataclass(frozen=True)
class Route:
    """Rows of a batch and the kernel that aligns them.

    Attributes:
        rows: i32[m].
        kernel: its name.
        cut: the band width, or the cost, that the kernel is limited to; see Shape in gpu/kernels/plans.py.
        again: True if another GPU kernel has failed the rows; for LINEAR, if the table has.
        bands: i32[m], the width of each pair's own band, for a kernel that supports such bands.
        sample: i32[k], the rows by whose expected times the kernel was chosen; None: its own; empty: a rule chose it.
        compared: GPU kernels that were compared for it, and microseconds per pair with each; see plan/assignment.py.
    """

    rows: I32
    kernel: str
    cut: int = 0
    again: bool = False
    bands: I32 | None = None
    sample: I32 | None = None
    compared: tuple[tuple[str, float], ...] = ()

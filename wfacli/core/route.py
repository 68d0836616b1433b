"""Routes: rows of a batch and the kernel that aligns them."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import I32

GPU_PREFIX = "gpu-"  # of kernels of the GPU


@dataclass(frozen=True)
class Route:
    """Rows of a batch and the kernel that aligns them.

    Attributes:
        rows: i32[m], rows of the batch.
        kernel: name of the kernel.
        cut: limit that the GPU kernel is sized for: diagonals of a band, or maximum cost of a wavefront; 0: derived
            from the likely cost. See gpu.kernels.plans.Shape.
        again: True if another GPU kernel has failed on these rows; with kernel LINEAR, if TABLE has.
        bands: i32[m], band width of each pair in diagonals, for kernels that accept one.
        sample: i32[k], the rows whose expected times chose the kernel; None: the route's own; empty: a fixed rule.
        compared: the GPU kernels compared for the route, with the expected microseconds a pair of each.
    """

    rows: I32
    kernel: str
    cut: int = 0
    again: bool = False
    bands: I32 | None = None
    sample: I32 | None = None
    compared: tuple[tuple[str, float], ...] = ()


def on_gpu(kernel: str) -> bool:
    """Return True for a kernel of the GPU."""
    return kernel.startswith(GPU_PREFIX)

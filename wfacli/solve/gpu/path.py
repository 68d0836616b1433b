"""Alignment of a long pair whose distance is known, on a GPU, by the faster of two methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ...core.batch import U32
from ...gpu.kernels import long_path as sizes
from ...gpu.kernels.properties import Gpu
from ...gpu.runtime.driver import Driver
from ..base import Pair
from . import path_fronts as gpu_path_fronts
from . import path_stripes as gpu_path_stripes
from .segments import joined

_MEMORY_SHARE = 0.7  # usable fraction of the free GPU memory


class _Path(Protocol):
    rounds: int

    def find(self, poll: Callable[[], None]) -> list[U32]: ...

    def close(self) -> None: ...


class _Make(Protocol):
    def __call__(self, driver: Driver, pair: Pair, distance: int, memory: int) -> _Path: ...


METHODS: Mapping[str, _Make] = {
    gpu_path_stripes.NAME: gpu_path_stripes.StripesPath,
    gpu_path_fronts.NAME: gpu_path_fronts.FrontsPath,
}


@dataclass(frozen=True)
class GpuPath:
    """The path of a pair.

    Attributes:
        cigar: u32[C], BAM's packing.
        method: method that computed it, a key of WAYS.
        rounds: number of launches that traced its segments.
    """

    cigar: U32
    method: str
    rounds: int


def forecast(gpu: Gpu, pair: Pair, distance: int) -> tuple[float, str]:
    """Return (expected seconds, name) of the faster method; (infinity, "") if neither supports the pair."""
    lengths = len(pair.query), len(pair.target)
    found = sizes.seconds(gpu.multiprocessors, lengths, distance, pair.plain)
    return min(((seconds, f"gpu-{method}") for method, seconds in found.items()), default=(math.inf, ""))


def find_path(driver: Driver, pair: Pair, distance: int, method: str, poll: Callable[[], None]) -> GpuPath:
    """Return the canonical path of a pair of u8 symbols; the distance must be above 0, and no sequence empty.

    Args:
        driver: an open GPU.
        pair: the sequences.
        distance: their distance.
        method: key of WAYS.
        poll: called from time to time; may raise to cancel.

    Raises:
        DeviceError: the GPU failed, or has too little memory.
    """
    path = METHODS[method](driver, pair, distance, int(_MEMORY_SHARE * driver.free_memory()))
    try:
        return GpuPath(joined(path.find(poll)), method, path.rounds)
    finally:
        path.close()

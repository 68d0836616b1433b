"""The alignment of a long pair whose distance is known, on a GPU: by whichever way is sooner."""

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

_SHARE = 0.7  # of the GPU's free memory


class _Path(Protocol):
    rounds: int

    def find(self, look: Callable[[], None]) -> list[U32]: ...

    def close(self) -> None: ...


class _Make(Protocol):
    def __call__(self, driver: Driver, pair: Pair, distance: int, memory: int) -> _Path: ...


WAYS: Mapping[str, _Make] = {
    gpu_path_stripes.NAME: gpu_path_stripes.StripesPath,
    gpu_path_fronts.NAME: gpu_path_fronts.FrontsPath,
}


@dataclass(frozen=True)
class GpuPath:
    """A path.

    Attributes:
        cigar: u32[C], BAM's packing.
        way: a name of WAYS.
        rounds: launches that walked through its segments.
    """

    cigar: U32
    way: str
    rounds: int


def forecast(gpu: Gpu, pair: Pair, distance: int) -> tuple[float, str]:
    """Seconds, and the way that takes them."""
    lengths = len(pair.query), len(pair.target)
    found = sizes.seconds(gpu.multiprocessors, lengths, distance, pair.plain)
    return min(((seconds, f"gpu-{way}") for way, seconds in found.items()), default=(math.inf, ""))


def find_path(driver: Driver, pair: Pair, distance: int, way: str, look: Callable[[], None]) -> GpuPath:
    """The canonical path of a pair with letters of a byte, and some edits, neither sequence being empty.

    `look` is called now and then and may raise.

    Raises:
        DeviceError: the GPU failed, or has not the memory.
    """
    path = WAYS[way](driver, pair, distance, int(_SHARE * driver.free_memory()))
    try:
        return GpuPath(joined(path.find(look)), way, path.rounds)
    finally:
        path.close()

"""GPU algorithms for one pair, with models of their time."""

from __future__ import annotations

import math

from ...config import EngineName
from ...core import tuning
from ...errors import DeviceError
from ...gpu.runtime.driver import Driver
from ..base import Pair, Solver
from ..gpu import bits as gpu_bits
from ..gpu import wavefront as gpu_wavefront
from . import handover
from .algorithm import Algorithm, Means


def _driver(means: Means) -> Driver:
    if means.gpu is None:
        raise DeviceError("there is no GPU")
    return means.gpu.driver()


def _wavefront(pair: Pair, most: int | None, means: Means) -> Solver:
    return gpu_wavefront.GpuWavefront(_driver(means), pair, most)


def _bits(pair: Pair, most: int | None, means: Means) -> Solver:
    likely = None if means.likely is None else int(tuning.GPU_BITS_MARGIN * means.likely)
    return gpu_bits.GpuBits(_driver(means), pair, most, likely)


def _wavefront_seconds(pair: Pair, edits: float, means: Means) -> float:
    planes = 32 if pair.query.itemsize > 1 else 2 if pair.plain else 8
    return gpu_wavefront.forecast(_driver(means).gpu, _lengths(pair), int(edits), planes)


def _bits_seconds(pair: Pair, edits: float, means: Means) -> float:
    if pair.query.itemsize > 1:
        return math.inf
    return gpu_bits.forecast(_driver(means).gpu, _lengths(pair), int(tuning.GPU_BITS_MARGIN * edits), pair.plain)


def _lengths(pair: Pair) -> tuple[int, int]:
    return len(pair.query), len(pair.target)


ON_GPU: tuple[Algorithm, ...] = (
    Algorithm(
        "gpu-wavefront",
        "wavefront",
        EngineName.GPU,
        _wavefront,
        _wavefront_seconds,
        slice=0.03,
        on_cpu=handover.wavefront_on_cpu,
    ),
    Algorithm("gpu-bits", "bits", EngineName.GPU, _bits, _bits_seconds, slice=0.5),
)

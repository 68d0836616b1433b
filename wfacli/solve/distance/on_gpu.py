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
from . import state_conversion
from .algorithm import Algorithm, Resources


def _driver(resources: Resources) -> Driver:
    if resources.gpu is None:
        raise DeviceError("there is no GPU")
    return resources.gpu.driver()


def _wavefront(pair: Pair, max_distance: int | None, resources: Resources) -> Solver:
    return gpu_wavefront.GpuWavefront(_driver(resources), pair, max_distance)


def _bits(pair: Pair, max_distance: int | None, resources: Resources) -> Solver:
    expected_edits = (
        None if resources.expected_edits is None else int(tuning.GPU_BITS_MARGIN * resources.expected_edits)
    )
    return gpu_bits.GpuBits(_driver(resources), pair, max_distance, expected_edits)


def _wavefront_seconds(pair: Pair, edits: float, resources: Resources) -> float:
    planes = 32 if pair.query.itemsize > 1 else 2 if pair.plain else 8
    return gpu_wavefront.forecast(_driver(resources).gpu, _lengths(pair), int(edits), planes)


def _bits_seconds(pair: Pair, edits: float, resources: Resources) -> float:
    if pair.query.itemsize > 1:
        return math.inf
    return gpu_bits.forecast(_driver(resources).gpu, _lengths(pair), int(tuning.GPU_BITS_MARGIN * edits), pair.plain)


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
        to_cpu_state=state_conversion.cpu_wavefront_state,
    ),
    Algorithm("gpu-bits", "bits", EngineName.GPU, _bits, _bits_seconds, slice=0.5),
)

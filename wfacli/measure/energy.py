"""Energy consumption of a GPU, read by NVIDIA's management library; optional (pip install nvidia-ml-py)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

GET_NVML = "pip install nvidia-ml-py"
_MIN_SECONDS = 1.0  # the counter is updated every few hundredths of a second
_MAX_RUNS = 1000


class Meter:
    """Energy counter of a GPU."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        """Take the GPU's `handle` in the library `nvml`."""
        self._nvml, self._handle = nvml, handle

    def joules(self) -> float:
        """Return the energy in joules since the driver was loaded."""
        return float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle)) / 1000

    def of(self, run: Callable[[], float], min_seconds: float = _MIN_SECONDS) -> float:
        """Return the mean joules of a run, which returns its seconds; it is repeated as often as the counter needs."""
        begun, seconds, runs = self.joules(), 0.0, 0
        while runs < _MAX_RUNS and (seconds < min_seconds or not runs):
            seconds += run()
            runs += 1
        return (self.joules() - begun) / runs


def meter(environment: Mapping[str, str] = os.environ) -> tuple[Meter | None, str]:
    """Return the meter of the first GPU that CUDA sees; or None, and why there is none."""
    try:
        import pynvml
    except ImportError:
        return None, f"NVML is missing: {GET_NVML}"
    try:
        pynvml.nvmlInit()
        handle = _handle(pynvml, environment)
        if handle is None:
            return (
                None,
                "there are several GPUs: set CUDA_DEVICE_ORDER=PCI_BUS_ID to select one",
            )
        found = Meter(pynvml, handle)
        found.joules()
    except pynvml.NVMLError as problem:
        return None, str(problem)
    return found, ""


def _handle(nvml: Any, environment: Mapping[str, str]) -> Any:
    """Return the NVML handle of CUDA's first GPU, or None: NVML numbers GPUs by bus, CUDA only with PCI_BUS_ID."""
    named = environment.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    if named.startswith("GPU-"):
        return nvml.nvmlDeviceGetHandleByUUID(named)
    several = nvml.nvmlDeviceGetCount() > 1
    if several and environment.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        return None
    return nvml.nvmlDeviceGetHandleByIndex(int(named) if named.isdecimal() and several else 0)

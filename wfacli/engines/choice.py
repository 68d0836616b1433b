"""Which engine a run gets."""

from __future__ import annotations

from ..config import AlignSpec, Config, EngineName, Mode
from ..errors import DeviceError
from ..gpu.cuda_driver import CudaDriver
from ..stats import Stats
from .base import Engine
from .both import BothEngines
from .gpu import GpuEngine


def with_gpu(config: Config, cpu: Engine, stats: Stats) -> Engine:
    """The CPU engine, or where the config asks for one and a card can help, both together.

    Raises:
        DeviceError: the config insists on a GPU, and there is none that works.
    """
    if config.engine is EngineName.CPU or (not serves(config.spec) and config.engine is EngineName.AUTO):
        return cpu
    try:
        gpu = GpuEngine(config.spec, CudaDriver, stats, config.gpu_memory)
    except DeviceError:
        if config.engine is EngineName.GPU:
            cpu.close()
            raise
        return cpu
    return BothEngines(gpu, cpu)


def serves(spec: AlignSpec) -> bool:
    """Whether the GPU's kernels can align anything under a spec: global alignments, every cell of them."""
    return spec.mode is Mode.GLOBAL and not spec.heuristics

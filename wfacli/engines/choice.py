"""Which engine a run gets."""

from __future__ import annotations

from collections.abc import Callable

from ..config import AlignSpec, Config, EngineName
from ..errors import DeviceError
from ..forecast import only_banded, plainly_global
from ..gpu.compiler import Compiler
from ..gpu.cuda_driver import CudaDriver
from ..stats import Stats
from .base import Engine
from .both import BothEngines
from .gpu import GpuEngine


def with_gpu(config: Config, cpu: Engine, stats: Stats, tell: Callable[[str], None] | None = None) -> Engine:
    """The CPU engine, or where the config asks for one and a card can help, both together.

    Args:
        config: what is asked for.
        cpu: closed where an error is raised.
        stats: of the run.
        tell: told what takes a while, in a line; from any thread.

    Raises:
        DeviceError: the config insists on a GPU, and there is none that works.
    """
    if config.engine is EngineName.CPU or (not serves(config.spec) and config.engine is EngineName.AUTO):
        return cpu

    def compiled(row: str, arch: str, seconds: float | None) -> None:
        if tell and seconds is not None:
            tell(f"compiled the kernel {row} for {arch} in {seconds:.1f} s; it is kept for the next time")

    def opened() -> CudaDriver:
        return CudaDriver(compiler=Compiler(progress=compiled))

    try:
        gpu = GpuEngine(config.spec, opened, stats, config.gpu_memory)
    except DeviceError:
        if config.engine is EngineName.GPU:
            cpu.close()
            raise
        return cpu
    return BothEngines(gpu, cpu, None if config.kernel else gpu.long_pairs())


def serves(spec: AlignSpec) -> bool:
    """Whether the GPU's kernels can align anything under a spec: global alignments, all cells or a band of them."""
    return plainly_global(spec) or only_banded(spec)

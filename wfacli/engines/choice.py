"""The choice of a run's engine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..config import AlignSpec, Config, EngineName
from ..core.stats import Stats
from ..errors import DeviceError, UsageError
from ..gpu.compile.compiler import Compiler
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.opening import count_devices, open_driver
from ..gpu.runtime.pinned_pool import PinnedPool
from ..plan.traits import only_banded, plainly_global
from ..scoring.spec import ExtendSpec
from .base import Engine
from .extend_gpu import ExtendGpuEngine
from .gpu import GpuEngine
from .hybrid import HybridEngine
from .multi_gpu import MultiGpuEngine
from .trial import band_agrees


def with_gpu(
    config: Config,
    cpu: Engine,
    stats: Stats,
    tell: Callable[[str], None] | None = None,
    pool: PinnedPool | None = None,
) -> Engine:
    """Return the engine of a run: the CPU engine, or a hybrid of GPU and CPU if a GPU is wanted and supports the spec.

    Args:
        config: the run's configuration.
        cpu: the CPU engine; closed if an error is raised.
        stats: counters of the run.
        tell: receives warnings and notes about slow steps, one line each, from any thread.
        pool: pool from which the reader has already leased memory for bases; only with config.devices named.

    Raises:
        DeviceError: the config requires a GPU, and none works, or the GPU's banded kernel disagrees with the CPU's.
    """
    if config.engine is EngineName.CPU or (not serves(config.spec) and config.engine is EngineName.AUTO):
        return cpu

    try:
        gpu = _on_gpus(config, stats, tell, pool)
    except DeviceError as problem:
        if config.engine is EngineName.GPU:
            cpu.close()
            raise
        if tell and config.devices != (0,):  # the user named these GPUs
            tell(f"warning: the CPU aligns everything: {problem}")
        return cpu
    if only_banded(config.spec) and not band_agrees(gpu, cpu, config.spec):
        gpu.close()
        fault = "the GPU's kernel for --band gives other results than the CPU, most likely because of a defect of nvcc"
        if config.engine is EngineName.GPU:
            cpu.close()
            raise DeviceError(f"{fault}: leave out --engine gpu, and report the output of wfacli doctor")
        if tell:
            tell(f"warning: the CPU aligns everything: {fault}")
        return cpu
    gpus = len(gpu.engines) if isinstance(gpu, MultiGpuEngine) else 1
    return HybridEngine(gpu, cpu, None if config.kernel else gpu.long_pairs(), gpus)


def _on_gpus(
    config: Config, stats: Stats, tell: Callable[[str], None] | None, pool: PinnedPool | None
) -> GpuEngine | MultiGpuEngine:
    """Open the GPUs that the config names, or all that work if it names none.

    Raises:
        DeviceError: a named GPU does not work, or none does.
    """
    devices = tuple(range(count_devices())) if config.devices is None else config.devices
    devices = devices or (0,)  # without GPUs, opening the first one raises the reason
    with ThreadPoolExecutor(len(devices)) as workers:
        opening = [
            workers.submit(GpuEngine, config.spec, _opening(tell, index), stats, config.gpu_memory, own)
            # All GPUs take bases from the pool of the first.
            for index, own in zip(devices, [pool] + [None] * (len(devices) - 1), strict=True)
        ]
    problems = {index: problem for index, one in zip(devices, opening, strict=True) if (problem := one.exception())}
    engines = [(index, one.result()) for index, one in zip(devices, opening, strict=True) if not one.exception()]
    serious = [p for p in problems.values() if not isinstance(p, DeviceError)]
    if problems and (serious or not engines or config.devices is not None):
        for _, engine in engines:
            engine.close()
        raise (serious or list(problems.values()))[0]
    for index, problem in problems.items():
        if tell:
            tell(f"warning: GPU {index} is left out: {problem}")
    return engines[0][1] if len(engines) == 1 else MultiGpuEngine(engines, tell)


def any_gpu() -> bool:
    """Return whether the driver finds a GPU, without opening it."""
    try:
        return count_devices() > 0
    except DeviceError:
        return False


def extending(
    spec: ExtendSpec, cpu: Engine, gpu_memory: float | None, stats: Stats, tell: Callable[[str], None] | None = None
) -> Engine:
    """Open a GPU for scored alignment, with the CPU engine as its fallback.

    Raises:
        UsageError: the GPU's kernels do not support the spec.
        DeviceError: no GPU works.
    """
    if not spec.for_gpus:
        raise UsageError(
            "of the heuristics, a GPU supports --mode extension with --band, --zdrop and --score-only; the rest "
            "and --second-best run on the CPU: leave out --engine gpu or these options"
        )
    return ExtendGpuEngine(spec, cpu, _opening(tell), stats, gpu_memory)


def _opening(tell: Callable[[str], None] | None, index: int = 0) -> Callable[[], Driver]:
    def compiled(row: str, arch: str, seconds: float | None) -> None:
        if tell and seconds is not None:
            tell(f"compiled the kernel {row} for {arch} in {seconds:.1f} s; it is cached")

    return lambda: open_driver(index, Compiler(progress=compiled))


def serves(spec: AlignSpec) -> bool:
    """Return whether GPU kernels support a spec: global alignment, either exact or in a heuristic band."""
    return plainly_global(spec) or only_banded(spec)

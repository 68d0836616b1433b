"""The run of an `align` command."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING

from .._native import check_batch
from ..config import NO_REPORTS, AlignSpec, Ambiguous, Config, EngineName, ReportFiles
from ..core.batch import AlignmentBatch, PairBatch
from ..core.stats import Stats, counted
from ..engines.base import Engine
from ..engines.cpu import CpuEngine, native_options
from ..engines.execute import align_batch
from ..engines.late_gpu import LateGpuEngine
from ..gpu.runtime.presence import may_have_gpu
from ..io.read.reader import PairFiles
from ..io.write.format import Formatter
from ..plan.kernels import TABLE
from ..plan.planner import Planner
from .batch_run import BatchRun, opened
from .gpu_worth import opens_later, seconds_with_gpu
from .pairs import PairInputs
from .parts import Account, Aligner, OpenOutput

if TYPE_CHECKING:
    from ..gpu.runtime.pinned_pool import PinnedPool


def align_run(
    config: Config,
    files: PairFiles,
    output: str | None,
    version: str,
    reports: ReportFiles = NO_REPORTS,
    tell: Callable[[str], None] | None = None,
    part: OpenOutput | None = None,
) -> AbstractContextManager[BatchRun]:
    """Open a run that aligns the pairs of files.

    Args:
        config: configuration of the run.
        files: QUERY and TARGET.
        output: path of the output; None: standard output.
        version: version of the program, for SAM's header.
        reports: paths of the reports, which the caller writes.
        tell: see engines.choice.with_gpu.
        part: see batch_run.opened.

    Raises:
        See batch_run.opened.
    """
    later = gpu_wanted(config) and opens_later(config, files)
    stats, planner = Stats(), planner_of(config, 0 if later else expected_gpus(config))
    gpus = config.devices and len(config.devices)  # None: all GPUs, whose number is not known yet
    ahead = (planner.prepare, gpus) if gpus and gpu_wanted(config) and not later else None
    inputs = PairInputs(files, config, version, stats, ahead=ahead)

    def open_aligner() -> Aligner:
        return opened_aligner(config, planner, stats, tell, inputs.pool, later)

    account = Account(
        asdict(config.spec),
        lambda: counted(stats.counts["pairs"], "pair"),
        left_out(config.spec),
        caution=inputs.caution,
        protein_options=protein_options(config.spec),
        kernel=config.kernel,
    )
    return opened(config, inputs, open_aligner, Formatter.of(config), output, reports, account, stats, part)


def opened_aligner(
    config: Config,
    planner: Planner,
    stats: Stats,
    tell: Callable[[str], None] | None,
    pool: PinnedPool | None = None,
    later: bool = False,
) -> Aligner:
    """Open the engine of a configuration; each pair is aligned by the kernel that a planner chooses.

    Args:
        config: configuration of the run.
        planner: the planner if the engine has expected_gpus(config) GPUs, or none if it opens them later.
        stats: counters of the run.
        tell: see engines.choice.with_gpu.
        pool: see `pool` of engines.choice.with_gpu.
        later: open a GPU only once it has paid off; config.engine is AUTO.

    Raises:
        DeviceError: a GPU is required, and none works.
    """
    check_options = native_options(config.spec, config.limits, TABLE)
    engine: Engine = CpuEngine(config.spec, config.limits, config.threads, stats=stats)
    gpus = 0
    if later:
        late, planners = _late_gpu(config, engine, stats, tell), (planner, planner.with_gpus(1))
        return Aligner(
            late,
            0,
            lambda pairs: (pairs, _align_late(late, pairs, planners, config, stats)),
            lambda pairs, found: check_batch(pairs, found, check_options),
        )
    if gpu_wanted(config):
        # Imported here because the GPU engines are slow to import.
        from ..engines.choice import with_gpu
        from ..engines.hybrid import HybridEngine

        engine = with_gpu(config, engine, stats, tell, pool)
        gpus = engine.gpus if isinstance(engine, HybridEngine) else 0
    if gpus != expected_gpus(config):
        planner = planner.with_gpus(gpus)

    def align(pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
        return pairs, align_batch(engine, pairs, planner, stats)

    return Aligner(engine, gpus, align, lambda pairs, found: check_batch(pairs, found, check_options))


def _late_gpu(config: Config, cpu: Engine, stats: Stats, tell: Callable[[str], None] | None) -> LateGpuEngine:
    def open_gpu() -> Engine:
        from ..engines.choice import with_gpu

        return with_gpu(config, cpu, stats, tell)

    return LateGpuEngine(cpu, open_gpu)


def _align_late(
    engine: LateGpuEngine, pairs: PairBatch, planners: tuple[Planner, Planner], config: Config, stats: Stats
) -> AlignmentBatch:
    """Align a batch with the GPU if it is open, else on the CPU. `planners`: for the CPU, and beside a GPU."""
    on_cpu, beside_gpu = planners
    if engine.gpu:
        return align_batch(engine.gpu, pairs, beside_gpu, stats)
    began = time.thread_time()
    found = align_batch(engine.cpu, pairs, on_cpu, stats)
    if engine.waits:  # by the time that it took, since estimates of hard pairs may be far too low
        engine.spend((time.thread_time() - began) / config.threads, lambda: seconds_with_gpu(pairs, config))
    return found


def gpu_wanted(config: Config) -> bool:
    """Return whether to look for a GPU: not without PyCUDA, unless the user asks for one."""
    unasked = config.engine is EngineName.AUTO and config.devices == (0,)
    return config.engine is not EngineName.CPU and not (unasked and not may_have_gpu())


def expected_gpus(config: Config) -> int:
    """Return the number of GPUs that batches are planned for before the engine is open."""
    return len(config.devices or (0,)) if gpu_wanted(config) else 0


def planner_of(config: Config, gpus: int, cpu_share: float = 1.0) -> Planner:
    """Return the planner of a configuration beside a number of GPUs; `cpu_share`: see Planner."""
    return Planner(config.spec, config.limits, config.kernel, gpus, cpu_share)


def protein_options(spec: AlignSpec) -> str:
    """Return the options that align proteins; "" if `spec` does."""
    return "" if spec.ambiguous is Ambiguous.LITERAL else "--ambiguous literal, or wfacli extend --matrix BLOSUM62"


def left_out(spec: AlignSpec) -> dict[str, str]:
    """Return the statuses that result from the user's own bounds and heuristics, each with its meaning."""
    asked = {"SCORE_LIMIT": "over --max-cost"} if spec.max_cost is not None else {}
    return asked | ({"DROPPED": "given up by heuristics"} if spec.heuristics else {})

"""Canonical alignment of a pair whose distance is known, by a GPU or by the kernels of `wfacli align`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import check_batch
from ...config import AlignSpec, Ambiguous, Config, Format, Limits, Metric, OutputSpec, Penalties
from ...core import tuning
from ...core.batch import U32, AlignmentBatch, PairBatch, Status
from ...core.stats import Stats
from ...engines.cpu import CpuEngine, native_options
from ...engines.execute import execute
from ...errors import Cancelled, DeviceError, InternalError, WfacliError
from ...io.read.names import with_sam_names
from ...io.write.format import Formatter
from ...io.write.header import header_around
from ...io.write.output import Output
from ...plan.forecast import Forecast
from ...plan.kernels import CPU_KERNELS, TABLE
from ...plan.planner import Planner
from ..gpu.on_demand import GpuOnDemand
from ..gpu.path import find_path, forecast
from .inputs import Inputs

_POLL_SECONDS = 0.1  # seconds between two polls of `stop`


@dataclass(frozen=True)
class PathOptions:
    """How an alignment is computed and written.

    Attributes:
        format: PAF or SAM; SAM requires symbols as they were read.
        rule: which symbols are equal.
        threads: CPU threads of the engine.
        version, command_line: for the SAM header.
        gpu: GPU that may be used; None: none.
        force_gpu: True to use the GPU for every pair that it supports, even if the CPU is expected to be faster.
    """

    format: Format
    rule: Ambiguous
    threads: int
    version: str
    command_line: str
    gpu: GpuOnDemand | None = None
    force_gpu: bool = False


@dataclass
class _PathResult:
    """An alignment and its origin.

    Attributes:
        alignments: batch of one pair.
        by: what computed it: a method of `solve.gpu.path`, or a CPU kernel.
        failure: message of the GPU failure that preceded it; None if there was none.
    """

    alignments: AlignmentBatch
    by: str
    failure: str | None = None


def write_path(
    inputs: Inputs, distance: int | None, options: PathOptions, out: Output, stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Align the pair and write its record.

    Returns:
        Counts of the alignment (matches, mismatches, inserted, deleted, gaps and others), the engine and kernel that
        computed it ("by"), and the message of a GPU failure ("gpu_failed", None without one). If `distance` is None,
        only a header is written, if the format has one, and the result is None.

    Raises:
        Cancelled: `stop` returned True.
        InternalError: the alignment does not cost the distance, or does not fit its sequences.
        WfacliError: the kernels cannot align the pair, for instance because it is too long.
        InputError: a name is not valid in SAM.
    """
    # Symbols that were folded when read are compared by value; for SAM they are as read, so the rule still applies.
    rule = options.rule if options.format is Format.SAM else Ambiguous.LITERAL
    spec = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT), rule)
    config = Config(spec, OutputSpec(options.format), threads=options.threads, command_line=options.command_line)
    sam = options.format is Format.SAM
    pairs = inputs.as_batch(distance or 0)
    if sam:
        check_names(inputs)
    result = None
    if distance is not None:
        result = _align(inputs, pairs, distance, config, options, stop)
    if sam:
        for piece in header_around(sq_line(inputs), config, options.version):
            out.write(piece)
    if result is None:
        return None
    text, counts = Formatter.of(config).format(pairs, result.alignments)
    out.write(text)
    return {**counts, "by": result.by, "gpu_failed": result.failure}


def check_names(inputs: Inputs) -> None:
    """Raise InputError for a name that is not valid in SAM, UsageError for sequences too long for a record."""
    for _ in with_sam_names(iter([inputs.as_batch(0)]), inputs.a.path, inputs.b.path):
        pass


def sq_line(inputs: Inputs) -> Iterator[bytes]:
    """Yield the @SQ header line of B, the target."""
    yield f"@SQ\tSN:{inputs.b.name}\tLN:{inputs.b.length}\n".encode(errors="surrogateescape")


def _align(
    inputs: Inputs, pairs: PairBatch, distance: int, config: Config, options: PathOptions, stop: Callable[[], bool]
) -> _PathResult:
    """Align on the GPU if it is expected to be faster; else, or if it fails or its result is wrong, on the CPU."""
    failure = None
    try:
        result = _by_gpu(inputs, pairs, distance, config, options, stop)
        if result and not (failure := _fault(pairs, result.alignments, distance, config.spec)):
            return result
    except DeviceError as error:
        failure = str(error)
    alignments = _aligned(pairs, config, stop)
    status = Status(int(alignments.status[0]))
    if status is not Status.OK:
        raise WfacliError(f"the pair's distance is {distance:,}, but its alignment cannot be computed ({status.name})")
    if fault := _fault(pairs, alignments, distance, config.spec):
        raise InternalError(f"the alignment is wrong ({fault}); please report this")
    return _PathResult(alignments, f"cpu-{alignments.kernels[int(alignments.origin[0])]}", failure)


def _by_gpu(
    inputs: Inputs, pairs: PairBatch, distance: int, config: Config, options: PathOptions, stop: Callable[[], bool]
) -> _PathResult | None:
    """Align on the GPU; return None if it is not worth it. Opening a GPU takes longer than most alignments."""
    gpu, pair = options.gpu, inputs.pair
    if gpu is None or not min(len(pair.query), len(pair.target)) or not distance or pair.query.itemsize > 1:
        return None
    on_cpu = _cpu_seconds(pairs, config.spec)
    if not (options.force_gpu or gpu.is_open or (on_cpu > tuning.GPU_OPEN_SECONDS and gpu.works)):
        return None
    driver = gpu.driver()
    on_gpu, method = forecast(driver.gpu, pair, distance)
    if not method or (on_gpu > on_cpu and not options.force_gpu):
        return None

    def poll() -> None:
        if stop():
            raise Cancelled("stopped")

    found = find_path(driver, pair, distance, method, poll)
    return _PathResult(_batch_of(inputs, distance, found.cigar, found.method), found.method)


def _cpu_seconds(pairs: PairBatch, spec: AlignSpec) -> float:
    """Return the expected seconds of the best CPU kernel."""
    models = Forecast(pairs, spec, Limits())
    return min(float(models.microseconds(kernel)[0]) for kernel in CPU_KERNELS) / 1e6


def _batch_of(inputs: Inputs, distance: int, cigar: U32, method: str) -> AlignmentBatch:
    one = np.zeros(1, np.uint8)
    return AlignmentBatch(
        ordinal=0,
        status=one,
        cut=one,
        score=np.array([-distance], np.int32),
        span=np.array([[0, inputs.a.length, 0, inputs.b.length]], np.int32),
        cigar=cigar,
        cigar_start=np.array([0, len(cigar)], np.int64),
        origin=one,
        kernels=(method,),
    )


def _aligned(pairs: PairBatch, config: Config, stop: Callable[[], bool]) -> AlignmentBatch:
    stats, planner = Stats(), Planner(config.spec)
    engine = CpuEngine(config.spec, Limits(), config.threads, stats=stats)
    try:
        # Align in another thread, so that this one can poll `stop`.
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(execute, engine, pairs, planner.routes(pairs), planner, stats)
            while True:
                try:
                    return future.result(_POLL_SECONDS)
                except TimeoutError:
                    if stop():
                        engine.cancel()
                        raise Cancelled("stopped") from None
                except BaseException:
                    engine.cancel()
                    raise
    finally:
        engine.close()


def _fault(pairs: PairBatch, alignments: AlignmentBatch, distance: int, spec: AlignSpec) -> str | None:
    """Return what is wrong with an alignment; None if it is correct."""
    cost = -int(alignments.score[0])
    fault = check_batch(pairs, alignments, native_options(spec, Limits(), TABLE))
    if fault:
        return fault[1]
    return None if cost == distance else f"it costs {cost:,}, and the distance is {distance:,}"

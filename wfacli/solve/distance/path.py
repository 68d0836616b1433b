"""The alignment of a pair whose distance is known: the canonical one, by a GPU or the kernels of `wfacli align`."""

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

_LOOK = 0.1  # seconds between two looks at whether to stop


@dataclass(frozen=True)
class PathOptions:
    """How an alignment is made and written.

    Attributes:
        format: PAF or SAM; SAM needs letters as they were read.
        rule: which letters are equal.
        threads: of the engine.
        version, command_line: for SAM's header.
        gpu: one that may be used.
        always: whether it is used even where the CPU is sooner, but not for what no GPU takes.
    """

    format: Format
    rule: Ambiguous
    threads: int
    version: str
    command_line: str
    gpu: GpuOnDemand | None = None
    always: bool = False


@dataclass
class _Made:
    """An alignment.

    Attributes:
        alignments: of one pair.
        by: who made it: a way of gpu_path, or a kernel of the CPU.
        failure: of a GPU that was to make it, in words.
    """

    alignments: AlignmentBatch
    by: str
    failure: str | None = None


def write_path(
    inputs: Inputs, distance: int | None, options: PathOptions, out: Output, stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Aligns and writes a record; its sums (matches, mismatches, inserted, deleted, gaps, …).

    Beside them it says who made it ("by"), and how a GPU that was tried has failed ("card_failed", None: it did not).

    Without a distance there is a header where there must be one, no record, and None.

    Raises:
        Cancelled: stop said so.
        InternalError: the alignment does not cost the distance, or does not fit its sequences.
        WfacliError: it is too long for the kernels.
        InputError: a name that SAM cannot hold.
    """
    # Letters that were folded when they were read say by themselves which are equal.
    rule = options.rule if options.format is Format.SAM else Ambiguous.LITERAL
    spec = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT), rule)
    config = Config(spec, OutputSpec(options.format), threads=options.threads, command_line=options.command_line)
    sam = options.format is Format.SAM
    pairs = inputs.as_batch(distance or 0)
    if sam:
        check_names(inputs)
    made = None
    if distance is not None:
        made = _made(inputs, pairs, distance, config, options, stop)
    if sam:
        for piece in header_around(sq_line(inputs), config, options.version):
            out.write(piece)
    if made is None:
        return None
    text, sums = Formatter.of(config).format(pairs, made.alignments)
    out.write(text)
    return {**sums, "by": made.by, "card_failed": made.failure}


def check_names(inputs: Inputs) -> None:
    """Raises InputError for a name that SAM cannot hold, UsageError for sequences too long for a record."""
    for _ in with_sam_names(iter([inputs.as_batch(0)]), inputs.a.path, inputs.b.path):
        pass


def sq_line(inputs: Inputs) -> Iterator[bytes]:
    """SAM's line of B, the target."""
    yield f"@SQ\tSN:{inputs.b.name}\tLN:{inputs.b.length}\n".encode(errors="surrogateescape")


def _made(
    inputs: Inputs, pairs: PairBatch, distance: int, config: Config, options: PathOptions, stop: Callable[[], bool]
) -> _Made:
    """By a GPU if that is sooner; by the CPU if not, or if the GPU fails, or what it makes is wrong."""
    failure = None
    try:
        made = _by_gpu(inputs, pairs, distance, config, options, stop)
        if made and not (failure := _fault(pairs, made.alignments, distance, config.spec)):
            return made
    except DeviceError as error:
        failure = str(error)
    alignments = _aligned(pairs, config, stop)
    status = Status(int(alignments.status[0]))
    if status is not Status.OK:
        raise WfacliError(f"the pair's distance is {distance:,}, but its alignment cannot be made ({status.name})")
    if fault := _fault(pairs, alignments, distance, config.spec):
        raise InternalError(f"the alignment is wrong ({fault}); please report this")
    return _Made(alignments, f"cpu-{alignments.kernels[int(alignments.origin[0])]}", failure)


def _by_gpu(
    inputs: Inputs, pairs: PairBatch, distance: int, config: Config, options: PathOptions, stop: Callable[[], bool]
) -> _Made | None:
    """None: it is not for a GPU. To open one takes longer than most alignments."""
    gpu, pair = options.gpu, inputs.pair
    if gpu is None or not min(len(pair.query), len(pair.target)) or not distance or pair.query.itemsize > 1:
        return None
    on_cpu = _cpu_seconds(pairs, config.spec)
    if not (options.always or gpu.is_open or (on_cpu > tuning.OPENING_A_GPU and gpu.works)):
        return None
    driver = gpu.driver()
    on_gpu, way = forecast(driver.gpu, pair, distance)
    if not way or (on_gpu > on_cpu and not options.always):
        return None

    def look() -> None:
        if stop():
            raise Cancelled("stopped")

    found = find_path(driver, pair, distance, way, look)
    return _Made(_batch_of(inputs, distance, found.cigar, found.way), found.way)


def _cpu_seconds(pairs: PairBatch, spec: AlignSpec) -> float:
    """Of the CPU's best kernel, by its model."""
    models = Forecast(pairs, spec, Limits())
    return min(float(models.microseconds(kernel)[0]) for kernel in CPU_KERNELS) / 1e6


def _batch_of(inputs: Inputs, distance: int, cigar: U32, way: str) -> AlignmentBatch:
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
        kernels=(way,),
    )


def _aligned(pairs: PairBatch, config: Config, stop: Callable[[], bool]) -> AlignmentBatch:
    stats, planner = Stats(), Planner(config.spec)
    engine = CpuEngine(config.spec, Limits(), config.threads, stats=stats)
    try:
        # In a thread of its own, so that this one sees when it is to stop.
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(execute, engine, pairs, planner.routes(pairs), planner, stats)
            while True:
                try:
                    return future.result(_LOOK)
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
    """What is wrong with an alignment, if anything is."""
    cost = -int(alignments.score[0])
    fault = check_batch(pairs, alignments, native_options(spec, Limits(), TABLE))
    if fault:
        return fault[1]
    return None if cost == distance else f"it costs {cost:,}, and the distance is {distance:,}"

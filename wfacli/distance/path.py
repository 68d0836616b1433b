"""The alignment of a pair whose distance is known: the canonical one, by the kernels of `wfacli align`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .._native import check_batch
from ..batch import AlignmentBatch, PairBatch, Status
from ..config import AlignSpec, Ambiguous, Config, Format, Limits, Metric, OutputSpec, Penalties
from ..engines.cpu import CpuEngine, native_options
from ..engines.rescue import align_batch
from ..errors import Cancelled, InternalError, WfacliError
from ..forecast import TABLE
from ..io.format import Formatter
from ..io.header import header_around
from ..io.names import with_sam_names
from ..io.output import Output
from ..stats import Stats
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
    """

    format: Format
    rule: Ambiguous
    threads: int
    version: str
    command_line: str


def write_path(
    inputs: Inputs, distance: int | None, options: PathOptions, out: Output, stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Aligns and writes a record; its sums (matches, mismatches, inserted, deleted, gaps, …).

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
        list(with_sam_names(iter([pairs]), inputs.a.path))
    alignments = None
    if distance is not None:
        alignments = _aligned(pairs, config, stop)
        _check(pairs, alignments, distance, spec)
    if sam:
        for piece in header_around(sq_line(inputs), config, options.version):
            out.write(piece)
    if alignments is None:
        return None
    text, sums = Formatter.of(config).format(pairs, alignments)
    out.write(text)
    return sums


def sq_line(inputs: Inputs) -> Iterator[bytes]:
    """SAM's line of B, the target."""
    yield f"@SQ\tSN:{inputs.b.name}\tLN:{inputs.b.length}\n".encode(errors="surrogateescape")


def _aligned(pairs: PairBatch, config: Config, stop: Callable[[], bool]) -> AlignmentBatch:
    stats = Stats()
    engine = CpuEngine(config.spec, Limits(), config.threads, stats=stats)
    try:
        # In a thread of its own, so that this one sees when it is to stop.
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(align_batch, engine, pairs, config.spec, Limits(), stats)
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


def _check(pairs: PairBatch, alignments: AlignmentBatch, distance: int, spec: AlignSpec) -> None:
    status = Status(int(alignments.status[0]))
    if status is not Status.OK:
        raise WfacliError(f"the pair's distance is {distance:,}, but its alignment cannot be made ({status.name})")
    cost = -int(alignments.score[0])
    fault = check_batch(pairs, alignments, native_options(spec, Limits(), TABLE))
    if cost != distance or fault:
        why = fault[1] if fault else f"it costs {cost:,}, and the distance is {distance:,}"
        raise InternalError(f"the alignment is wrong ({why}); please report this")

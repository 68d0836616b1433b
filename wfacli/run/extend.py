"""The run of an `extend` command."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from .._native import check_batch
from ..config import NO_REPORTS, EngineName, Limits, OutputSpec, ReportFiles
from ..core.batch import AlignmentBatch, PairBatch
from ..core.stats import Stats, counted
from ..engines.base import Engine
from ..engines.extend_auto import AutoExtendEngine
from ..engines.extend_cpu import ExtendEngine, extend_batch, native_options
from ..gpu.runtime.presence import may_have_gpu
from ..io.read.reader import PairFiles
from ..io.write.format import Formatter
from ..scoring.spec import ExtendSpec
from ..scoring.statistics import Significance
from .batch_run import BatchRun, opened
from .pairs import Choice, PairInputs
from .parts import Account, Aligner, OpenOutput


@dataclass(frozen=True)
class ExtendConfig:
    """Configuration of a run, except for its files; see config.RunConfig."""

    spec: ExtendSpec
    output: OutputSpec
    limits: Limits
    threads: int = 1
    batch_bases: int | None = None
    engine: EngineName = EngineName.AUTO
    gpu_memory: float | None = None
    check: bool = False
    explain: bool = False
    command_line: str = ""


def extend_run(
    config: ExtendConfig,
    files: PairFiles,
    choice: Choice,
    output: str | None,
    version: str,
    reports: ReportFiles = NO_REPORTS,
    tell: Callable[[str], None] | None = None,
    part: OpenOutput | None = None,
) -> AbstractContextManager[BatchRun]:
    """Open a run that aligns pairs under any scores; see align.align_run for the arguments.

    Raises:
        UsageError: pairs are selected without two files to select from, or two inputs are standard input.
        See also batch_run.opened.
    """
    stats, spec = Stats(), config.spec
    inputs = PairInputs(files, config, version, stats, choice=choice)
    formatter = Formatter(
        config.output,
        scores_only=spec.score_only,
        heuristic=spec.heuristic,
        second=spec.second_best,
        significance=Significance.of(spec),
    )

    def open_aligner() -> Aligner:
        check_options = native_options(spec, config.limits)
        engine, gpus = _opened_engine(config, inputs.large, stats, tell)
        path = " and ".join(dict.fromkeys(source.path for source in inputs.sources))

        def align(pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
            return pairs, extend_batch(engine, pairs, spec, stats, path)

        return Aligner(engine, gpus, align, lambda pairs, found: check_batch(pairs, found, check_options))

    account = Account(
        _values(spec),
        lambda: counted(stats.counts["pairs"], "pair"),
        caution=inputs.caution,
        protein_options="--matrix BLOSUM62" if spec.scheme.nucleotides_only else "",
    )
    return opened(config, inputs, open_aligner, formatter, output, reports, account, stats, part)


def _opened_engine(
    config: ExtendConfig, large: bool, stats: Stats, tell: Callable[[str], None] | None
) -> tuple[Engine, int]:
    """Open the engine; return it and its number of GPUs. Raises DeviceError, UsageError."""
    cpu = ExtendEngine(config.spec, config.limits, config.threads, stats=stats)
    auto = config.engine is EngineName.AUTO
    if config.engine is EngineName.CPU or (auto and not (config.spec.for_gpus and may_have_gpu())):
        return cpu, 0

    def on_gpu() -> Engine:
        from ..engines.choice import extending  # the GPU engines are slow to import

        return extending(config.spec, cpu, config.gpu_memory, stats, tell)

    if auto:
        gpus = int(large and _any_gpu())  # use a GPU's batch size from the beginning
        return AutoExtendEngine(cpu, on_gpu, config.threads, config.spec), gpus
    try:
        return on_gpu(), 1
    except BaseException:
        cpu.close()
        raise


def _any_gpu() -> bool:
    from ..engines.choice import any_gpu

    return any_gpu()


def _values(spec: ExtendSpec) -> dict[str, Any]:
    """Return a specification as plain values for the report."""
    scheme = spec.scheme
    return {
        "scores": scheme.name,
        "alphabet": scheme.alphabet,
        "gaps": [scheme.open, scheme.extend],
        "mode": spec.mode.value,
        "score_only": spec.score_only,
        "second_best": spec.second_best,
        "band": spec.band,
        "xdrop": spec.xdrop,
        "zdrop": spec.zdrop,
    }

"""The run of an `extend` command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .._native import check_batch
from ..config import GPU_BATCH, EngineName, Limits, OutputSpec
from ..core.batch import AlignmentBatch, PairBatch
from ..engines.base import Engine
from ..engines.extend_auto import AutoExtendEngine
from ..engines.extend_cpu import ExtendEngine, extend_batch, native_options
from ..errors import UsageError
from ..gpu.runtime.presence import may_have_gpu
from ..io.read.chosen import Sequences
from ..io.read.reader import PairFiles, layout_of
from ..io.read.sources import Source
from ..io.write.format import Formatter
from ..scoring.spec import ExtendSpec
from ..scoring.statistics import Significance
from .batch_run import BatchRun


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


@dataclass(frozen=True)
class Choice:
    """Selection of the pairs to align.

    Attributes:
        every: True: align each query to each target; False: align record i to record i.
        listed: path of a file with pairs of names, or None.
    """

    every: bool = False
    listed: str | None = None

    def __post_init__(self) -> None:
        if self.every and self.listed is not None:
            raise UsageError("--all aligns every query to every target, and --pairs those of a file: give one of them")


def _any_gpu() -> bool:
    from ..engines.choice import any_gpu

    return any_gpu()


class ExtendRun(BatchRun):
    """Run of an `extend` command."""

    def __init__(
        self,
        config: ExtendConfig,
        files: PairFiles,
        choice: Choice,
        output: str | None,
        version: str,
        report: str | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """See BatchRun.

        Raises:
            UsageError: pairs are selected without two files to select from, or two inputs are standard input.
        """
        self.config, self._choice = config, choice
        if (choice.every or choice.listed is not None) and files.target is None:
            raise UsageError("--all and --pairs choose pairs out of two files: give QUERY and TARGET")
        if choice.listed == "-" and "-" in (files.query, files.target):
            raise UsageError("only one of QUERY, TARGET and --pairs can be standard input")
        self._check_options = native_options(config.spec, config.limits)
        spec = config.spec
        self._listed = Source(choice.listed) if choice.listed is not None else None
        formatter = Formatter(
            config.output,
            scores_only=spec.score_only,
            heuristic=spec.heuristic,
            second=spec.second_best,
            significance=Significance.of(spec),
        )
        super().__init__(config, files, output, version, report, formatter, tell)

    @property
    def _inputs(self) -> tuple[str | None, ...]:
        """See BatchRun."""
        return *super()._inputs, self._choice.listed

    def _opened(self, tell: Callable[[str], None] | None) -> tuple[Engine, int]:
        config = self.config
        cpu = ExtendEngine(config.spec, config.limits, config.threads, stats=self.stats)
        auto = config.engine is EngineName.AUTO
        if config.engine is EngineName.CPU or (auto and not (config.spec.for_gpus and may_have_gpu())):
            return cpu, 0

        def opened() -> Engine:
            from ..engines.choice import extending  # the GPU engines are slow to import

            return extending(config.spec, cpu, config.gpu_memory, self.stats, tell)

        if auto:
            gpus = int(self._large and _any_gpu())  # use a GPU's batch size from the beginning
            return AutoExtendEngine(cpu, opened, config.threads, config.spec), gpus
        try:
            return opened(), 1
        except BaseException:
            cpu.close()
            raise

    @property
    def _large(self) -> bool:
        """Whether the input may have more than one GPU batch, judging by file sizes."""
        sizes = [source.size for source in self._sources]
        return self._choice.every or self._listed is not None or None in sizes or sum(filter(None, sizes)) > GPU_BATCH

    def _batches(self, most: int) -> Iterator[PairBatch]:
        if not self._choice.every and self._listed is None:
            yield from super()._batches(most)
            return
        assert layout_of(self._sources) == "two"
        sequences = Sequences(*self._sources)
        if self._listed is None:
            yield from sequences.all_pairs(self.batch_bases)
        else:
            yield from sequences.named_pairs(self._listed, self.batch_bases)

    def _aligned(self, pairs: PairBatch) -> AlignmentBatch:
        path = " and ".join(dict.fromkeys(source.path for source in self._sources))
        return extend_batch(self.engine, pairs, self.config.spec, self.stats, path)

    def _fault(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[int, str] | None:
        return check_batch(pairs, alignments, self._check_options)

    def run(self) -> None:
        """See BatchRun."""
        try:
            super().run()
        finally:
            if self._listed:
                self._listed.close()

    @property
    def asked_for(self) -> dict[str, Any]:
        """The specification, as plain values for the report."""
        spec = self.config.spec
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

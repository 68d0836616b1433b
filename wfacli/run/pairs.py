"""Pairs of files as the inputs of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..config import GPU_BATCH, Format, RunConfig
from ..core.batch import U8, LaterBatch, PairBatch, already_complete
from ..core.stats import Stats
from ..errors import UsageError
from ..io.read.ahead import Ahead
from ..io.read.chosen import Sequences
from ..io.read.name_order import NameOrder
from ..io.read.reader import PairFiles, later_batches
from ..io.read.sources import Source
from ..io.write.header import sam_header
from .parts import Aligner, timed
from .rows import Lend
from .sizes import MOST_BESIDE_A_GPU, batch_bases

if TYPE_CHECKING:
    from ..gpu.runtime.pinned_pool import PinnedPool
    from .prefetch import EarlyBatches


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
            raise UsageError(
                "--all aligns every query to every target, and --pair-list those of a file: give one of them"
            )

    def check(self, files: PairFiles) -> None:
        """Raise UsageError if these files do not allow the selection."""
        if (self.every or self.listed is not None) and files.target is None:
            raise UsageError("--all and --pair-list choose pairs out of two files: give QUERY and TARGET")
        if self.listed == "-" and "-" in (files.query, files.target):
            raise UsageError("only one of QUERY, TARGET and --pair-list can be standard input")


class PairInputs:
    """Pairs of one or two files; see parts.Inputs."""

    def __init__(
        self,
        files: PairFiles,
        config: RunConfig,
        version: str,
        stats: Stats,
        *,
        choice: Choice | None = None,
        ahead: tuple[Callable[[PairBatch], None], int] | None = None,
    ) -> None:
        """Take the files; open() opens them.

        Args:
            files: QUERY and TARGET.
            config: configuration of the run.
            version: version of the program, for SAM's header.
            stats: counters of the run.
            choice: which pairs; None: record i with record i.
            ahead: a function that plans a batch, and the number of GPUs that are being opened: the first batches are
                read and planned meanwhile. None: do not read ahead.

        Raises:
            UsageError: the files do not allow the choice.
        """
        self.files, self.sources, self.batch_bases = files, tuple[Source, ...](), 0
        self._config, self._version, self._stats = config, version, stats
        self._choice, self._ahead = choice or Choice(), ahead
        self._choice.check(files)
        self._listed: Source | None = None
        self._header: Ahead[bytes | U8] | None = None
        self._early: EarlyBatches | None = None
        self._lend: Lend | None = None
        self._order: NameOrder | None = None

    @property
    def paths(self) -> tuple[str | None, ...]:
        """See Inputs."""
        return *self.files.paths, self._choice.listed

    def open(self) -> None:
        """See Inputs."""
        self._listed = None if self._choice.listed is None else Source(self._choice.listed)
        self.sources = self.files.open()
        if has_sam_header(self._config):
            self._header = sam_header(self.files, self.sources, self._config, self._version)
        # Only regular files can be opened again if there is no GPU after all.
        if self._ahead and all(source.regular for source in self.sources):
            from .prefetch import EarlyBatches  # imported here because it is slow to import

            prepare, gpus = self._ahead
            bases = batch_bases(self._config, self.sources, gpus)
            self._early = EarlyBatches(
                lambda lend: timed(self._in_order(bases, lend), self._stats), prepare, MOST_BESIDE_A_GPU * gpus
            )

    @property
    def pool(self) -> PinnedPool | None:
        """Pool from which the memory of batches that are read ahead is leased."""
        return self._early.pool if self._early else None

    @property
    def large(self) -> bool:
        """Whether there may be more than one GPU batch, judging by file sizes."""
        sizes = [source.size for source in self.sources]
        return self._choice.every or self._listed is not None or None in sizes or sum(filter(None, sizes)) > GPU_BATCH

    def aligner_opened(self, aligner: Aligner) -> None:
        """See Inputs."""
        self.batch_bases = batch_bases(self._config, self.sources, aligner.gpus)
        self._lend = aligner.engine.batch_memory if aligner.gpus else None
        if self._early and self._lend:
            self._early.opened(self._lend)
        elif self._early:  # the batches read ahead are sized for a GPU
            self._end_reading_ahead()
            self._close_sources()
            self.sources = self.files.open()

    def prepare(self) -> None:
        """See Inputs; nothing is needed."""

    def batches(self) -> Iterator[LaterBatch]:
        """See Inputs."""
        batches = iter(self._early) if self._early else timed(self._chosen(), self._stats)
        if len(self.sources) < 2 or self._choice != Choice():
            return batches
        self._order = NameOrder()
        return self._order.watched(batches)

    def caution(self) -> str:
        """Return a warning if the records of the two files seem to be in different orders; else ""."""
        if not self._order or not self._order.is_shuffled():
            return ""
        return (
            f"{self.files.query} and {self.files.target} hold the same names in different orders, and record i was "
            "aligned to record i: sort one of them, or give wfacli extend --pair-list FILE"
        )

    def _chosen(self) -> Iterator[LaterBatch]:
        if self._listed:
            yield from map(already_complete, Sequences(*self.sources).named_pairs(self._listed, self.batch_bases))
        elif self._choice.every:
            yield from map(already_complete, Sequences(*self.sources).all_pairs(self.batch_bases))
        else:
            yield from self._in_order(self.batch_bases, self._lend)

    def _in_order(self, bases: int, lend: Lend | None) -> Iterator[LaterBatch]:
        return later_batches(
            self.sources,
            self.files.layout(self.sources),
            bases,
            allocate=lend,
            keep_quality=self._config.output.format is Format.SAM,
            threads=self._config.threads,
            pairs_before=self.files.pairs_before,
        )

    @property
    def sequences(self) -> None:
        """See Inputs."""

    def header(self) -> Iterable[bytes | U8]:
        """See Inputs."""
        return self._header or ()

    def cancel(self) -> None:
        """See Inputs. Only a pipe of the user's can be waited for."""

    def close(self) -> None:
        """See Inputs."""
        self._end_reading_ahead()
        if self._header:
            self._header.close()
        self._close_sources()
        if self._listed:
            self._listed.close()

    def _end_reading_ahead(self) -> None:
        if self._early:
            self._early.close()
            self._early = None

    def _close_sources(self) -> None:
        for source in self.sources:
            source.close()


def has_sam_header(config: RunConfig) -> bool:
    """Return whether a run writes SAM's header."""
    return config.output.header and config.output.format is Format.SAM

"""Parts of a batch run: inputs, aligner, and what its report says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from .._native import Reference
from ..core.batch import U8, AlignmentBatch, LaterBatch, PairBatch
from ..core.stats import Stats
from ..engines.base import Engine
from ..io.read.reader import Files
from ..io.read.sources import Source
from ..io.write.output import Output
from .ends import Extender

OpenOutput = Callable[[], Output]


@dataclass(frozen=True)
class Aligner:
    """Aligns batches; all methods are thread-safe.

    Attributes:
        engine: the engine.
        gpus: number of GPUs that it has.
        align: aligns a batch; returns the pairs to write, which may have other rows, and their alignments.
        fault: checks alignments; returns the first wrong row and what is wrong with it, or None.
        extender: extends the alignments of `align`; None: nothing does.
    """

    engine: Engine
    gpus: int
    align: Callable[[PairBatch], tuple[PairBatch, AlignmentBatch]]
    fault: Callable[[PairBatch, AlignmentBatch], tuple[int, str] | None]
    extender: Extender | None = None

    def cancel(self) -> None:
        """Stop running work soon."""
        self.engine.cancel()
        if self.extender:
            self.extender.cancel()

    def close(self) -> None:
        """Wait for running work and free all resources."""
        self.engine.close()
        if self.extender:
            self.extender.close()


class Inputs(Protocol):
    """The files that a run reads: open(), aligner_opened(), prepare(), batches() and header() at once, close()."""

    @property
    def files(self) -> Files:
        """The files as the user named them."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Open streams of the files."""

    @property
    def batch_bases(self) -> int:
        """Bases of a batch, queries and targets together; from aligner_opened() on."""

    @property
    def paths(self) -> tuple[str | None, ...]:
        """Paths of all files that are read."""

    def open(self) -> None:
        """Open the files and start threads that read ahead. Raises InputError, UsageError."""

    def aligner_opened(self, aligner: Aligner) -> None:
        """Choose the size and memory of batches for an aligner."""

    @property
    def sequences(self) -> Reference | None:
        """The sequences that reads are mapped to, from prepare() on; None for pairs."""

    def prepare(self) -> None:
        """Read what all batches and the header depend on. Raises InputError."""

    def batches(self) -> Iterator[LaterBatch]:
        """Yield the batches. Raises InputError at the first fault, after the pairs before it, here or in a batch."""

    def header(self) -> Iterable[bytes | U8]:
        """Return SAM's header in pieces; none if it is not written. Iteration raises InputError."""

    def cancel(self) -> None:
        """End what the thread that reads batches may wait for, if that can be ended; called once, before close()."""

    def close(self) -> None:
        """Stop threads and close the files, also after open() has failed."""


@dataclass(frozen=True)
class Account:
    """What the report and the summary of a run say beside its counters.

    Attributes:
        spec: the specification, as plain values.
        subject: returns a summary of what was aligned.
        left_out: statuses that result from the user's own bounds and heuristics, each with its meaning.
        more: returns further plain values for the report.
        caution: returns a warning about the inputs, such as skipped ones; empty if there is none.
        protein_options: options that align proteins, if characters other than nucleotide codes match nothing; else "".
        kernel: the kernel that the user chose; None: the fastest for each pair.
    """

    spec: dict[str, Any]
    subject: Callable[[], str]
    left_out: dict[str, str] = field(default_factory=dict)
    more: Callable[[], dict[str, Any]] = dict
    caution: Callable[[], str] = str
    protein_options: str = ""
    kernel: str | None = None


@dataclass(frozen=True)
class Watch:
    """Progress of a run, for display.

    Attributes:
        bytes_total: bytes of the inputs as stored; None if unknown.
        bytes_read: returns the bytes read so far.
        stats: counters of the run.
    """

    bytes_total: int | None
    bytes_read: Callable[[], int]
    stats: Stats


def timed(batches: Iterator[LaterBatch], stats: Stats) -> Iterator[LaterBatch]:
    """Yield batches, and add the time that they take to the stage "read"."""
    while True:
        with stats.timed("read"):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch

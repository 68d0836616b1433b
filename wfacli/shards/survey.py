"""The pass over the inputs that finds the places at which they can be cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .._native import PairReader, StreamReader
from ..config import CPU_BATCH, Format, OutputSpec, RunConfig
from ..core.batch import U8, PairBatch
from ..errors import InputError, UsageError
from ..io.mapper.bam_places import BamPlaces
from ..io.read.names import with_sam_names
from ..io.read.reader import PairFiles, batches_of, hint_of, layout_of, refuse_alignments
from ..io.read.section import Position
from ..io.read.sources import Source
from ..io.write.header import header_around
from ..io.write.parts import PartKind
from ..io.write.targets import named_targets, sq_lines
from ..run.pairs import has_sam_header
from .cuts import Places

Seen = Callable[[int], None]
_MIN_STEP = 1 << 12  # bases between two places, fewer of which are not worth a place
# A place costs as much time as reading 25 kB, so that places nearer than _CHEAP_STEP would slow the pass down;
# shards of less than 2 MB then have FEW_PLACES each.
MANY_PLACES, FEW_PLACES, _CHEAP_STEP = 32, 8, 1 << 18
_PAIR_WORK = 16  # work of a pair beside its bases, in bases; as in the size of batches


@dataclass
class Survey:
    """What a pass over the inputs finds.

    Attributes:
        places: candidates for cuts.
        layout: layout of pairs (see reader.layout_of); "" for reads against a reference.
        columns: columns of a table of pairs, or 0.
        prefixes: see Plan.
    """

    places: Places
    layout: str = ""
    columns: int = 0
    prefixes: list[int] = field(default_factory=list)


class Pass(Protocol):
    """A pass over the inputs of a run: header() reads them, after which the survey is complete; then close()."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Open streams of the inputs that are read in full."""

    @property
    def survey(self) -> Survey:
        """What was found."""

    @property
    def cut_paths(self) -> list[str]:
        """Paths of the inputs that are cut, in the order of a place's positions."""

    @property
    def batch_bases(self) -> int | None:
        """See Plan."""

    def header(self, seen: Seen) -> Iterator[bytes | U8]:
        """Read the inputs, and yield SAM's header in pieces, which are empty if it has none.

        `seen` gets the number of pairs of each batch. Iteration raises InputError at the first fault.
        """

    def close(self) -> None:
        """Close the inputs."""


@dataclass(frozen=True)
class Cutting:
    """How inputs are cut.

    Attributes:
        shards: number of shards.
        fast: cut also inside the batches of one machine, where the output is then the same only in its records.
    """

    shards: int
    fast: bool = False

    def at_batches(self, out: OutputSpec) -> bool:
        """Return True if inputs are cut between the batches of a run on one machine.

        Each of them begins a BGZF block of BAM and of text in .gz, unless the output is sorted.
        """
        return PartKind.of(out).in_blocks and not self.fast

    def batch_bases(self, config: RunConfig) -> int | None:
        """Return the bases per batch that all shards must use, or None if they may choose."""
        return config.batch_bases or CPU_BATCH if self.at_batches(config.output) else config.batch_bases

    def step(self, config: RunConfig, sources: Sequence[Source], few: int = FEW_PLACES) -> int:
        """Return the bases between two places, which shards of these inputs are cut at; `few`: see step_of()."""
        if self.at_batches(config.output):
            return config.batch_bases or CPU_BATCH
        return self.step_of(sources, CPU_BATCH, few)

    def step_of(self, sources: Sequence[Source], most: int, few: int = FEW_PLACES) -> int:
        """Return the bases between two places of inputs that can be cut anywhere.

        Args:
            sources: the inputs.
            most: maximum.
            few: number of places in a small shard.
        """
        each = sum(source.size or 0 for source in sources) // self.shards
        return min(max(each // MANY_PLACES, min(each // few, _CHEAP_STEP), _MIN_STEP), most)


def check_cuttable(source: Source) -> None:
    """Raise UsageError or InputError if a stream cannot be read from the middle of its file."""
    if source.path == "-" or not source.regular:
        raise UsageError(f"{source.path} is read by every shard, so it must be a file, not standard input or a pipe")
    if not source.seekable:
        raise InputError(
            source.path,
            "cannot be read from its middle: shards need plain or bgzip files "
            f"({'zcat' if source.common else 'zstdcat'} FILE | bgzip > NEW)",
        )


def work_of(batch: PairBatch) -> int:
    """Return the estimated work of a batch: its bases, and some more for each pair."""
    return batch.total_bases + _PAIR_WORK * len(batch)


def positions_of(
    reader: StreamReader, sources: Sequence[Source], bam: BamPlaces | None = None
) -> list[Position] | None:
    """Return the positions of the streams behind the batch that was taken; None if they cannot be cut there.

    Args:
        reader: reader of the streams.
        sources: the streams.
        bam: places in the file of the first stream, if that is made of BAM or SAM.
    """
    places = reader.places()
    if any(offset < 0 for offset, _, _ in places):
        return None
    converted = [bam.position(places[0][2])] if bam else []
    rest = list(zip(sources, places, strict=True))[len(converted) :]
    return converted + [Position(*source.stored_place(offset), offset, lines) for source, (offset, lines, _) in rest]


class PairSurvey:
    """A pass over pairs; cuts are between pairs. See Pass."""

    def __init__(self, files: PairFiles, config: RunConfig, version: str, cutting: Cutting) -> None:
        """Open the files.

        Args:
            files: QUERY and TARGET.
            config: configuration of the run.
            version: version of the program, for SAM's header.
            cutting: how the files are cut.

        Raises:
            UsageError, InputError: an input cannot be cut.
        """
        self._files, self._config, self._version = files, config, version
        self.sources = files.open()
        try:
            for source in self.sources:
                check_cuttable(source)
                refuse_alignments(source)
            self.survey = Survey(Places(len(self.sources)), layout_of(self.sources), prefixes=[0] * len(self.sources))
        except BaseException:
            self.close()
            raise
        self._step = cutting.step(config, self.sources)
        self.batch_bases = cutting.batch_bases(config)

    @property
    def cut_paths(self) -> list[str]:
        """See Pass."""
        return [path for path in self._files.paths if path is not None]

    def header(self, seen: Seen) -> Iterator[bytes | U8]:
        """See Pass."""
        files, config = self._files, self._config
        batches = counted_batches(self._batches(), seen)
        if config.output.format is Format.SAM:
            batches = with_sam_names(batches, files.query, files.reference)
        if has_sam_header(config):
            named = (named_targets(files.reference, pairs) for pairs in batches)
            yield from header_around(sq_lines(files.reference, named, threads=config.threads), config, self._version)
        else:
            yield from drained(batches)

    def _batches(self) -> Iterator[PairBatch]:
        reader = PairReader(self.survey.layout, False, False)
        yield from surveyed(
            reader, self.survey.places, self.sources, self._step, self._config.threads, hint_of(self.survey.layout)
        )
        self.survey.columns = reader.columns

    def close(self) -> None:
        """See Pass."""
        for source in self.sources:
            source.close()


def surveyed(
    reader: PairReader, places: Places, sources: tuple[Source, ...], step: int, threads: int, hint: str = ""
) -> Iterator[PairBatch]:
    """Yield the batches of a new reader of records, and add the place behind each, and the end.

    Args:
        reader: a reader that has read nothing.
        places: gets the places.
        sources: streams of the reader.
        step: bases between two places.
        threads: number of threads that inflate and parse.
        hint: see batches_of().

    Raises:
        InputError: at the first fault.
    """
    for batch, positions in positioned(reader, sources, step, threads, hint):
        add_place(places, batch, positions)
        yield batch
    places.end(end_of(reader, sources))


def positioned(
    reader: PairReader,
    sources: tuple[Source, ...],
    step: int,
    threads: int,
    hint: str = "",
    bam: BamPlaces | None = None,
) -> Iterator[tuple[PairBatch, list[Position] | None]]:
    """Yield the batches of a new reader, and the positions behind each; None where the streams cannot be cut.

    Args, Raises: see surveyed() and positions_of().
    """
    reader.track()
    for source in sources:
        source.keep_places()
    for batch in batches_of(reader, sources, step, hint=hint, threads=threads):
        yield batch, positions_of(reader, sources, bam)


def add_place(places: Places, batch: PairBatch, positions: list[Position] | None) -> None:
    """Add the place behind a batch, if the streams can be cut there."""
    if positions is None:
        places.skip(len(batch), work_of(batch))
    else:
        places.add(len(batch), work_of(batch), positions)


def end_of(reader: StreamReader, sources: Sequence[Source], bam: BamPlaces | None = None) -> list[Position]:
    """Return the positions of the ends of streams that were read; see positions_of()."""
    positions = positions_of(reader, sources, bam)
    assert positions
    return positions


def counted_batches(batches: Iterator[PairBatch], seen: Seen) -> Iterator[PairBatch]:
    """Yield batches, and tell how many pairs each has."""
    for batch in batches:
        seen(len(batch))
        yield batch


def drained(batches: Iterator[PairBatch]) -> Iterator[bytes]:
    """Read all batches, for a header without text."""
    for _ in batches:
        yield b""

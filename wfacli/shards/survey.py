"""The pass over the inputs that finds the places at which they can be cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .._native import PairReader, StreamReader
from ..config import CPU_BATCH, Container, Format, OutputSpec, RunConfig
from ..core.batch import PairBatch
from ..errors import InputError, UsageError
from ..io.read.reader import PairFiles, batches_of, hint_of, layout_of, refuse_alignments
from ..io.read.section import Position
from ..io.read.sources import Source
from .cuts import Places

_MIN_STEP = 1 << 12  # bases between two places, fewer of which are not worth a place
_PLACES_PER_SHARD = 64
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


def depends_on_batches(out: OutputSpec) -> bool:
    """Return True if the bytes of an output depend on its batches: each begins a block of BAM, unless it is sorted."""
    return out.format is Format.SAM and out.container is Container.BAM and not out.sort


def batch_bases_of(config: RunConfig) -> int | None:
    """Return the bases per batch that all shards must use, or None if they may choose."""
    return config.batch_bases or CPU_BATCH if depends_on_batches(config.output) else config.batch_bases


def step_between(config: RunConfig, sources: Sequence[Source], shards: int) -> int:
    """Return the bases between two places, which shards of these inputs are cut at.

    Where the output's bytes depend on batches, inputs are cut between the batches of a run on one machine.
    """
    if depends_on_batches(config.output):
        return config.batch_bases or CPU_BATCH
    stored = sum(source.size or 0 for source in sources)
    return min(max(stored // (_PLACES_PER_SHARD * shards), _MIN_STEP), CPU_BATCH)


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


def positions_of(reader: StreamReader, sources: Sequence[Source]) -> list[Position] | None:
    """Return the positions of the streams behind the batch that was taken; None if they cannot be cut there."""
    places = reader.places()
    if any(offset < 0 for offset, _, _ in places):
        return None
    return [
        Position(*source.stored_place(offset), offset, lines)
        for source, (offset, lines, _) in zip(sources, places, strict=True)
    ]


def survey_pairs(
    files: PairFiles, config: RunConfig, shards: int, sources: tuple[Source, ...]
) -> tuple[Survey, Iterator[PairBatch]]:
    """Return the survey of pairs, and the batches without bases whose reading completes it.

    Args:
        files: QUERY and TARGET.
        config: configuration of the run.
        shards: number of shards.
        sources: open streams of the files.

    Raises:
        UsageError, InputError: an input cannot be cut. Iteration raises InputError at the first fault.
    """
    for source in sources:
        check_cuttable(source)
        refuse_alignments(source)
    layout = layout_of(sources)
    survey = Survey(Places(len(sources)), layout, prefixes=[0] * len(sources))
    return survey, _pair_batches(survey, config, step_between(config, sources, shards), sources)


def _pair_batches(survey: Survey, config: RunConfig, step: int, sources: tuple[Source, ...]) -> Iterator[PairBatch]:
    reader = PairReader(survey.layout, False, False)
    reader.track()
    for source in sources:
        source.keep_places()
        source.inflate_ahead(config.threads - 1)
    # Records are parsed by one thread, since helpers do not keep the places of records.
    for batch in batches_of(reader, sources, step, hint=hint_of(survey.layout)):
        positions = positions_of(reader, sources)
        if positions is None:
            survey.places.skip(len(batch), work_of(batch))
        else:
            survey.places.add(len(batch), work_of(batch), positions)
        yield batch
    positions = positions_of(reader, sources)
    assert positions
    survey.places.end(positions)
    survey.columns = reader.columns

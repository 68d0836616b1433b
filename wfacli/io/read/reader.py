"""Batches of pairs read from files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from ..._native import MappedReader, Next, PairReader, PendingMapped, PendingPairs, StreamReader
from ...core.batch import U8, LaterBatch, PairBatch
from ...errors import InputError, UsageError, text_of
from .sources import Source

_BLOCK = 1 << 19  # bytes; records at a block's edges are copied once more, and larger blocks exceed a core's cache
_MAX_HELPERS = 7  # maximum parsing threads beside the one that assembles batches, which limits the rate beyond that
_INFLATED = 8  # assumed maximum ratio of bases to stored bytes; above it lent memory may be too small
_WANTED = (Next.NEED_QUERY, Next.NEED_TARGET, Next.NEED_MATES)  # by stream number
_STARTS = {b"BAM\1": "BAM", b"CRAM": "CRAM", b"@HD\tVN:": "SAM", b"@SQ\tSN:": "SAM", b"@PG\tID:": "SAM"}
_LONGEST_START = max(map(len, _STARTS))
_SEQ_HINT = (
    " (one file alone is read as pairs: .seq lines '>query' and '<target' in turn, or a table of"
    " query<TAB>target; two FASTA or FASTQ files are given as QUERY TARGET)"
)
_COUNTS_HINT = (
    " (record i is aligned to record i; for reads on a reference there are align --mappings and wfacli map,"
    " for every query with every target extend --all)"
)


class Files(Protocol):
    """Input files of a run.

    Attributes:
        query: file with the queries, as the user named it.
        reference: file with the targets, as a reference or one target for each query.
    """

    query: str

    @property
    def reference(self) -> str:
        """The file with the targets."""

    @property
    def paths(self) -> tuple[str | None, ...]:
        """All files, as the user named them."""

    def open(self) -> tuple[Source, ...]:
        """Open all streams. Raises InputError."""


class PairFiles:
    """QUERY and TARGET, or one file of pairs, as the user named them."""

    def __init__(self, query: str, target: str | None) -> None:
        """Take paths; "-" is standard input. Raises UsageError."""
        if query == "-" and target == "-":
            raise UsageError("only one of QUERY and TARGET can be standard input")
        self.query, self.target = query, target

    @property
    def pairs_before(self) -> tuple[int, int]:
        """Pairs that precede those of the streams, and columns of a table (0: not known); see PairReader.resume()."""
        return 0, 0

    def layout(self, sources: tuple[Source, ...]) -> str:
        """Return how pairs are stored in the open streams; see layout_of(). Raises InputError."""
        return layout_of(sources)

    @property
    def reference(self) -> str:
        """The file with the targets."""
        return self.target or self.query

    @property
    def paths(self) -> tuple[str | None, ...]:
        """All files, as the user named them."""
        return self.query, self.target

    def open(self) -> tuple[Source, ...]:
        """Open one stream or two. Raises InputError."""
        first = Source(self.query)
        if self.target is None:
            return (first,)
        try:
            return first, Source(self.target)
        except InputError:
            first.close()
            raise


def layout_of(sources: tuple[Source, ...]) -> str:
    """Return how pairs are stored in the streams: "two", "seq" or "tsv". Raises InputError."""
    if len(sources) == 2:
        return "two"
    refuse_alignments(sources[0])
    start = sources[0].peek().lstrip()
    if start.startswith(b"@"):
        raise InputError(sources[0].path, "looks like FASTQ, and TARGET is missing: wfacli align QUERY TARGET")
    return "seq" if start[:1] in (b">", b"<") else "tsv"


def alignment_format(source: Source) -> str | None:
    """Return BAM, CRAM or SAM if the stream is in that format, else None; consumes nothing. Raises InputError."""
    head = source.peek(_LONGEST_START)
    return next((name for start, name in _STARTS.items() if head.startswith(start)), None)


def refuse_alignments(source: Source) -> None:
    """Raise InputError if a stream contains alignments where sequences are expected."""
    if name := alignment_format(source):
        raise InputError(source.path, f"is {name}, and FASTA or FASTQ is required: samtools fastq -n FILE > reads.fq")


def read_batches(
    sources: tuple[Source, ...],
    layout: str,
    weight: int,
    keep_bases: bool = True,
    allocate: Callable[[int], U8 | None] | None = None,
    *,
    keep_quality: bool = True,
    threads: int = 1,
    pairs_before: tuple[int, int] = (0, 0),
) -> Iterator[PairBatch]:
    """Yield batches of about `weight` bases, in input order.

    Complete pairs before a fault are yielded before it is raised.

    Args:
        sources: the streams of a layout.
        layout: "two", "seq", "tsv", or "targets" (one stream, whose records become targets of empty queries).
        weight: number of bases, queries and targets together, after which a batch ends.
        keep_bases: False to keep names and lengths only.
        allocate: called with a size in bytes for each batch; returns memory for its bases (u8[size]) or None. The
            memory is not used elsewhere while the array or a view of it exists.
        keep_quality: False to drop qualities.
        threads: number of parsing threads; more than one is used only for records in uncompressed regular files.
        pairs_before: see PairFiles.

    Raises:
        InputError: at the first fault.
    """
    reader = _pair_reader(sources, layout, keep_bases, keep_quality, pairs_before)
    yield from batches_of(reader, sources, weight, allocate, hint_of(layout), threads)


def later_batches(
    sources: tuple[Source, ...],
    layout: str,
    weight: int,
    keep_bases: bool = True,
    allocate: Callable[[int], U8 | None] | None = None,
    *,
    keep_quality: bool = True,
    threads: int = 1,
    pairs_before: tuple[int, int] = (0, 0),
) -> Iterator[LaterBatch]:
    """Yield the batches of read_batches() before they are complete, so that other threads can copy their records."""
    reader = _pair_reader(sources, layout, keep_bases, keep_quality, pairs_before)
    reader.copy_later()
    yield from later_batches_of(reader, sources, weight, allocate, hint_of(layout), threads)


def _pair_reader(
    sources: tuple[Source, ...], layout: str, keep_bases: bool, keep_quality: bool, pairs_before: tuple[int, int]
) -> PairReader:
    for source in sources:
        refuse_alignments(source)
    reader = PairReader(layout, keep_bases, keep_bases and keep_quality)
    reader.resume(*pairs_before)
    return reader


def hint_of(layout: str) -> str:
    """Return the likely cause of a fault in the first lines, or of different record counts, for a layout of pairs."""
    return {"seq": _SEQ_HINT, "two": _COUNTS_HINT}.get(layout, "")


def batches_of(
    reader: PairReader | MappedReader,
    sources: tuple[Source, ...],
    weight: int,
    allocate: Callable[[int], U8 | None] | None = None,
    hint: str = "",
    threads: int = 1,
    ended: Callable[[], bool] = lambda: False,
) -> Iterator[PairBatch]:
    """Yield the batches that a native reader makes of its streams; see read_batches.

    Args:
        reader: native reader.
        sources: its streams.
        weight: as in read_batches.
        allocate: as in read_batches.
        hint: likely cause of a fault in the first lines, or of different record counts of two streams.
        threads: as in read_batches.
        ended: called when the reader has read everything; returns True if there is more. May raise InputError.

    Raises:
        InputError: at the first fault.
    """
    for later in later_batches_of(reader, sources, weight, allocate, hint, threads, ended):
        yield later()


def later_batches_of(
    reader: PairReader | MappedReader,
    sources: tuple[Source, ...],
    weight: int,
    allocate: Callable[[int], U8 | None] | None = None,
    hint: str = "",
    threads: int = 1,
    ended: Callable[[], bool] = lambda: False,
) -> Iterator[LaterBatch]:
    """Yield the batches of batches_of() before they are complete, so that other threads can copy their records."""
    reader.start_threads(min(threads - 1, _MAX_HELPERS))
    for stream, source in enumerate(sources):
        source.inflate_ahead(threads - 1)
        _hand_over(reader, stream, source)
    ordinal, begun = 0, False
    size = _memory_size(sources, weight)
    while True:
        if allocate and not begun:
            # Only the reader refers to the lent memory, so that it is released with its batch.
            _use_memory(reader, allocate(size))
            begun = True
        fault: InputError | None = None
        wants = reader.fill(weight)
        if wants in _WANTED:
            stream = _WANTED.index(wants)
            try:
                reader.commit(stream, sources[stream].readinto(reader.prepare(stream, _BLOCK)))
                continue
            except InputError as error:
                fault = error
        elif wants is Next.FAILED:
            fault = _fault(reader, sources, hint)
        if reader.pending_pairs:
            yield functools.partial(_completed, ordinal, reader.take())
            ordinal, begun = ordinal + 1, False
        if fault:
            raise fault
        if wants is Next.END and not ended():
            return


def _completed(ordinal: int, pending: PendingPairs | PendingMapped) -> PairBatch:
    return PairBatch.from_columns(ordinal, pending.complete())


def _memory_size(sources: tuple[Source, ...], weight: int) -> int:
    """Return the size of memory for a batch's bases; many empty or very short sequences may need more."""
    bound = weight + weight // 8 + _BLOCK
    sizes = [source.size for source in sources]
    return bound if None in sizes else min(bound, _INFLATED * sum(size or 0 for size in sizes) + _BLOCK // 16)


def _use_memory(reader: StreamReader, memory: U8 | None) -> None:
    if memory is not None:
        reader.use_memory(memory)


def _hand_over(reader: StreamReader, stream: int, source: Source) -> None:
    # Native code reads uncompressed streams directly, without a call for each block.
    handed = source.hand_over(functools.partial(reader.bytes_read, stream))
    if handed is None:
        return
    ahead, descriptor, position = handed
    if ahead:
        reader.prepare(stream, len(ahead))[:] = np.frombuffer(ahead, np.uint8)
        reader.commit(stream, len(ahead))
    reader.attach(stream, descriptor, position, _BLOCK, source.end)


def _fault(reader: StreamReader, sources: tuple[Source, ...], hint: str) -> InputError:
    found = reader.fault()
    assert found is not None
    stream, what, line, record = found
    message = text_of(what)
    if line == 0 and len(sources) == 2 and not record:
        return InputError(" and ".join(s.path for s in sources), message + hint)
    if line <= 2 and len(sources) == 1:
        message += hint
    path, line = sources[stream].place_of(line)
    return InputError(path, message, record, line)

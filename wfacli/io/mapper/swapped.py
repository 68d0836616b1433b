"""Detects from the beginning of the files whether REFERENCE and READS were swapped, and whether reads are short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...errors import InputError
from ..read.reader import alignment_format
from ..read.sources import Source
from .presets import ASSEMBLIES, OVERLAPS

_HEAD_BYTES = 1 << 20  # bytes; hardly a read fills them, while the first sequence of a reference often does
_SURE_RATIO = 10  # a sequence this many times as long as any read is certainly a reference
_LIKELY_RATIO = 4
_MIN_MANY = 50  # minimum number of sequences that count as many
_INDEX = b"MMI"
_MAX_SHORT = 350  # bases; maximum length of reads of short-read platforms
_MIN_READS = 20  # minimum number of reads


class _Head(NamedTuple):
    """Beginning of a file.

    Attributes:
        fastq: True for FASTQ, False for FASTA.
        lengths: lengths of the first records in bases; the last one may be truncated.
        whole: True if these are all records of the file.
    """

    fastq: bool
    lengths: tuple[int, ...]
    whole: bool


def _head(source: Source) -> _Head | None:
    """Return the beginning of a FASTA or FASTQ file; None if the file is empty or in another format."""
    try:
        text = source.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    except InputError:  # the reader reports it, after the records before the fault
        return None
    if text.startswith(b"@"):
        return _Head(True, tuple(map(len, text.splitlines()[1::4])) or (0,), len(text) < _HEAD_BYTES)
    if not text.startswith(b">"):
        return None
    records = [lines.partition(b"\n")[2] for lines in text[1:].split(b"\n>")]
    return _Head(False, tuple(len(r) - r.count(b"\n") - r.count(b"\r") for r in records), len(text) < _HEAD_BYTES)


def short_reads(reads: Source) -> int:
    """Return the length of the longest of the first reads if all are short, otherwise 0; consumes nothing."""
    head = _head(reads)
    lengths = head.lengths if head and head.fastq else ()
    return max(lengths) if len(lengths) >= _MIN_READS and max(lengths) <= _MAX_SHORT else 0


def _order(reads: str, reference: str) -> str:
    return f"the reference comes first: wfacli map {reads} {reference}"


def _refuse_other_than_sequences(reference: Source, reads: Source) -> None:
    if name := alignment_format(reference):
        raise InputError(reference.path, f"is {name}; {_order(reads.path, reference.path)}")
    if reference.peek(len(_INDEX)).startswith(_INDEX):
        raise InputError(reference.path, "is an index of minimap2, which has no sequences for wfacli: give the FASTA")


def _refuse(reference: Source, reads: Source) -> None:
    raise InputError(
        reference.path,
        f"is FASTQ, and {reads.path} has a much longer sequence without qualities; "
        f"{_order(reads.path, reference.path)} (a reference with qualities can be given as FASTA)",
    )


def check_order(reference: Source, reads: Sequence[Source], preset: str) -> str | None:
    """Return a warning if reference and reads seem to have been swapped.

    Nothing is consumed from the streams. Assemblies mapped to one another and reads mapped to themselves may have any
    lengths; so may reads and contigs, unless a sequence is longer than any read.

    Args:
        reference: stream that is mapped to.
        reads: streams that are mapped: reads and mates.
        preset: minimap2's preset, which tells the kind of reads.

    Returns:
        A sentence, or None.

    Raises:
        InputError: the reference is FASTQ while the reads are FASTA and ten times as long, or it has no sequences.
    """
    _refuse_other_than_sequences(reference, reads[0])
    if preset.startswith((ASSEMBLIES, OVERLAPS)):
        return None
    there = _head(reference)
    if there is None:
        return None
    longest, many = max(there.lengths), len(there.lengths) >= _MIN_MANY
    heads = [(source, head) for source in reads if (head := _head(source))]
    for source, head in heads:
        if there.fastq and not head.fastq and max(head.lengths) >= _SURE_RATIO * longest:
            _refuse(reference, source)
    for source, head in heads:
        if there.fastq and max(head.lengths) >= longest:
            return (
                f"{reference.path}, the reference, is FASTQ, and its sequences are no longer than those of "
                f"{source.path}: {_order('REFERENCE', 'READS')}"
            )
        few = len(head.lengths) == 1 or (head.whole and _SURE_RATIO * len(head.lengths) <= len(there.lengths))
        if many and not head.fastq and few and min(head.lengths) >= _LIKELY_RATIO * longest:
            return (
                f"{reference.path}, the reference, has many short sequences, and {source.path} a long one: if they "
                f"were swapped, {_order(source.path, reference.path)}; for assemblies there is --preset asm5"
            )
    return None

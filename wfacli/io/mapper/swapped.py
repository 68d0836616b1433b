"""What files begin with, and what of a command line that tells: whether REFERENCE and READS were swapped, say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...errors import InputError
from ..read.reader import alignment_format
from ..read.sources import Source
from .presets import ASSEMBLIES, OVERLAPS

_HEAD = 1 << 20  # bytes; no usual read fills it, while of a reference the first sequence often does
_TIMES = 10  # as long as any read: surely a reference
_TIMES_LIKELY = 4
_MANY = 50  # sequences that all are short
_INDEX = b"MMI"
_SHORT = 350  # letters, more than any read of a platform of short reads
_SEVERAL = 20  # reads


class _Head(NamedTuple):
    """What a file begins with.

    Attributes:
        fastq: whether it is FASTQ, else FASTA.
        lengths: letters of its first records; of the last one perhaps only as many as were looked at.
        whole: whether it ends there.
    """

    fastq: bool
    lengths: tuple[int, ...]
    whole: bool


def _head(source: Source) -> _Head | None:
    """None where it is neither FASTA nor FASTQ, or empty."""
    try:
        text = source.peek(_HEAD)[:_HEAD]
    except InputError:  # whoever reads it says so, behind the records before the fault
        return None
    if text.startswith(b"@"):
        return _Head(True, tuple(map(len, text.splitlines()[1::4])) or (0,), len(text) < _HEAD)
    if not text.startswith(b">"):
        return None
    records = [lines.partition(b"\n")[2] for lines in text[1:].split(b"\n>")]
    return _Head(False, tuple(len(r) - r.count(b"\n") - r.count(b"\r") for r in records), len(text) < _HEAD)


def short_reads(reads: Source) -> int:
    """The length of the longest of the first reads where all are short, else 0; nothing is taken."""
    head = _head(reads)
    lengths = head.lengths if head and head.fastq else ()
    return max(lengths) if len(lengths) >= _SEVERAL and max(lengths) <= _SHORT else 0


def _order(reads: str, reference: str) -> str:
    return f"the reference comes first: wfacli map {reads} {reference}"


def _refuse_other_than_letters(reference: Source, reads: Source) -> None:
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
    """What to warn of where the two seem to have been swapped.

    Nothing is taken from the streams. Assemblies against one another, and reads against themselves, may have any
    lengths; so may reads and contigs, unless one sequence is longer than what is sequenced at a time.

    Args:
        reference: what is mapped to.
        reads: what is mapped, and the mates.
        preset: minimap2's, which says what they are taken for.

    Returns:
        A sentence, or None.

    Raises:
        InputError: the reference is FASTQ, and FASTA is mapped to it that is ten times as long; it is no sequences.
    """
    _refuse_other_than_letters(reference, reads[0])
    if preset.startswith((ASSEMBLIES, OVERLAPS)):
        return None
    there = _head(reference)
    if there is None:
        return None
    longest, many = max(there.lengths), len(there.lengths) >= _MANY
    heads = [(source, head) for source in reads if (head := _head(source))]
    for source, head in heads:
        if there.fastq and not head.fastq and max(head.lengths) >= _TIMES * longest:
            _refuse(reference, source)
    for source, head in heads:
        if there.fastq and max(head.lengths) >= longest:
            return (
                f"{reference.path}, the reference, is FASTQ, and its sequences are no longer than those of "
                f"{source.path}: {_order('REFERENCE', 'READS')}"
            )
        few = len(head.lengths) == 1 or (head.whole and _TIMES * len(head.lengths) <= len(there.lengths))
        if many and not head.fastq and few and min(head.lengths) >= _TIMES_LIKELY * longest:
            return (
                f"{reference.path}, the reference, has many short sequences, and {source.path} a long one: if they "
                f"were swapped, {_order(source.path, reference.path)}; for assemblies there is --preset asm5"
            )
    return None

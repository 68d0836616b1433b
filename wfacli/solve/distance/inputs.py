"""Readers of the inputs as arrays of symbols: two sequences, or two files by bytes or by lines."""

from __future__ import annotations

import enum
from array import array
from dataclasses import dataclass

import numpy as np

from ..._native import estimate_long
from ...config import Ambiguous
from ...core.batch import I64, PairBatch
from ...errors import UsageError
from ...io.read.sequence import Record, each_block, read_bytes, read_record
from ...io.read.sources import Source
from ..base import Pair

OPTIONS = ("--query-name", "--target-name")
_ALIGN, _PADDING = 16, 64  # bytes: alignment of sequences in a PairBatch, and padding after the last
_MAX_BATCH_LENGTH = (1 << 31) - 1
_QUERY_OTHER, _TARGET_OTHER = 0xF0, 0xF1  # codes of everything but nucleotides under `mismatch`, which matches nothing


class Unit(enum.StrEnum):
    """Unit of an edit; the value is the `unit` of JSON reports."""

    SYMBOLS = "symbols"
    BYTES = "bytes"
    LINES = "lines"

    @property
    def plural(self) -> str:
        """Name of the unit in messages."""
        return self.name.lower()


@dataclass(frozen=True)
class Side:
    """One input: its path as given, the name of its record (of texts, the path), and its length in symbols."""

    path: str
    name: str
    length: int


@dataclass(frozen=True)
class Inputs:
    """Two sequences or texts.

    Attributes:
        a, b: path, name and length of each.
        unit: unit of their symbols.
        pair: symbols for comparison.
        bases: u8[B], both back to back as in a PairBatch, as read or folded for comparison; None for lines.
        starts: offsets of A and B in `bases`.
        lines: distinct lines without their ends, indexed by the symbols of `pair`.
        carriage_returns: a byte per line of A and of B: 1 if it ends with a carriage return (and perhaps a line feed),
            else 0.
        open_ends: True if the last line of A, of B, ends without a line feed.
    """

    a: Side
    b: Side
    unit: Unit
    pair: Pair
    bases: np.ndarray | None = None
    starts: tuple[int, int] = (0, 0)
    lines: tuple[bytes, ...] = ()
    carriage_returns: tuple[bytes, bytes] = (b"", b"")
    open_ends: tuple[bool, bool] = (False, False)

    def as_batch(self, edits: int) -> PairBatch:
        """Return a batch of this pair with its estimated edits. Raises UsageError if a sequence is too long."""
        if max(self.a.length, self.b.length) > _MAX_BATCH_LENGTH:
            raise UsageError(
                f"an alignment (--path) of more than {_MAX_BATCH_LENGTH:,} symbols is not supported; the distance is"
            )
        assert self.bases is not None
        names = [side.name.encode(errors="surrogateescape") for side in (self.a, self.b)]
        at: list[I64] = [np.array([start], np.int64) for start in self.starts]
        columns = {
            "bases": self.bases,
            "text": np.frombuffer(b"".join(names), np.uint8),
            "q_start": at[0],
            "t_start": at[1],
            "q_name": np.zeros(1, np.int64),
            "t_name": np.array([len(names[0])], np.int64),
            "qual": np.full(1, -1, np.int64),
            "flags": np.full(1, 0 if self.pair.plain else 1, np.uint8),
        }
        lengths = {"q_len": self.a.length, "t_len": self.b.length}
        lengths |= {"q_name_len": len(names[0]), "t_name_len": len(names[1])}
        columns |= {name: np.array([value], np.int32) for name, value in lengths.items()}
        return PairBatch.from_columns(0, columns).with_edits(np.array([min(edits, _MAX_BATCH_LENGTH)], np.int32))

    def estimate(self) -> int | None:
        """Return the estimated edits of the pair; None for lines, for which there is no estimator."""
        a, b = self.pair.query, self.pair.target
        return None if self.unit is Unit.LINES else round(estimate_long(a.view(np.uint8), b.view(np.uint8)))


def read_sequences(
    paths: tuple[str, str], names: tuple[str | None, str | None], rule: Ambiguous, keep_symbols: bool
) -> Inputs:
    """Read one record of each file.

    Args:
        paths: FASTA or FASTQ files; one may be "-".
        names: names of the records; None for a file with a single record.
        rule: which symbols are equal.
        keep_symbols: True to keep the symbols in `bases` as read, with their case.

    Raises:
        UsageError: the rule is no equivalence relation, or both inputs are standard input.
        InputError: a file cannot be read, or does not contain exactly the requested sequence.
    """
    if rule is Ambiguous.WILDCARD:
        raise UsageError(
            "--ambiguous wildcard cannot be used with distance: N would equal A and C, which do not equal each other; "
            "use literal or mismatch"
        )
    _reject_stdin_twice(paths)
    folds, bases, records = _folds(rule), bytearray(), list[Record]()
    for path, name, option, fold in zip(paths, names, OPTIONS, folds, strict=True):
        bases += bytes(-len(bases) % _ALIGN)
        source = Source(path)
        try:
            records.append(read_record(source, name, option, bases, fold, keep_symbols))
        finally:
            source.close()
    bases += bytes(_PADDING)
    symbols = np.frombuffer(bases, np.uint8)
    a, b = (symbols[r.start : r.start + r.length] for r in records)
    if keep_symbols:
        a, b = (np.frombuffer(folds[i], np.uint8)[side] for i, side in enumerate((a, b)))
    pair = Pair(a, b, all(record.plain for record in records))
    sides = [Side(path, r.name or path, r.length) for path, r in zip(paths, records, strict=True)]
    return Inputs(sides[0], sides[1], Unit.SYMBOLS, pair, symbols, (records[0].start, records[1].start))


def read_texts(paths: tuple[str, str]) -> Inputs:
    """Read two files as bytes. Raises InputError, UsageError."""
    _reject_stdin_twice(paths)
    bases, spans = bytearray(), list[tuple[int, int]]()
    for path in paths:
        bases += bytes(-len(bases) % _ALIGN)
        start = len(bases)
        bases += read_bytes(path)
        spans.append((start, len(bases) - start))
    bases += bytes(_PADDING)
    text = np.frombuffer(bases, np.uint8)
    a, b = (text[start : start + length] for start, length in spans)
    sides = [Side(path, path, length) for path, (_, length) in zip(paths, spans, strict=True)]
    return Inputs(sides[0], sides[1], Unit.BYTES, Pair(a, b, False), text, (spans[0][0], spans[1][0]))


def read_lines(paths: tuple[str, str]) -> Inputs:
    """Read two files as lines. Raises InputError, UsageError."""
    _reject_stdin_twice(paths)
    numbering: dict[bytes, int] = {}
    symbols, carriage_returns, ends = zip(*(_numbered(path, numbering) for path in paths), strict=True)
    numbers = [np.frombuffer(side, np.uint32) if side else np.zeros(0, np.uint32) for side in symbols]
    a, b = numbers if len(numbering) > 256 else [side.astype(np.uint8) for side in numbers]
    sides = [Side(path, path, len(side)) for path, side in zip(paths, (a, b), strict=True)]
    pair, lines = Pair(a, b, False), tuple(numbering)
    return Inputs(
        sides[0],
        sides[1],
        Unit.LINES,
        pair,
        lines=lines,
        carriage_returns=(carriage_returns[0], carriage_returns[1]),
        open_ends=(ends[0], ends[1]),
    )


def _numbered(path: str, numbering: dict[bytes, int]) -> tuple[array[int], bytes, bool]:
    """Number the lines, equal lines equally; return numbers, `carriage_returns` and `open_ends` as in Inputs."""
    numbers: array[int] = array("I")
    carriage_returns = bytearray()
    rest = bytearray()  # an incomplete line

    def add(lines: list[bytes]) -> None:
        numbers.extend(numbering.setdefault(line.removesuffix(b"\r"), len(numbering)) for line in lines)
        carriage_returns.extend(line.endswith(b"\r") for line in lines)

    def take(block: bytes) -> None:
        rest.extend(block)
        if b"\n" in block:
            *lines, last = bytes(rest).split(b"\n")
            add(lines)
            rest[:] = last

    each_block(path, take)
    if rest:
        add([bytes(rest)])
    return numbers, bytes(carriage_returns), bool(rest)


def _reject_stdin_twice(paths: tuple[str, str]) -> None:
    if paths == ("-", "-"):
        raise UsageError("only one of QUERY and TARGET can be standard input")


def _folds(rule: Ambiguous) -> tuple[bytes, bytes]:
    """Return the 256-byte translation tables of A and of B that make equal symbols equal bytes."""
    upper = bytes(range(256)).upper()
    if rule is Ambiguous.LITERAL:
        return upper, upper
    sides = []
    for other in (_QUERY_OTHER, _TARGET_OTHER):
        table = bytearray([other]) * 256
        for character, code in zip(b"ACGTUacgtu", b"ACGTTACGTT", strict=True):
            table[character] = code
        sides.append(bytes(table))
    return sides[0], sides[1]

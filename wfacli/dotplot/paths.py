"""Alignments as lines across the picture, coloured by identity."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._native import path_windows
from ..core import cigar as cigars
from ..core.batch import I64, U32
from ..errors import InputError, text_of
from ..io.read.long_lines import read_lines
from ..io.read.sources import Source
from .sequences import Axis

_CLIPS = 4, 5  # S and H


@dataclass(frozen=True)
class Block:
    """One alignment, in coordinates of the axes.

    Attributes:
        query: begin and end, half open.
        target: begin and end, half open.
        reverse: True if the query's reverse complement is aligned.
        cigar: u32[...] in BAM's packing without clips, from the beginning of the target; None if unknown.
        identity: identity of the whole alignment if there is no CIGAR; NaN if unknown.
        number: line number in the file, from 1; 0 if it is not from a file.
    """

    query: tuple[int, int]
    target: tuple[int, int]
    reverse: bool = False
    cigar: U32 | None = None
    identity: float = float("nan")
    number: int = 0


@dataclass(frozen=True)
class Line:
    """A block, divided into w windows of equal numbers of bases.

    Attributes:
        query, target: i64[w + 1], positions of the windows' borders on the axes.
        matches, columns: i64[w], matches and alignment columns of each window; columns are 0 if unknown.
        identity: f64[w], matches per column; NaN if unknown.
    """

    query: I64
    target: I64
    matches: I64
    columns: I64
    identity: npt.NDArray[np.float64]


def lines_of(
    blocks: Sequence[Block], query: Axis, target: Axis, windows: int, literal: bool, path: str = "path"
) -> list[Line]:
    """Return the lines of all alignments, with about `windows` windows in total. Raises InputError for a misfit."""
    progress = [b.query[1] - b.query[0] + b.target[1] - b.target[0] for b in blocks]
    step = max(max(sum(progress), 1) / windows, 2.0)
    lines = []
    for block, whole in zip(blocks, progress, strict=True):
        if block.cigar is None:
            lines.append(_straight(block))
            continue
        try:
            q, t, matches, columns = path_windows(
                query.symbols[slice(*block.query)],
                target.symbols[slice(*block.target)],
                block.cigar,
                reverse=block.reverse,
                literal=literal,
                windows=max(1, round(whole / step)),
            )
        except ValueError as error:
            raise InputError(path, str(error), line=block.number) from None
        on_query = block.query[1] - q if block.reverse else block.query[0] + q
        with np.errstate(invalid="ignore"):
            lines.append(Line(on_query, block.target[0] + t, matches, columns, matches / columns))
    return lines


def _straight(block: Block) -> Line:
    query = np.array(block.query[::-1] if block.reverse else block.query, np.int64)
    none = np.zeros(1, np.int64)
    return Line(query, np.array(block.target, np.int64), none, none, np.array([block.identity]))


def read_blocks(path: str, query: Axis, target: Axis) -> list[Block]:
    """Read the alignments of a PAF or SAM file between records of the axes, in file order.

    Raises InputError: the file is neither, a record's length differs, or no alignment is between the axes.
    """
    records = _Records(path, query, target)
    blocks = []
    with closing(Source(path)) as source:
        for number, line in enumerate(map(text_of, read_lines(source)), 1):
            if not line or line.startswith("@"):
                continue
            block = _block_of(line.split("\t"), records, number)
            if block is not None:
                blocks.append(replace(block, number=number))
    if not blocks:
        records.raise_empty()
    return blocks


def _block_of(fields: list[str], records: _Records, number: int) -> Block | None:
    """Return the alignment of a line; None if it has none between the axes. Raises InputError."""
    read = _sam if _is_sam(fields) else _paf
    try:
        return read(fields, records)
    except (ValueError, IndexError, OverflowError):
        raise InputError(records.path, "is not an alignment of PAF or SAM", line=number) from None
    except KeyError:
        records.others.append((fields[0], fields[5 if read is _paf else 2]))
        return None


def _is_sam(fields: list[str]) -> bool:
    return len(fields) >= 11 and all(fields[i].isdecimal() for i in (1, 3, 4))


class _Records:
    """Positions on the axes of the records of an alignment file."""

    def __init__(self, path: str, query: Axis, target: Axis) -> None:
        self.path = path
        self.others: list[tuple[str, str]] = []  # query and target names of alignments between other records
        self._query, self._target = _places(query), _places(target)

    def query(self, name: str, length: int | None = None) -> tuple[int, int]:
        """Return begin and end of a record. Raises KeyError if it is not shown, InputError if its length differs."""
        return self._checked(self._query[name], name, length)

    def target(self, name: str, length: int | None = None) -> tuple[int, int]:
        """Return begin and end of a record of the target; see query()."""
        return self._checked(self._target[name], name, length)

    def _checked(self, place: tuple[int, int], name: str, length: int | None) -> tuple[int, int]:
        there = place[1] - place[0]
        if length is not None and length != there:
            raise InputError(
                self.path, f"is of other sequences: {length:,} symbols here, {there:,} in the input", name
            )
        return place

    def raise_empty(self) -> None:
        """Report why nothing can be drawn. Raises InputError."""
        if not self.others:
            raise InputError(self.path, "has no alignments")
        q, t = self.others[0]
        raise InputError(
            self.path, f"has no alignment between these sequences, but {q} to {t} and the like: were names changed?"
        )


def _places(axis: Axis) -> dict[str, tuple[int, int]]:
    """Return begin and end of each record by name; of records with the same name, the first."""
    places: dict[str, tuple[int, int]] = {}
    for name, begin, end in zip(axis.names, axis.starts[:-1].tolist(), axis.starts[1:].tolist(), strict=True):
        places.setdefault(name, (begin, end))
    return places


def _paf(fields: list[str], records: _Records) -> Block | None:
    if fields[4] not in ("+", "-"):
        raise ValueError
    q_length, q_begin, q_end = (int(fields[i]) for i in (1, 2, 3))
    t_length, t_begin, t_end, same, columns = (int(fields[i]) for i in (6, 7, 8, 9, 10))
    q, t = records.query(fields[0], q_length)[0], records.target(fields[5], t_length)[0]
    if not (0 <= q_begin <= q_end <= q_length and 0 <= t_begin <= t_end <= t_length):
        raise ValueError
    text = next((field[5:] for field in fields[12:] if field.startswith("cg:Z:")), None)
    return Block(
        (q + q_begin, q + q_end),
        (t + t_begin, t + t_end),
        fields[4] == "-",
        None if text is None else cigars.from_text(text),
        same / columns if columns else float("nan"),
    )


def _sam(fields: list[str], records: _Records) -> Block | None:
    flags, position = int(fields[1]), int(fields[3])
    if flags & 4 or fields[5] == "*" or fields[2] == "*":
        return None
    (q, q_end), (t, t_end) = records.query(fields[0]), records.target(fields[2])
    cigar = cigars.from_text(fields[5])
    clip = np.isin(cigar & 15, _CLIPS)
    inner = np.flatnonzero(~clip)
    before = int((cigar[: inner[0] if len(inner) else len(cigar)] >> 4).sum(dtype=np.int64))
    cigar = cigar[~clip]
    query_length, target_length = cigars.spans(cigar)
    t_begin = t + position - 1
    q_begin = q_end - before - query_length if flags & 16 else q + before
    if not (q <= q_begin and q_begin + query_length <= q_end and t <= t_begin and t_begin + target_length <= t_end):
        raise InputError(records.path, "is of other sequences: the alignment is longer than the input", fields[0])
    return Block((q_begin, q_begin + query_length), (t_begin, t_begin + target_length), bool(flags & 16), cigar)

"""An axis of the picture: the concatenated records of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..core.batch import I64, U8, U32
from ..core.stats import counted
from ..errors import InputError
from ..io.read.reader import read_batches
from ..io.read.sources import Source

_BATCH = 1 << 26  # bases read at a time, or those of one longer record
_BLOCK = 1 << 20
_SHOWN = 5  # maximum names in a message
_CAPITALS = np.frombuffer(bytes(range(256)).upper(), np.uint8)


@dataclass(frozen=True)
class Axis:
    """Concatenated records.

    Attributes:
        title: title of the axis: the record's name, or the file's name if there are several records.
        symbols: symbols of all records, u8 or u32.
        names: names of the r records.
        starts: i64[r + 1], start of each record; the last value is the total length.
    """

    title: str
    symbols: U8 | U32
    names: tuple[str, ...]
    starts: I64

    def __len__(self) -> int:
        return len(self.symbols)

    @classmethod
    def of(cls, symbols: npt.NDArray[np.uint8] | npt.NDArray[np.uint32], name: str) -> Axis:
        """Return an axis with one sequence."""
        return cls(name, symbols, (name,), np.array([0, len(symbols)], np.int64))


def read_text(path: str) -> Axis:
    """Read a file's bytes, decompressed, as one sequence. Raises InputError."""
    with closing(Source(path)) as source:
        block = np.empty(_BLOCK, np.uint8)
        text = bytearray()
        while got := source.readinto(block):
            text += block[:got].data
    return Axis.of(np.frombuffer(text, np.uint8), _file_name(path))


def read_records(path: str, only: Collection[str] = (), fold: bool = False) -> Axis:
    """Read all or the named records of FASTA or FASTQ; fold converts to upper case. Raises InputError."""
    names: list[str] = []
    parts: list[U8] = []
    seen: list[str] = []  # first names of records that were not selected
    with closing(Source(path)) as source:
        for name, as_read in _records(source):
            symbols = _CAPITALS[as_read] if fold else as_read
            if only and name not in only:
                seen += [name] if len(seen) < _SHOWN else []
                continue
            if name in names and name in only:
                # The same target may be listed with each of its queries.
                if np.array_equal(parts[names.index(name)], symbols):
                    continue
                raise InputError(path, "two different records have this name", name)
            names.append(name)
            parts.append(symbols)
    if missing := [name for name in only if name not in names]:
        there = f"; there are {', '.join(seen)}{', …' if len(seen) == _SHOWN else ''}" if seen else ""
        raise InputError(path, f"no record is named {missing[0]}{there}")
    if not names:
        raise InputError(path, "has no records")
    if len(names) == 1:
        return Axis.of(parts[0], names[0])
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return Axis(f"{_file_name(path)}, {counted(len(names), 'record')}", np.concatenate(parts), tuple(names), starts)


def _records(source: Source) -> Iterator[tuple[str, U8]]:
    # A single stream is read as targets of empty queries.
    for batch in read_batches((source,), "targets", _BATCH):
        for row in range(len(batch)):
            start = int(batch.t_start[row])
            yield batch.records.target_name(row), batch.bases[start : start + int(batch.t_len[row])]


def _file_name(path: str) -> str:
    return "standard input" if path == "-" else Path(path).name

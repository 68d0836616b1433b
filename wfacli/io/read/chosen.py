"""Pairs of arbitrary queries and targets from two files, whose sequences are in memory once each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core.batch import I32, I64, U8, PairBatch, Records
from ...errors import InputError, text_of
from .long_lines import read_lines
from .reader import read_batches
from .sources import Source

_READ_WEIGHT = 64_000_000
_MAX_PAIRS = 1 << 16  # maximum pairs of a batch
_TAIL = 64  # bytes that follow the last sequence, as PairBatch requires


@dataclass(frozen=True)
class _Side:
    """Sequences of one file: offsets, lengths and flags, as in PairBatch and Records."""

    start: I64
    length: I32
    flags: U8
    name: I64
    name_length: I32

    def __len__(self) -> int:
        return len(self.start)


class Sequences:
    """All sequences of two files."""

    def __init__(self, query: Source, target: Source) -> None:
        """Read both files. Raises InputError."""
        self._paths = query.path, target.path
        bases: list[U8] = []
        text: list[U8] = []
        self._query = _read(query, bases, text)
        self._target = _read(target, bases, text)
        self._bases = np.concatenate([*bases, np.zeros(_TAIL, np.uint8)])
        self._text = np.concatenate(text) if text else np.zeros(0, np.uint8)

    def all_pairs(self, weight: int) -> Iterator[PairBatch]:
        """Yield every query with every target, all pairs of the first query first, in batches of ~`weight` bases."""
        yield from self._batches(itertools.product(range(len(self._query)), range(len(self._target))), weight)

    def named_pairs(self, listed: Source, weight: int) -> Iterator[PairBatch]:
        """Yield the pairs listed in a file, as lines "query<TAB>target". Raises InputError with the line number."""
        yield from self._batches(self._named(listed), weight)

    def _named(self, listed: Source) -> Iterator[tuple[int, int]]:
        queries, targets = (
            self._numbers(side, path) for side, path in zip((self._query, self._target), self._paths, strict=True)
        )
        for number, line in enumerate(read_lines(listed), 1):
            if not line or line.startswith(b"#"):
                continue
            names = line.split(b"\t")
            if len(names) != 2:
                raise InputError(
                    listed.path, "a line has the names of a query and a target with a tab between", line=number
                )
            query, target = queries.get(names[0]), targets.get(names[1])
            for name, found, path in zip(names, (query, target), self._paths, strict=True):
                if found is None:
                    raise InputError(listed.path, f"{text_of(name)} is not in {path}", line=number)
            assert query is not None and target is not None
            yield query, target

    def _numbers(self, side: _Side, path: str) -> dict[bytes, int]:
        text = self._text.tobytes()
        names = [text[n : n + length] for n, length in zip(side.name.tolist(), side.name_length.tolist(), strict=True)]
        numbers = {name: number for number, name in enumerate(names)}
        if len(numbers) < len(names):
            twice = next(name for number, name in enumerate(names) if numbers[name] != number)
            raise InputError(path, "is the name of two records, and pairs are chosen by names", twice)
        return numbers

    def _batches(self, pairs: Iterator[tuple[int, int]], weight: int) -> Iterator[PairBatch]:
        # A batch ends with the pair that brings it to `weight` bases.
        lengths = self._query.length, self._target.length
        for ordinal in itertools.count():
            selected = []
            size = 0
            for query, target in pairs:
                selected.append((query, target))
                size += int(lengths[0][query]) + int(lengths[1][target])
                if size >= weight or len(selected) == _MAX_PAIRS:
                    break
            if not selected:
                return
            yield self._batch(ordinal, np.array(selected, np.int64))

    def _batch(self, ordinal: int, selected: I64) -> PairBatch:
        query, target = self._query, self._target
        q, t = selected[:, 0], selected[:, 1]
        none = np.full(len(selected), -1, np.int64)
        records = Records(self._text, query.name[q], target.name[t], query.name_length[q], target.name_length[t], none)
        return PairBatch(
            ordinal,
            self._bases,
            query.start[q],
            target.start[t],
            query.length[q],
            target.length[t],
            query.flags[q] | target.flags[t],
            none.astype(np.int32),
            records,
        )


def _read(source: Source, bases: list[U8], text: list[U8]) -> _Side:
    """Read the sequences of a file, appending its bases to `bases` and its names to `text`."""
    parts: list[_Side] = []
    for batch in read_batches((source,), "targets", _READ_WEIGHT):
        ahead, names_ahead = sum(map(len, bases)), sum(map(len, text))
        records = batch.records
        parts.append(
            _Side(batch.t_start + ahead, batch.t_len, batch.flags, records.t_name + names_ahead, records.t_name_len)
        )
        bases.append(np.concatenate([batch.bases, np.zeros(-len(batch.bases) % 16, np.uint8)]))
        text.append(records.text)
    columns = ("start", "length", "flags", "name", "name_length")
    types = (np.int64, np.int32, np.uint8, np.int64, np.int32)
    return _Side(
        *(
            np.concatenate([np.zeros(0, kind), *(getattr(part, column) for part in parts)])
            for column, kind in zip(columns, types, strict=True)
        )
    )

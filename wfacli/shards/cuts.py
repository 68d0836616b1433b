"""Places at which inputs can be cut, and the cuts that balance the work of shards."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from ..core.batch import I64
from ..io.read.section import Position

_MAX_PLACES = 1 << 17  # candidates in memory; each shard of a thousand then has more than a hundred of them
POSITION_FIELDS = 4
_OWN = 3  # columns before the positions: records, work, early reads
_EARLY = 2
_FEW_STREAMS = 4  # with more streams there are fewer candidates, so that memory is bounded


@dataclass(frozen=True)
class Cut:
    """A place at which all inputs are cut.

    Attributes:
        records: number of pairs, or of reads, before it.
        work: estimated work before it, in bases.
        positions: position in each input that is cut.
    """

    records: int
    work: int
    positions: tuple[Position, ...]


class CutTable(Sequence[Cut]):
    """Cuts as rows of an array, since every shard reads those of all.

    Attributes:
        rows: i64[n, 2 + 4k] for k inputs: records, work, and the four fields of each position.
    """

    def __init__(self, rows: I64) -> None:
        """Take the rows."""
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> Cut: ...
    @overload
    def __getitem__(self, number: slice) -> CutTable: ...
    def __getitem__(self, number: int | slice) -> Cut | CutTable:
        if isinstance(number, slice):
            return CutTable(self.rows[number])
        records, work, *fields = map(int, self.rows[number])
        ends = range(0, len(fields), POSITION_FIELDS)
        return Cut(records, work, tuple(Position(*fields[at : at + POSITION_FIELDS]) for at in ends))


class Places:
    """Candidates for cuts in the order of the input, in bounded memory: with too many, every other one is dropped."""

    def __init__(self, streams: int, max_places: int = _MAX_PLACES) -> None:
        """Begin at the beginning of all inputs.

        Args:
            streams: number of inputs that are cut.
            max_places: maximum number of candidates in memory, 2 at least, of a few streams.
        """
        self._streams, self._max = streams, max(max_places // max(streams // _FEW_STREAMS, 1), 2)
        self._width = _OWN + POSITION_FIELDS * streams
        self._rows = array("q", [0] * self._width)
        self._records = self._work = 0
        self._added, self._stride = 0, 1  # one added place in `_stride` is kept

    def __len__(self) -> int:
        return len(self._rows) // self._width

    def add(self, records: int, work: int, positions: Sequence[Position], early: int = 0) -> bool:
        """Add the place behind a batch; return True if it is kept.

        Args:
            records: pairs or reads of the batch.
            work: its estimated work, in bases.
            positions: position behind it in each input.
            early: number of reads before it that came before their mappings; see drop().
        """
        self.skip(records, work)
        self._added += 1
        if self._added % self._stride:
            return False
        if len(self) == self._max:
            self._thin_out()
        self._append(positions, early)
        return True

    def drop_last(self) -> None:
        """Remove the last place."""
        del self._rows[-self._width :]

    def _append(self, positions: Sequence[Position], early: int) -> None:
        fields = [f for p in positions for f in (p.stored, p.within, p.offset, p.lines)]
        self._rows.extend([self._records, self._work, early, *fields])

    def skip(self, records: int, work: int) -> None:
        """Add a batch behind which there is no place to cut."""
        self._records += records
        self._work += work

    def drop(self, early: int) -> None:
        """Remove the places with more than `early` early reads: a mapping behind them names a read before them."""
        while len(self) > 1 and self._rows[-self._width + _EARLY] > early:
            del self._rows[-self._width :]

    def end(self, positions: Sequence[Position]) -> None:
        """Make the end of the inputs the last place, instead of the one behind the last batch."""
        if len(self) > 1 and self._rows[-self._width] == self._records:
            del self._rows[-self._width :]
        self._append(positions, 0)

    def balanced(self, shards: int) -> CutTable:
        """Return shards + 1 cuts, from the beginning to the end, between which there is about the same work.

        A shard is empty if there are too few places. The first place is the beginning, the last one the end.
        """
        rows = np.frombuffer(self._rows, np.int64).reshape(-1, self._width)
        work: I64 = rows[:, 1]
        wanted = np.arange(shards + 1) * (int(work[-1]) / shards)
        after = np.clip(np.searchsorted(work, wanted), 1, max(len(rows) - 1, 1)).clip(max=len(rows) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(wanted - work[before] <= work[after] - wanted, before, after)
        nearest[0], nearest[-1] = 0, len(rows) - 1
        return CutTable(np.delete(rows[nearest], _EARLY, axis=1))

    def _thin_out(self) -> None:
        kept = np.frombuffer(self._rows, np.int64).reshape(-1, self._width)[::2].copy()
        self._rows = array("q", kept.tobytes())
        self._stride *= 2

"""The way back from a best cell through rows that a card has kept: the pieces between two of them, side by side.

Where a path goes from a cell depends on nothing but the cell. So each piece is walked from where the path is believed
to come into it: the best cell of the kept row below it. Where one is left corrects the belief of the next, and rounds
end when nothing changes; each makes at least one more piece right (as wfacli/gpu/long_path.py does). The card looks
for those cells, and for the columns of the rows above that a piece needs; the CPU's threads walk the pieces.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .._native import LocalWalk
from ..batch import I32, I64, U32, U64
from ..errors import DeviceError, InternalError
from ..gpu import local as sizes
from ..gpu.catalogue import ROWS
from ..gpu.driver import Bytes, Driver, Memory, Stream
from ..gpu.local import Scores
from ..gpu.task import LOCAL_CONE, LOCAL_CONES_TASK

_PARTS = 32  # blocks that look at a kept row
_PIECES = 512  # that are believed in at a time: what lies behind the path's end is walked for nothing
_CELLS = 1 << 25  # of kept rows that are taken from the card at a time
_CELL = 8  # bytes of one
_SCORE = 0xFFFFFFFF
_LEFT, _ENDED = 0, 1  # LocalPiece::How

Entry = tuple[int, int, int, int]  # row, column, what the path still scores, state


@dataclass
class _Piece:
    """Rows from a kept one on (None: from the first), to where the next kept one is, or the best cell.

    Attributes:
        row: the first.
        address: of the kept row above it, 0 where there is none.
        entry: where the path is believed to come in, if anywhere.
        walked: the entry that exit, how and ops belong to.
    """

    row: int
    address: int
    entry: Entry | None = None
    walked: Entry | None = None
    exit: Entry = (0, 0, 0, 0)
    how: int = _LEFT
    ops: U32 = field(default_factory=lambda: np.zeros(0, np.uint32))


def unpacked(words: U64) -> tuple[I32, I32]:
    """Cells of a kept row as scores, and those of gaps into the row below."""
    h = (words & np.uint64(_SCORE)).astype(np.uint32).view(np.int32)
    less = (words >> np.uint64(32) & np.uint64(0xFFFF)).astype(np.int32)
    f: I32 = np.maximum(h - less, 0)
    return h, f


class Walk:
    """A way back, some pieces at a time; the driver is the caller's."""

    def __init__(
        self,
        driver: Driver,
        stream: Stream,
        native: LocalWalk,
        scores: Scores,
        best: tuple[int, int, int],
        kept: dict[int, int],
        threads: int,
    ) -> None:
        """`best`: score, row and column; `kept`: addresses of rows by how many rows are above their lower edge."""
        self._driver, self._stream, self._native = driver, stream, native
        self._scores, self._threads = scores, threads
        self._begin: Entry = (best[1], best[2], best[0], 0)
        above = sorted((rows for rows in kept if rows <= best[1]), reverse=True)
        self._pieces = [_Piece(rows, kept[rows]) for rows in above] + [_Piece(0, 0)]
        self._pieces[0].entry = self._begin
        self._right = 0  # pieces that are known to be right
        self._believed = 1  # that have been believed in
        self._pinned: Bytes | None = None
        self._memories: list[Memory] = []
        self.ended = False
        self.cells = 0

    @property
    def share(self) -> float:
        """Of the pieces."""
        return self._right / len(self._pieces)

    def step(self) -> None:
        """One round: those pieces whose entry is not the one that they were walked from."""
        pieces = self._pieces
        if self._right == self._believed or self._believed == 1:
            self._believe(min(max(self._right, 1) + _PIECES, len(pieces)))
        todo = [p for p in pieces[self._right : self._believed] if p.entry is not None and p.entry != p.walked]
        self._walk(todo)
        for before, piece in zip(pieces[self._right : self._believed], pieces[self._right + 1 :], strict=False):
            if before.walked is not None and before.walked == before.entry and before.how == _LEFT:
                piece.entry = before.exit
        while self._right < self._believed and pieces[self._right].walked == pieces[self._right].entry:
            piece = pieces[self._right]
            if piece.how not in (_LEFT, _ENDED):
                raise InternalError("a local alignment cannot be followed through its matrix; please report this")
            self._right += 1
            if piece.how == _ENDED:
                self.ended = True
                self._end = piece.exit
                return

    def _believe(self, end: int) -> None:
        """Looks where the path may come into pieces that nobody has looked at."""
        first, self._believed = self._believed, end
        below = self._pieces[first - 1 : end - 1]
        if not below:
            return
        best = self._ask(sizes.TOPS, [(p.address, 0, self._begin[1], 0) for p in below], "best")
        for piece, above, word in zip(self._pieces[first:end], below, best.tolist(), strict=True):
            if piece.entry is None and word >> 32:
                piece.entry = (above.row - 1, word & _SCORE, word >> 32, 0)

    def _ask(self, row: str, cones: list[tuple[int, int, int, int]], answer: str) -> U64:
        """What a kernel of local_cone.cu says of each: kept row, rows to its cell, column, score."""
        driver, count = self._driver, len(cones)
        given = np.array(cones, LOCAL_CONE)
        size = 8 if answer == "best" else 4
        memory = driver.allocate(given.nbytes + size * count)
        self._memories.append(memory)  # until it is given back here, or where the card has failed by close
        pinned = self._room(given.nbytes)
        pinned[:] = given.view(np.uint8)
        driver.upload(memory.address, pinned, self._stream)
        answers = memory.address + given.nbytes
        driver.fill(answers, 0 if answer == "best" else 0xFF, size * count, self._stream)
        task, scores = np.zeros(1, LOCAL_CONES_TASK), self._scores
        task["cones"], task[answer], task["parts"] = memory.address, answers, _PARTS
        task["match"], task["open"], task["extend"] = scores.match, scores.open, scores.extend
        task["spare"] = scores.match + scores.open + 2 * scores.extend  # as LocalPath::first_column has it
        driver.launch(driver.kernel(ROWS[row]), count * _PARTS, task, self._stream)
        self._settle()
        pinned = self._room(size * count)
        driver.download(pinned, answers, self._stream)
        self._settle()
        found: U64 = pinned.view(np.uint64 if size == 8 else np.uint32).astype(np.uint64)
        driver.free(self._memories.pop())
        return found

    def _room(self, nbytes: int) -> Bytes:
        """Page-locked memory, for one thing at a time."""
        if self._pinned is None or len(self._pinned) < nbytes:
            self._unpin()
            self._pinned = self._driver.pinned(max(2 * nbytes, 1 << 20))
        return self._pinned[:nbytes]

    def _unpin(self) -> None:
        pinned, self._pinned = self._pinned, None
        if pinned is not None:
            self._driver.unpin(pinned)

    def _settle(self) -> None:
        self._driver.wait(self._driver.record(self._stream))

    def _walk(self, todo: list[_Piece]) -> None:
        """Walks pieces from their entries, as many at a time as their rows leave room for."""
        cones = [(p.address, p.entry[0] + 1 - p.row, p.entry[1], p.entry[2]) for p in todo if p.entry and p.address]
        firsts = iter(self._ask(sizes.CONES, cones, "first").tolist() if cones else ())
        group: list[tuple[_Piece, int]] = []
        cells = 0
        for piece in todo:
            assert piece.entry
            first = max(min(int(next(firsts)), piece.entry[1]) - 1, 0) if piece.address else 0
            group.append((piece, first))
            cells += piece.entry[1] + 1 - first if piece.address else 0
            if cells > _CELLS:
                self._walk_group(group)
                group, cells = [], 0
        if group:
            self._walk_group(group)

    def _walk_group(self, group: list[tuple[_Piece, int]]) -> None:
        table: I64 = np.zeros((len(group), 7), np.int64)
        for at, (piece, first) in enumerate(group):
            assert piece.entry
            count = piece.entry[1] + 1 - first if piece.address else 0
            table[at] = (piece.row, first, count, *piece.entry)
        counts = table[:, 2]
        pinned = self._room(_CELL * int(counts.sum()))
        at = 0
        for (piece, first), count in zip(group, counts.tolist(), strict=True):
            if count:
                self._driver.download(pinned[at : at + _CELL * count], piece.address + _CELL * first, self._stream)
                at += _CELL * count
        self._settle()
        h, f = unpacked(pinned.view(np.uint64))
        ends, starts, ops = self._native.walk(table, h, f, self._threads)
        rows: npt.NDArray[np.int64] = ends.reshape(-1, 6)
        self.cells += int(rows[:, 5].sum())
        for number, (piece, _) in enumerate(group):
            row, column, needed, state, how, _ = rows[number].tolist()
            piece.exit, piece.how, piece.walked = (row, column, needed, state), how, piece.entry
            piece.ops = ops[starts[number] : starts[number + 1]].copy()

    def path(self) -> tuple[int, int, U32]:
        """(row and column before which it ends, operations), after the end."""
        parts = [piece.ops for piece in self._pieces[: self._right]]
        return self._end[0], self._end[1], _joined(np.concatenate(parts))

    def close(self) -> None:
        """Gives back what it has, when nothing is under way; it may be called again."""
        with contextlib.suppress(DeviceError):
            self._unpin()
        while self._memories:
            with contextlib.suppress(DeviceError):
                self._driver.free(self._memories.pop())


def _joined(ops: U32) -> U32:
    """Without two of a kind in a row."""
    if not len(ops):
        return ops
    kinds = ops & np.uint32(15)
    begins = np.flatnonzero(np.concatenate([[True], kinds[1:] != kinds[:-1]]))
    lengths = np.add.reduceat((ops >> np.uint32(4)).astype(np.int64), begins)
    if int(lengths.max()) >= 1 << 28:  # as long as an operation of BAM may be
        return ops
    found: U32 = (lengths.astype(np.uint32) << np.uint32(4)) | kinds[begins]
    return found

"""The way back from a best cell through rows that a GPU has kept: the pieces between two of them, side by side.

Where a path goes from a cell depends on nothing but the cell. So each piece is walked from where the path is believed
to come into it: at first the best cell of the kept row below it. Where one is left corrects the belief of the next,
and rounds end when nothing changes; each makes at least one more piece right (as gpu/kernels/long_path.py does). Where
a best cell was on another alignment, many rows' best cells are: so from a corrected place on the path is believed to
go straight on, near its diagonal, for some pieces. What was walked stays known, in case that was wrong. The GPU looks
for those cells, and for the columns of the rows above that a piece needs; the CPU's threads walk the pieces. Where
beliefs do not help (where the path crosses what the sequences do not share, there is no telling), the rows of the next
pieces are fetched around the path's diagonal, and as long as it stays there it is followed without the GPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._native import LocalWalk
from ...core.batch import I32, I64, U32, U64
from ...errors import DeviceError, InternalError
from ...gpu.kernels import local as sizes
from ...gpu.kernels.catalogue import ROWS
from ...gpu.kernels.local import Scores
from ...gpu.runtime.driver import Bytes, Driver, Memory, Stream
from ...gpu.runtime.task import LOCAL_CONE, LOCAL_CONES_TASK

_PARTS = 32  # blocks that look at a kept row
_PIECES = 512  # that are believed in at a time: what lies behind the path's end is walked for nothing
_GUESSES = (
    8,
    128,
)  # beliefs that a round's corrections change: many where they have helped, a millisecond of 16 threads
_ASIDE = 1024  # columns from its diagonal within which a path is believed to go straight on
_NEAR = 16  # pieces whose rows are fetched around the path's diagonal
_BESIDE = 2048  # columns on either side of it
_LOOKS = 500  # for an answer of the GPU before the thread sleeps, which takes longer than most answers
_CELLS = 1 << 25  # of kept rows that are taken from the GPU at a time
_WORD = 8  # bytes of one
_SCORE = 0xFFFFFFFF
_LEFT, _ENDED = 0, 1  # LocalPiece::How

Entry = tuple[int, int, int, int]  # row, column, what the path still scores, state


class _Way(NamedTuple):
    """Through a piece: where it is left, LocalPiece::How, and its operations."""

    exit: Entry
    how: int
    ops: U32


def unpacked(words: U64) -> tuple[I32, I32]:
    """Cells of a kept row as scores, and those of gaps into the row below."""
    halves = np.ascontiguousarray(words).view(np.int32).reshape(-1, 2)
    h, f = halves[:, 0].copy(), halves[:, 1] & 0xFFFF
    np.subtract(h, f, out=f)
    np.maximum(f, 0, out=f)
    return h, f


class Walk:
    """A way back, some pieces at a time; the driver is the caller's.

    Piece k has the rows from rows[k] to where piece k - 1 begins, the first one to the best cell.
    """

    def __init__(
        self,
        driver: Driver,
        stream: Stream,
        room: Callable[[int], Bytes],
        native: LocalWalk,
        scores: Scores,
        best: tuple[int, int, int],
        kept: dict[int, int],
        threads: int,
    ) -> None:
        """What a walk needs.

        Args:
            driver: of the GPU.
            stream: its work is put on this one.
            room: gives so many bytes of page-locked memory, for one thing at a time.
            native: walks pieces.
            scores: of the kernels.
            best: score, row and column.
            kept: addresses of rows by how many rows are above their lower edge.
            threads: that walk.
        """
        self._driver, self._stream, self._room, self._native = driver, stream, room, native
        self._scores, self._threads = scores, threads
        above = sorted((rows for rows in kept if rows <= best[1]), reverse=True)
        self._rows = [*above, 0]
        self._addresses = [*(kept[rows] for rows in above), 0]  # of the kept rows above pieces; 0: there is none
        self._last_column = best[2]
        self._entries: list[Entry | None] = [None] * len(self._rows)  # where the path is believed to come in
        self._entries[0] = (best[1], best[2], best[0], 0)
        self._ways: dict[tuple[int, Entry], _Way] = {}  # of pieces, that have been walked
        self._spare = scores.match + scores.open + 2 * scores.extend  # as LocalPath::first_column has it
        self._guesses = _GUESSES[1]
        self._changed: list[int] = []  # pieces whose entry is new, whether or not its way is known
        self._near: dict[int, tuple[int, U64]] = {}  # of pieces: columns of the row above, from one on
        self._right = 0  # pieces that are known to be right
        self._believed = 0  # that have been believed in
        self._memories: dict[str, Memory] = {}
        self.ended = False
        self.cells = 0

    @property
    def share(self) -> float:
        """Of the pieces."""
        return self._right / len(self._rows)

    def step(self) -> None:
        """One round: those pieces whose entry is not one that they were walked from."""
        if self._right == self._believed:
            self._believe(min(self._right + _PIECES, len(self._rows)))
        changed, self._changed = sorted({k for k in self._changed if self._right <= k < self._believed}), []
        self._walk([k for k in changed if self._entries[k] and not self._way(k)])
        corrected, before = self._correct(changed), self._right
        self._advance()
        if self.ended:
            return
        helped = self._right - before > self._guesses // 4
        self._guesses = min(max(self._guesses * 2 if helped else self._guesses // 2, _GUESSES[0]), _GUESSES[1])
        if self._right < self._believed:
            self._near = {} if helped else self._fetched(self._right)
            self._go_straight_on([self._right, *(k for k in corrected if k > self._right)])

    def _advance(self) -> None:
        """Follows the path as far as its way is known, or can be walked through rows that have been fetched."""
        while self._right < self._believed and (way := self._way(self._right) or self._walk_near(self._right)):
            if way.how not in (_LEFT, _ENDED):
                raise InternalError("a local alignment cannot be followed through its matrix; please report this")
            self._right += 1
            if way.how == _ENDED:
                self.ended, self._end = True, way.exit
                return
            self._enter(self._right, way.exit)

    def _way(self, piece: int) -> _Way | None:
        """From where the path is believed to come in; None: not known yet."""
        entry = self._entries[piece]
        return self._ways.get((piece, entry)) if entry else None

    # Beliefs

    def _enter(self, piece: int, entry: Entry) -> bool:
        """Believes so; whether the way from there is not known yet."""
        if self._entries[piece] != entry:
            self._entries[piece] = entry
            self._changed += (piece - 1, piece)  # that before may have a way, which leads elsewhere
        return (piece, entry) not in self._ways

    def _believe(self, end: int) -> None:
        """Looks where the path may come into pieces that nobody has looked at."""
        first, self._believed = self._believed, end
        unknown = [k for k in range(first, end) if self._entries[k] is None]
        self._changed += [k for k in range(first, end) if self._entries[k] is not None]
        self._enter_best(unknown)

    def _enter_best(self, pieces: list[int], middle: list[int] | None = None) -> None:
        """Believes that the path comes in by the best cell of the kept row below each piece.

        Where it is thought to come in by a middle column, a gap from there to the cell is charged: so this is right
        where the path does not turn before it is in the row below.
        """
        cones = np.zeros(len(pieces), LOCAL_CONE)
        cones["row"] = [self._addresses[k - 1] for k in pieces]
        cones["column"] = self._last_column
        if middle:
            cones["middle"] = middle
            cones["first"] = np.maximum(cones["middle"] - _ASIDE, 0)
            cones["column"] = np.minimum(cones["middle"] + _ASIDE, self._last_column)
        words = self._ask(sizes.TOPS, cones, gaps=middle is not None)
        for k, word, near in zip(pieces, words.tolist(), cones["middle"].tolist(), strict=True):
            if word:
                column = word & _SCORE
                score = (word >> 32) + (self._turn(column - near) if middle else 0)
                self._enter(k, (self._rows[k - 1] - 1, column, score, 0))

    def _turn(self, right: int) -> int:
        """What local_tops takes off for a gap from so many columns on the right."""
        scores = self._scores
        each = scores.extend if right < 0 else scores.extend + scores.match
        return scores.open + abs(right) * each if right else 0

    def _correct(self, changed: list[int]) -> list[int]:
        """Follows the path on from these pieces; those that it comes into as nobody has believed yet."""
        corrected = []
        for k in changed:
            while (way := self._way(k)) and way.how == _LEFT and self._entries[k + 1] != way.exit:
                k += 1
                if self._enter(k, way.exit):
                    corrected.append(k)
        return [k for k in corrected if k < self._believed]

    def _go_straight_on(self, corrected: list[int]) -> None:
        """Believes that behind corrected places the path stays on its diagonal, or near it."""
        pieces, middle = [], []
        for k, end in zip(corrected, [*corrected, self._believed][1:], strict=True):
            row, column, _, _ = self._entries[k] or (0, 0, 0, 0)
            for other in range(k + 1, min(k + 1 + max(self._guesses // len(corrected), 1), end)):
                on_diagonal = column - row + self._rows[other - 1] - 1
                if on_diagonal < 0:
                    break
                pieces.append(other)
                middle.append(on_diagonal)
        if pieces:
            self._enter_best(pieces, middle)

    # The GPU

    def _ask(self, row: str, cones: npt.NDArray[np.void], gaps: bool = True) -> U64:
        """What a kernel of local_cone.cu, TOPS or CONES, says of each of LOCAL_CONE, if gaps cost anything."""
        if not len(cones):
            return np.zeros(0, np.uint64)
        return self._launch(row, cones, len(cones), 0 if row == sizes.TOPS else 0xFF, gaps).copy()

    def _launch(
        self,
        row: str,
        cones: npt.NDArray[np.void],
        count: int,
        before: int | None = None,
        gaps: bool = True,
    ) -> U64:
        """So many words as a kernel of local_cone.cu leaves them, of such bytes before; until the next launch."""
        driver, size = self._driver, _WORD * count
        given, answers = self._memory("cones", cones.nbytes), self._memory("answers", size)
        pinned = self._room(cones.nbytes + size)
        pinned[: cones.nbytes] = cones.view(np.uint8)
        driver.upload(given, pinned[: cones.nbytes], self._stream)
        if before is not None:
            driver.fill(answers, before, size, self._stream)
        task, scores = np.zeros(1, LOCAL_CONES_TASK), self._scores
        task["cones"], task["answers"], task["parts"] = given, answers, _PARTS
        if gaps:
            task["match"], task["open"], task["extend"] = scores.match, scores.open, scores.extend
        task["spare"] = self._spare
        driver.launch(driver.kernel(ROWS[row]), len(cones) * _PARTS, task, self._stream)
        driver.download(pinned[cones.nbytes :], answers, self._stream)
        answered = driver.record(self._stream)
        if not any(driver.done(answered) for _ in range(_LOOKS)):
            driver.wait(answered)
        found: U64 = pinned[cones.nbytes :].view(np.uint64)
        return found

    def _memory(self, use: str, nbytes: int) -> int:
        """The address of memory of the GPU for one use, until more is asked for."""
        memory = self._memories.get(use)
        if memory is None or memory.nbytes < nbytes:
            if memory:
                self._driver.free(self._memories.pop(use))
            memory = self._memories[use] = self._driver.allocate(max(2 * nbytes, 1 << 20))
        return memory.address

    # Pieces

    def _walk(self, todo: list[int]) -> None:
        """Walks pieces from their entries, as many at a time as their rows leave room for."""
        if not todo:
            return
        table: I64 = np.array([(self._rows[k], 0, 0, *(self._entries[k] or ())) for k in todo], np.int64)
        cones = np.zeros(len(todo), LOCAL_CONE)
        cones["row"] = [self._addresses[k] for k in todo]
        cones["rows"], cones["column"], cones["needed"] = table[:, 3] + 1 - table[:, 0], table[:, 4], table[:, 5]
        below = cones["row"] != 0  # a kept row
        first = self._ask(sizes.CONES, cones[below])
        table[below, 1] = np.maximum(np.minimum(first, cones["column"][below].view(np.uint64)).astype(np.int64) - 1, 0)
        table[below, 2] = table[below, 4] + 1 - table[below, 1]
        begin = 0
        while begin < len(todo):
            reaches = np.cumsum(table[begin:, 2])
            end = begin + max(int(np.searchsorted(reaches, _CELLS, side="right")), 1)
            self._walk_group(todo[begin:end], table[begin:end], cones[begin:end])
            begin = end

    def _walk_group(self, group: list[int], table: I64, cones: npt.NDArray[np.void]) -> None:
        cones["first"], cones["to"] = table[:, 1], np.cumsum(table[:, 2]) - table[:, 2]
        given = cones[cones["row"] != 0]
        none: U64 = np.zeros(0, np.uint64)
        words = self._launch(sizes.WINDOWS, given, int(table[:, 2].sum())) if len(given) else none
        self._walk_through(group, table, words, self._threads)

    def _walk_through(self, pieces: list[int], table: I64, words: U64, threads: int) -> None:
        """Walks pieces; the table and the rows' cells are as LocalWalk takes them."""
        ends, starts, ops = self._native.walk(table, *unpacked(words), threads)
        rows = ends.reshape(-1, 6)
        self.cells += int(rows[:, 5].sum())
        for k, (row, column, needed, state, how, _), begin, end in zip(
            pieces, rows.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True
        ):
            entry = self._entries[k]
            assert entry
            self._ways[k, entry] = _Way((row, column, needed, state), how, ops[begin:end])

    def _fetched(self, first: int) -> dict[int, tuple[int, U64]]:
        """Of the next pieces: cells of the rows above near the diagonal on which the path comes into the first one."""
        row, column, _, _ = self._entries[first] or (0, 0, 0, 0)
        pieces = [k for k in range(first, min(first + _NEAR, self._believed)) if self._addresses[k]]
        rows = np.array([self._rows[k] for k in pieces], np.int64)
        below = np.array([self._rows[k - 1] if k else row + 1 for k in pieces], np.int64)
        cones = np.zeros(len(pieces), LOCAL_CONE)
        cones["row"] = [self._addresses[k] for k in pieces]
        cones["first"] = np.maximum(column - row + rows - 1 - _BESIDE, 0)
        cones["column"] = np.minimum(column - row + below - 1 + _BESIDE, self._last_column)
        counts = cones["column"] + 1 - cones["first"]
        if not len(pieces) or int(counts.min()) < 1:
            return {}
        ends = np.cumsum(counts)
        cones["to"] = ends - counts
        words = self._launch(sizes.WINDOWS, cones, int(ends[-1])).copy()
        return {
            k: (begin, words[to:end])
            for k, begin, to, end in zip(
                pieces, cones["first"].tolist(), cones["to"].tolist(), ends.tolist(), strict=True
            )
        }

    def _walk_near(self, piece: int) -> _Way | None:
        """Its way through what has been fetched; None: that is too little.

        A gap along the row leads from any column on the left to the first one that is here. So if a path that comes
        from that one by going on with a gap scores too little, those from the left of it do as well; and where tiles
        between them were left out, no best alignment leads from there to here.
        """
        entry, (first, words) = self._entries[piece], self._near.get(piece, (0, np.zeros(0, np.uint64)))
        if not entry or not 0 < entry[1] + 1 - first <= len(words):
            return None
        cells, rows, scores = entry[1] + 1 - first, entry[0] + 1 - self._rows[piece], self._scores
        most = rows * scores.match + (int(words[0]) & _SCORE) - (cells - rows) * scores.extend + self._spare
        if first and (cells <= rows or most >= entry[2]):
            return None
        table: I64 = np.array([(self._rows[piece], first, cells, *entry)], np.int64)
        self._walk_through([piece], table, words[:cells], 1)
        return self._way(piece)

    def path(self) -> tuple[int, int, U32]:
        """(row and column before which it ends, operations), after the end."""
        ways = [self._way(k) for k in range(self._right)]
        return self._end[0], self._end[1], _joined(np.concatenate([way.ops for way in ways if way]))

    def close(self) -> None:
        """Gives back what it has, when nothing is under way; it may be called again."""
        while self._memories:
            with contextlib.suppress(DeviceError):
                self._driver.free(self._memories.popitem()[1])


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

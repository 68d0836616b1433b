"""Speculative parallel traceback of a local alignment, between the matrix rows that a GPU has saved.

The continuation of a path from a cell depends only on that cell. So all pieces between two saved rows are traced in
parallel, each from a guessed entry: at first the best cell of the saved row below it. The exit of a piece corrects the
entry of the next, and rounds are repeated until no entry changes; each round makes at least one more piece right (as
in segments.py).

If a best cell lies on another alignment, those of many rows do. So after a correction the next entries are guessed
near the diagonal of the corrected one. Traced pieces are cached, in case that guess was wrong. The GPU searches for
these cells, and for the columns of the row above that a piece needs; CPU threads trace the pieces.

Guesses fail where the path crosses parts that the sequences do not share. There the rows of the next pieces are
fetched around the path's diagonal, and the path is followed without the GPU as long as it stays within them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._native import LocalTraceback
from ...core.batch import I32, I64, U32, U64
from ...errors import DeviceError, InternalError
from ...gpu.kernels import local as sizes
from ...gpu.kernels.catalogue import ROWS
from ...gpu.kernels.local import Scores
from ...gpu.runtime.driver import Bytes, Driver, Memory, Stream
from ...gpu.runtime.task import LOCAL_CONE, LOCAL_CONES_TASK

_PARTS = 32  # thread blocks per saved row
_PIECES = 512  # pieces guessed ahead: those beyond the end of the path are traced in vain
_GUESSES = (
    8,
    128,
)  # guesses per round after corrections, minimum and maximum (1 ms of 16 threads); more if they were right
_MAX_OFFSET = 1024  # maximum distance of a guessed entry from the path's diagonal, in columns
_NEAR = 16  # pieces for which rows are fetched around the path's diagonal
_FETCH_RADIUS = 2048  # fetched columns on either side of it
_POLLS = 500  # polls for an answer of the GPU before the thread sleeps: sleeping takes longer than most answers
_CELLS = 1 << 25  # maximum cells of saved rows per transfer from the GPU
_WORD = 8  # bytes per cell or answer
_SCORE = 0xFFFFFFFF
_LEFT, _ENDED = 0, 1  # LocalPiece::How

Entry = tuple[int, int, int, int]  # row, column, remaining score of the path, state


class _TracedPiece(NamedTuple):
    """Traced path through a piece: its exit, LocalPiece::How, and its operations (u32[C], BAM's packing)."""

    exit: Entry
    how: int
    ops: U32


def unpacked(words: U64) -> tuple[I32, I32]:
    """Unpack cells of a saved row (u64[n]) into scores, and scores of gaps into the row below (i32[n] each)."""
    halves = np.ascontiguousarray(words).view(np.int32).reshape(-1, 2)
    h, f = halves[:, 0].copy(), halves[:, 1] & 0xFFFF
    np.subtract(h, f, out=f)
    np.maximum(f, 0, out=f)
    return h, f


class Traceback:
    """Traceback from a best cell, in rounds; the driver is borrowed.

    Piece k consists of the rows from rows[k] up to the first row of piece k - 1; piece 0 ends at the best cell.
    """

    def __init__(
        self,
        driver: Driver,
        stream: Stream,
        pinned_scratch: Callable[[int], Bytes],
        native: LocalTraceback,
        scores: Scores,
        best: tuple[int, int, int],
        saved_rows: dict[int, int],
        threads: int,
    ) -> None:
        """Prepare the traceback.

        Args:
            driver: driver of the GPU.
            stream: stream for all GPU work.
            pinned_scratch: returns page-locked memory of a size in bytes, valid until its next call.
            native: native solver that traces pieces.
            scores: scores of the kernels.
            best: (score, row, column) of the best cell.
            saved_rows: number of rows above the lower edge of a saved row -> its address in GPU memory.
            threads: CPU threads that trace pieces.
        """
        self._driver, self._stream, self._pinned_scratch, self._native = driver, stream, pinned_scratch, native
        self._scores, self._threads = scores, threads
        above = sorted((rows for rows in saved_rows if rows <= best[1]), reverse=True)
        self._rows = [*above, 0]
        self._addresses = [
            *(saved_rows[rows] for rows in above),
            0,
        ]  # addresses of the saved rows above the pieces; 0: none
        self._last_column = best[2]
        self._entries: list[Entry | None] = [None] * len(self._rows)  # guessed entry of the path into each piece
        self._entries[0] = (best[1], best[2], best[0], 0)
        self._traced: dict[tuple[int, Entry], _TracedPiece] = {}  # cache of traced pieces
        self._spare = scores.match + scores.open + 2 * scores.extend  # as in LocalPath::first_column
        self._guesses = _GUESSES[1]
        self._changed: list[int] = []  # pieces with a new entry, traced from it or not
        self._near: dict[int, tuple[int, U64]] = {}  # piece -> first column and cells of the row above it
        self._settled = 0  # number of leading pieces that are known to be right
        self._guessed = 0  # number of leading pieces that have been guessed
        self._memories: dict[str, Memory] = {}
        self.ended = False
        self.cells = 0

    @property
    def fraction_done(self) -> float:
        """Fraction of the pieces that are known to be right."""
        return self._settled / len(self._rows)

    def step(self) -> None:
        """Run one round: trace all pieces whose current entry is not cached."""
        if self._settled == self._guessed:
            self._guess_entries(min(self._settled + _PIECES, len(self._rows)))
        changed, self._changed = sorted({k for k in self._changed if self._settled <= k < self._guessed}), []
        self._trace([k for k in changed if self._entries[k] and not self._traced_piece(k)])
        corrected, before = self._correct(changed), self._settled
        self._advance()
        if self.ended:
            return
        progressed = self._settled - before > self._guesses // 4
        self._guesses = min(max(self._guesses * 2 if progressed else self._guesses // 2, _GUESSES[0]), _GUESSES[1])
        if self._settled < self._guessed:
            self._near = {} if progressed else self._fetched(self._settled)
            self._guess_along_diagonal([self._settled, *(k for k in corrected if k > self._settled)])

    def _advance(self) -> None:
        """Follow the path through traced pieces, and through pieces that can be traced in fetched rows."""
        while self._settled < self._guessed and (
            traced := self._traced_piece(self._settled) or self._trace_near(self._settled)
        ):
            if traced.how not in (_LEFT, _ENDED):
                raise InternalError("a local alignment cannot be followed through its matrix; please report this")
            self._settled += 1
            if traced.how == _ENDED:
                self.ended, self._end = True, traced.exit
                return
            self._enter(self._settled, traced.exit)

    def _traced_piece(self, piece: int) -> _TracedPiece | None:
        """Return the traced path of a piece from its current entry; None if it is not traced yet."""
        entry = self._entries[piece]
        return self._traced.get((piece, entry)) if entry else None

    # Guesses

    def _enter(self, piece: int, entry: Entry) -> bool:
        """Set the entry of a piece; return True if the piece is not traced from there yet."""
        if self._entries[piece] != entry:
            self._entries[piece] = entry
            self._changed += (piece - 1, piece)  # the piece before may be traced to another exit
        return (piece, entry) not in self._traced

    def _guess_entries(self, end: int) -> None:
        """Guess the entries of further pieces, up to piece `end`."""
        first, self._guessed = self._guessed, end
        unknown = [k for k in range(first, end) if self._entries[k] is None]
        self._changed += [k for k in range(first, end) if self._entries[k] is not None]
        self._enter_best(unknown)

    def _enter_best(self, pieces: list[int], middle: list[int] | None = None) -> None:
        """Guess that the path enters each piece at the best cell of the saved row below it.

        With `middle`, the expected entry column of each piece, the score of a cell is reduced by the cost of a gap
        from that column. The guess is then right if the path does not leave its diagonal before the row below.
        """
        cones = np.zeros(len(pieces), LOCAL_CONE)
        cones["row"] = [self._addresses[k - 1] for k in pieces]
        cones["column"] = self._last_column
        if middle:
            cones["middle"] = middle
            cones["first"] = np.maximum(cones["middle"] - _MAX_OFFSET, 0)
            cones["column"] = np.minimum(cones["middle"] + _MAX_OFFSET, self._last_column)
        words = self._run_cones(sizes.TOPS, cones, gaps=middle is not None)
        for k, word, near in zip(pieces, words.tolist(), cones["middle"].tolist(), strict=True):
            if word:
                column = word & _SCORE
                score = (word >> 32) + (self._gap_penalty(column - near) if middle else 0)
                self._enter(k, (self._rows[k - 1] - 1, column, score, 0))

    def _gap_penalty(self, right: int) -> int:
        """Return what the kernel local_tops subtracts for a gap to a cell `right` columns right of the middle."""
        scores = self._scores
        each = scores.extend if right < 0 else scores.extend + scores.match
        return scores.open + abs(right) * each if right else 0

    def _correct(self, changed: list[int]) -> list[int]:
        """Propagate exits of traced pieces to the next entries; return pieces that are not traced from those yet."""
        corrected = []
        for k in changed:
            while (traced := self._traced_piece(k)) and traced.how == _LEFT and self._entries[k + 1] != traced.exit:
                k += 1
                if self._enter(k, traced.exit):
                    corrected.append(k)
        return [k for k in corrected if k < self._guessed]

    def _guess_along_diagonal(self, corrected: list[int]) -> None:
        """Guess that the path stays near its diagonal after the corrected entries."""
        pieces, middle = [], []
        for k, end in zip(corrected, [*corrected, self._guessed][1:], strict=True):
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

    def _run_cones(self, row: str, cones: npt.NDArray[np.void], gaps: bool = True) -> U64:
        """Run the kernel TOPS or CONES of local_cone.cu; return u64[C], a word per cone. See `_launch`."""
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
        """Run a kernel of local_cone.cu and wait for it.

        Args:
            row: the kernel's row in the catalogue.
            cones: LOCAL_CONE[C], one per request.
            count: words of the answer.
            before: byte with which the answer is initialized; None: it is not.
            gaps: False if gaps are free.

        Returns:
            u64[count], valid until the next launch.
        """
        driver, size = self._driver, _WORD * count
        requests, answers = self._memory("cones", cones.nbytes), self._memory("answers", size)
        pinned = self._pinned_scratch(cones.nbytes + size)
        pinned[: cones.nbytes] = cones.view(np.uint8)
        driver.upload(requests, pinned[: cones.nbytes], self._stream)
        if before is not None:
            driver.fill(answers, before, size, self._stream)
        task, scores = np.zeros(1, LOCAL_CONES_TASK), self._scores
        task["cones"], task["answers"], task["parts"] = requests, answers, _PARTS
        if gaps:
            task["match"], task["open"], task["extend"] = scores.match, scores.open, scores.extend
        task["slack"] = self._spare
        driver.launch(driver.kernel(ROWS[row]), len(cones) * _PARTS, task, self._stream)
        driver.download(pinned[cones.nbytes :], answers, self._stream)
        answered = driver.record(self._stream)
        if not any(driver.done(answered) for _ in range(_POLLS)):
            driver.wait(answered)
        found: U64 = pinned[cones.nbytes :].view(np.uint64)
        return found

    def _memory(self, use: str, nbytes: int) -> int:
        """Return the address of GPU memory for a use; it is reallocated if more is requested."""
        memory = self._memories.get(use)
        if memory is None or memory.nbytes < nbytes:
            if memory:
                self._driver.free(self._memories.pop(use))
            memory = self._memories[use] = self._driver.allocate(max(2 * nbytes, 1 << 20))
        return memory.address

    # Pieces

    def _trace(self, pieces: list[int]) -> None:
        """Trace pieces from their entries, in groups whose row cells fit one transfer."""
        if not pieces:
            return
        table: I64 = np.array([(self._rows[k], 0, 0, *(self._entries[k] or ())) for k in pieces], np.int64)
        cones = np.zeros(len(pieces), LOCAL_CONE)
        cones["row"] = [self._addresses[k] for k in pieces]
        cones["rows"], cones["column"], cones["needed"] = table[:, 3] + 1 - table[:, 0], table[:, 4], table[:, 5]
        below = cones["row"] != 0  # there is a saved row above
        first = self._run_cones(sizes.CONES, cones[below])
        table[below, 1] = np.maximum(np.minimum(first, cones["column"][below].view(np.uint64)).astype(np.int64) - 1, 0)
        table[below, 2] = table[below, 4] + 1 - table[below, 1]
        begin = 0
        while begin < len(pieces):
            reaches = np.cumsum(table[begin:, 2])
            end = begin + max(int(np.searchsorted(reaches, _CELLS, side="right")), 1)
            self._trace_group(pieces[begin:end], table[begin:end], cones[begin:end])
            begin = end

    def _trace_group(self, group: list[int], table: I64, cones: npt.NDArray[np.void]) -> None:
        cones["first"], cones["output_offset"] = table[:, 1], np.cumsum(table[:, 2]) - table[:, 2]
        requests = cones[cones["row"] != 0]
        none: U64 = np.zeros(0, np.uint64)
        words = self._launch(sizes.WINDOWS, requests, int(table[:, 2].sum())) if len(requests) else none
        self._trace_rows(group, table, words, self._threads)

    def _trace_rows(self, pieces: list[int], table: I64, words: U64, threads: int) -> None:
        """Trace and cache pieces; `table` and `words` (cells of the rows above) have the format of LocalTraceback."""
        ends, starts, ops = self._native.trace(table, *unpacked(words), threads)
        rows = ends.reshape(-1, 6)
        self.cells += int(rows[:, 5].sum())
        for k, (row, column, needed, state, how, _), begin, end in zip(
            pieces, rows.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True
        ):
            entry = self._entries[k]
            assert entry
            self._traced[k, entry] = _TracedPiece((row, column, needed, state), how, ops[begin:end])

    def _fetched(self, first: int) -> dict[int, tuple[int, U64]]:
        """Fetch cells of the rows above the next pieces, near the diagonal on which the path enters the first one."""
        row, column, _, _ = self._entries[first] or (0, 0, 0, 0)
        pieces = [k for k in range(first, min(first + _NEAR, self._guessed)) if self._addresses[k]]
        rows = np.array([self._rows[k] for k in pieces], np.int64)
        below = np.array([self._rows[k - 1] if k else row + 1 for k in pieces], np.int64)
        cones = np.zeros(len(pieces), LOCAL_CONE)
        cones["row"] = [self._addresses[k] for k in pieces]
        cones["first"] = np.maximum(column - row + rows - 1 - _FETCH_RADIUS, 0)
        cones["column"] = np.minimum(column - row + below - 1 + _FETCH_RADIUS, self._last_column)
        counts = cones["column"] + 1 - cones["first"]
        if not len(pieces) or int(counts.min()) < 1:
            return {}
        ends = np.cumsum(counts)
        cones["output_offset"] = ends - counts
        words = self._launch(sizes.WINDOWS, cones, int(ends[-1])).copy()
        return {
            k: (begin, words[to:end])
            for k, begin, to, end in zip(
                pieces, cones["first"].tolist(), cones["output_offset"].tolist(), ends.tolist(), strict=True
            )
        }

    def _trace_near(self, piece: int) -> _TracedPiece | None:
        """Trace a piece through fetched cells; return None if they may not suffice.

        A gap along the row connects any column further left to the first fetched one. So if a path from the first
        fetched column that extends a gap scores too little, all paths from further left do. If tiles between them were
        pruned, no best alignment leads from there to here.
        """
        entry, (first, words) = self._entries[piece], self._near.get(piece, (0, np.zeros(0, np.uint64)))
        if not entry or not 0 < entry[1] + 1 - first <= len(words):
            return None
        cells, rows, scores = entry[1] + 1 - first, entry[0] + 1 - self._rows[piece], self._scores
        bound = rows * scores.match + (int(words[0]) & _SCORE) - (cells - rows) * scores.extend + self._spare
        if first and (cells <= rows or bound >= entry[2]):
            return None
        table: I64 = np.array([(self._rows[piece], first, cells, *entry)], np.int64)
        self._trace_rows([piece], table, words[:cells], 1)
        return self._traced_piece(piece)

    def path(self) -> tuple[int, int, U32]:
        """Return (end row, end column, operations), both ends exclusive, once finished."""
        pieces = [self._traced_piece(k) for k in range(self._settled)]
        return self._end[0], self._end[1], _joined(np.concatenate([traced.ops for traced in pieces if traced]))

    def close(self) -> None:
        """Release GPU memory when no work is queued; idempotent."""
        while self._memories:
            with contextlib.suppress(DeviceError):
                self._driver.free(self._memories.popitem()[1])


def _joined(ops: U32) -> U32:
    """Merge neighbouring operations of the same kind; lengths beyond BAM's limit are left as they are."""
    if not len(ops):
        return ops
    kinds = ops & np.uint32(15)
    begins = np.flatnonzero(np.concatenate([[True], kinds[1:] != kinds[:-1]]))
    lengths = np.add.reduceat((ops >> np.uint32(4)).astype(np.int64), begins)
    if int(lengths.max()) >= 1 << 28:  # BAM's limit: leave the operations unmerged
        return ops
    found: U32 = (lengths.astype(np.uint32) << np.uint32(4)) | kinds[begins]
    return found

"""The GPU's parallel traceback, in rounds, compared with the same parts in order, for random paths and guesses."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from wfacli.solve.gpu import local_traceback as gpu_walk
from wfacli.solve.gpu.local_traceback import Traceback, _TracedPiece

_COLUMNS = 6  # entry columns of a part: few, so that paths meet, and guesses are known paths


def operation(piece: int, column: int) -> int:
    return (piece + 1) << 8 | column << 4 | 7 + piece % 2


class MadeUp(Traceback):
    """Parts of one row each, with a table from each entry column to that of the next part."""

    def __init__(self, rng: random.Random, pieces: int) -> None:
        scores = SimpleNamespace(match=1, open=1, extend=1)
        super().__init__(None, None, None, None, scores, (9, pieces, 0), {row: row for row in range(1, pieces + 1)}, 1)
        self.rng, self.rounds = rng, 0
        straight, self.right_at = rng.random(), rng.random()
        self.leads = [
            [c if rng.random() < straight else rng.randrange(_COLUMNS) for c in range(_COLUMNS)]
            for _ in range(pieces + 1)
        ]
        self.last = rng.randrange(pieces + 1)  # the part in which the alignment ends

    def entry(self, piece: int, column: int) -> tuple[int, int, int, int]:
        return self._rows[piece - 1] - 1, column, 1, 0

    def way(self, piece: int, column: int) -> _TracedPiece:
        ops = np.array([operation(piece, column)], np.uint32)
        if piece == self.last:
            return _TracedPiece((piece, column, 0, 0), 1, ops)
        if piece == len(self._rows) - 1:
            return _TracedPiece((0, 0, 0, 0), 2, ops)  # a result that must not be used
        return _TracedPiece(self.entry(piece + 1, self.leads[piece][column]), 0, ops)

    def in_order(self) -> list[tuple[int, int]]:
        column, found = 0, []
        for piece in range(self.last + 1):
            found.append((piece, column))
            column = self.leads[piece][column]
        return found

    def _trace(self, todo: list[int]) -> None:
        self.rounds += 1
        for k in todo:
            entry = self._entries[k]
            assert entry and (k, entry) not in self._traced
            self._traced[k, entry] = self.way(k, entry[1])

    def _fetched(self, first: int) -> dict[int, tuple[int, np.ndarray]]:
        return {k: (0, np.zeros(0)) for k in range(first, self._guessed) if self.rng.random() < 0.5}

    def _trace_near(self, piece: int) -> _TracedPiece | None:
        if piece in self._near and (entry := self._entries[piece]):
            self._traced[piece, entry] = self.way(piece, entry[1])
        return self._traced_piece(piece)

    def _enter_best(self, pieces: list[int], middle: list[int] | None = None) -> None:
        truth = dict(self.in_order())
        for k in pieces:
            right = k in truth and self.rng.random() < self.right_at
            if right or self.rng.random() < 0.9:  # otherwise the part has no cell above 0
                self._enter(k, self.entry(k, truth[k] if right else self.rng.randrange(_COLUMNS)))


@pytest.mark.parametrize("seed", range(300))
def test_rounds_end_with_the_only_way(monkeypatch, seed):
    rng = random.Random(seed)
    monkeypatch.setattr(gpu_walk, "_PIECES", rng.choice((3, 10, 50)))
    monkeypatch.setattr(gpu_walk, "_GUESSES", rng.choice(((1, 2), (2, 8), (8, 128))))
    traceback = MadeUp(rng, rng.randint(1, 60))
    while not traceback.ended:
        right = traceback._settled
        traceback.step()
        assert traceback.ended or traceback._settled > right, "a round that made nothing right"
    way = [(k, traceback._entries[k][1]) for k in range(traceback._settled)]
    assert way == traceback.in_order()
    assert traceback.path()[2].tolist() == [operation(k, c) for k, c in way]

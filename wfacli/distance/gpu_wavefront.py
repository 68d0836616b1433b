"""The distance of one long pair by two wavefronts on a card, in memory that grows with the distance (paper 002).

cuda/long_wavefront.cuh says what a launch does. Here launches are queued, some batches of them ahead of the card, and
the memory of three states of the fronts is kept: the one that a launch begins with, the one that it makes, and the one
before, with which the exact distance is found when the fronts are seen to have met.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import tuning
from ..gpu import long_wavefront as sizes
from ..gpu.catalogue import ROWS, Row
from ..gpu.driver import Bytes, Card, Driver, Event, Memory
from ..gpu.long_wavefront import Shape, Tiles
from ..gpu.task import LONG_STATUS, LONG_WAVEFRONT_TASK
from .gpu_letters import Uploader
from .solver import Pair, Position, State

NAME = "gpu-wavefront"
_FIRST_BATCH, _LARGEST_BATCH = 8, 128  # launches
_BATCH_SECONDS = 0.02  # that a batch should not exceed
_AHEAD = 2  # batches that are queued at a time
_SPARE = 1.5  # times as much memory as a state needs now


@dataclass(frozen=True)
class _Fronts:
    """A state of both fronts: `count` diagonals of each, from `first` on, in some memory."""

    memory: Memory
    score: int
    first: int
    count: int


@dataclass(frozen=True)
class _Batch:
    """Launches that have been queued: after `done`, the card's status is in `status`."""

    done: Event
    status: npt.NDArray[np.void]
    last: int  # number of the last launch
    looked_at: int  # score of the state that it begins with, thus compares
    cells: int
    full: bool  # whether it has as many launches as it might


class GpuWavefront:
    """A Solver (solver.py); the driver is the caller's, and not closed."""

    name = NAME

    def __init__(self, driver: Driver, pair: Pair, most: int | None = None, shape: Shape | None = None) -> None:
        """Copies the letters to the card.

        Args:
            driver: an open card; this thread is its thread.
            pair: the sequences.
            most: edits that matter.
            shape: another build than the catalogue's; for tests.
        """
        self._driver, self._most = driver, most
        self._lengths = m, n = len(pair.query), len(pair.target)
        planes = 32 if pair.query.itemsize == 4 else 2 if pair.plain else 8
        self._shape = shape or sizes.shape_for(planes, max(m, n))
        self._offset = np.dtype(np.int32 if self._shape.bits == 32 else np.int64)
        self._unreached = -(1 << (self._shape.bits - 2))
        self._stream = driver.stream()
        self._memories: list[Memory] = []
        self._pins: list[Bytes] = []
        self._over = False
        self._distance: int | None = None
        self._ring: list[Memory] = []  # of three states; the one that launch l makes is in number l % 3
        self._asked: deque[_Batch] = deque()
        if most is not None and abs(n - m) > most:
            self._over = True
            self._reset(-1)
            return
        self._kernel = driver.kernel(_row(self._shape))
        self._load(pair)
        self._begin(np.array([[-1]] * 2), 0, -1)

    def _load(self, pair: Pair) -> None:
        uploader = Uploader(self._driver, self._stream, max(pair.query.nbytes, pair.target.nbytes))
        rows = []
        try:
            for letters in (pair.query, pair.target):
                rows.append(uploader.planes(letters, self._shape.planes, self._shape.row_bytes))
                self._memories.append(rows[-1])
        finally:
            uploader.close()
        self._status = self._driver.allocate(LONG_STATUS.itemsize)
        self._memories.append(self._status)
        self._answers = self._driver.pinned(LONG_STATUS.itemsize * (_AHEAD + 2))
        self._pins.append(self._answers)
        task = self._task = np.zeros(1, LONG_WAVEFRONT_TASK)
        pad = sizes.PAD_ROWS * self._shape.row_bytes
        task["query"], task["target"] = (memory.address + pad for memory in rows)
        task["query_len"], task["target_len"] = self._lengths
        task["status"] = self._status.address

    # The way of the fronts

    def _reset(self, score: int) -> None:
        self._number = 0  # of launches that were queued
        self._states: dict[int, _Fronts] = {}  # by the launches that make them, of those that are not heard of yet
        self._unasked = 0  # launches after the last batch
        self._batches = 0
        self._looked_at = score  # the fronts at this score have not met
        self._cells = self._asked_cells = 0
        self._reach = -1
        self._bound = max(self._lengths)  # the distance is no more, or does not matter
        if self._most is not None:
            self._bound = min(self._bound, self._most)
        self._goal = self._bound  # fronts whose scores make that need go no further
        self._met = 0
        self._launches = _FIRST_BATCH

    def _begin(self, fronts: npt.NDArray[Any], first: int, score: int) -> None:
        """From a state: offsets [2][count] of diagonals from `first` on, a multiple of the lane's diagonals."""
        self._reset(score)
        grain = self._shape.diagonals
        count = -(-fronts.shape[1] // grain) * grain
        host = self._driver.pinned(2 * count * self._offset.itemsize)
        padded = host.view(self._offset).reshape(2, count)
        padded[:] = self._unreached
        padded[:, : fronts.shape[1]] = fronts
        self._free_ring()
        for _ in range(3):
            self._ring.append(self._driver.allocate(host.nbytes))
        self._states[0] = _Fronts(self._ring[0], score, first, count)
        self._driver.upload(self._ring[0].address, host, self._stream)
        self._clear_status(whole=True)
        self._driver.wait(self._driver.record(self._stream))
        del padded
        self._driver.unpin(host)

    def _free_ring(self) -> None:
        while self._ring:
            memory = self._ring.pop()
            if memory.nbytes:
                self._driver.free(memory)

    def _clear_status(self, whole: bool = False) -> None:
        """No launch has seen the fronts meet; nor how far they are, if it is to be `whole`."""
        kinds: Any = LONG_STATUS.fields
        if whole:
            self._driver.fill(self._status.address, 0xFF, kinds["met"][1], self._stream)
        self._driver.fill(self._status.address + kinds["met"][1], 0, 4, self._stream)

    def _tiles(self, score: int, ghost: int, bound: int) -> Tiles:
        low, high = sizes.diagonals_that_matter(*self._lengths, score, bound)
        return Tiles.over(self._shape, ghost, low, high)

    def _launch(self, before: _Fronts, room: Memory, tiles: Tiles, steps: tuple[int, int], number: int) -> _Fronts:
        """Takes the fronts from one state to another, so many scores each."""
        task = self._task
        assert self._bytes(tiles) <= room.nbytes
        task["from"], task["from_stride"] = before.memory.address, before.count
        task["from_first"], task["from_count"] = before.first, before.count
        task["to"], task["to_stride"] = room.address, tiles.diagonals
        task["first"], task["tiles"], task["ghost"] = tiles.first, tiles.count, tiles.ghost
        task["steps"], task["number"] = steps, number
        grid = -(-2 * tiles.count // (self._kernel.threads // 32))
        self._driver.launch(self._kernel, grid, task, self._stream)
        return _Fronts(room, before.score + max(steps), tiles.first, tiles.diagonals)

    def _bytes(self, tiles: Tiles) -> int:
        return 2 * tiles.diagonals * self._offset.itemsize

    def _go_on(self) -> bool:
        """Queues one launch; false: the fronts were found to have met."""
        before, slot = self._states[self._number], (self._number + 1) % 3
        low, high = sizes.diagonals_that_matter(*self._lengths, before.score + 1, self._bound)
        ghost = sizes.best_ghost(self._shape, self._driver.card.multiprocessors, high - low + 1)
        tiles = self._tiles(before.score + ghost, ghost, self._bound)
        if self._bytes(tiles) > self._ring[slot].nbytes and not self._grow(slot, self._bytes(tiles)):
            return False
        self._number += 1
        self._states[self._number] = self._launch(before, self._ring[slot], tiles, (ghost, ghost), self._number)
        self._asked_cells += 2 * tiles.diagonals * ghost
        self._unasked += 1
        return True

    def _grow(self, slot: int, size: int) -> bool:
        """More memory for a state; false: the one that is there is still needed, since the fronts have met."""
        self._ask()
        self._drain()
        if self._met:
            return False
        self._driver.free(self._ring[slot])
        self._ring[slot] = Memory(0, 0)
        self._ring[slot] = self._driver.allocate(int(_SPARE * size))
        return True

    @property
    def _all_queued(self) -> bool:
        """Whether the last launch compares a state from which on nothing matters."""
        return self._number > 0 and 2 * self._states[self._number - 1].score >= self._goal

    def _queue(self) -> None:
        """Queues a batch of launches, and a copy of the status."""
        while self._unasked < self._launches and not self._met and not self._all_queued and self._go_on():
            pass
        self._ask()

    def _ask(self) -> None:
        if not self._unasked:
            return
        self._batches += 1
        slot = self._batches % (_AHEAD + 2)
        status = self._answers[slot * LONG_STATUS.itemsize : (slot + 1) * LONG_STATUS.itemsize].view(LONG_STATUS)
        self._driver.download(status, self._status.address, self._stream)
        looked_at = self._states[self._number - 1].score
        done, full = self._driver.record(self._stream), self._unasked >= self._launches
        self._asked.append(_Batch(done, status, self._number, looked_at, self._asked_cells, full))
        self._unasked = 0

    def _hear(self) -> None:
        """Waits for the oldest batch, and learns from it."""
        batch = self._asked.popleft()
        begun = time.perf_counter()
        self._driver.wait(batch.done)
        waited = time.perf_counter() - begun
        reach, met = int(batch.status["reach"][0]), int(batch.status["met"][0])
        self._cells, self._reach, self._met = batch.cells, reach, met
        if met:
            return
        for number in [number for number in self._states if number < batch.last - 1]:
            del self._states[number]
        self._looked_at = batch.looked_at
        if reach >= 0:
            # Letters between the fronts, on the diagonal where they are fewest, can be substituted.
            self._bound = min(self._bound, 2 * batch.looked_at + self._lengths[0] - reach)
        if waited > _BATCH_SECONDS:
            self._launches = max(self._launches // 2, 1)
        elif batch.full:
            self._launches = min(2 * self._launches, _LARGEST_BATCH)

    def _drain(self) -> None:
        while self._asked:
            self._hear()

    def advance(self, seconds: float) -> bool:
        """Works on for about so long."""
        deadline = time.perf_counter() + seconds
        while not self._over:
            self._queue()
            if self._asked and (len(self._asked) >= _AHEAD or self._all_queued):
                self._hear()
            if self._met or (self._all_queued and not self._asked):
                self._drain()
                self._finish()
            if time.perf_counter() >= deadline:
                break
        return self._over

    # The end

    def _finish(self) -> None:
        if self._met:
            distance = self._first_meeting()
            self._distance = distance if self._most is None or distance <= self._most else None
        self._over = True

    def _first_meeting(self) -> int:
        """The least sum of scores at which the fronts have met.

        They had not met with the state that launch met - 1 began with, and had with the one that it made. Whether they
        have at scores in between, of which only the sum matters, is found by going there from the former.
        """
        before, met = self._states[self._met - 2], self._states[self._met - 1]
        room = self._ring[self._met % 3]
        low, high, ghost = 2 * before.score, 2 * met.score, met.score - before.score
        tiles = self._tiles(met.score, ghost, self._bound)
        while high - low > 1:
            middle = (low + high) // 2
            steps = middle - 2 * before.score
            if self._have_met(before, (room, met.memory), tiles, (steps - steps // 2, steps // 2)):
                high = middle
            else:
                low = middle
        return high

    def _have_met(self, before: _Fronts, rooms: tuple[Memory, Memory], tiles: Tiles, steps: tuple[int, int]) -> bool:
        """Whether the fronts have met so many scores after a state."""
        self._clear_status()
        there = self._launch(before, rooms[0], tiles, steps, 1)
        self._launch(there, rooms[1], tiles, (0, 0), 2)
        status = self._answers[: LONG_STATUS.itemsize].view(LONG_STATUS)
        self._driver.download(status, self._status.address, self._stream)
        self._driver.wait(self._driver.record(self._stream))
        return bool(status["met"][0])

    # What is known

    @property
    def distance(self) -> int | None:
        """After the end: the distance; None: more than matters."""
        return self._distance

    @property
    def position(self) -> Position:
        """How far it is; cells are furthest-reaching points of both fronts."""
        if self._over:
            at_least = self._distance if self._distance is not None else (self._most or 0) + 1
            return Position(at_least, 1.0, self._cells)
        # Fronts grow about evenly, and so does their width.
        behind = min(max(self._reach, 0) / max(self._lengths[0], 1), 1.0)
        apart = abs(self._lengths[0] - self._lengths[1])
        return Position(max(2 * self._looked_at + 1, apart), behind * behind, self._cells)

    def save(self) -> State:
        """The newest state that is known not to have met, or the answer."""
        self._drain()
        if self._met and not self._over:
            self._finish()
        state = {
            "lengths": np.array(self._lengths, np.int64),
            "most": np.array([-1 if self._most is None else self._most], np.int64),
            "cells": np.array([self._cells], np.int64),
        }
        if self._over:
            return {**state, "distance": np.array([-1 if self._distance is None else self._distance], np.int64)}
        fronts = self._states[max(self._number - 1, 0)]
        host = self._driver.pinned(2 * fronts.count * self._offset.itemsize)
        self._driver.download(host, fronts.memory.address, self._stream)
        self._driver.wait(self._driver.record(self._stream))
        offsets = host.view(self._offset).reshape(2, -1).copy()
        self._driver.unpin(host)
        place = np.array([fronts.score, fronts.first], np.int64)
        return {**state, "place": place, "fronts": offsets}

    def restore(self, state: State) -> None:
        """Goes on from there."""
        lengths, most, cells = (np.asarray(state.get(name, ())) for name in ("lengths", "most", "cells"))
        if lengths.tolist() != list(self._lengths) or most.shape != (1,) or cells.shape != (1,):
            raise ValueError("the state is of another pair, or of another algorithm")
        # Diagonals were left out that cannot matter up to the other bound.
        if int(most[0]) >= 0 and (self._most is None or self._most > int(most[0])):
            raise ValueError(f"the state is of a search for up to {int(most[0])} edits, and no more")
        if "distance" in state:
            self._restore_answer(int(state["distance"][0]), int(cells[0]))
            return
        place, fronts = np.asarray(state.get("place", ())), np.asarray(state.get("fronts", ()))
        grain = self._shape.diagonals
        fits = fronts.ndim == 2 and fronts.shape[0] == 2 and fronts.shape[1] % grain in (0, fronts.shape[1])
        if place.shape != (2,) or fronts.dtype != self._offset or not fits or int(place[1]) % grain:
            raise ValueError("the state is damaged, or of another version")
        if not self._ring:  # the answer was clear from the beginning
            return
        self._drain()
        self._begin(fronts, int(place[1]), int(place[0]))
        self._cells = self._asked_cells = int(cells[0])
        self._over, self._distance = False, None

    def _restore_answer(self, distance: int, cells: int) -> None:
        self._drain()
        self._over, self._cells = True, cells
        self._distance = distance if distance >= 0 and (self._most is None or distance <= self._most) else None

    def close(self) -> None:
        """Gives memory back."""
        self._drain()
        self._free_ring()
        for memory in self._memories:
            self._driver.free(memory)
        for pin in self._pins:
            self._driver.unpin(pin)
        self._memories, self._pins, self._over = [], [], True


def _row(shape: Shape) -> Row:
    if shape in sizes.SHAPES:
        return ROWS[sizes.row_of(shape)]
    return Row("long-wavefront-other", "long_wavefront.cu", "advance_long_wavefront", shape.macros, sizes.THREADS)


def forecast(card: Card, lengths: tuple[int, int], edits: int, planes: int = 2) -> float:
    """Seconds for a pair of such lengths, letters of so many bits and so many edits, its copy to the card with it."""
    letters = sum(lengths) * (4 if planes == 32 else 1)
    shape = sizes.shape_for(planes, max(lengths))
    return (
        tuning.GPU_LONG_START
        + letters / tuning.GPU_LONG_LETTERS
        + sizes.seconds(shape, card.multiprocessors, lengths, edits)
    )

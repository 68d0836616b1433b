"""The path of a long pair on a GPU, by one front whose states are kept (cuda/long/long_path_fronts.cu).

States of as many segments as have room are kept at a time. If that is not all of them, the front first goes the whole
way and leaves a state before each group; then, from the last group to the first, it goes through each once more, on
those diagonals only from which the path can come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core.batch import U32
from ...gpu.kernels import long_path as sizes
from ...gpu.kernels.catalogue import ROWS
from ...gpu.kernels.layout import padded
from ...gpu.kernels.long_path import Fronts
from ...gpu.kernels.long_wavefront import Shape, Tiles
from ...gpu.runtime.driver import Driver
from ...gpu.runtime.task import PATH_FRONT, PATH_FRONTS_TASK
from ..base import Pair
from .segments import GpuMemory, Segments

NAME = "gpu-fronts"
_BACKWARD = 1  # of a task's two fronts
_UNREACHED = -(1 << 30)  # the kernel's kUnreached


@dataclass(frozen=True)
class _State:
    """A front, and where it is."""

    address: int
    tiles: Tiles
    score: int

    @property
    def row(self) -> tuple[int, int, int, int]:
        """As PATH_FRONT has it."""
        return self.address, self.tiles.first, self.tiles.diagonals, self.score


class FrontsPath:
    """One pair's path; the driver is the caller's, and not closed."""

    def __init__(
        self,
        driver: Driver,
        pair: Pair,
        distance: int,
        memory: int,
        front: Shape | None = None,
        scores: int = 0,
        group: int = 0,
    ) -> None:
        """Copies the letters to the GPU; neither sequence is empty.

        Args:
            driver: an open GPU; this thread is its thread.
            pair: the sequences.
            distance: theirs.
            memory: bytes of the GPU that it may have.
            front: a build, if not the catalogue's; for tests.
            scores: of a segment, likewise.
            group: segments at a time, likewise.

        Raises:
            OutOfDeviceMemory, DeviceError.
        """
        lengths, planes = (len(pair.query), len(pair.target)), 2 if pair.plain else 8
        front = front or next(s for s in sizes.FRONTS if s.planes == planes)
        processors = driver.gpu.multiprocessors
        scores = scores or sizes.best_scores(front, processors, lengths, distance)
        self._driver, self.rounds = driver, 0
        self._memory = GpuMemory(driver)
        try:
            row = ROWS[sizes.row_of_front("walk", front)]
            room = Fronts(front, lengths, distance, scores, 1).room
            left = memory - max(driver.kernel(row).resident(), 1) * processors * padded(room)
            self._plan = plan = Fronts.plan(front, lengths, distance, left, scores, group)
            self._task = np.zeros(1, PATH_FRONTS_TASK)
            self._memory.letters(pair, self._task["fronts"], planes, front.row_bytes)
            self._segments = Segments(self._memory, row, plan.group, plan.op_capacity, plan.room)
            self._sweep = driver.kernel(ROWS[sizes.row_of_front("sweep", front)])
            self._task["kept"] = self._memory.take(PATH_FRONT.itemsize * (plan.group + 1))
            self._held = self._memory.take(plan.held_nbytes)
            self._begins = [self._state(s[0], self._memory.take(plan.nbytes(s[0]))) for s in plan.groups]
        except BaseException:
            self.close()
            raise

    def _state(self, segment: int, address: int, tip: tuple[int, int] | None = None) -> _State:
        return _State(address, self._plan.tiles(segment, tip), self._plan.score(segment))

    def find(self, look: Callable[[], None]) -> list[U32]:
        """Its operations in pieces, one after the other; `look` is called now and then and may raise."""
        plan, pieces = self._plan, []
        self._begin(look)
        query_len, place = plan.lengths  # diagonal target_len - query_len, counted from -query_len
        for segments, begin in zip(reversed(plan.groups), reversed(self._begins), strict=True):
            end = plan.score(segments[-1] + 1)
            tip = None if len(self._begins) == 1 else (end, place - query_len)
            self._segments.begin(self._task, len(segments))
            states = self._go_through(segments, begin, tip)
            table = np.array([*(state.row for state in states), (0, 0, 0, end)], PATH_FRONT)
            self._memory.upload(int(self._task["kept"][0]), table)
            walked = self._segments.walk(self._task, len(segments), place, look)
            place, self.rounds = walked.exit, self.rounds + walked.rounds
            pieces.append(walked.ops)
            look()
        return pieces

    def _begin(self, look: Callable[[], None]) -> None:
        """Makes the states before each group."""
        corner = self._begins[0]
        front = np.full(corner.tiles.diagonals, _UNREACHED, np.int32)
        front[-corner.tiles.first] = -1  # diagonal 0 is reached with the first score
        self._memory.upload(corner.address, front)
        if len(self._begins) == 1:
            return
        rooms = [self._memory.take(self._plan.widest_nbytes) for _ in range(2)]
        for segments, begin, end in zip(self._plan.groups, self._begins, self._begins[1:], strict=False):
            at = begin
            for segment in segments[:-1]:
                at = self._advance(at, self._state(segment + 1, rooms[segment % 2]), 0)
            self._advance(at, end, 0)
            self._memory.wait()
            look()

    def _go_through(self, segments: range, begin: _State, tip: tuple[int, int] | None) -> list[_State]:
        """The states before each segment, and guesses where the path enters those before the last one."""
        states, address = [begin], self._held
        for segment in segments[1:]:
            state = self._state(segment, address, tip)
            self._advance(states[-1], state, self._segments.entry(len(states) - 1))
            states.append(state)
            address += self._plan.nbytes(segment, tip)
        return states

    def _advance(self, before: _State, after: _State, furthest: int) -> _State:
        """A launch from one state to the next, which it returns."""
        task = self._task["fronts"]
        task["from"], task["from_first"], task["from_count"] = before.row[:3]
        task["to"], task["first"], task["tiles"] = after.address, after.tiles.first, after.tiles.count
        task["ghost"], task["steps"][0, _BACKWARD] = after.tiles.ghost, after.score - before.score
        self._task["furthest"] = furthest
        grid = -(-after.tiles.count // (self._sweep.threads // 32))
        self._driver.launch(self._sweep, grid, self._task, self._memory.stream)
        return after

    def close(self) -> None:
        """Gives memory back."""
        self._memory.close()

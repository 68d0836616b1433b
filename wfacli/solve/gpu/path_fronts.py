"""Traceback of a long pair on a GPU from the saved states of one wavefront (cuda/long/long_path_fronts.cu).

The path is cut into segments of some scores each. If the states of all segments do not fit into memory, a first pass
saves one state before each group of segments. The groups are then recomputed from the last to the first, restricted to
the diagonals from which the path can come.
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
_BACKWARD = 1  # index of the reverse front in a task
_UNREACHED = -(1 << 30)  # kUnreached of the kernel


@dataclass(frozen=True)
class _State:
    """State of the front at a score: its address in GPU memory and its diagonals."""

    address: int
    tiles: Tiles
    score: int

    @property
    def row(self) -> tuple[int, int, int, int]:
        """The fields of PATH_FRONT."""
        return self.address, self.tiles.first, self.tiles.diagonals, self.score


class FrontsPath:
    """Path of one pair; the driver is borrowed, and not closed."""

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
        """Upload the sequences, none of which may be empty, and allocate memory.

        Args:
            driver: an open GPU, owned by the calling thread.
            pair: the sequences.
            distance: their distance.
            memory: maximum GPU memory, in bytes.
            front: build of the kernels; None: the catalogue's. For tests.
            scores: scores per segment; 0: chosen by the model. For tests.
            group: segments per group; 0: as many as fit. For tests.

        Raises:
            OutOfDeviceMemory: `memory` is too small.
            DeviceError: the GPU failed.
        """
        lengths, planes = (len(pair.query), len(pair.target)), 2 if pair.plain else 8
        front = front or next(s for s in sizes.FRONTS if s.planes == planes)
        processors = driver.gpu.multiprocessors
        scores = scores or sizes.best_scores(front, processors, lengths, distance)
        self._driver, self.rounds = driver, 0
        self._memory = GpuMemory(driver)
        try:
            row = ROWS[sizes.row_of_front("walk", front)]
            scratch_bytes = Fronts(front, lengths, distance, scores, 1).scratch_bytes
            available = memory - max(driver.kernel(row).resident(), 1) * processors * padded(scratch_bytes)
            self._plan = plan = Fronts.plan(front, lengths, distance, available, scores, group)
            self._task = np.zeros(1, PATH_FRONTS_TASK)
            self._memory.upload_pair(pair, self._task["launch"], planes, front.row_bytes)
            self._segments = Segments(self._memory, row, plan.group, plan.op_capacity, plan.scratch_bytes)
            self._sweep = driver.kernel(ROWS[sizes.row_of_front("sweep", front)])
            self._task["fronts"] = self._memory.allocate(PATH_FRONT.itemsize * (plan.group + 1))
            self._state_memory = self._memory.allocate(plan.group_nbytes)
            self._begins = [self._state(s[0], self._memory.allocate(plan.nbytes(s[0]))) for s in plan.groups]
        except BaseException:
            self.close()
            raise

    def _state(self, segment: int, address: int, tip: tuple[int, int] | None = None) -> _State:
        return _State(address, self._plan.tiles(segment, tip), self._plan.score(segment))

    def find(self, poll: Callable[[], None]) -> list[U32]:
        """Return the operations of the path, u32 pieces in order; `poll` is called from time to time and may raise."""
        plan, pieces = self._plan, []
        self._begin(poll)
        query_len, place = plan.lengths  # place of diagonal target_len - query_len, counted from -query_len
        for segments, begin in zip(reversed(plan.groups), reversed(self._begins), strict=True):
            end = plan.score(segments[-1] + 1)
            tip = None if len(self._begins) == 1 else (end, place - query_len)
            self._segments.begin(self._task, len(segments))
            states = self._compute_states(segments, begin, tip)
            table = np.array([*(state.row for state in states), (0, 0, 0, end)], PATH_FRONT)
            self._memory.upload(int(self._task["fronts"][0]), table)
            traced = self._segments.trace(self._task, len(segments), place, poll)
            place, self.rounds = traced.exit, self.rounds + traced.rounds
            pieces.append(traced.ops)
            poll()
        return pieces

    def _begin(self, poll: Callable[[], None]) -> None:
        """Compute the states before each group."""
        corner = self._begins[0]
        front = np.full(corner.tiles.diagonals, _UNREACHED, np.int32)
        front[-corner.tiles.first] = -1  # so that the first score reaches diagonal 0
        self._memory.upload(corner.address, front)
        if len(self._begins) == 1:
            return
        buffers = [self._memory.allocate(self._plan.widest_nbytes) for _ in range(2)]
        for segments, begin, end in zip(self._plan.groups, self._begins, self._begins[1:], strict=False):
            at = begin
            for segment in segments[:-1]:
                at = self._advance(at, self._state(segment + 1, buffers[segment % 2]), 0)
            self._advance(at, end, 0)
            self._memory.wait()
            poll()

    def _compute_states(self, segments: range, begin: _State, tip: tuple[int, int] | None) -> list[_State]:
        """Compute the states before each segment, and guess where the path enters all segments but the last."""
        states, address = [begin], self._state_memory
        for segment in segments[1:]:
            state = self._state(segment, address, tip)
            self._advance(states[-1], state, self._segments.entry(len(states) - 1))
            states.append(state)
            address += self._plan.nbytes(segment, tip)
        return states

    def _advance(self, before: _State, after: _State, furthest: int) -> _State:
        """Queue the launch from one state to the next; return the latter."""
        task = self._task["launch"]
        task["input_offsets"], task["input_first"], task["input_count"] = before.row[:3]
        task["output_offsets"], task["first"], task["tiles"] = after.address, after.tiles.first, after.tiles.count
        task["ghost"], task["steps"][0, _BACKWARD] = after.tiles.ghost, after.score - before.score
        self._task["furthest"] = furthest
        grid = -(-after.tiles.count // (self._sweep.threads // 32))
        self._driver.launch(self._sweep, grid, self._task, self._memory.stream)
        return after

    def close(self) -> None:
        """Release all memory."""
        self._memory.close()

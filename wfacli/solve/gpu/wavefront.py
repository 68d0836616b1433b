"""Distance of one long pair by a bidirectional wavefront on a GPU, in memory linear in the distance (paper 002).

long_wavefront.cuh describes a launch. The host queues batches of launches ahead of the GPU. Three states of the fronts
are in memory: the input of a launch, its output, and the state before, from which the exact distance is found once the
fronts are known to have met.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core import tuning
from ...gpu.kernels import long_wavefront as sizes
from ...gpu.kernels.long_wavefront import Launch, Shape, Tiles
from ...gpu.kernels.properties import Gpu
from ...gpu.runtime.driver import Driver, Event
from ..base import Pair, Position, State
from .fronts import STATE_BUFFERS, Fronts, GpuFronts

NAME = "gpu-wavefront"
_FIRST_BATCH, _LARGEST_BATCH = 8, 128  # launches
_BATCH_SECONDS = 0.02  # target for the maximum duration of a batch
_AHEAD = 2  # batches queued at a time
_GROWTH = 2  # growth factor when a state needs a larger buffer


@dataclass(frozen=True)
class _Batch:
    """A batch of queued launches; `status` holds the GPU's status once `done` has completed."""

    gpu: GpuFronts
    done: Event
    status: npt.NDArray[np.void]
    last: int  # number of the last launch
    tested_score: int  # score of the state that the last launch reads, and thus tests for a meeting
    cells: int
    full: bool  # True if it has the maximum number of launches


class GpuWavefront:
    """Bidirectional wavefront (`solve.base.Solver`); the driver is borrowed, and not closed."""

    name = NAME

    def __init__(
        self, driver: Driver, pair: Pair, max_distance: int | None = None, shape: Shape | None = None
    ) -> None:
        """Upload the sequences.

        Args:
            driver: an open GPU, owned by the calling thread.
            pair: the sequences.
            max_distance: maximum distance of interest; None: unlimited.
            shape: build of the kernel; None: the catalogue's. For tests.
        """
        self._lengths, self._max_distance = (len(pair.query), len(pair.target)), max_distance
        self._multiprocessors = driver.gpu.multiprocessors
        self._distance: int | None = None
        self._batches_in_flight: deque[_Batch] = deque()
        self._finished = max_distance is not None and abs(self._lengths[1] - self._lengths[0]) > max_distance
        self._reset(-1)
        self._gpu = None if self._finished else GpuFronts(driver, pair, shape)
        if self._gpu is not None:
            try:
                self._begin(self._gpu, np.array([[-1]] * 2), 0, -1)
            except Exception:
                self._gpu.close()
                raise

    # Advancing the fronts

    def _reset(self, score: int) -> None:
        self._launch_number = 0  # launches queued so far
        self._states: dict[int, Fronts] = {}  # by number of the launch that writes them; dropped once no longer needed
        self._open_launches = 0  # launches queued since the last batch was closed
        self._batches = 0
        self._tested_score = score  # score at which the fronts are known not to have met
        self._cells = self._queued_cells = 0
        self._reach = -1
        self._bound = max(self._lengths)  # upper bound of the distance, or the maximum of interest
        if self._max_distance is not None:
            self._bound = min(self._bound, self._max_distance)
        self._goal = self._bound  # the search ends when the scores of both fronts sum to this
        self._met = 0
        self._launches = _FIRST_BATCH
        self._launch = Launch(1)

    def _begin(self, gpu: GpuFronts, fronts: npt.NDArray[np.signedinteger], first: int, score: int) -> None:
        """Start from a state; see `GpuFronts.begin`."""
        self._reset(score)
        self._states[0] = gpu.begin(fronts, first, score)

    def _tiles(self, gpu: GpuFronts, score: int, ghost: int) -> Tiles:
        low, high = sizes.relevant_diagonals(*self._lengths, score, self._bound)
        return Tiles.over(gpu.shape, ghost, low, high)

    def _queue_launch(self, gpu: GpuFronts) -> bool:
        """Queue one launch; return False if the fronts were found to have met."""
        before, buffer, ghost = (
            self._states[self._launch_number],
            (self._launch_number + 1) % STATE_BUFFERS,
            self._launch.ghost,
        )
        tiles = self._tiles(gpu, before.score + ghost, ghost)
        if gpu.nbytes(tiles) > gpu.buffers[buffer].nbytes:
            # The state in this buffer is needed if the fronts have met: find out before replacing it.
            self._close_batch(gpu)
            self._drain()
            if self._met:
                return False
            gpu.replace(buffer, int(_GROWTH * gpu.nbytes(tiles)))
        self._launch_number += 1
        self._states[self._launch_number] = gpu.launch(
            before, buffer, tiles, (ghost, ghost), self._launch_number, self._launch.slant
        )
        self._queued_cells += 2 * tiles.diagonals * ghost
        self._open_launches += 1
        return True

    @property
    def _all_queued(self) -> bool:
        """True if the last queued launch tests a state at which the search ends."""
        return self._launch_number > 0 and 2 * self._states[self._launch_number - 1].score >= self._goal

    def _queue(self, gpu: GpuFronts) -> None:
        """Queue a batch of launches, and a copy of the status."""
        score = self._states[self._launch_number].score + 1
        low, high = sizes.relevant_diagonals(*self._lengths, score, self._bound)
        speed = max(self._reach, 0) / (2 * self._tested_score) if self._tested_score > 0 else 0.0
        self._launch = sizes.best_launch(gpu.shape, self._multiprocessors, high - low + 1, speed)
        while (
            self._open_launches < self._launches and not self._met and not self._all_queued and self._queue_launch(gpu)
        ):
            pass
        self._close_batch(gpu)

    def _close_batch(self, gpu: GpuFronts) -> None:
        if not self._open_launches:
            return
        self._batches += 1
        done, status = gpu.read_status(self._batches)
        tested_score, full = self._states[self._launch_number - 1].score, self._open_launches >= self._launches
        batch = _Batch(gpu, done, status, self._launch_number, tested_score, self._queued_cells, full)
        self._batches_in_flight.append(batch)
        self._open_launches = 0

    def _process_batch(self) -> None:
        """Wait for the oldest batch, and process its status."""
        batch = self._batches_in_flight.popleft()
        begun = time.perf_counter()
        batch.gpu.wait_for(batch.done)
        waited = time.perf_counter() - begun
        reach, met = int(batch.status["reach"][0]), int(batch.status["met"][0])
        self._cells, self._reach, self._met = batch.cells, reach, met
        if met:
            return
        for number in [number for number in self._states if number < batch.last - 1]:
            del self._states[number]
        self._tested_score = batch.tested_score
        if reach >= 0:
            # Substituting all symbols between the fronts, where they are closest, bounds the distance.
            self._bound = min(self._bound, 2 * batch.tested_score + self._lengths[0] - reach)
        if waited > _BATCH_SECONDS:
            self._launches = max(self._launches // 2, 1)
        elif batch.full:
            self._launches = min(2 * self._launches, _LARGEST_BATCH)
        if reach > 0 and batch.tested_score > 0:
            # Fronts advance about evenly. Smaller batches near the end leave fewer launches with nothing to do.
            scores = batch.tested_score * max(self._lengths[0] - reach, 0) // reach
            self._launches = max(min(self._launches, scores // (_AHEAD * self._launch.ghost)), _FIRST_BATCH)

    def _drain(self) -> None:
        while self._batches_in_flight:
            self._process_batch()

    def advance(self, seconds: float) -> bool:
        """Work for about `seconds`; return True when finished."""
        deadline = time.perf_counter() + seconds
        while self._gpu is not None and not self._finished:
            self._queue(self._gpu)
            if self._batches_in_flight and (len(self._batches_in_flight) >= _AHEAD or self._all_queued):
                self._process_batch()
            if self._met or (self._all_queued and not self._batches_in_flight):
                self._drain()
                self._finish(self._gpu)
            if time.perf_counter() >= deadline:
                break
        return self._finished

    # The end

    def _finish(self, gpu: GpuFronts) -> None:
        if self._met:
            distance = self._first_meeting(gpu)
            self._distance = distance if self._max_distance is None or distance <= self._max_distance else None
        self._finished = True

    def _first_meeting(self, gpu: GpuFronts) -> int:
        """Return the distance: the smallest sum of both scores at which the fronts have met.

        The fronts have met in the output of launch `met` - 1, but not in its input. Bisect over the sums in between,
        advancing the fronts from that input each time; only the sum of both scores matters.
        """
        before, met = self._states[self._met - 2], self._states[self._met - 1]
        low, high, ghost = 2 * before.score, 2 * met.score, met.score - before.score
        tiles, buffer = self._tiles(gpu, met.score, ghost), self._met % STATE_BUFFERS
        if gpu.nbytes(tiles) > gpu.buffers[buffer].nbytes:
            gpu.replace(buffer, gpu.nbytes(tiles))
        while high - low > 1:
            middle = (low + high) // 2
            steps = middle - 2 * before.score
            if self._have_met(gpu, before, buffer, tiles, (steps - steps // 2, steps // 2)):
                high = middle
            else:
                low = middle
        return high

    def _have_met(self, gpu: GpuFronts, before: Fronts, buffer: int, tiles: Tiles, steps: tuple[int, int]) -> bool:
        """Return True if the fronts have met `steps` scores after a state: one launch advances them, another tests.

        The test launch advances by no score; its output overwrites the state that is known to have met.
        """
        gpu.clear_status()
        there = gpu.launch(before, buffer, tiles, steps, 1)
        gpu.launch(there, (self._met - 1) % STATE_BUFFERS, tiles, (0, 0), 2)
        done, status = gpu.read_status(0)
        gpu.wait_for(done)
        return bool(status["met"][0])

    # Results and states

    @property
    def distance(self) -> int | None:
        """The distance once finished; None if it exceeds the maximum."""
        return self._distance

    @property
    def position(self) -> Position:
        """Current progress; cells are furthest-reaching points of both fronts."""
        if self._finished:
            lower_bound = self._distance if self._distance is not None else (self._max_distance or 0) + 1
            return Position(lower_bound, 1.0, self._cells)
        fraction_done = min(max(self._reach, 0) / max(self._lengths[0], 1), 1.0)
        length_difference = abs(self._lengths[0] - self._lengths[1])
        return Position(max(2 * self._tested_score + 1, length_difference), fraction_done, self._cells)

    def save(self) -> State:
        """Return the newest state in which the fronts are known not to have met, or the result."""
        self._drain()
        if self._met and not self._finished and self._gpu is not None:
            self._finish(self._gpu)
        state = {
            "lengths": np.array(self._lengths, np.int64),
            "most": np.array([-1 if self._max_distance is None else self._max_distance], np.int64),
            "cells": np.array([self._cells], np.int64),
        }
        if self._finished or self._gpu is None:
            return {**state, "distance": np.array([-1 if self._distance is None else self._distance], np.int64)}
        fronts = self._states[max(self._launch_number - 1, 0)]
        place = np.array([fronts.score, fronts.first], np.int64)
        return {**state, "place": place, "fronts": self._gpu.offsets(fronts)}

    def restore(self, state: State) -> None:
        """Resume from a saved state. Raises ValueError if it does not fit."""
        lengths, max_distance, cells = (np.asarray(state.get(name, ())) for name in ("lengths", "most", "cells"))
        if lengths.tolist() != list(self._lengths) or max_distance.shape != (1,) or cells.shape != (1,):
            raise ValueError("the state is of another pair, or of another algorithm")
        # The state omits diagonals that only a larger maximum needs.
        if int(max_distance[0]) >= 0 and (self._max_distance is None or self._max_distance > int(max_distance[0])):
            raise ValueError(f"the state is of a search for up to {int(max_distance[0])} edits, and no more")
        if "distance" in state:
            self._restore_result(int(state["distance"][0]), int(cells[0]))
            return
        place, fronts = np.asarray(state.get("place", ())), np.asarray(state.get("fronts", ()))
        if self._gpu is None:  # the lengths alone exceed the maximum
            return
        grain, offset = self._gpu.shape.diagonals, self._gpu.offset
        fits = fronts.ndim == 2 and fronts.shape[0] == 2 and fronts.shape[1] % grain == 0
        if place.shape != (2,) or fronts.dtype != offset or not fits or int(place[1]) % grain:
            raise ValueError("the state is damaged, or of another version")
        self._drain()
        self._begin(self._gpu, fronts, int(place[1]), int(place[0]))
        self._cells = self._queued_cells = int(cells[0])
        self._finished, self._distance = False, None

    def _restore_result(self, distance: int, cells: int) -> None:
        self._drain()
        self._finished, self._cells = True, cells
        self._distance = (
            distance if distance >= 0 and (self._max_distance is None or distance <= self._max_distance) else None
        )

    def close(self) -> None:
        """Release all memory."""
        self._drain()
        if self._gpu is not None:
            self._gpu.close()
        self._finished = True


def forecast(gpu: Gpu, lengths: tuple[int, int], edits: int, planes: int = 2) -> float:
    """Return the expected seconds for a pair, including its upload.

    Args:
        gpu: properties of the GPU.
        lengths: lengths of query and target.
        edits: expected distance.
        planes: bits per symbol: 2, 8 or 32.
    """
    nbytes = sum(lengths) * (4 if planes == 32 else 1)
    shape = sizes.shape_for(planes, max(lengths))
    return (
        tuning.GPU_LONG_START
        + nbytes / tuning.GPU_LONG_UPLOAD_RATE
        + sizes.seconds(shape, gpu.multiprocessors, lengths, edits)
    )

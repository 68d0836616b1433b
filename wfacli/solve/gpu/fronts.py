"""One pair and the states of its two wavefronts in GPU memory, and the launches that advance them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...gpu.kernels import long_wavefront as sizes
from ...gpu.kernels.catalogue import ROWS, Row
from ...gpu.kernels.long_wavefront import Shape, Tiles
from ...gpu.runtime.driver import Bytes, Driver, Event, Memory
from ...gpu.runtime.task import LONG_STATUS, LONG_WAVEFRONT_TASK
from ..base import Pair, Symbols
from .bit_planes import Uploader

STATE_BUFFERS = 3  # buffers: input state of a launch, its output state, and the state before
_INITIAL_DIAGONALS = 1 << 16  # initial capacity of a buffer, in diagonals per front: reallocation stalls the GPU
_MAX_STATUS_COPIES = 8  # maximum number of status copies in flight
_MET: Any = LONG_STATUS.fields


@dataclass(frozen=True)
class Fronts:
    """State of both fronts at a score: offsets [2, count] of the diagonals from `first` on, in `memory`."""

    memory: Memory
    score: int
    first: int
    count: int


class GpuFronts:
    """GPU memory and launches of one pair; all calls queue work on one stream, and block only where documented.

    Attributes:
        lengths: lengths of query and target.
        shape: build of the kernel.
        offset: dtype of an offset.
        buffers: STATE_BUFFERS buffers for states; empty before `begin`.
    """

    def __init__(self, driver: Driver, pair: Pair, shape: Shape | None = None) -> None:
        """Upload the sequences; release everything if that fails."""
        planes = 32 if pair.query.itemsize == 4 else 2 if pair.plain else 8
        self.lengths = len(pair.query), len(pair.target)
        self.shape = shape or sizes.shape_for(planes, max(self.lengths))
        self.offset = np.dtype(np.int32 if self.shape.bits == 32 else np.int64)
        self.buffers: list[Memory] = []
        self._driver, self._stream = driver, driver.stream()
        self._memories: list[Memory] = []
        self._pins: list[Bytes] = []
        self._task = np.zeros(1, LONG_WAVEFRONT_TASK)
        try:
            self._kernel = driver.kernel(_row(self.shape))
            self._status = self._allocate(LONG_STATUS.itemsize)
            self._status_copies = driver.pinned(LONG_STATUS.itemsize * _MAX_STATUS_COPIES)
            self._pins.append(self._status_copies)
            self._load(pair.query, pair.target)
        except Exception:
            self.close()
            raise

    def _allocate(self, nbytes: int) -> Memory:
        self._memories.append(self._driver.allocate(nbytes))
        return self._memories[-1]

    def _load(self, query: Symbols, target: Symbols) -> None:
        task, row_bytes = self._task, self.shape.row_bytes
        uploader = Uploader(self._driver, self._stream, max(query.nbytes, target.nbytes))
        try:
            for name, symbols in (("query", query), ("target", target)):
                memory = self._allocate(uploader.nbytes(len(symbols), row_bytes))
                uploader.make(symbols, self.shape.planes, row_bytes, memory)
                task[name], task[f"{name}_len"] = memory.address + sizes.PAD_ROWS * row_bytes, len(symbols)
        finally:
            uploader.close()
        task["status"] = self._status.address

    def begin(self, offsets: npt.NDArray[Any], first: int, score: int) -> Fronts:
        """Upload a state into buffer 0, and wait for it.

        Args:
            offsets: [2, count], one per diagonal of either front.
            first: first diagonal; a multiple of the diagonals per lane.
            score: score of the state.
        """
        grain = self.shape.diagonals
        count = -(-offsets.shape[1] // grain) * grain
        host = self._driver.pinned(2 * count * self.offset.itemsize)
        padded = host.view(self.offset).reshape(2, count)
        padded[:] = -(1 << (self.shape.bits - 2))  # kUnreached of the kernel
        padded[:, : offsets.shape[1]] = offsets
        try:
            self._free_buffers()
            size = 2 * min(_INITIAL_DIAGONALS, sum(self.lengths) + 1) * self.offset.itemsize
            for _ in range(STATE_BUFFERS):
                self.buffers.append(self._driver.allocate(max(host.nbytes, size)))
            self._driver.upload(self.buffers[0].address, host, self._stream)
            self.clear_status(whole=True)
            self.wait()
        finally:
            del padded
            self._driver.unpin(host)
        return Fronts(self.buffers[0], score, first, count)

    def replace(self, buffer: int, nbytes: int) -> None:
        """Reallocate a buffer; its content is lost, and nothing on the stream may need it."""
        self._driver.free(self.buffers[buffer])
        self.buffers[buffer] = Memory(0, 0)
        self.buffers[buffer] = self._driver.allocate(nbytes)

    def nbytes(self, tiles: Tiles) -> int:
        """Return the bytes of the state that a launch writes."""
        return 2 * tiles.diagonals * self.offset.itemsize

    def launch(
        self, before: Fronts, buffer: int, tiles: Tiles, steps: tuple[int, int], number: int, slant: bool = False
    ) -> Fronts:
        """Queue a launch that advances the fronts from a state.

        Args:
            before: the state to start from.
            buffer: index of the buffer for the new state.
            tiles: diagonals to compute.
            steps: scores by which either front advances.
            number: number of the launch, which the status reports.
            slant: True to move tiles along with a leading front.

        Returns:
            The new state.
        """
        task, memory = self._task, self.buffers[buffer]
        assert self.nbytes(tiles) <= memory.nbytes
        task["input_offsets"], task["input_stride"] = before.memory.address, before.count
        task["input_first"], task["input_count"] = before.first, before.count
        task["output_offsets"], task["output_stride"] = memory.address, tiles.diagonals
        task["first"], task["tiles"], task["ghost"] = tiles.first, tiles.count, tiles.ghost
        task["steps"], task["number"], task["slant"] = steps, number, slant
        grid = -(-2 * tiles.count // (self._kernel.threads // 32))
        self._driver.launch(self._kernel, grid, task, self._stream)
        return Fronts(memory, before.score + max(steps), tiles.first, tiles.diagonals)

    def clear_status(self, whole: bool = False) -> None:
        """Reset the flag that the fronts have met; with `whole`, also how far they have reached."""
        met = _MET["met"][1]
        if whole:
            self._driver.fill(self._status.address, 0xFF, met, self._stream)
        self._driver.fill(self._status.address + met, 0, _MET["met"][0].itemsize, self._stream)

    def read_status(self, slot: int) -> tuple[Event, npt.NDArray[np.void]]:
        """Queue a copy of the status to the host.

        Args:
            slot: slot of the copy, modulo _MAX_STATUS_COPIES.

        Returns:
            An event, and the status, LONG_STATUS[1], which is valid once the event is done.
        """
        begin = slot % _MAX_STATUS_COPIES * LONG_STATUS.itemsize
        status = self._status_copies[begin : begin + LONG_STATUS.itemsize].view(LONG_STATUS)
        self._driver.download(status, self._status.address, self._stream)
        return self._driver.record(self._stream), status

    def wait_for(self, event: Event) -> None:
        """Wait for an event that `read_status` returned."""
        self._driver.wait(event)

    def wait(self) -> None:
        """Wait for all work on the stream."""
        self._driver.wait(self._driver.record(self._stream))

    def offsets(self, fronts: Fronts) -> npt.NDArray[Any]:
        """Wait for a state and return a host copy of its offsets, [2, count]."""
        host = self._driver.pinned(2 * fronts.count * self.offset.itemsize)
        try:
            self._driver.download(host, fronts.memory.address, self._stream)
            self.wait()
            return host.view(self.offset).reshape(2, -1).copy()
        finally:
            self._driver.unpin(host)

    def _free_buffers(self) -> None:
        while self.buffers:
            memory = self.buffers.pop()
            if memory.nbytes:
                self._driver.free(memory)

    def close(self) -> None:
        """Wait for the stream and release all memory; idempotent."""
        if self._memories:
            self.wait()
        self._free_buffers()
        while self._memories:
            self._driver.free(self._memories.pop())
        while self._pins:
            self._driver.unpin(self._pins.pop())


def _row(shape: Shape) -> Row:
    if shape in sizes.SHAPES:
        return ROWS[sizes.row_of(shape)]
    return Row("long-wavefront-other", "long/long_wavefront.cu", "advance_long_wavefront", shape.macros, sizes.THREADS)

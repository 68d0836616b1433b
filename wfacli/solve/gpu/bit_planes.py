"""Upload of a long sequence to the GPU as bit planes (cuda/common/planes.cuh)."""

from __future__ import annotations

import numpy as np

from ...gpu.kernels import long_wavefront as sizes
from ...gpu.kernels.catalogue import ROWS
from ...gpu.runtime.driver import Bytes, Driver, Event, Memory, Stream
from ...gpu.runtime.task import PLANES_TASK
from ..base import Symbols

CHUNK = 2 << 20  # bytes of sequence per copy; whole rows
_ROWS_OF_A_BLOCK = 8 * 8  # rows per thread block; each of its warps makes several in turn


class Uploader:
    """Uploads sequences through two alternating page-locked buffers and packs them into bit planes, on one stream."""

    def __init__(self, driver: Driver, stream: Stream, longest: int) -> None:
        """Allocate buffers for sequences of up to `longest` bytes."""
        row = 4 * sizes.SYMBOLS_PER_ROW
        self._chunk = min(CHUNK, -(-max(longest, 1) // row) * row)
        self._driver, self._stream = driver, stream
        self._staging = driver.allocate(self._chunk)
        self._buffers: list[Bytes] = []
        self._used: list[Event | None] = [None, None]
        self._buffer_index = 0

    @staticmethod
    def nbytes(symbols: int, row_bytes: int) -> int:
        """Return the bytes of a sequence's rows, with PAD_ROWS of padding before and after."""
        return (-(-symbols // sizes.SYMBOLS_PER_ROW) + 2 * sizes.PAD_ROWS) * row_bytes

    def make(self, symbols: Symbols, planes: int, row_bytes: int, memory: Memory) -> None:
        """Queue the upload and packing of a sequence, with its padding, into memory of `nbytes` bytes."""
        self._driver.fill(memory.address, 0, self.nbytes(len(symbols), row_bytes), self._stream)
        kernel = self._driver.kernel(ROWS[sizes.planes_row_of(planes)])
        task = np.zeros(1, PLANES_TASK)
        step = self._chunk // symbols.itemsize
        for at in range(0, len(symbols), step):
            piece = symbols[at : at + step]
            self._copy(piece)
            first = at // sizes.SYMBOLS_PER_ROW + sizes.PAD_ROWS
            task["symbols"], task["rows"] = self._staging.address, memory.address + first * row_bytes
            task["count"] = len(piece)
            grid = -(-len(piece) // (sizes.SYMBOLS_PER_ROW * _ROWS_OF_A_BLOCK))
            self._driver.launch(kernel, grid, task, self._stream)

    def _copy(self, piece: Symbols) -> None:
        self._buffer_index ^= 1
        if len(self._buffers) <= self._buffer_index:
            self._buffers += [self._driver.pinned(self._chunk) for _ in range(2)]
        used = self._used[self._buffer_index]
        if used is not None:
            self._driver.wait(used)
        buffer = self._buffers[self._buffer_index][: piece.nbytes]
        np.copyto(buffer, piece.view(np.uint8))
        self._driver.upload(self._staging.address, buffer, self._stream)
        self._used[self._buffer_index] = self._driver.record(self._stream)

    def close(self) -> None:
        """Wait for the copies and free the buffers."""
        self._driver.wait(self._driver.record(self._stream))
        for buffer in self._buffers:
            self._driver.unpin(buffer)
        self._driver.free(self._staging)

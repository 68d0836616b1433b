"""Parallel traceback of a long pair's path by segments on a GPU, iterated until all entries are stable.

cuda/long/long_path.cuh explains why the iteration ends, and why it ends with the canonical path.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core.batch import U32
from ...errors import DeviceError
from ...gpu.kernels.catalogue import ROWS, Row
from ...gpu.kernels.long_wavefront import PAD_ROWS
from ...gpu.runtime.driver import Driver, Kernel, Memory
from ...gpu.runtime.task import GATHER_TASK
from ..base import Pair, Symbols
from .bit_planes import Uploader

_FIRST_ROUNDS, _MAX_ROUNDS = 3, 64  # launches per batch, first and maximum; convergence is tested after each batch
_CERTAIN = -(1 << 63)  # bit of an entry that is known to be right (kSure of long_path.cuh)
_LIMITS = (2, 2, 2, 8, 8)  # per batch: maximum length of a walk from a guessed entry, in multiples of the usual parts
_LAST_LIMIT = 128
_PIECE = 4 << 20  # bytes per copy to the host
_LONGEST = (1 << 28) - 1  # maximum length of an operation in BAM's packing


class GpuMemory:
    """GPU memory and a stream, released together."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.stream = driver, driver.stream()
        self._memories: list[Memory] = []

    def allocate(self, nbytes: int) -> int:
        """Allocate `nbytes` and return their address. Raises OutOfDeviceMemory."""
        self._memories.append(self.driver.allocate(max(nbytes, 1)))
        return self._memories[-1].address

    def upload_pair(self, pair: Pair, task: npt.NDArray[np.void], planes: int, row_bytes: int) -> None:
        """Upload the sequences of a pair as bit planes, and set their addresses and lengths in a task."""
        uploader = Uploader(self.driver, self.stream, max(pair.query.nbytes, pair.target.nbytes))
        try:
            for side, upload_pair in (("query", pair.query), ("target", pair.target)):
                task[side] = self._rows(uploader, upload_pair, planes, row_bytes) + PAD_ROWS * row_bytes
                task[f"{side}_len"] = len(upload_pair)
        finally:
            uploader.close()

    def _rows(self, uploader: Uploader, upload_pair: Symbols, planes: int, row_bytes: int) -> int:
        rows = self.driver.allocate(uploader.nbytes(len(upload_pair), row_bytes))
        self._memories.append(rows)
        uploader.make(upload_pair, planes, row_bytes, rows)
        return rows.address

    def upload(self, address: int, values: npt.NDArray[np.generic]) -> None:
        """Copy values to the GPU, and wait."""
        pinned = self.driver.pinned(max(values.nbytes, 1))
        try:
            pinned[: values.nbytes] = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
            self.driver.upload(address, pinned[: values.nbytes], self.stream)
            self.wait()
        finally:
            self.driver.unpin(pinned)

    def download(self, address: int, count: int, dtype: npt.DTypeLike) -> npt.NDArray[np.generic]:
        """Wait for the stream and return a copy of `count` values."""
        nbytes = count * np.dtype(dtype).itemsize
        values = np.empty(nbytes, np.uint8)
        pinned = self.driver.pinned(max(min(nbytes, _PIECE), 1))
        try:
            for at in range(0, nbytes, _PIECE):
                piece = pinned[: min(_PIECE, nbytes - at)]
                self.driver.download(piece, address + at, self.stream)
                self.wait()
                values[at : at + len(piece)] = piece
        finally:
            self.driver.unpin(pinned)
        return values.view(dtype)

    def wait(self) -> None:
        """Wait for all work on the stream."""
        self.driver.wait(self.driver.record(self.stream))

    def wait_before_free(self) -> None:
        """Wait for the stream before memory that it uses is freed; a failed GPU has no work left."""
        with contextlib.suppress(DeviceError):
            self.wait()

    def close(self) -> None:
        """Release all memory."""
        self.wait_before_free()
        while self._memories:
            self.driver.free(self._memories.pop())


@dataclass(frozen=True)
class TracedSegments:
    """Traced path through a group of segments.

    Attributes:
        ops: u32[C], BAM's packing, in path order; neighbours may be of the same operation.
        exit: place where the path leaves the first segment.
        rounds: number of launches.
    """

    ops: U32
    exit: int
    rounds: int


class Segments:
    """Memory and launches of the kernel that traces segments."""

    def __init__(
        self,
        memory: GpuMemory,
        row: Row,
        max_segments: int,
        op_capacity: int,
        scratch_bytes: int,
        parts_per_segment: int = 1,
    ) -> None:
        """Allocate memory for up to `max_segments` segments.

        Args:
            memory: GPU memory and stream.
            row: the kernel's row in the catalogue.
            max_segments: maximum number of segments.
            op_capacity: maximum number of operations per segment.
            scratch_bytes: bytes of scratch memory per warp.
            parts_per_segment: parts that the path through a segment usually crosses.
        """
        self._memory, self._driver = memory, memory.driver
        self._kernel = memory.driver.kernel(row)
        self._capacity, self._parts_per_segment = op_capacity, parts_per_segment
        warps = max(self._kernel.resident(), 1) * self._driver.gpu.multiprocessors
        self._warps = min(warps, max_segments)
        stride = -(-scratch_bytes // 256) * 256
        self._scratch, self._stride = memory.allocate(self._warps * stride), stride
        self._entries = memory.allocate(8 * max_segments), memory.allocate(8 * max_segments)
        self._walked, self._exit = memory.allocate(8 * max_segments), memory.allocate(8 * max_segments)
        self._op_count, self._start = memory.allocate(4 * max_segments), memory.allocate(8 * (max_segments + 1))
        self._ops = memory.allocate(4 * op_capacity * max_segments)
        self._counters = memory.allocate(8 * _MAX_ROUNDS)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._kernel

    @property
    def warps(self) -> int:
        """Maximum number of warps per launch."""
        return self._warps

    @staticmethod
    def nbytes(max_segments: int, op_capacity: int, scratch_bytes: int, warps: int) -> int:
        """Return the approximate GPU memory for `max_segments` segments, in bytes."""
        return max_segments * (4 * op_capacity + 64) + min(warps, max_segments) * (scratch_bytes + 256) + (1 << 16)

    def begin(self, task: npt.NDArray[np.void], count: int) -> None:
        """Reset the state for `count` segments; then guesses may be written to path.entry, on the stream."""
        driver, stream, path = self._driver, self._memory.stream, task["path"]
        driver.fill(self._walked, 0xFF, 8 * count, stream)
        driver.fill(self._entries[0], 0, 8 * count, stream)
        path["count"], path["entry"], path["next_entry"] = count, *self._entries
        path["traced_entry"], path["exit"], path["op_count"] = self._walked, self._exit, self._op_count
        path["ops"], path["op_capacity"] = self._ops, self._capacity
        path["scratch"], path["stride"] = self._scratch, self._stride

    def entry(self, segment: int) -> int:
        """Return the address of a segment's entry, for a guess."""
        return self._entries[0] + 8 * segment

    def trace(self, task: npt.NDArray[np.void], count: int, entry: int, poll: Callable[[], None]) -> TracedSegments:
        """Trace the path through a group of segments.

        Args:
            task: task of the kernel, after `begin`.
            count: segments.
            entry: place where the path enters the last segment.
            poll: called between batches; may raise to cancel.
        """
        self._memory.upload(self.entry(count - 1), np.array([entry + _CERTAIN], np.int64))
        rounds, batch, path = 0, _FIRST_ROUNDS, task["path"]
        for times in itertools.chain(_LIMITS, itertools.repeat(_LAST_LIMIT)):
            path["limit"] = times * self._parts_per_segment
            self._driver.fill(self._counters, 0, 8 * batch, self._memory.stream)
            for launch in range(batch):
                path["entry"], path["next_entry"] = self._entries[rounds % 2], self._entries[(rounds + 1) % 2]
                path["work_counter"], path["changed"] = (self._counters + 8 * launch + 4 * which for which in (0, 1))
                self._driver.launch(self._kernel, min(self._warps, count), task, self._memory.stream)
                rounds += 1
            changed = self._memory.download(self._counters + 8 * (batch - 1), 2, np.uint32)
            if not changed[1]:
                break
            poll()
            batch = min(2 * batch, _MAX_ROUNDS)
        return TracedSegments(self._gather(count), int(self._memory.download(self._exit, 1, np.int64)[0]), rounds)

    def _gather(self, count: int) -> U32:
        """Concatenate the operations of all segments, the last segment's first."""
        counts = self._memory.download(self._op_count, count, np.int32).astype(np.int64)
        if counts.max() > self._capacity:
            raise DeviceError(f"a segment of the path has {counts.max()} operations")
        before = np.cumsum(counts[::-1])
        total, start = int(before[-1]), (before - counts[::-1])[::-1]
        self._memory.upload(self._start, np.append(start, total).astype(np.int64))
        cigar = self._driver.allocate(max(4 * total, 4))
        try:
            gather = np.zeros(1, GATHER_TASK)
            gather["op_count"], gather["ops"], gather["start"] = self._op_count, self._ops, self._start
            gather["cigar"], gather["count"], gather["op_capacity"] = cigar.address, count, self._capacity
            gather["lanes_log2"] = 5
            kernel = self._driver.kernel(ROWS["gather-ops"])
            grid = min(-(-32 * count // kernel.threads), 8 * self._driver.gpu.multiprocessors)
            self._driver.launch(kernel, grid, gather, self._memory.stream)
            ops: U32 = self._memory.download(cigar.address, total, np.uint32)  # type: ignore[assignment]
        finally:
            self._memory.wait_before_free()
            self._driver.free(cigar)
        return ops


def joined(pieces: list[U32]) -> U32:
    """Concatenate operations into a CIGAR: merge neighbours of the same kind, and split those beyond BAM's limit."""
    ops = np.concatenate(pieces)
    if not len(ops):
        return ops
    first = np.flatnonzero(np.diff(ops & 15, prepend=np.uint32(15)))
    upload_pair = np.add.reduceat((ops >> 4).astype(np.int64), first)
    kinds = ops[first] & 15
    parts = -(-upload_pair // _LONGEST)
    lengths = np.full(int(parts.sum()), _LONGEST, np.uint32)
    lengths[np.cumsum(parts) - 1] = upload_pair - (parts - 1) * _LONGEST
    cigar: U32 = lengths << np.uint32(4) | np.repeat(kinds, parts)
    return cigar

"""Distance of one long pair by banded bit-vectors on a GPU; the band is widened until it proves the result.

long_bits.cuh describes how the stripes of two matrices run concurrently. Between launches only the edge after the last
stripe of either matrix is needed: that is the state that can be saved.
"""

from __future__ import annotations

import contextlib

import numpy as np
import numpy.typing as npt

from ...core import tuning
from ...errors import DeviceError
from ...gpu.kernels import long_bits as sizes
from ...gpu.kernels.catalogue import ROWS
from ...gpu.kernels.long_bits import Band, Shape
from ...gpu.kernels.long_wavefront import PAD_ROWS
from ...gpu.kernels.properties import Gpu
from ...gpu.runtime.driver import Bytes, Driver, Memory
from ...gpu.runtime.task import LONG_BITS_TASK
from ..base import Pair, Position, State, Symbols
from .bit_planes import Uploader

NAME = "gpu-bits"
_FIRST_ERROR = 0.02  # edits per symbol of the longer sequence for which the first band is made without an estimate
_MIN_DISTANCE = 256  # minimum distance for which the first band is made
_MAX_GROWTH = 3  # maximum growth of that distance from one band to the next
_MIN_ROUNDS = 4  # minimum stripes per launch, in multiples of those that run at a time, for a short ramp-up
_MEMORY_SHARE = 0.5  # maximum fraction of the free GPU memory for edges
_PREFIX = 4096  # prefix that usually contains most of a sequence's distinct symbols


class GpuBits:
    """Banded bit-vectors (`solve.base.Solver`); the driver is borrowed, and not closed."""

    name = NAME

    def __init__(
        self,
        driver: Driver,
        pair: Pair,
        max_distance: int | None = None,
        expected_edits: int | None = None,
        shape: Shape | None = None,
    ) -> None:
        """Upload the sequences.

        Args:
            driver: an open GPU, owned by the calling thread.
            pair: the sequences, u8.
            max_distance: maximum distance of interest; None: unlimited.
            expected_edits: expected distance; None if unknown.
            shape: build of the kernel; None: the fastest. For tests.

        Raises:
            ValueError: the symbols are not u8, or `shape` does not support them.
        """
        if pair.query.itemsize != 1:
            raise ValueError("bits supports symbols of one byte only")
        self._driver, self._max_distance, self._fixed_shape = driver, max_distance, shape
        self._lengths = m, n = len(pair.query), len(pair.target)
        self._codes = None if pair.plain or (shape and shape.planes == 8) else _codes_of(pair)
        self._planes = 2 if pair.plain else 8 if self._codes is None else 4
        if shape and shape.planes != self._planes:
            raise ValueError(f"symbols of this pair have {self._planes} bits, and the build is for {shape.planes}")
        self._memories: list[Memory] = []
        self._ring: list[Memory] = []
        self._pins: list[Bytes] = []
        self._cells, self._lower_bound = 0, abs(n - m)
        self._finished, self._distance = False, None  # type: bool, int | None
        if not min(m, n) or (max_distance is not None and self._lower_bound > max_distance):
            self._set_result(max(m, n))
            return
        self._stream = driver.stream()
        first = expected_edits if expected_edits is not None else int(_FIRST_ERROR * max(m, n))
        try:
            self._load(pair)
            self._band_for(max(first, _MIN_DISTANCE, self._lower_bound))
        except BaseException:
            self.close()
            raise

    def _load(self, pair: Pair) -> None:
        uploader = Uploader(self._driver, self._stream, max(pair.query.nbytes, pair.target.nbytes))
        self._task = np.zeros(1, LONG_BITS_TASK)
        row_bytes = Shape(self._planes, 1).row_bytes
        try:
            for side, symbols in (("query", pair.query), ("target", pair.target)):
                own = symbols if self._codes is None else _coded(symbols, self._codes)
                rows = self._driver.allocate(uploader.nbytes(len(own), row_bytes))
                self._memories.append(rows)
                uploader.make(own, self._planes, row_bytes, rows)
                self._task[side] = rows.address + PAD_ROWS * row_bytes
        finally:
            uploader.close()
        self._task["query_len"], self._task["target_len"] = self._lengths
        self._counters = self._driver.allocate(16)  # the stripe counter, and the result after it
        self._memories.append(self._counters)
        self._task["work_counter"], self._task["distance"] = self._counters.address, self._counters.address + 8
        self._result = self._driver.pinned(8)
        self._pins.append(self._result)

    # Bands

    def _band_for(self, distance: int, first_stripe: int = 0) -> None:
        """Set up the narrowest band that proves `distance`, to start with stripe `first_stripe` of both matrices."""
        m, n = self._lengths
        wanted = min(distance, max(m, n) if self._max_distance is None else max(self._max_distance, abs(n - m)))
        self._wanted, self._band = wanted, Band.for_distance(m, n, wanted)
        processors = self._driver.gpu.multiprocessors
        self._shape = self._fixed_shape or sizes.best_shape(self._planes, processors, self._lengths, self._band)
        self._kernel = self._driver.kernel(ROWS[self._shape.name])
        self._next_stripe, self._stripe_count = first_stripe, sizes.total_stripes(self._shape, m)
        self._stripes = sizes.stripes(self._shape, m)
        self._edge_words = sizes.edge_words(self._shape, self._band, n)
        fit = int(_MEMORY_SHARE * self._driver.free_memory()) // (16 * self._edge_words)
        matrices = 2 if self._stripes[1] else 1
        warps = max(min(processors * sizes.WARPS, self._stripe_count, fit - 4), 1)
        self._slots = -(-warps // matrices) + 2
        self._allocate_ring(matrices)

    def _allocate_ring(self, matrices: int) -> None:
        self._wait()
        while self._ring:
            self._driver.free(self._ring.pop())
        task, words = self._task, self._edge_words
        needs = {"edges": 16 * words * self._slots, "corner": 16 * self._slots, "edge_read": 8 * self._slots}
        for matrix in range(matrices):
            for name, size in needs.items():
                task["matrix"][name][0, matrix] = self._allocate(size)
        task["sums"] = self._allocate(16 * (words + 1))
        for memory in self._ring:  # clears the tags
            self._driver.fill(memory.address, 0, memory.nbytes, self._stream)
        task["matrix"]["stripes"][0] = self._stripes
        task["matrix"]["padding_rows"][0] = 0, sizes.padding_rows(self._shape, self._lengths[0])
        task["low"], task["high"] = self._band.low, self._band.high
        task["rows"], task["edge_words"], task["slots"] = self._shape.rows, words, self._slots

    def _allocate(self, nbytes: int) -> int:
        """Allocate bytes that live as long as the band, and return their address."""
        self._ring.append(self._driver.allocate(nbytes))
        return self._ring[-1].address

    def advance(self, seconds: float) -> bool:
        """See `Solver.advance`; may take longer than `seconds`, since a launch has a minimum number of stripes."""
        if self._finished:
            return True
        processors = self._driver.gpu.multiprocessors
        seconds_per_stripe = sizes.seconds(self._shape, processors, self._lengths, self._band) / self._stripe_count
        min_stripes = _MIN_ROUNDS * sizes.concurrent_stripes(self._shape, processors, self._lengths, self._band)
        count, left = max(seconds / seconds_per_stripe, min_stripes), self._stripe_count - self._next_stripe
        self.compute_stripes(int(count) if left - count > min_stripes else left)
        return self._finished

    def compute_stripes(self, stripes: int) -> None:
        """Compute the next `stripes` stripes in one launch."""
        end = min(self._next_stripe + stripes, self._stripe_count)
        self._launch(end)
        if end < self._stripe_count:
            return
        found = int(self._result.view(np.int64)[0])
        if found <= self._band.proves or (self._max_distance is not None and self._band.proves >= self._max_distance):
            self._set_result(found)
        else:
            self._lower_bound = max(self._lower_bound, self._band.proves + 1)
            # The result is the cost of an actual path, so a band that proves it suffices.
            self._band_for(min(found, _MAX_GROWTH * self._wanted))

    def _launch(self, end: int) -> None:
        driver, stream = self._driver, self._stream
        self._task["first"], self._task["end"] = self._next_stripe, end
        driver.fill(self._counters.address, 0, 8, stream)
        # All stripes advance at the pace of the slowest: two warps on one scheduler would halve it for all.
        blocks = min(driver.gpu.multiprocessors, -(-(end - self._next_stripe) // sizes.WARPS))
        driver.launch(self._kernel, blocks, self._task, stream)
        if end == self._stripe_count:
            if self._stripes[1]:
                driver.launch(driver.kernel(ROWS[sizes.MEETING]), 1, self._task, stream)
            driver.download(self._result, self._counters.address + 8, stream)
        driver.wait(driver.record(stream))
        self._cells += sizes.cells(self._shape, self._band, self._next_stripe, end, self._lengths)
        self._next_stripe = end

    def _set_result(self, found: int) -> None:
        self._finished = True
        self._distance = None if self._max_distance is not None and found > self._max_distance else found
        if self._distance is None and self._max_distance is not None:
            self._lower_bound = max(self._lower_bound, self._max_distance + 1)
        else:
            self._lower_bound = found

    @property
    def distance(self) -> int | None:
        """See `Solver`."""
        return self._distance

    @property
    def position(self) -> Position:
        """See `Solver.position`; the share is that of the current band."""
        fraction_done = 1.0 if self._finished else self._next_stripe / self._stripe_count
        return Position(self._lower_bound, fraction_done, self._cells)

    # States

    def save(self) -> State:
        """See `Solver.save`; the state is the band, and the edge after the last stripe of either matrix."""
        numbers = [self._lower_bound, self._cells, self._finished, -1 if self._distance is None else self._distance]
        if self._finished:
            return {"numbers": np.array(numbers, np.int64)}
        numbers += [self._wanted, self._shape.words, self._next_stripe]
        state = {"numbers": np.array(numbers, np.int64)}
        for matrix, done in enumerate(sizes.stripes_before(self._next_stripe, self._stripes[1] > 0)):
            if done:
                edge, corner = self._edge_addresses(matrix, done)
                state[f"edge{matrix}"] = self._read(edge, 16 * self._edge_words).view(np.uint64)
                state[f"corner{matrix}"] = self._read(corner, 16).view(np.uint64)
        return state

    def _edge_addresses(self, matrix: int, done: int) -> tuple[int, int]:
        """Return the addresses of the edge after `done` stripes of a matrix, and of the corner of the next stripe."""
        own = self._task["matrix"][0, matrix]
        return (
            int(own["edges"]) + 16 * self._edge_words * ((done - 1) % self._slots),
            int(own["corner"]) + 16 * (done % self._slots),
        )

    def restore(self, state: State) -> None:
        """See `Solver`."""
        try:
            self._restore(state)
        except (KeyError, IndexError, TypeError, StopIteration) as error:
            raise ValueError("no state of this pair and algorithm") from error

    def _restore(self, state: State) -> None:
        numbers = [int(value) for value in np.asarray(state["numbers"], np.int64)]
        if len(numbers) not in (4, 7):
            raise ValueError("no state of this pair and algorithm")
        lower_bound, cells, finished, distance = numbers[:4]
        m, n = self._lengths
        if not abs(n - m) <= lower_bound <= max(m, n) + 1 or cells < 0:
            raise ValueError("no state of this pair and algorithm")
        if finished:
            self._lower_bound, self._cells = lower_bound, cells
            self._set_result(distance if distance >= 0 else max(m, n))
            return
        wanted, words, first_stripe = numbers[4:]
        shape = next(s for s in sizes.SHAPES if (s.planes, s.words) == (self._planes, words))
        if not 0 <= first_stripe < sizes.total_stripes(shape, m) or not abs(n - m) <= wanted <= max(m, n):
            raise ValueError("no state of this pair and algorithm")
        fixed, self._fixed_shape = self._fixed_shape, shape
        self._band_for(wanted, first_stripe)
        self._fixed_shape = fixed
        self._lower_bound, self._cells = lower_bound, cells
        for matrix, done in enumerate(sizes.stripes_before(first_stripe, self._stripes[1] > 0)):
            if not done:
                continue
            edge = np.asarray(state[f"edge{matrix}"], np.uint64)
            corner = np.asarray(state[f"corner{matrix}"], np.uint64)
            if edge.shape != (2 * self._edge_words,) or corner.shape != (2,) or (corner >> 32 != done + 1).any():
                raise ValueError("no state of this pair and algorithm")
            for address, values in zip(self._edge_addresses(matrix, done), (edge, corner), strict=True):
                self._write(address, values)

    def _read(self, address: int, size: int) -> Bytes:
        pinned = self._driver.pinned(size)
        self._driver.download(pinned, address, self._stream)
        self._driver.wait(self._driver.record(self._stream))
        copy = pinned.copy()
        self._driver.unpin(pinned)
        return copy

    def _write(self, address: int, values: npt.NDArray[np.generic]) -> None:
        pinned = self._driver.pinned(values.nbytes)
        pinned[:] = np.ascontiguousarray(values).view(np.uint8)
        self._driver.upload(address, pinned, self._stream)
        self._driver.wait(self._driver.record(self._stream))
        self._driver.unpin(pinned)

    def _wait(self) -> None:
        """Wait for the stream; a failed GPU has no work left."""
        with contextlib.suppress(DeviceError):
            self._driver.wait(self._driver.record(self._stream))

    def close(self) -> None:
        """See `Solver`."""
        if self._memories:
            self._wait()
        while self._pins:
            self._driver.unpin(self._pins.pop())
        for memories in (self._memories, self._ring):
            while memories:
                self._driver.free(memories.pop())


def _codes_of(pair: Pair) -> bytes | None:
    """Return a 256-byte table from distinct symbols to distinct codes below 16; None if there are too many."""
    used = sorted(_distinct_symbols(pair.query) | _distinct_symbols(pair.target))
    if len(used) > 16:
        return None
    codes = bytearray(256)
    for code, symbol in enumerate(used):
        codes[symbol] = code
    return bytes(codes)


def _coded(sequence: Symbols, codes: bytes) -> Symbols:
    return np.frombuffer(sequence.tobytes().translate(codes), np.uint8)


def _distinct_symbols(sequence: Symbols) -> set[int]:
    data = sequence.tobytes()
    found = set(data[:_PREFIX])
    return found | set(data.translate(None, bytes(found)))


def forecast(gpu: Gpu, lengths: tuple[int, int], edits: int, plain: bool) -> float:
    """Return the expected seconds for a pair, including its upload, if `edits` is also the estimate for the band."""
    if not min(lengths):
        return 0.0
    band, planes = Band.for_distance(*lengths, min(edits, max(lengths))), 2 if plain else 8
    shape = sizes.best_shape(planes, gpu.multiprocessors, lengths, band)
    copied = sum(lengths) / tuning.GPU_LONG_UPLOAD_RATE
    return tuning.GPU_LONG_START + copied + sizes.seconds(shape, gpu.multiprocessors, lengths, band)

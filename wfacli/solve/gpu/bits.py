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
from ..base import Letters, Pair, Position, State
from .letters import Uploader

NAME = "gpu-bits"
_FIRST = 0.02  # edits per symbol of the longer sequence for which the first band is made without an estimate
_LEAST = 256  # minimum distance for which the first band is made
_WIDER = 3  # maximum growth of that distance from one band to the next
_ROUNDS = 4  # minimum stripes per launch, in multiples of those that run at a time: ramp-up and ramp-down are short
_SHARE = 0.5  # maximum fraction of the free GPU memory for edges
_SOME_LETTERS = 4096  # prefix that usually contains most of a sequence's distinct symbols


class GpuBits:
    """Banded bit-vectors (`solve.base.Solver`); the driver is borrowed, and not closed."""

    name = NAME

    def __init__(
        self,
        driver: Driver,
        pair: Pair,
        most: int | None = None,
        likely: int | None = None,
        shape: Shape | None = None,
    ) -> None:
        """Upload the sequences.

        Args:
            driver: an open GPU, owned by the calling thread.
            pair: the sequences, u8.
            most: maximum distance of interest; None: unlimited.
            likely: expected distance; None if unknown.
            shape: build of the kernel; None: the fastest. For tests.

        Raises:
            ValueError: the symbols are not u8, or `shape` does not support them.
        """
        if pair.query.itemsize != 1:
            raise ValueError("bits are for letters of a byte")
        self._driver, self._most, self._only = driver, most, shape
        self._lengths = m, n = len(pair.query), len(pair.target)
        self._codes = None if pair.plain or (shape and shape.planes == 8) else _codes_of(pair)
        self._planes = 2 if pair.plain else 8 if self._codes is None else 4
        if shape and shape.planes != self._planes:
            raise ValueError(f"letters of this pair have {self._planes} bits, and the build is for {shape.planes}")
        self._memories: list[Memory] = []
        self._ring: list[Memory] = []
        self._pins: list[Bytes] = []
        self._cells, self._at_least = 0, abs(n - m)
        self._over, self._distance = False, None  # type: bool, int | None
        if not min(m, n) or (most is not None and self._at_least > most):
            self._end(max(m, n))
            return
        self._stream = driver.stream()
        first = likely if likely is not None else int(_FIRST * max(m, n))
        try:
            self._load(pair)
            self._band_for(max(first, _LEAST, self._at_least))
        except BaseException:
            self.close()
            raise

    def _load(self, pair: Pair) -> None:
        uploader = Uploader(self._driver, self._stream, max(pair.query.nbytes, pair.target.nbytes))
        self._task = np.zeros(1, LONG_BITS_TASK)
        row_bytes = Shape(self._planes, 1).row_bytes
        try:
            for side, letters in (("query", pair.query), ("target", pair.target)):
                own = letters if self._codes is None else _coded(letters, self._codes)
                rows = self._driver.allocate(uploader.nbytes(len(own), row_bytes))
                self._memories.append(rows)
                uploader.make(own, self._planes, row_bytes, rows)
                self._task[side] = rows.address + PAD_ROWS * row_bytes
        finally:
            uploader.close()
        self._task["query_len"], self._task["target_len"] = self._lengths
        self._small = self._driver.allocate(16)  # the stripe counter, and the result after it
        self._memories.append(self._small)
        self._task["work_counter"], self._task["distance"] = self._small.address, self._small.address + 8
        self._answer = self._driver.pinned(8)
        self._pins.append(self._answer)

    # Bands

    def _band_for(self, distance: int, turn: int = 0) -> None:
        """Set up the narrowest band that proves `distance`, to start with stripe number `turn` of both matrices."""
        m, n = self._lengths
        wanted = min(distance, max(m, n) if self._most is None else max(self._most, abs(n - m)))
        self._wanted, self._band = wanted, Band.for_distance(m, n, wanted)
        processors = self._driver.gpu.multiprocessors
        self._shape = self._only or sizes.best_shape(self._planes, processors, self._lengths, self._band)
        self._kernel = self._driver.kernel(ROWS[self._shape.name])
        self._turn, self._turns = turn, sizes.total_stripes(self._shape, m)
        self._stripes = sizes.stripes(self._shape, m)
        self._edge_words = sizes.edge_words(self._shape, self._band, n)
        fit = int(_SHARE * self._driver.free_memory()) // (16 * self._edge_words)
        matrices = 2 if self._stripes[1] else 1
        warps = max(min(processors * sizes.WARPS, self._turns, fit - 4), 1)
        self._slots = -(-warps // matrices) + 2
        self._make_room(matrices)

    def _make_room(self, matrices: int) -> None:
        self._settle()
        while self._ring:
            self._driver.free(self._ring.pop())
        task, words = self._task, self._edge_words
        needs = {"edges": 16 * words * self._slots, "corner": 16 * self._slots, "edge_read": 8 * self._slots}
        for matrix in range(matrices):
            for name, size in needs.items():
                task["matrix"][name][0, matrix] = self._more(size)
        task["sums"] = self._more(16 * (words + 1))
        for memory in self._ring:  # clears the tags
            self._driver.fill(memory.address, 0, memory.nbytes, self._stream)
        task["matrix"]["stripes"][0] = self._stripes
        task["matrix"]["padding_rows"][0] = 0, sizes.padding_rows(self._shape, self._lengths[0])
        task["low"], task["high"] = self._band.low, self._band.high
        task["rows"], task["edge_words"], task["slots"] = self._shape.rows, words, self._slots

    def _more(self, nbytes: int) -> int:
        """Allocate bytes that live as long as the band, and return their address."""
        self._ring.append(self._driver.allocate(nbytes))
        return self._ring[-1].address

    def advance(self, seconds: float) -> bool:
        """See `Solver.advance`; may take longer than `seconds`, since a launch has a minimum number of stripes."""
        if self._over:
            return True
        processors = self._driver.gpu.multiprocessors
        each = sizes.seconds(self._shape, processors, self._lengths, self._band) / self._turns
        least = _ROUNDS * sizes.concurrent_stripes(self._shape, processors, self._lengths, self._band)
        count, left = max(seconds / each, least), self._turns - self._turn
        self.take(int(count) if left - count > least else left)
        return self._over

    def take(self, stripes: int) -> None:
        """Compute the next `stripes` stripes in one launch."""
        end = min(self._turn + stripes, self._turns)
        self._launch(end)
        if end < self._turns:
            return
        found = int(self._answer.view(np.int64)[0])
        if found <= self._band.proves or (self._most is not None and self._band.proves >= self._most):
            self._end(found)
        else:
            self._at_least = max(self._at_least, self._band.proves + 1)
            # The result is the cost of an actual path, so a band that proves it suffices.
            self._band_for(min(found, _WIDER * self._wanted))

    def _launch(self, end: int) -> None:
        driver, stream = self._driver, self._stream
        self._task["first"], self._task["end"] = self._turn, end
        driver.fill(self._small.address, 0, 8, stream)
        # All stripes advance at the pace of the slowest: two warps on one scheduler would halve it for all.
        blocks = min(driver.gpu.multiprocessors, -(-(end - self._turn) // sizes.WARPS))
        driver.launch(self._kernel, blocks, self._task, stream)
        if end == self._turns:
            if self._stripes[1]:
                driver.launch(driver.kernel(ROWS[sizes.MEETING]), 1, self._task, stream)
            driver.download(self._answer, self._small.address + 8, stream)
        driver.wait(driver.record(stream))
        self._cells += sizes.cells(self._shape, self._band, self._turn, end, self._lengths)
        self._turn = end

    def _end(self, found: int) -> None:
        self._over = True
        self._distance = None if self._most is not None and found > self._most else found
        if self._distance is None and self._most is not None:
            self._at_least = max(self._at_least, self._most + 1)
        else:
            self._at_least = found

    @property
    def distance(self) -> int | None:
        """See `Solver`."""
        return self._distance

    @property
    def position(self) -> Position:
        """See `Solver.position`; the share is that of the current band."""
        share = 1.0 if self._over else self._turn / self._turns
        return Position(self._at_least, share, self._cells)

    # States

    def save(self) -> State:
        """See `Solver.save`; the state is the band, and the edge after the last stripe of either matrix."""
        numbers = [self._at_least, self._cells, self._over, -1 if self._distance is None else self._distance]
        if self._over:
            return {"numbers": np.array(numbers, np.int64)}
        numbers += [self._wanted, self._shape.words, self._turn]
        state = {"numbers": np.array(numbers, np.int64)}
        for matrix, done in enumerate(sizes.stripes_before(self._turn, self._stripes[1] > 0)):
            if done:
                edge, corner = self._between(matrix, done)
                state[f"edge{matrix}"] = self._read(edge, 16 * self._edge_words).view(np.uint64)
                state[f"corner{matrix}"] = self._read(corner, 16).view(np.uint64)
        return state

    def _between(self, matrix: int, done: int) -> tuple[int, int]:
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
        at_least, cells, over, distance = numbers[:4]
        m, n = self._lengths
        if not abs(n - m) <= at_least <= max(m, n) + 1 or cells < 0:
            raise ValueError("no state of this pair and algorithm")
        if over:
            self._at_least, self._cells = at_least, cells
            self._end(distance if distance >= 0 else max(m, n))
            return
        wanted, words, turn = numbers[4:]
        shape = next(s for s in sizes.SHAPES if (s.planes, s.words) == (self._planes, words))
        if not 0 <= turn < sizes.total_stripes(shape, m) or not abs(n - m) <= wanted <= max(m, n):
            raise ValueError("no state of this pair and algorithm")
        only, self._only = self._only, shape
        self._band_for(wanted, turn)
        self._only = only
        self._at_least, self._cells = at_least, cells
        for matrix, done in enumerate(sizes.stripes_before(turn, self._stripes[1] > 0)):
            if not done:
                continue
            edge = np.asarray(state[f"edge{matrix}"], np.uint64)
            corner = np.asarray(state[f"corner{matrix}"], np.uint64)
            if edge.shape != (2 * self._edge_words,) or corner.shape != (2,) or (corner >> 32 != done + 1).any():
                raise ValueError("no state of this pair and algorithm")
            for address, values in zip(self._between(matrix, done), (edge, corner), strict=True):
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

    def _settle(self) -> None:
        """Wait for the stream; a failed GPU has no work left."""
        with contextlib.suppress(DeviceError):
            self._driver.wait(self._driver.record(self._stream))

    def close(self) -> None:
        """See `Solver`."""
        if self._memories:
            self._settle()
        while self._pins:
            self._driver.unpin(self._pins.pop())
        for held in (self._memories, self._ring):
            while held:
                self._driver.free(held.pop())


def _codes_of(pair: Pair) -> bytes | None:
    """Return a 256-byte table from distinct symbols to distinct codes below 16; None if there are too many."""
    used = sorted(_letters(pair.query) | _letters(pair.target))
    if len(used) > 16:
        return None
    codes = bytearray(256)
    for code, letter in enumerate(used):
        codes[letter] = code
    return bytes(codes)


def _coded(sequence: Letters, codes: bytes) -> Letters:
    return np.frombuffer(sequence.tobytes().translate(codes), np.uint8)


def _letters(sequence: Letters) -> set[int]:
    data = sequence.tobytes()
    most = set(data[:_SOME_LETTERS])
    return most | set(data.translate(None, bytes(most)))


def forecast(gpu: Gpu, lengths: tuple[int, int], edits: int, plain: bool) -> float:
    """Return the expected seconds for a pair, including its upload, if `edits` is also the estimate for the band."""
    if not min(lengths):
        return 0.0
    band, planes = Band.for_distance(*lengths, min(edits, max(lengths))), 2 if plain else 8
    shape = sizes.best_shape(planes, gpu.multiprocessors, lengths, band)
    copied = sum(lengths) / tuning.GPU_LONG_LETTERS
    return tuning.GPU_LONG_START + copied + sizes.seconds(shape, gpu.multiprocessors, lengths, band)

"""The distance of one long pair by a band of bits on a card, twice as wide until it proves what it finds.

cuda/long_bits.cuh says how stripes of the matrix go side by side. Between launches only the edge behind the last
stripe is needed: the state that can be saved.
"""

from __future__ import annotations

import contextlib

import numpy as np
import numpy.typing as npt

from .. import tuning
from ..errors import DeviceError
from ..gpu import long_bits as sizes
from ..gpu.catalogue import ROWS
from ..gpu.driver import Bytes, Card, Driver, Memory
from ..gpu.long_bits import Band, Shape
from ..gpu.long_wavefront import PAD_ROWS
from ..gpu.task import LONG_BITS_TASK
from .gpu_letters import Uploader
from .solver import Pair, Position, State

NAME = "gpu-bits"
_FIRST = 0.02  # of the longer sequence: the first distance that is tried where none is known to be likely
_LEAST = 256
_WIDER = 3  # times as far, where what was found does not say how far
_ROUNDS = 4  # of all resident warps that a launch has at least, so that few of them wait at its ends


class GpuBits:
    """A Solver (solver.py); the driver is the caller's, and not closed."""

    name = NAME

    def __init__(
        self,
        driver: Driver,
        pair: Pair,
        most: int | None = None,
        likely: int | None = None,
        shape: Shape | None = None,
    ) -> None:
        """Copies the letters to the card.

        Args:
            driver: an open card; this thread is its thread.
            pair: the sequences, of letters of a byte.
            most: edits that matter.
            likely: edits that the pair seems to have.
            shape: a build, if not the fastest; for tests.
        """
        if pair.query.itemsize != 1:
            raise ValueError("bits are for letters of a byte")
        self._driver, self._most, self._only = driver, most, shape
        self._lengths = m, n = len(pair.query), len(pair.target)
        self._codes = None if pair.plain else _codes_of(pair)
        self._planes = 2 if pair.plain else 8 if self._codes is None else 4
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
                own = letters if self._codes is None else self._codes[letters]
                rows = self._driver.allocate(uploader.nbytes(len(own), row_bytes))
                self._memories.append(rows)
                uploader.make(own, self._planes, row_bytes, rows)
                self._task[side] = rows.address + PAD_ROWS * row_bytes
        finally:
            uploader.close()
        self._task["query_len"], self._task["target_len"] = self._lengths
        self._small = self._driver.allocate(16)  # the counter, and the answer behind it
        self._memories.append(self._small)
        self._task["next"], self._task["distance"] = self._small.address, self._small.address + 8
        self._answer = self._driver.pinned(8)
        self._pins.append(self._answer)

    # Bands

    def _band_for(self, distance: int, stripe: int = 0) -> None:
        """Begins with the narrowest band that proves a distance, or goes on there before a stripe."""
        m, n = self._lengths
        wanted = min(distance, max(m, n) if self._most is None else max(self._most, abs(n - m)))
        self._wanted, self._band = wanted, Band.for_distance(m, n, wanted)
        processors = self._driver.card.multiprocessors
        self._shape = self._only or sizes.best_shape(self._planes, processors, self._lengths, self._band)
        self._kernel = self._driver.kernel(ROWS[self._shape.name])
        self._warps = max(self._kernel.resident(), 1) * processors
        self._stripe, self._stripes = stripe, sizes.stripes(self._shape, m)
        self._slots = min(self._warps, self._stripes) + 2
        self._edge_words = sizes.edge_words(self._shape, self._band, n)
        self._make_room()

    def _make_room(self) -> None:
        self._settle()
        while self._ring:
            self._driver.free(self._ring.pop())
        needs = {"edges": 16 * self._edge_words * self._slots, "corner": 16 * self._slots, "read": 8 * self._slots}
        for name, size in needs.items():
            memory = self._driver.allocate(size)
            self._ring.append(memory)
            self._task[name] = memory.address
        self._edges, self._corners, _ = self._ring
        for memory in self._ring:  # no tags
            self._driver.fill(memory.address, 0, memory.nbytes, self._stream)
        task = self._task
        task["low"], task["high"] = self._band.low, self._band.high
        task["edge_words"], task["slots"] = self._edge_words, self._slots

    def advance(self, seconds: float) -> bool:
        """As in solver.Solver; a launch with few stripes may take longer."""
        if self._over:
            return True
        each = sizes.seconds(self._shape, self._driver.card.multiprocessors, self._lengths, self._band) / self._stripes
        self.take(max(int(seconds / each), _ROUNDS * self._warps))
        return self._over

    def take(self, stripes: int) -> None:
        """So many stripes more, in one launch."""
        end = min(self._stripe + stripes, self._stripes)
        self._launch(end)
        if end < self._stripes:
            return
        found = int(self._answer.view(np.int64)[0])
        if found <= self._band.proves or (self._most is not None and self._band.proves >= self._most):
            self._end(found)
        else:
            self._at_least = max(self._at_least, self._band.proves + 1)
            # What was found is the cost of a path, so a band for it is wide enough.
            self._band_for(min(found, _WIDER * self._wanted))

    def _launch(self, end: int) -> None:
        driver, stream = self._driver, self._stream
        self._task["first"], self._task["end"] = self._stripe, end
        driver.fill(self._small.address, 0, 8, stream)
        driver.launch(self._kernel, min(self._warps, end - self._stripe), self._task, stream)
        if end == self._stripes:
            driver.download(self._answer, self._small.address + 8, stream)
        driver.wait(driver.record(stream))
        self._cells += sizes.cells(self._shape, self._band, self._stripe, end, self._lengths[1])
        self._stripe = end

    def _end(self, found: int) -> None:
        self._over = True
        self._distance = None if self._most is not None and found > self._most else found
        if self._distance is None and self._most is not None:
            self._at_least = max(self._at_least, self._most + 1)
        else:
            self._at_least = found

    @property
    def distance(self) -> int | None:
        """As in solver.Solver."""
        return self._distance

    @property
    def position(self) -> Position:
        """As in solver.Solver; the share is that of the band."""
        share = 1.0 if self._over else self._stripe / self._stripes
        return Position(self._at_least, share, self._cells)

    # States

    def save(self) -> State:
        """As in solver.Solver: the band, and the edge behind the last stripe."""
        numbers = [self._at_least, self._cells, self._over, -1 if self._distance is None else self._distance]
        if self._over:
            return {"numbers": np.array(numbers, np.int64)}
        numbers += [self._wanted, self._shape.words, self._stripe]
        if not self._stripe:
            return {"numbers": np.array(numbers, np.int64)}
        slot, words = (self._stripe - 1) % self._slots, 2 * self._edge_words
        edge = self._read(self._edges.address + 8 * words * slot, 8 * words).view(np.uint64)
        corner = self._read(self._corners.address + 16 * (self._stripe % self._slots), 16).view(np.uint64)
        return {"numbers": np.array(numbers, np.int64), "edge": edge, "corner": corner}

    def restore(self, state: State) -> None:
        """As in solver.Solver."""
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
        wanted, words, stripe = numbers[4:]
        shape = next(s for s in sizes.SHAPES if (s.planes, s.words) == (self._planes, words))
        if not 0 <= stripe < sizes.stripes(shape, m) or not abs(n - m) <= wanted <= max(m, n):
            raise ValueError("no state of this pair and algorithm")
        only, self._only = self._only, shape
        self._band_for(wanted, stripe)
        self._only = only
        self._at_least, self._cells = at_least, cells
        if not stripe:
            return
        edge, corner = np.asarray(state["edge"], np.uint64), np.asarray(state["corner"], np.uint64)
        if edge.shape != (2 * self._edge_words,) or corner.shape != (2,) or (corner >> 32 != stripe + 1).any():
            raise ValueError("no state of this pair and algorithm")
        self._write(self._edges.address + 16 * self._edge_words * ((stripe - 1) % self._slots), edge)
        self._write(self._corners.address + 16 * (stripe % self._slots), corner)

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
        """Waits for the stream; a card that fails has nothing under way."""
        with contextlib.suppress(DeviceError):
            self._driver.wait(self._driver.record(self._stream))

    def close(self) -> None:
        """As in solver.Solver."""
        if self._memories:
            self._settle()
        while self._pins:
            self._driver.unpin(self._pins.pop())
        for held in (self._memories, self._ring):
            while held:
                self._driver.free(held.pop())


def _codes_of(pair: Pair) -> npt.NDArray[np.uint8] | None:
    """For each letter (u8[256]) a number below 16, the same only for the same; None: there are more letters."""
    used = (np.bincount(pair.query, minlength=256) > 0) | (np.bincount(pair.target, minlength=256) > 0)
    if np.count_nonzero(used) > 16:
        return None
    codes: npt.NDArray[np.uint8] = (np.cumsum(used) - 1).astype(np.uint8)
    return codes


def forecast(card: Card, lengths: tuple[int, int], edits: int, plain: bool) -> float:
    """Seconds for a pair with so many edits, if that is about what is expected."""
    if not min(lengths):
        return 0.0
    band, planes = Band.for_distance(*lengths, min(edits, max(lengths))), 2 if plain else 8
    shape = sizes.best_shape(planes, card.multiprocessors, lengths, band)
    copied = sum(lengths) / tuning.GPU_LONG_LETTERS
    return tuning.GPU_LONG_START + copied + sizes.seconds(shape, card.multiprocessors, lengths, band)

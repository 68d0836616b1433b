"""Rows of a batch on their way through the card: letters up, packed, aligned, CIGARs put together, answers down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..batch import I32, U8, U32
from ..errors import Cancelled
from . import catalogue, task
from .arena import Arena, padded
from .device import Slot
from .driver import Driver, Event, Kernel
from .layout import gather_chunks
from .plans import Plan, Shape
from .staging import Outbox

_GRID = 8  # blocks a multiprocessor of kernels that go over an array


@dataclass(frozen=True)
class Staged:
    """Pairs in page-locked memory: letters, then four columns of u32 and i32[m] and the order in which they go.

    Where letters become codes their tables follow, of queries' letters and of targets'.

    Attributes:
        buffer: u8, at least `nbytes`.
        letters: bytes of letters, a multiple of 16.
        count: pairs, m.
        coded: whether letters become codes.
    """

    buffer: U8
    letters: int
    count: int
    coded: bool = False

    @staticmethod
    def needs(letters: int, count: int, coded: bool) -> int:
        """Bytes of the buffer."""
        columns = letters + COLUMNS * 4 * count
        return -(-columns // 16) * 16 + _TABLES if coded else columns

    @property
    def nbytes(self) -> int:
        """Bytes that go to the card."""
        return self.needs(self.letters, self.count, self.coded)

    @property
    def tables(self) -> U8:
        """Codes, u8[512]."""
        return self.buffer[self.nbytes - _TABLES : self.nbytes]

    def column(self, number: int) -> I32:
        """One of the columns: query_start, target_start, query_len, target_len, rows."""
        first = self.letters + 4 * self.count * number
        return self.buffer[first : first + 4 * self.count].view(np.int32)


_LAID_OUT = ("query_start", "target_start", "query_len", "target_len")  # and the order
COLUMNS = len(_LAID_OUT) + 1
_TABLES = 512  # bytes


@dataclass(frozen=True)
class Answers:
    """What came back for m pairs, in page-locked memory; whoever gets it gives that back when it is read.

    Attributes:
        columns: u8[13 m + 8]: where each pair's operations start, i64[m + 1], cost i32[m], status u8[m].
        cigar: u32[C].
        seconds: the card's time, by what it did: rows of the catalogue, "copy" for the way there.
        give_back: to be called once; nothing may be read afterwards.
    """

    columns: U8
    cigar: U32
    seconds: dict[str, float]
    give_back: Callable[[], None]


class AlignJob:
    """One kernel's pairs; see device.Job."""

    def __init__(
        self,
        staged: Staged,
        plan: Plan,
        shape: Shape,
        workspace: int,
        given_back: Callable[[U8], None],
        outbox: Outbox,
        cancelled: Callable[[], bool],
    ) -> None:
        """Takes the staged buffer over and gives it back once the card has it.

        Args:
            staged: the pairs.
            plan: how they are aligned.
            shape: what the plan was made for.
            workspace: bytes that the kernel may have at most; at least plan.stride.
            given_back: takes the buffer.
            outbox: memory for the answers.
            cancelled: whether to stop.
        """
        self._staged, self._plan, self._shape, self._workspace = staged, plan, shape, workspace
        self._given_back, self._outbox, self._cancelled = given_back, outbox, cancelled
        self._staging: U8 | None = staged.buffer  # until it is given back
        self._held: list[U8] = []  # of the outbox

    def start(self, slot: Slot) -> None:
        """Puts everything on the slot's stream. Raises DeviceError, Cancelled."""
        try:
            if self._cancelled():
                raise Cancelled("stopped")
            driver, staged, stream = slot.driver, self._staged, slot.stream
            kernels = [driver.kernel(row) for row in self._plan.rows]
            units = self._units(driver, kernels)
            arena = slot.arena
            arena.begin(self._bytes(units))
            letters = arena.take(staged.nbytes)
            self._events: list[tuple[str, Event]] = [("", driver.record(stream))]
            driver.upload(letters, staged.buffer[: staged.nbytes], stream)
            self._uploaded = driver.record(stream)
            self._events.append(("copy", self._uploaded))
            if staged.coded:
                self._encode(driver, arena, letters, slot)
            else:
                self._pack(driver, arena, letters, slot)
            self._events.append(("pack", driver.record(stream)))
            self._align(driver, arena, letters, kernels, units, slot)
            self._answers = self._gather(driver, arena, slot)
        except BaseException:
            self._abandon(slot)
            raise

    def finish(self, slot: Slot) -> Answers:
        """Waits for the answers. Raises DeviceError."""
        try:
            return self._finish(slot)
        except BaseException:
            self._abandon(slot)
            raise

    def _finish(self, slot: Slot) -> Answers:
        driver, m = slot.driver, self._shape.count
        driver.wait(self._uploaded)
        self._give_staging_back()
        driver.wait(self._done)
        start = self._answers[: 8 * (m + 1)].view(np.int64)
        cigar: U8 = np.zeros(0, np.uint8)
        if self._shape.path and start[-1]:
            cigar = self._take(driver, 4 * int(start[-1]))
            driver.download(cigar, self._cigar, slot.stream)
            driver.wait(driver.record(slot.stream))
        return Answers(self._answers, cigar.view(np.uint32), self._seconds(driver), self._give_answers_back)

    def _abandon(self, slot: Slot) -> None:
        slot.settle()
        self._give_staging_back()
        self._give_answers_back()

    def _give_staging_back(self) -> None:
        buffer, self._staging = self._staging, None
        if buffer is not None:
            self._given_back(buffer)

    def _give_answers_back(self) -> None:
        held, self._held = self._held, []
        for buffer in held:
            self._outbox.give_back(buffer)

    def _take(self, driver: Driver, nbytes: int) -> U8:
        self._held.append(self._outbox.take(driver, nbytes))
        return self._held[-1][:nbytes]

    def _seconds(self, driver: Driver) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for (_, before), (what, after) in pairwise([*self._events, ("gather", self._done)]):
            found[what] += driver.elapsed(before, after)
        return dict(found)

    def _units(self, driver: Driver, kernels: list[Kernel]) -> int:
        """Pieces of workspace: for all pairs or groups, or as many as fit."""
        plan = self._plan
        wanted = -(-self._shape.count // plan.unit)
        if plan.resident:
            groups = plan.blocks[0] * kernels[0].resident(plan.shared) * driver.card.multiprocessors
            wanted = min(wanted, groups)
        if not plan.stride:
            return wanted
        whole = plan.blocks[0] // plan.unit  # of one block
        if plan.resident:
            wanted = -(-wanted // whole) * whole  # each group of a block has a piece, as any of them may draw a pair
        fit = self._workspace // plan.stride
        return max(min(wanted, fit // whole * whole), min(wanted, whole))

    def _bytes(self, units: int) -> int:
        m, cap = self._shape.count, self._plan.op_capacity
        pieces = (
            self._staged.nbytes,
            self._staged.letters if self._staged.coded else self._staged.letters // 4 + 8 * task.GUARD,
            m * 4 * cap,  # operations where kernels put them
            m * 4 * cap,  # and together
            13 * m + 8,
            4 * m,
            8 * gather_chunks(m)[1],
            4,
            units * self._plan.stride,
        )
        return sum(map(padded, pieces)) + 4096

    def _pack(self, driver: Driver, arena: Arena, letters: int, slot: Slot) -> None:
        words = self._staged.letters // 16
        self._packed = arena.take(4 * words + 8 * task.GUARD) + 4 * task.GUARD
        pack = np.zeros(1, task.PACK_TASK)
        pack["bases"], pack["packed"], pack["letters"] = letters, self._packed, self._staged.letters
        _launch(driver, "pack", words, pack, slot)

    def _encode(self, driver: Driver, arena: Arena, letters: int, slot: Slot) -> None:
        m, first = self._shape.count, letters + self._staged.letters
        self._codes = arena.take(self._staged.letters)
        encode = np.zeros(1, task.ENCODE_TASK)
        encode["bases"], encode["codes"], encode["count"] = letters, self._codes, m
        encode["tables"] = letters + self._staged.nbytes - _TABLES
        for number, name in enumerate((*_LAID_OUT, "rows")):
            encode[name] = first + 4 * m * number
        _launch(driver, "encode", 32 * m, encode, slot)

    def _align(
        self, driver: Driver, arena: Arena, letters: int, kernels: list[Kernel], units: int, slot: Slot
    ) -> None:
        m, plan, shape, staged = self._shape.count, self._plan, self._shape, self._staged
        first = letters + staged.letters
        self._ops, self._cigar = arena.take(4 * m * plan.op_capacity), arena.take(4 * m * plan.op_capacity)
        self._out = arena.take(13 * m + 8)
        self._op_count = arena.take(4 * m)
        todo = np.zeros(1, task.ALIGN_TASK)
        if staged.coded:
            todo["seq"]["codes"], todo["wildcard"] = self._codes, shape.wildcard
        else:
            todo["seq"]["packed"] = self._packed
        for number, name in enumerate(_LAID_OUT):
            todo["seq"][name] = first + 4 * m * number
        todo["next"], todo["workspace"], todo["stride"] = arena.take(4), arena.take(units * plan.stride), plan.stride
        costs = todo["costs"]
        costs["mismatch"], costs["pieces"] = shape.mismatch, len(shape.gaps)
        for piece, (open_, extend) in enumerate(shape.gaps):
            costs["open"][0, piece], costs["extend"][0, piece] = open_, extend
        todo["op_capacity"], todo["longest"] = plan.op_capacity, shape.longest
        todo["max_cost"] = min(shape.max_cost, plan.max_cost)
        todo["path"], todo["band"] = shape.path, plan.band
        at_once = m if plan.resident or not plan.stride else units * plan.unit
        for begin in range(0, m, at_once):
            count = min(at_once, m - begin)
            todo["rows"] = first + 4 * (4 * m + begin)
            todo["cost"] = self._out + 8 * (m + 1) + 4 * begin
            todo["status"] = self._out + 8 * (m + 1) + 4 * m + begin
            todo["op_count"] = self._op_count + 4 * begin
            todo["ops"] = self._ops + 4 * begin * plan.op_capacity
            todo["count"] = count
            if plan.resident:
                driver.fill(int(todo["next"][0]), 0, 4, slot.stream)
            for kernel, block in zip(kernels, plan.blocks, strict=True):
                grid = -(-(units if plan.resident else count) // block)
                driver.launch(kernel, grid, todo, slot.stream, plan.shared)
                self._events.append((kernel.name, driver.record(slot.stream)))

    def _gather(self, driver: Driver, arena: Arena, slot: Slot) -> U8:
        m, cap = self._shape.count, self._plan.op_capacity
        if self._shape.path:
            gather = np.zeros(1, task.GATHER_TASK)
            gather["op_count"], gather["ops"], gather["start"] = self._op_count, self._ops, self._out
            chunk, chunks = gather_chunks(m)
            gather["sums"], gather["cigar"] = arena.take(8 * chunks), self._cigar
            gather["chunk"], gather["chunks"], gather["count"] = chunk, chunks, m
            gather["op_capacity"], gather["lanes_log2"] = cap, min(max((cap // 16).bit_length(), 1), 5)
            _launch(driver, "sum-chunks", m // 4, gather, slot)
            driver.launch(driver.kernel(catalogue.ROWS["sum-before"]), 1, gather, slot.stream)
            _launch(driver, "sum-slots", m // 4, gather, slot)
            _launch(driver, "gather-ops", m << int(gather["lanes_log2"][0]), gather, slot)
        else:
            driver.fill(self._out, 0, 8 * (m + 1), slot.stream)
        answers = self._take(driver, 13 * m + 8)
        driver.download(answers, self._out, slot.stream)
        self._done = driver.record(slot.stream)
        return answers


def _launch(driver: Driver, name: str, items: int, arguments: npt.NDArray[np.void], slot: Slot) -> None:
    """A kernel that goes over any number of items with any grid."""
    kernel = driver.kernel(catalogue.ROWS[name])
    blocks = min(-(-items // kernel.threads), _GRID * driver.card.multiprocessors)
    driver.launch(kernel, max(blocks, 1), arguments, slot.stream)

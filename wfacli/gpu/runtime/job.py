"""Rows of a batch on their way through the GPU: letters up, packed, aligned, CIGARs put together, answers down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...core.batch import I32, I64, U8, U32
from ...errors import Cancelled
from ..kernels import catalogue
from ..kernels.layout import gather_chunks, padded
from ..kernels.plans import Plan, Shape
from . import task
from .arena import Arena
from .device import Slot
from .driver import Driver, Event, Kernel
from .staging import Outbox, answer_bytes

_GATHERING = ("sum-chunks", "sum-before", "sum-slots", "gather-ops")
_GRID = 8  # blocks a multiprocessor of kernels that go over an array


@dataclass(frozen=True)
class Staged:
    """Pairs in page-locked memory: letters, then four columns of u32 and i32[m] and the order in which they go.

    Where pairs have bands of their own these follow as another column, and where letters become codes their tables, of
    queries' letters and of targets'.

    Attributes:
        buffer: u8, all of it, or what follows the letters.
        letters: bytes of letters on the GPU, a multiple of 16.
        count: pairs, m.
        coded: whether letters become codes.
        lent: u8, a batch's letters where they are in such memory already.
        banded: whether pairs have bands of their own.
    """

    buffer: U8
    letters: int
    count: int
    coded: bool = False
    lent: U8 | None = None
    banded: bool = False

    @staticmethod
    def needs(letters: int, count: int, coded: bool, banded: bool = False) -> int:
        """Bytes of the buffer that has so many letters."""
        columns = letters + (COLUMNS + banded) * 4 * count
        return -(-columns // 16) * 16 + _TABLES if coded else columns

    @property
    def nbytes(self) -> int:
        """Bytes that go to the GPU."""
        return self.needs(self.letters, self.count, self.coded, self.banded)

    @property
    def pieces(self) -> list[tuple[int, U8]]:
        """What goes to the GPU, and where, counted from the first letter."""
        if self.lent is None:
            return [(0, self.buffer[: self.nbytes])]
        return [(0, self.lent), (self.letters, self.buffer[: self.nbytes - self.letters])]

    @property
    def bands(self) -> I32:
        """Diagonals of each pair's band, i32[m]."""
        begin = (self.letters if self.lent is None else 0) + COLUMNS * 4 * self.count
        return self.buffer[begin : begin + 4 * self.count].view(np.int32)

    @property
    def order(self) -> I32:
        """Places of pairs in the order in which they go, i32[m]."""
        begin = (self.letters if self.lent is None else 0) + len(LAID_OUT) * 4 * self.count
        return self.buffer[begin : begin + 4 * self.count].view(np.int32)

    @property
    def tables(self) -> U8:
        """Codes, u8[512]."""
        end = self.nbytes - (0 if self.lent is None else self.letters)
        return self.buffer[end - _TABLES : end]


LAID_OUT = ("query_start", "target_start", "query_len", "target_len")  # and the order
COLUMNS = len(LAID_OUT) + 1
_TABLES = 512  # bytes


@dataclass(frozen=True)
class Answers:
    """What came back for m pairs, in page-locked memory that is lent as long as one of these arrays lives.

    Attributes:
        start: i64[m + 1], where each pair's operations start in cigar.
        cost: i32[m].
        status: u8[m].
        cut: u8[m], 1 where a band left something out; None where no kernel leaves anything out.
        cigar: u32[C].
        span: i32[m, 4] where kernels tell it, else i32[0, 4].
        seconds: the GPU's time, by what it did: rows of the catalogue, "copy" for the way there.
    """

    start: I64
    cost: I32
    status: U8
    cut: U8 | None
    cigar: U32
    span: I32
    seconds: dict[str, float]


class AlignJob:
    """One kernel's pairs; see device.Job."""

    _SPANS = 0  # bytes of a pair's span among the answers

    def __init__(
        self,
        staged: Staged,
        plan: Plan,
        shape: Shape,
        workspace: int,
        given_back: Callable[[U8], None],
        answers: U8,
        outbox: Outbox,
        cancelled: Callable[[], bool],
    ) -> None:
        """Takes the staged buffer over and gives it back once the GPU has it.

        Args:
            staged: the pairs.
            plan: how they are aligned.
            shape: what the plan was made for.
            workspace: bytes that the kernel may have at most; at least plan.stride.
            given_back: takes the buffer.
            answers: memory of the outbox for them; where they are larger, others are taken.
            outbox: told how large they are.
            cancelled: whether to stop.
        """
        self._staged, self._plan, self._shape, self._workspace = staged, plan, shape, workspace
        self._given_back, self._cancelled = given_back, cancelled
        self._answers, self._outbox = answers, outbox
        self._staging: U8 | None = staged.buffer  # until it is given back

    def start(self, slot: Slot) -> None:
        """Puts everything on the slot's stream. Raises DeviceError, Cancelled."""
        try:
            if self._cancelled():
                raise Cancelled("stopped")
            driver, staged, stream = slot.driver, self._staged, slot.stream
            # All of them before the first one runs: loading another waits for what runs on the GPU, of any stream.
            kernels = [driver.kernel(row) for row in self._plan.rows]
            for name in self._around():
                driver.kernel(catalogue.ROWS[name])
            units = self._units(driver, kernels)
            arena = slot.arena
            nbytes = self._bytes(units)
            arena.begin(nbytes, nbytes + self._workspace - units * self._plan.stride)
            letters = arena.take(staged.nbytes)
            self._events: list[tuple[str, Event]] = [("", driver.record(stream))]
            for first, piece in staged.pieces:
                driver.upload(letters + first, piece, stream)
            self._uploaded = driver.record(stream)
            self._events.append(("copy", self._uploaded))
            if staged.coded:
                self._encode(driver, arena, letters, slot)
            else:
                self._pack(driver, arena, letters, slot)
            self._events.append(("pack", driver.record(stream)))
            self._align(driver, arena, letters, kernels, units, slot)
            self._gather(driver, arena, slot)
        except BaseException:
            self._abandon(slot)
            raise

    def over(self, slot: Slot) -> bool:
        """Whether the answers are there; gives the staged buffer back as soon as the GPU has it."""
        if self._staging is not None and slot.driver.done(self._uploaded):
            self._give_staging_back()
        return slot.driver.done(self._done)

    def finish(self, slot: Slot) -> Answers:
        """Waits for the answers. Raises DeviceError."""
        try:
            return self._finish(slot)
        except BaseException:
            self._abandon(slot)
            raise

    def _finish(self, slot: Slot) -> Answers:
        driver, m = slot.driver, self._shape.count
        if self._staged.lent is None and self._staging is not None:
            driver.wait(self._uploaded)
            self._give_staging_back()
        driver.wait(self._done)
        self._give_staging_back()
        operations = 0
        if self._shape.path:
            operations = int(self._answers[8 * m : 8 * (m + 1)].view(np.int64)[0])
            self._outbox.saw(self._plan.rows[0].name, m, operations)
        if len(self._answers) < self._answer_bytes(operations):  # all of it once more
            self._answers = self._outbox.take_now(driver, m, operations, self._SPANS)
            driver.download(self._answers, self._out, slot.stream)
            driver.wait(driver.record(slot.stream))
        answers, columns = self._answers, 8 * (m + 1) + 5 * m
        first, spans = self._answer_bytes(0), answer_bytes(m, 0)
        return Answers(
            answers[: 8 * (m + 1)].view(np.int64) if self._shape.path else np.zeros(m + 1, np.int64),
            answers[8 * (m + 1) : columns - m].view(np.int32),
            answers[columns - m : columns],
            answers[columns : columns + m] if self._plan.band_follows_path else None,
            answers[first : first + 4 * operations].view(np.uint32),
            answers[spans:first].view(np.int32).reshape(-1, 4),
            self._seconds(driver),
        )

    def _abandon(self, slot: Slot) -> None:
        slot.settle()
        self._give_staging_back()

    def _give_staging_back(self) -> None:
        buffer, self._staging = self._staging, None
        if buffer is not None:
            self._given_back(buffer)

    def _seconds(self, driver: Driver) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for (_, before), (what, after) in pairwise([*self._events, ("gather", self._done)]):
            found[what] += driver.elapsed(before, after)
        return dict(found)

    def _units(self, driver: Driver, kernels: list[Kernel]) -> int:
        """Pieces of workspace."""
        return units_of(self._plan, self._shape.count, self._workspace, kernels[0], driver)

    def _bytes(self, units: int) -> int:
        m, cap = self._shape.count, self._plan.op_capacity
        pieces = (
            self._staged.nbytes,
            self._staged.letters if self._staged.coded else self._staged.letters // 4 + 8 * task.GUARD,
            m * 4 * cap,  # operations where kernels put them
            self._answer_bytes(m * cap),
            4 * m,
            8 * gather_chunks(m)[1],
            4,
            units * self._plan.stride,
        )
        return sum(map(padded, pieces)) + 4096

    def _answer_bytes(self, operations: int) -> int:
        return answer_bytes(self._shape.count, operations, self._SPANS)

    def _pack(self, driver: Driver, arena: Arena, letters: int, slot: Slot) -> None:
        words = self._staged.letters // 16
        self._packed = arena.take(4 * words + 8 * task.GUARD) + 4 * task.GUARD
        pack = np.zeros(1, task.PACK_TASK)
        pack["bases"], pack["packed"], pack["n_bases"] = letters, self._packed, self._staged.letters
        _launch(driver, "pack", words, pack, slot)

    def _encode(self, driver: Driver, arena: Arena, letters: int, slot: Slot) -> None:
        m, first = self._shape.count, letters + self._staged.letters
        self._codes = arena.take(self._staged.letters)
        encode = np.zeros(1, task.ENCODE_TASK)
        encode["bases"], encode["codes"], encode["count"] = letters, self._codes, m
        encode["tables"] = letters + self._staged.nbytes - _TABLES
        for number, name in enumerate((*LAID_OUT, "rows")):
            encode[name] = first + 4 * m * number
        _launch(driver, "encode", 32 * m, encode, slot)

    def _align(
        self, driver: Driver, arena: Arena, letters: int, kernels: list[Kernel], units: int, slot: Slot
    ) -> None:
        m, plan, shape, staged = self._shape.count, self._plan, self._shape, self._staged
        first = letters + staged.letters
        self._ops, self._out = (
            arena.take(4 * m * plan.op_capacity),
            arena.take(self._answer_bytes(m * plan.op_capacity)),
        )
        self._op_count = arena.take(4 * m)
        todo = np.zeros(1, task.ALIGN_TASK)
        if staged.coded:
            todo["seq"]["codes"], todo["wildcard"] = self._codes, shape.wildcard
        else:
            todo["seq"]["packed"] = self._packed
        for number, name in enumerate(LAID_OUT):
            todo["seq"][name] = first + 4 * m * number
        todo["work_counter"], todo["workspace"] = arena.take(4), arena.take(units * plan.stride)
        todo["stride"] = plan.stride * (units if plan.spread else 1)
        costs = todo["costs"]
        costs["mismatch"], costs["pieces"] = shape.mismatch, len(shape.gaps)
        for piece, (open_, extend) in enumerate(shape.gaps):
            costs["open"][0, piece], costs["extend"][0, piece] = open_, extend
        todo["op_capacity"], todo["longest"] = plan.op_capacity, shape.longest
        todo["max_cost"] = min(shape.max_cost, plan.max_cost)
        todo["first_cost"] = plan.first_cost
        todo["path"], todo["band"], todo["band_step"] = shape.path, plan.band, plan.band_step
        at_once = m if plan.resident or not plan.stride else units * plan.unit
        for begin in range(0, m, at_once):
            count = min(at_once, m - begin)
            todo["rows"] = first + 4 * (len(LAID_OUT) * m + begin)
            todo["cost"] = self._out + 8 * (m + 1) + 4 * begin
            todo["status"] = self._out + 8 * (m + 1) + 4 * m + begin
            todo["cut"] = self._out + 8 * (m + 1) + 5 * m + begin if plan.band_follows_path else 0
            todo["op_count"] = self._op_count + 4 * begin
            todo["ops"] = self._ops + 4 * begin * plan.op_capacity
            todo["bands"] = first + 4 * (COLUMNS * m + begin) if staged.banded else 0
            todo["count"] = count
            if plan.resident:
                driver.fill(int(todo["work_counter"][0]), 0, 4, slot.stream)
            for kernel, block in zip(kernels, plan.blocks, strict=True):
                grid = -(-(units if plan.resident else count) // block)
                if plan.spread:
                    grid = kernel.resident(plan.shared_on(driver.gpu)) * driver.gpu.multiprocessors
                driver.launch(kernel, grid, todo, slot.stream, plan.shared_on(driver.gpu))
                self._events.append((kernel.name, driver.record(slot.stream)))

    def _around(self) -> tuple[str, ...]:
        """Kernels before and behind the plan's."""
        return ("encode" if self._staged.coded else "pack", *(_GATHERING if self._shape.path else ()))

    def _operations(self) -> list[tuple[int, int, int, int]]:
        """Slots whose operations lie together: their rows (0: as they lie), how many, operations, room of each."""
        return [(0, self._shape.count, self._ops, self._plan.op_capacity)]

    def _gather(self, driver: Driver, arena: Arena, slot: Slot) -> None:
        m = self._shape.count
        if self._shape.path:
            gather = np.zeros(1, task.GATHER_TASK)
            gather["op_count"], gather["start"] = self._op_count, self._out
            chunk, chunks = gather_chunks(m)
            gather["sums"], gather["cigar"] = arena.take(8 * chunks), self._out + self._answer_bytes(0)
            gather["chunk"], gather["chunks"], gather["count"] = chunk, chunks, m
            _launch(driver, "sum-chunks", m // 4, gather, slot)
            driver.launch(driver.kernel(catalogue.ROWS["sum-before"]), 1, gather, slot.stream)
            _launch(driver, "sum-slots", m // 4, gather, slot)
            for gather["rows"], count, gather["ops"], cap in self._operations():
                lanes = min(max((cap // 16).bit_length(), 1), 5)
                gather["count"], gather["op_capacity"], gather["lanes_log2"] = count, cap, lanes
                _launch(driver, "gather-ops", count << lanes, gather, slot)
        # Without paths only a copy comes after the kernel: whatever runs on the GPU would wait for the next one.
        first = 0 if self._shape.path else 8 * (m + 1)
        driver.download(self._answers[first:], self._out + first, slot.stream)
        self._done = driver.record(slot.stream)


def units_of(plan: Plan, count: int, workspace: int, kernel: Kernel, driver: Driver) -> int:
    """Pieces of a workspace of so many bytes: for all pairs or groups, or as many as fit."""
    wanted = -(-count // plan.unit)
    if plan.resident and not plan.spread:
        resident = kernel.resident(plan.shared_on(driver.gpu))
        wanted = min(wanted, plan.blocks[0] * resident * driver.gpu.multiprocessors)
    if not plan.stride:
        return wanted
    whole = plan.blocks[0] // plan.unit  # of one block
    if plan.resident:
        wanted = -(-wanted // whole) * whole  # each group of a block has a piece, as any of them may draw a pair
    fit = workspace // plan.stride
    return max(min(wanted, fit // whole * whole), min(wanted, whole))


def _launch(driver: Driver, name: str, items: int, arguments: npt.NDArray[np.void], slot: Slot) -> None:
    """A kernel that goes over any number of items with any grid."""
    kernel = driver.kernel(catalogue.ROWS[name])
    blocks = min(-(-items // kernel.threads), _GRID * driver.gpu.multiprocessors)
    driver.launch(kernel, max(blocks, 1), arguments, slot.stream)

"""A launch: copies pairs to the GPU, packs their bases, aligns them, gathers CIGARs, and copies the results back."""

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
from .staging import ResultPool, answer_bytes

_GATHERING = ("sum-chunks", "sum-before", "sum-slots", "gather-ops")
_GRID = 8  # blocks per multiprocessor for kernels that iterate over an array


@dataclass(frozen=True)
class Staged:
    """Pairs of a launch in pinned memory.

    The layout is: bases; the columns of LAID_OUT, u32[m] and i32[m]; the order of the pairs, i32[m]; if `banded`, the
    bands, i32[m]; if `coded`, the code tables of queries and targets, u8[256] each.

    Attributes:
        buffer: u8, the whole layout, or the part after the bases if `lent` is set.
        base_bytes: bytes of bases on the GPU, a multiple of 16.
        count: number of pairs, m.
        coded: whether symbols are converted to codes.
        lent: u8, the batch's bases if they are in pinned memory already.
        banded: whether each pair has its own band.
    """

    buffer: U8
    base_bytes: int
    count: int
    coded: bool = False
    lent: U8 | None = None
    banded: bool = False

    @staticmethod
    def needs(base_bytes: int, count: int, coded: bool, banded: bool = False) -> int:
        """Return the bytes of a layout with `base_bytes` bytes of bases and `count` pairs."""
        columns = base_bytes + (COLUMNS + banded) * 4 * count
        return -(-columns // 16) * 16 + _TABLES if coded else columns

    @property
    def nbytes(self) -> int:
        """Bytes to copy to the GPU."""
        return self.needs(self.base_bytes, self.count, self.coded, self.banded)

    @property
    def pieces(self) -> list[tuple[int, U8]]:
        """Arrays to copy to the GPU, each with its offset in bytes from the first base."""
        if self.lent is None:
            return [(0, self.buffer[: self.nbytes])]
        return [(0, self.lent), (self.base_bytes, self.buffer[: self.nbytes - self.base_bytes])]

    @property
    def bands(self) -> I32:
        """Band width of each pair in diagonals, i32[m]."""
        begin = (self.base_bytes if self.lent is None else 0) + COLUMNS * 4 * self.count
        return self.buffer[begin : begin + 4 * self.count].view(np.int32)

    @property
    def order(self) -> I32:
        """Indices of the pairs in the order in which they are aligned, i32[m]."""
        begin = (self.base_bytes if self.lent is None else 0) + len(LAID_OUT) * 4 * self.count
        return self.buffer[begin : begin + 4 * self.count].view(np.int32)

    @property
    def tables(self) -> U8:
        """Codes of query symbols and of target symbols, u8[512]."""
        end = self.nbytes - (0 if self.lent is None else self.base_bytes)
        return self.buffer[end - _TABLES : end]


LAID_OUT = ("query_start", "target_start", "query_len", "target_len")  # columns before the order
COLUMNS = len(LAID_OUT) + 1
_TABLES = 512  # bytes


@dataclass(frozen=True)
class Answers:
    """Results of a launch for m pairs, in pinned memory that is leased as long as any of these arrays lives.

    Attributes:
        start: i64[m + 1], offset of each pair's operations in cigar.
        cost: i32[m], in units of the costs.
        status: u8[m].
        cut: u8[m], 1 if the heuristic band excluded anything; None if the kernel has no heuristic band.
        cigar: u32[C], operations as in BAM.
        span: i32[m, 4] if the kernel reports spans, otherwise i32[0, 4].
        seconds: GPU time by step: kernel names, "copy" for the input, "pack" and "gather".
    """

    start: I64
    cost: I32
    status: U8
    cut: U8 | None
    cigar: U32
    span: I32
    seconds: dict[str, float]


class AlignLaunch:
    """Pairs that one plan aligns (device.Launch)."""

    _SPANS = 0  # bytes of a pair's span in the results

    def __init__(
        self,
        staged: Staged,
        plan: Plan,
        shape: Shape,
        workspace: int,
        given_back: Callable[[U8], None],
        answers: U8,
        results: ResultPool,
        cancelled: Callable[[], bool],
    ) -> None:
        """Take ownership of the staging buffer, which is returned once it is copied.

        Args:
            staged: the pairs.
            plan: how they are aligned.
            shape: the pairs' shape, for which the plan was made.
            workspace: maximum bytes of workspace; at least plan.stride.
            given_back: receives the staging buffer.
            answers: leased memory for the results; replaced if they are larger.
            results: pool of that memory, which records the size of the results.
            cancelled: returns True if the launch should not start.
        """
        self._staged, self._plan, self._shape, self._workspace = staged, plan, shape, workspace
        self._given_back, self._cancelled = given_back, cancelled
        self._answers, self._results = answers, results
        self._staging: U8 | None = staged.buffer  # until it is given back

    def start(self, slot: Slot) -> None:
        """Enqueue all work on the slot's stream. Raises DeviceError, Cancelled."""
        try:
            if self._cancelled():
                raise Cancelled("stopped")
            driver, staged, stream = slot.driver, self._staged, slot.stream
            # Load all kernels before the first launch: loading one waits for all running work, on any stream.
            kernels = [driver.kernel(row) for row in self._plan.rows]
            for name in self._around():
                driver.kernel(catalogue.ROWS[name])
            units = self._units(driver, kernels)
            arena = slot.arena
            nbytes = self._bytes(units)
            arena.begin(nbytes, nbytes + self._workspace - units * self._plan.stride)
            bases_at = arena.take(staged.nbytes)
            self._events: list[tuple[str, Event]] = [("", driver.record(stream))]
            for first, piece in staged.pieces:
                driver.upload(bases_at + first, piece, stream)
            self._uploaded = driver.record(stream)
            self._events.append(("copy", self._uploaded))
            if staged.coded:
                self._encode(driver, arena, bases_at, slot)
            else:
                self._pack(driver, arena, bases_at, slot)
            self._events.append(("pack", driver.record(stream)))
            self._align(driver, arena, bases_at, kernels, units, slot)
            self._gather(driver, arena, slot)
        except BaseException:
            self._abandon(slot)
            raise

    def over(self, slot: Slot) -> bool:
        """Return whether the results have arrived; returns the staging buffer once it is copied."""
        if self._staging is not None and slot.driver.done(self._uploaded):
            self._give_staging_back()
        return slot.driver.done(self._done)

    def finish(self, slot: Slot) -> Answers:
        """Wait for the results and return them. Raises DeviceError."""
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
            self._results.record_size(self._plan.rows[0].name, m, operations)
        if len(self._answers) < self._answer_bytes(operations):  # copy all results again, into larger memory
            self._answers = self._results.lease_now(driver, m, operations, self._SPANS)
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
        """Return the units of workspace."""
        return units_of(self._plan, self._shape.count, self._workspace, kernels[0], driver)

    def _bytes(self, units: int) -> int:
        m, cap = self._shape.count, self._plan.op_capacity
        pieces = (
            self._staged.nbytes,
            self._staged.base_bytes if self._staged.coded else self._staged.base_bytes // 4 + 8 * task.GUARD,
            m * 4 * cap,  # operations as the kernel writes them, before they are gathered
            self._answer_bytes(m * cap),
            4 * m,
            8 * gather_chunks(m)[1],
            4,
            units * self._plan.stride,
        )
        return sum(map(padded, pieces)) + 4096

    def _answer_bytes(self, operations: int) -> int:
        return answer_bytes(self._shape.count, operations, self._SPANS)

    def _pack(self, driver: Driver, arena: Arena, bases_at: int, slot: Slot) -> None:
        words = self._staged.base_bytes // 16
        self._packed = arena.take(4 * words + 8 * task.GUARD) + 4 * task.GUARD
        pack = np.zeros(1, task.PACK_TASK)
        pack["bases"], pack["packed"], pack["n_bases"] = bases_at, self._packed, self._staged.base_bytes
        _launch(driver, "pack", words, pack, slot)

    def _encode(self, driver: Driver, arena: Arena, bases_at: int, slot: Slot) -> None:
        m, first = self._shape.count, bases_at + self._staged.base_bytes
        self._codes = arena.take(self._staged.base_bytes)
        encode = np.zeros(1, task.ENCODE_TASK)
        encode["bases"], encode["codes"], encode["count"] = bases_at, self._codes, m
        encode["tables"] = bases_at + self._staged.nbytes - _TABLES
        for number, name in enumerate((*LAID_OUT, "rows")):
            encode[name] = first + 4 * m * number
        _launch(driver, "encode", 32 * m, encode, slot)

    def _align(
        self, driver: Driver, arena: Arena, bases_at: int, kernels: list[Kernel], units: int, slot: Slot
    ) -> None:
        m, plan, shape, staged = self._shape.count, self._plan, self._shape, self._staged
        first = bases_at + staged.base_bytes
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
        """Return the kernels before and after those of the plan."""
        return ("encode" if self._staged.coded else "pack", *(_GATHERING if self._shape.path else ()))

    def _operations(self) -> list[tuple[int, int, int, int]]:
        """Return groups of slots with contiguous operations: rows (0: in order), count, operations, and capacity."""
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
        # Without paths only a copy follows the kernel: a further kernel would wait for the next launch's.
        first = 0 if self._shape.path else 8 * (m + 1)
        driver.download(self._answers[first:], self._out + first, slot.stream)
        self._done = driver.record(slot.stream)


def units_of(plan: Plan, count: int, workspace: int, kernel: Kernel, driver: Driver) -> int:
    """Return the units of a workspace of `workspace` bytes: one for each pair or group, or as many as fit."""
    wanted = -(-count // plan.unit)
    if plan.resident and not plan.spread:
        resident = kernel.resident(plan.shared_on(driver.gpu))
        wanted = min(wanted, plan.blocks[0] * resident * driver.gpu.multiprocessors)
    if not plan.stride:
        return wanted
    whole = plan.blocks[0] // plan.unit  # units per block
    if plan.resident:
        wanted = -(-wanted // whole) * whole  # each group of a block needs one, since any group may draw a pair
    fit = workspace // plan.stride
    return max(min(wanted, fit // whole * whole), min(wanted, whole))


def _launch(driver: Driver, name: str, items: int, arguments: npt.NDArray[np.void], slot: Slot) -> None:
    """Launch a kernel that accepts any number of items with any grid."""
    kernel = driver.kernel(catalogue.ROWS[name])
    blocks = min(-(-items // kernel.threads), _GRID * driver.gpu.multiprocessors)
    driver.launch(kernel, max(blocks, 1), arguments, slot.stream)

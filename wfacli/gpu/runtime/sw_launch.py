"""A launch of the kernels of scored alignment; copies and CIGARs are those of launch.AlignLaunch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core.batch import U8
from ...core.costs import NO_BOUND
from ..kernels import catalogue, sw
from ..kernels.layout import padded
from ..kernels.plans import Plan, Shape
from . import task
from .arena import Arena
from .device import Slot
from .driver import Driver, Kernel
from .launch import LAID_OUT, AlignLaunch, Staged, units_of
from .staging import ResultPool

_MOST_KEPT = 8 << 30  # maximum bytes of directions at a time: enough for many more pairs than are resident on a GPU
_WALKING = 2  # blocks per multiprocessor for tracebacks, which wait for memory; other launches' sweeps use the rest


def plan_of(work: sw.Work) -> Plan:
    """Return the plan of the pairs of one build."""
    launches = work.launches
    strides = [work.stride(rule) for _, rule in launches]
    return Plan(
        tuple(catalogue.ROWS[row] for row, _ in launches),
        blocks=(work.build.groups * work.build.pairs,) * len(launches),
        unit=1,
        stride=max(strides) // work.build.pairs,
        op_capacity=work.op_capacity,
        resident=True,
        shared=work.build.shared(work.scores.codes),
    )


def operations(works: Sequence[sw.Work]) -> int:
    """Return the total capacity of all pairs' CIGARs, in operations."""
    return sum(work.count * work.op_capacity for work in works)


def min_workspace(works: Sequence[sw.Work]) -> int:
    """Return the minimum workspace in bytes; builds run one after another and share it."""
    return max(plan_of(work).min_workspace(work.count) for work in works)


def needs(works: Sequence[sw.Work], base_bytes: int) -> int:
    """Return the minimum GPU memory, in bytes, to align all pairs in one launch.

    `base_bytes`: bytes of sequence to copy.
    """
    count = sum(work.count for work in works)
    return 2 * base_bytes + 8 * operations(works) + 88 * count + 4096 + min_workspace(works)


@dataclass(frozen=True)
class _Launched:
    """A build's share of a launch.

    Attributes:
        work: the build's pairs.
        plan: their plan.
        kernels: the build's kernels.
        pairs: pairs for which there is workspace.
        blocks: blocks of a launch whose groups draw pairs until none is left.
    """

    work: sw.Work
    plan: Plan
    kernels: list[Kernel]
    pairs: int
    blocks: int


class SwLaunch(AlignLaunch):
    """Pairs of several builds, which run one after another (device.Launch).

    The staged order groups pairs by build. Symbols are converted to codes; every symbol has one, and no sequence is
    empty.
    """

    _SPANS = 16
    spans = _SPANS

    def __init__(
        self,
        staged: Staged,
        works: Sequence[sw.Work],
        workspace: int,
        given_back: Callable[[U8], None],
        answers: U8,
        results: ResultPool,
        cancelled: Callable[[], bool],
    ) -> None:
        """See AlignLaunch; `workspace` is at least least_workspace(works)."""
        self._works, self._plans = works, [plan_of(work) for work in works]
        longest = max(max(work.longest_query, work.longest_target) for work in works)
        shape = Shape(staged.count, longest, 0, (), NO_BOUND, works[0].path, coded=True)
        rows = tuple(row for plan in self._plans for row in plan.rows)
        room = -(-operations(works) // staged.count)  # operations per pair, on average
        plan = Plan(rows, (), 1, 1, room, resident=True)  # units of workspace are bytes
        super().__init__(staged, plan, shape, workspace, given_back, answers, results, cancelled)

    def _bytes(self, units: int) -> int:
        return super()._bytes(units) + 2 * padded(8 * self._shape.count)

    def _units(self, driver: Driver, kernels: list[Kernel]) -> int:
        """Return the bytes of workspace of the build that needs most."""
        rest = iter(kernels)
        self._launched = []
        for plan, work in zip(self._plans, self._works, strict=True):
            own = [next(rest) for _ in plan.rows]
            if work.stores_all_directions:
                block, room = plan.blocks[0], min(self._workspace, _MOST_KEPT)
                blocks = -(-work.count // block)
                times = -(-blocks // max(room // plan.stride // block, 1))  # launches of about equal size
                pairs = -(-blocks // times) * block
            else:
                pairs = units_of(plan, work.count, self._workspace, own[0], driver)
            resident = own[0].resident(plan.shared) * driver.gpu.multiprocessors
            self._launched.append(_Launched(work, plan, own, pairs, min(-(-pairs // plan.blocks[0]), resident)))
        return max(one.pairs * one.plan.stride for one in self._launched)

    def _align(
        self, driver: Driver, arena: Arena, bases_at: int, kernels: list[Kernel], units: int, slot: Slot
    ) -> None:
        m = self._shape.count
        first = bases_at + self._staged.base_bytes
        capacity = m * self._plan.op_capacity
        self._ops, self._out = arena.take(4 * capacity), arena.take(self._answer_bytes(capacity))
        self._op_count = arena.take(4 * m)
        todo = np.zeros(1, task.SW_TASK)
        todo["seq"]["codes"] = self._codes
        for number, name in enumerate(LAID_OUT):
            todo["seq"][name] = first + 4 * m * number
        self._rows = first + 4 * m * len(LAID_OUT)
        todo["work_counter"], todo["workspace"] = arena.take(4), arena.take(units)
        todo["score"], todo["status"] = self._out + 8 * (m + 1), self._out + 12 * m + 8
        todo["op_count"], todo["span"] = self._op_count, self._out + self._answer_bytes(0) - 16 * m
        self._works[0].scores.into(todo)
        ends, prefixes = arena.take(8 * m), arena.take(8 * m)
        for one, (rows, count, ops, capacity) in zip(self._launched, self._operations(), strict=True):
            at_once = one.pairs if one.work.stores_all_directions else count
            for begin in range(0, count, at_once):
                todo["rows"], todo["ops"] = rows + 4 * begin, ops + 4 * begin * capacity
                todo["count"], todo["op_capacity"] = min(at_once, count - begin), capacity
                self._launch_build(driver, todo, one, (ends, prefixes), slot)

    def _launch_build(
        self, driver: Driver, todo: npt.NDArray[np.void], one: _Launched, places: tuple[int, int], slot: Slot
    ) -> None:
        """Launch all kernels of a build on the task's pairs; `places`: two arrays with a position of each pair."""
        work, plan, count = one.work, one.plan, int(todo["count"][0])
        todo["stride"], todo["prefixes"] = plan.stride * work.build.pairs, 0
        work.into(todo)
        for kernel, (row, rule) in zip(one.kernels, work.launches, strict=True):
            todo["rule"] = rule
            if work.stores_all_directions and row == sw.traceback_row_of(work.build, rule):
                grid = min(-(-count // kernel.threads), _WALKING * driver.gpu.multiprocessors)
                driver.launch(kernel, grid, todo, slot.stream)
            else:
                todo["ends"] = places[rule is sw.Rule.EXTENSION]
                driver.fill(int(todo["work_counter"][0]), 0, 4, slot.stream)
                grid = one.blocks
                if work.stores_all_directions and rule is not sw.Rule.EXTENSION:
                    grid = max(grid, -(-count // (plan.blocks[0] * work.draws)))
                driver.launch(kernel, grid, todo, slot.stream, plan.shared)
            if rule is sw.Rule.EXTENSION:  # followed by the launch that computes its path
                todo["prefixes"] = todo["ends"]
            self._events.append((kernel.name, driver.record(slot.stream)))

    def _operations(self) -> list[tuple[int, int, int, int]]:
        found, rows, ops = [], self._rows, self._ops
        for work in self._works:
            found.append((rows, work.count, ops, work.op_capacity))
            rows, ops = rows + 4 * work.count, ops + 4 * work.count * work.op_capacity
        return found

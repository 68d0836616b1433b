"""Rows of a batch through the kernels of scored alignment; the way to the card and back is job.AlignJob's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..batch import U8
from . import catalogue, sw, task
from .arena import Arena
from .device import Slot
from .driver import Driver, Kernel
from .job import LAID_OUT, AlignJob, Staged
from .layout import padded
from .plans import NO_BOUND, Plan, Shape
from .staging import Outbox


def plan_of(work: sw.Work) -> Plan:
    """How pairs go through their kernels."""
    rules = work.rules
    rows = tuple(catalogue.ROWS[sw.row_of(work.build, rule, work.path)] for rule in rules)
    strides = [work.build.stride(rule, work.path, work.longest_query, work.longest_target) for rule in rules]
    return Plan(
        rows,
        blocks=(work.build.groups * work.build.pairs,) * len(rows),
        unit=1,
        stride=max(strides) // work.build.pairs,
        op_capacity=work.op_capacity,
        resident=True,
        shared=work.build.shared(work.scores.codes),
    )


def needs(count: int, letters: int, plan: Plan) -> int:
    """Bytes of the card without which pairs cannot be aligned at once."""
    return 2 * letters + count * (8 * plan.op_capacity + 80) + plan.least_workspace(count)


class SwJob(AlignJob):
    """Pairs of one build; see device.Job. Their letters become codes; none lacks one, and no sequence is empty."""

    _SPANS = 16
    spans = _SPANS

    def __init__(
        self,
        staged: Staged,
        work: sw.Work,
        workspace: int,
        given_back: Callable[[U8], None],
        answers: U8,
        outbox: Outbox,
        cancelled: Callable[[], bool],
    ) -> None:
        """See AlignJob."""
        longest = max(work.longest_query, work.longest_target)
        shape = Shape(staged.count, longest, 0, (), NO_BOUND, work.path, coded=True)
        super().__init__(staged, plan_of(work), shape, workspace, given_back, answers, outbox, cancelled)
        self._work = work

    def _bytes(self, units: int) -> int:
        return super()._bytes(units) + padded(8 * self._shape.count)

    def _align(
        self, driver: Driver, arena: Arena, letters: int, kernels: list[Kernel], units: int, slot: Slot
    ) -> None:
        m, plan, work = self._shape.count, self._plan, self._work
        first = letters + self._staged.letters
        capacity = m * plan.op_capacity
        self._ops, self._out = arena.take(4 * capacity), arena.take(self._answer_bytes(capacity))
        self._op_count, ends = arena.take(4 * m), arena.take(8 * m)
        todo = np.zeros(1, task.SW_TASK)
        todo["seq"]["codes"] = self._codes
        for number, name in enumerate((*LAID_OUT, "rows")):
            (todo if name == "rows" else todo["seq"])[name] = first + 4 * m * number
        todo["next"], todo["workspace"] = arena.take(4), arena.take(units * plan.stride)
        todo["stride"] = plan.stride * work.build.pairs
        todo["score"], todo["status"] = self._out + 8 * (m + 1), self._out + 12 * m + 8
        todo["op_count"], todo["ops"], todo["op_capacity"] = self._op_count, self._ops, plan.op_capacity
        todo["span"], todo["ends"], todo["count"] = self._out + self._answer_bytes(0) - 16 * m, ends, m
        todo["longest_query"], todo["longest_target"] = work.longest_query, work.longest_target
        work.scores.into(todo)
        for kernel, rule, block in zip(kernels, work.rules, plan.blocks, strict=True):
            todo["rule"] = rule
            driver.fill(int(todo["next"][0]), 0, 4, slot.stream)
            driver.launch(kernel, -(-units // block), todo, slot.stream, plan.shared)
            self._events.append((kernel.name, driver.record(slot.stream)))
            todo["prefixes"] = ends  # of what comes after an extension

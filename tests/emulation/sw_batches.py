"""Launch cuda/sw/sw.cu on pairs, and return answers in the engine's form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.emulation.batches import Answers
from tests.emulation.launching import Kernels, address, aligned
from tests.oracle_spans import Optimum, Pair
from wfacli.core.batch import Status
from wfacli.gpu.kernels import sw, sw_guided
from wfacli.gpu.runtime.task import SW_TASK
from wfacli.scoring.scheme import Scheme

TINY = (
    *(sw.Build(2, 4, 16, 8, 32), sw.Build(4, 8, 16, 8, 64), sw.Build(32, 4, 16, 32, 32), sw.Build(2, 4, 32, 8, 32)),
    sw.Build(2, 8, 16, 8, 32, all_directions=True),
)


class SwBatch:
    """Codes of non-empty pairs, in the layout of GPU memory."""

    def __init__(self, pairs: Sequence[Pair], scheme: Scheme):
        self.lengths = np.array([[len(s) for s in pair] for pair in pairs], np.int32).reshape(-1, 2)
        groups = -(-self.lengths // 16)
        starts = np.ascontiguousarray((np.cumsum(groups.reshape(-1)).reshape(-1, 2) - groups).T.astype(np.uint32))
        self._codes = aligned(16 * int(groups.sum()), np.uint8)
        for pair, row in zip(pairs, starts.T.tolist(), strict=True):
            for symbols, start in zip(pair, row, strict=True):
                self._codes[16 * start : 16 * start + len(symbols)] = scheme.codes[np.frombuffer(symbols, np.uint8)]
        self.scores = sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)
        self._columns = [np.ascontiguousarray(c) for c in (*starts, *self.lengths.T)]
        self.count = len(pairs)

    def task(self, rule: sw.Rule) -> np.ndarray:
        task = np.zeros(1, SW_TASK)
        task["seq"]["codes"] = address(self._codes)
        names = ("query_start", "target_start", "query_len", "target_len")
        for name, column in zip(names, self._columns, strict=True):
            task["seq"][name] = address(column)
        self.scores.into(task)
        task["longest_query"], task["longest_target"] = self.lengths.max(axis=0)
        task["rule"], task["count"] = rule, self.count
        return task


def launch_sw(
    pairs: Sequence[Pair], scheme: Scheme, rule: sw.Rule, build: sw.Build, path: bool, order: int = 0, grid: int = 1,
    capacity: int = 0,
) -> list[Optimum | Status]:  # fmt: skip
    """Return each pair's alignment, or a status; without the path, the CIGAR is "*" and the span 0."""
    batch = SwBatch(pairs, scheme)
    capacity = capacity or int(batch.lengths.sum(axis=1).max())
    ends, span = aligned(2 * batch.count, np.int32), aligned(4 * batch.count, np.int32)
    task = batch.task(rule)
    answers = Answers.room(task, batch.count, capacity, "score")
    _launch(batch, task, rule, build, path, order, grid, ends, span)
    if rule is sw.Rule.EXTENSION and path:
        task["prefixes"] = address(ends)
        _launch(batch, task, sw.Rule.GLOBAL, build, path, order, grid, ends, span)
    found: list[Optimum | Status] = []
    slots = np.argsort(rows_of_slots(batch.count)).tolist()
    for row, status in enumerate(answers.status.tolist()):
        cigar = answers.cigar(row, slots[row]) if path else "*"
        where = tuple(span[4 * row : 4 * row + 4].tolist()) if path else (0, 0, 0, 0)
        found.append(Optimum(int(answers.cost[row]), cigar, where) if status == Status.OK else Status(status))
    return found


def rows_of_slots(count: int) -> np.ndarray:
    """Return the rows of slots 0 to count - 1, a permutation."""
    return np.roll(np.arange(count, dtype=np.int32), -1)


def _launch(batch, task, rule, build, path, order, grid, ends, span) -> None:
    stride = build.stride(rule, path, *batch.lengths.max(axis=0).tolist())
    stores_all_directions = path and build.all_directions
    blocks = max(grid, -(-batch.count // (build.groups * build.pairs)) if stores_all_directions else 0)
    workspace, drawn = aligned(blocks * build.groups * stride, np.uint8), aligned(1, np.uint32)
    drawn[:] = 0
    rows = rows_of_slots(batch.count)
    task["rule"], task["rows"], task["work_counter"] = rule, address(rows), address(drawn)
    task["workspace"], task["stride"] = address(workspace), stride
    found = ends if rule is sw.Rule.EXTENSION else aligned(len(ends), np.int32)
    task["ends"], task["span"] = address(found), address(span)
    kernels = Kernels("sw/sw.cu", build.threads, dict(build.macros(rule, path)))
    walks = stores_all_directions and rule is not sw.Rule.EXTENSION
    # In one order, blocks draw several pairs and traceback threads have several; in the other, each has its own.
    kernels.launch("sw_align", task, blocks if walks and order else grid, order, build.shared(batch.scores.codes))
    if walks:
        walk = Kernels("sw/sw_traceback.cu", 32, dict(build.macros(rule, path)))
        walk.launch("sw_walk", task, -(-batch.count // 32) if order else 1, order)


def launch_guided(
    pairs: Sequence[Pair], scheme: Scheme, build: sw.Build, cuts: sw_guided.Cuts, order: int = 0, grid: int = 1
) -> list[tuple[int, bool] | Status]:
    """Return each extension's (score, whether cells were dropped), or a status."""
    batch = SwBatch(pairs, scheme)
    longest = batch.lengths.max(axis=0).tolist()
    span, rows = aligned(4 * batch.count, np.int32), rows_of_slots(batch.count)
    task = batch.task(sw.Rule.EXTENSION)
    answers = Answers.room(task, batch.count, 0, "score")
    band = cuts.width(*longest)
    stride = sw_guided.stride(build, band, longest[0])
    workspace, drawn = aligned(grid * build.groups * stride, np.uint8), aligned(1, np.uint32)
    drawn[:] = 0
    task["rows"], task["work_counter"], task["span"] = address(rows), address(drawn), address(span)
    task["workspace"], task["stride"] = address(workspace), stride
    task["band"], task["drop"] = band, cuts.drop(batch.scores)
    kernels = Kernels("sw/sw_guided.cu", build.threads, dict(build.macros(sw.Rule.EXTENSION, False)))
    kernels.launch("sw_guided", task, grid, order, build.shared(batch.scores.codes))
    begins = span.reshape(-1, 4)[:, 0].tolist()
    return [
        (int(answers.cost[row]), begins[row] < 0) if status == Status.OK else Status(status)
        for row, status in enumerate(answers.status.tolist())
    ]

"""Pairs in the kernels' input format, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.emulation.launching import address, aligned
from tests.oracles import Pair
from wfacli.gpu.runtime.task import ALIGN_TASK, GUARD

OPERATIONS = {1: "I", 2: "D", 7: "=", 8: "X"}


class DeviceBatch:
    """Packed bases of some pairs, between guards filled with noise; the layout is that of a PairBatch."""

    def __init__(self, pairs: Sequence[Pair], seed: int = 0):
        lengths = np.array([[len(s) for s in pair] for pair in pairs], np.int32).reshape(-1, 2)
        groups = -(-lengths // 16)
        ends = np.cumsum(groups.reshape(-1)).reshape(-1, 2)
        self._words = aligned(int(groups.sum()) + 2 * GUARD, np.uint32)
        self._words[:] = np.random.default_rng(seed).integers(0, 2**32, len(self._words), dtype=np.uint32)
        starts = (ends - groups).astype(np.uint32)
        for pair, row in zip(pairs, starts.tolist(), strict=True):
            for symbols, start in zip(pair, row, strict=True):
                codes = np.frombuffer(symbols.ljust(-(-len(symbols) // 16) * 16, b"N"), np.uint8) >> 1 & 3
                words = (codes.reshape(-1, 16).astype(np.uint32) << 2 * np.arange(16, dtype=np.uint32)).sum(1)
                self._words[GUARD + start : GUARD + start + len(words)] = words
        self._columns = [np.ascontiguousarray(c) for c in (*starts.T, *lengths.T)]
        self.count = len(pairs)
        self.lengths = lengths

    def task(self) -> np.ndarray:
        """Return an AlignTask with the sequences filled in."""
        task = np.zeros(1, ALIGN_TASK)
        task["seq"]["packed"] = address(self._words, GUARD)
        names = ("query_start", "target_start", "query_len", "target_len")
        for name, column in zip(names, self._columns, strict=True):
            task["seq"][name] = address(column)
        return task


@dataclass
class Answers:
    """Answers of a launch, by slot."""

    status: np.ndarray
    cost: np.ndarray
    op_count: np.ndarray
    ops: np.ndarray

    @classmethod
    def room(cls, task: np.ndarray, count: int, capacity: int, cost: str = "cost") -> Answers:
        """Allocate memory for the answers and store its addresses in the task.

        `cost`: name of the task's cost field.
        """
        parts = aligned(count, np.uint8), aligned(count, np.int32), aligned(count, np.int32)
        answers = cls(*parts, aligned(count * capacity, np.uint32).reshape(count, capacity))
        for name in ("status", "cost", "op_count", "ops"):
            task[cost if name == "cost" else name] = address(getattr(answers, name))
        task["count"], task["op_capacity"] = count, capacity
        return answers

    def cigar(self, row: int, slot: int | None = None) -> str:
        """Return the CIGAR of a row, "*" if it is empty; `slot`: its slot, if that differs from the row."""
        runs = self.ops[row if slot is None else slot, : self.op_count[row]].tolist()
        return "".join(f"{run >> 4}{OPERATIONS[run & 15]}" for run in runs) or "*"

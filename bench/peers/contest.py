"""One cell of the table: all aligners that support a task run alternately on the pairs of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from wfacli.core.batch import PairBatch
from wfacli.core.cores import usable_cores

from . import ours, work
from .native import Aligner
from .verdict import OURS, Cell, Costs, Timing, right_costs, wrong_pairs

GIB = 1 << 30
MOST_ROUNDS = 10  # maximum multiple of --repeats for short repeats
PROBE = 20  # one pair in this many predicts an aligner's time for all
MOMENT = 0.3  # seconds; aligners whose repeats take less in sum are repeated more often


@dataclass(frozen=True)
class Task:
    """The task of all aligners.

    Attributes:
        metric: "affine" (4,6,2) or "edit".
        score_only: True if no alignment is wanted.
    """

    metric: str
    score_only: bool

    @property
    def name(self) -> str:
        """Name in a table, like "edit CIGAR"."""
        return f"{self.metric} {'score' if self.score_only else 'CIGAR'}"


TASKS = tuple(Task(metric, score_only) for metric in ("affine", "edit") for score_only in (False, True))
_METRICS = {"wfa2": ("affine", "edit"), "edlib": ("edit",), "quicked": ("edit",)}  # others support only affine
_SETTINGS = {"wfa2": ("high", "biwfa"), "block-aligner": ("1-10%",)}  # others have one setting


@dataclass(frozen=True)
class Rules:
    """Time and memory limits of a cell.

    Attributes:
        repeats: of each aligner, one after another, in rounds.
        patience: seconds; what takes longer is not repeated.
        longest: seconds; a peer whose first pairs predict more is left out.
        peer_memory: bytes; a peer that would need more for a pair is left out.
    """

    repeats: int = 3
    patience: float = 20.0
    longest: float = 300.0
    peer_memory: int = 4 * GIB


class _Runs(Protocol):
    def run(self, pairs: PairBatch) -> tuple[float, Costs]: ...

    def close(self) -> None: ...


@dataclass
class _Contender:
    timing: Timing
    aligner: _Runs
    costs: Costs | None = None
    failure: str = ""

    def repeat(self, pairs: PairBatch) -> None:
        try:
            seconds, costs = self.aligner.run(pairs)
        except MemoryError as error:
            self.failure = str(error)
            return
        self.timing.seconds.append(seconds)
        # A cost that changes between repeats counts as no result.
        self.costs = costs if self.costs is None else np.where(self.costs == costs, costs, -1).astype(np.int32)

    def try_first(self, pairs: PairBatch, rules: Rules) -> None:
        """Leave out a peer that would take too long for all pairs."""
        first = pairs.head(len(pairs) // PROBE)
        if self.timing.aligner == OURS or not len(first):
            return
        try:
            seconds, _ = self.aligner.run(first)
        except MemoryError as error:
            self.failure = str(error)
            return
        expected = seconds * work.matrix_cells(pairs) / max(work.matrix_cells(first), 1)
        if expected > rules.longest:
            self.failure = f"about {expected:.0f} s"

    def is_due(self, rules: Rules) -> bool:
        done = self.timing.seconds
        if self.failure or (done and max(done) > rules.patience):
            return False
        return len(done) < rules.repeats or (len(done) < MOST_ROUNDS * rules.repeats and sum(done) < MOMENT)


def bytes_needed(peer: str, setting: str, task: Task, pairs: PairBatch, cost: int) -> int:
    """Return about how many bytes a peer needs for the row's largest pair, which costs `cost`."""
    if task.score_only or setting == "biwfa":
        return 0
    q, t = pairs.q_len.astype(np.int64), pairs.t_len.astype(np.int64)
    if peer == "wfa2":
        # 4 bytes per diagonal. Edit distance: 2 s + 1 diagonals for every score s. Affine: three components of about s
        # diagonals (an extension costs 2) for every other score.
        return (3 if task.metric == "affine" else 4) * cost**2
    if peer == "ksw2":  # a byte per cell, in rows as wide as the shorter sequence for every anti-diagonal
        return int(((q + t) * np.minimum(q, t)).max(initial=0))
    return int((q * t).max(initial=0)) if peer == "parasail" else 0


def held(
    row: str, task: Task, pairs: PairBatch, known: Costs, libraries: Mapping[str, Path | str], rules: Rules
) -> Cell:
    """Run all aligners on the pairs of a row, alternately, and compare their costs.

    Args:
        row: its name.
        task: what to do.
        pairs: all of the row's.
        known: i32[n], costs of our alignments; -1 for none.
        libraries: library of each peer, or why it has none.
        rules: limits.
    """
    cell = Cell(row, task.name)
    contenders = [*_ours(task), *_peers(cell, task, pairs, int(known.max(initial=0)), libraries, rules)]
    try:
        for contender in contenders:
            contender.try_first(pairs, rules)
        while due := [c for c in contenders if c.is_due(rules)]:
            for contender in due:
                contender.repeat(pairs)
    finally:
        for contender in contenders:
            contender.aligner.close()
    spoken = {
        c.timing.aligner: c.costs for c in reversed(contenders) if c.timing.aligner != OURS and c.costs is not None
    }
    right = right_costs(known, spoken)
    for contender in contenders:
        timing = contender.timing
        if contender.costs is None:
            cell.absent[timing.name] = contender.failure
            continue
        timing.wrong = wrong_pairs(contender.costs, right)
        if timing.threads == 2:
            cell.two_threads = timing
        else:
            cell.timings.append(timing)
    return cell


def _ours(task: Task) -> list[_Contender]:
    """Return our engine with one thread, and with two if there are two cores."""
    counts = (1, 2) if usable_cores() > 1 else (1,)
    return [_Contender(Timing(OURS, threads=n), ours.Engine(task.metric, task.score_only, threads=n)) for n in counts]


def _peers(
    cell: Cell, task: Task, pairs: PairBatch, cost: int, libraries: Mapping[str, Path | str], rules: Rules
) -> list[_Contender]:
    """Open the peers that support the task; the cell records why others are absent."""
    found = []
    for peer, library in libraries.items():
        if task.metric not in _METRICS.get(peer, ("affine",)):
            continue
        if isinstance(library, str):
            cell.absent[peer] = library
            continue
        for setting in _SETTINGS.get(peer, ("",)):
            timing = Timing(peer, setting)
            needed = bytes_needed(peer, setting, task, pairs, cost)
            if needed > rules.peer_memory:
                cell.absent[timing.name] = f"needs {needed / GIB:.1f} GiB"
            else:
                found.append(_Contender(timing, Aligner(library, task.metric, task.score_only, setting)))
    return found


def our_costs(metric: str, pairs: PairBatch) -> Costs:
    """Return the costs of our alignments (i32[n], -1 for none)."""
    engine = ours.Engine(metric, score_only=False)
    try:
        return engine.run(pairs)[1]
    finally:
        engine.close()


def described(pairs: PairBatch) -> dict[str, int]:
    """Return a row's size for readers of a result."""
    return {"pairs": len(pairs), "bases": pairs.total_bases, "matrix_cells": work.matrix_cells(pairs)}

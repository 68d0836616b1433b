"""One cell of the table: every aligner that can do a task on a row's pairs, in turns."""

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
MOST_ROUNDS = 10  # times the repeats asked for, where a repeat is over in a moment
PROBE = 20  # the part of the pairs from which it is seen who takes too long: one in so many
MOMENT = 0.3  # seconds; what an aligner took less for in all its repeats is repeated more often


@dataclass(frozen=True)
class Task:
    """What is asked of every aligner.

    Attributes:
        metric: "affine" (4,6,2) or "edit".
        score_only: no alignment is wanted.
    """

    metric: str
    score_only: bool

    @property
    def name(self) -> str:
        """As in a table: edit CIGAR."""
        return f"{self.metric} {'score' if self.score_only else 'CIGAR'}"


TASKS = tuple(Task(metric, score_only) for metric in ("affine", "edit") for score_only in (False, True))
_METRICS = {"wfa2": ("affine", "edit"), "edlib": ("edit",), "quicked": ("edit",)}  # the others: affine
_SETTINGS = {"wfa2": ("high", "biwfa"), "block-aligner": ("1-10%",)}  # the others have one


@dataclass(frozen=True)
class Rules:
    """How long a cell may take.

    Attributes:
        repeats: of every aligner, one after another, and round again.
        patience: seconds; what takes longer is not repeated.
        longest: seconds; a peer that would take longer, to go by its first pairs, is left out.
        peer_memory: bytes; a peer that would take more for a pair is left out.
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
        # A cost that changes from repeat to repeat is no answer.
        self.costs = costs if self.costs is None else np.where(self.costs == costs, costs, -1).astype(np.int32)

    def try_first(self, pairs: PairBatch, rules: Rules) -> None:
        """Gives a peer up that would take too long for all pairs."""
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
    """About how many bytes a peer takes for a row's greediest pair, which costs `cost`."""
    if task.score_only or setting == "biwfa":
        return 0
    q, t = pairs.q_len.astype(np.int64), pairs.t_len.astype(np.int64)
    if peer == "wfa2":
        # 4 bytes a diagonal; edit: 2 s + 1 diagonals for every score s; affine: three components of about s
        # diagonals (an extension costs 2) for every other score.
        return (3 if task.metric == "affine" else 4) * cost**2
    if peer == "ksw2":  # a byte a cell, in rows as wide as the shorter sequence for every antidiagonal
        return int(((q + t) * np.minimum(q, t)).max(initial=0))
    return int((q * t).max(initial=0)) if peer == "parasail" else 0


def held(
    row: str, task: Task, pairs: PairBatch, known: Costs, libraries: Mapping[str, Path | str], rules: Rules
) -> Cell:
    """Lets everyone align a row's pairs, in turns, and compares their costs.

    Args:
        row: its name.
        task: what to do.
        pairs: all of the row's.
        known: i32[n], their costs by our alignments; -1 where there is none.
        libraries: each peer's, or why it has none.
        rules: how often, and what to leave out.
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
    """Our engine with one thread, and with two where there are two cores."""
    counts = (1, 2) if usable_cores() > 1 else (1,)
    return [_Contender(Timing(OURS, threads=n), ours.Engine(task.metric, task.score_only, threads=n)) for n in counts]


def _peers(
    cell: Cell, task: Task, pairs: PairBatch, cost: int, libraries: Mapping[str, Path | str], rules: Rules
) -> list[_Contender]:
    """Opens the peers that can do the task; the cell learns why others cannot."""
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
    """Costs of our alignments (i32[n], -1 where there is none)."""
    engine = ours.Engine(metric, score_only=False)
    try:
        return engine.run(pairs)[1]
    finally:
        engine.close()


def described(pairs: PairBatch) -> dict[str, int]:
    """A row's size, for readers of a result."""
    return {"pairs": len(pairs), "bases": pairs.total_bases, "matrix_cells": work.matrix_cells(pairs)}

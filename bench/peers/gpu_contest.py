"""All aligners on the cells of the GPU table: ours first, task by task; then peers, row by row."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wfacli.errors import WfacliError

from .contest import PROBE, Task, bytes_needed
from .gpu_binaries import Failed, Job, Tool
from .gpu_work import Files, Pairs, in_slices
from .ours import Engine, per_run
from .threads import SLICES, Threads
from .verdict import OURS, Cell, Costs, Timing, right_costs, wrong_pairs

_SETTINGS = {"wfa2": ("high", "biwfa"), "block-aligner": ("1-10%",)}  # others have one setting
_METRICS = {"wfa2": ("affine", "edit"), "quicked": ("edit",), "block-aligner": ("affine",)}
NO_TIME = "no time left"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Rules:
    """Limits of all measurements.

    Attributes:
        repeats: of each aligner.
        patience: seconds; what takes longer is not repeated.
        longest: seconds; peers that would take longer are left out.
        peer_memory: bytes; a CPU peer that would need more on all threads is left out.
        threads: threads of our CPU part, and of CPU peers.
        deadline: end of all measurements, as time.monotonic() counts.
    """

    repeats: int
    patience: float
    longest: float
    peer_memory: int
    threads: int
    deadline: float

    def more(self, seconds: Sequence[float]) -> bool:
        """Return whether an aligner with these repeats is repeated again."""
        return len(seconds) < self.repeats and (not seconds or max(seconds) <= self.patience)


@dataclass
class Entry:
    """A cell, and further facts about it.

    Attributes:
        cell: seconds of all aligners.
        pairs: the row's pairs.
        checked: number of compared costs by Timing.name.
        costs: costs by Timing.name.
        counts: counts of one run of ours; see ours.Engine.counts.
    """

    cell: Cell
    pairs: Pairs
    checked: dict[str, int] = field(default_factory=dict)
    costs: dict[str, Costs] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)

    def add(self, timing: Timing, costs: Costs | None) -> None:
        """Add the result of an aligner."""
        self.cell.timings.append(timing)
        if costs is not None:
            self.costs[timing.name] = costs
        self.judge()

    def judge(self) -> None:
        """Compare all costs with those of most aligners."""
        known = self.costs.get(OURS)
        known = np.full(len(self.pairs), -1, np.int32) if known is None else known
        whole: dict[str, Costs] = {}
        for timing in self.cell.timings:  # one vote for each aligner
            costs = self.costs.get(timing.name)
            if timing.aligner != OURS and costs is not None and len(costs) == len(known):
                whole.setdefault(timing.aligner, costs)
        right = right_costs(known, whole)
        for timing in self.cell.timings:
            costs = self.costs.get(timing.name)
            if costs is not None:
                self.checked[timing.name] = len(costs)
                timing.wrong = wrong_pairs(costs, right[: len(costs)])


Entries = Mapping[tuple[str, str], Entry]


def ours(
    entries: Entries, tasks: Sequence[Task], where: str, rules: Rules, memory: float | None, say: Say
) -> dict[str, Any]:
    """Run our engine on all cells; return its description by task."""
    described: dict[str, Any] = {}
    for task in tasks:
        try:
            engine = Engine(task.metric, task.score_only, where, rules.threads, memory)
        except WfacliError as error:
            for (_, name), entry in entries.items():
                if name == task.name:
                    entry.cell.absent[OURS] = str(error)
            continue
        try:
            for (row, name), entry in entries.items():
                if name == task.name:
                    _ours_at(engine, entry, rules)
                    best = entry.cell.of(OURS)
                    say(f"{row}, {name}: {best.best:.4f} s" if best else f"{row}, {name}: {entry.cell.absent[OURS]}")
            described[task.name] = engine.describe()
        finally:
            engine.close()
    return described


def _ours_at(engine: Engine, entry: Entry, rules: Rules) -> None:
    timing = Timing(OURS)
    if time.monotonic() > rules.deadline:
        entry.cell.absent[OURS] = NO_TIME
        return
    try:
        pairs = engine.pinned_batches(entry.pairs)
        _, costs = engine.run(pairs, check=True)
        before = engine.counts()
        while rules.more(timing.seconds):
            seconds, again = engine.run(pairs)
            timing.seconds.append(seconds)
            # A cost that changes between repeats counts as no result.
            costs = np.where(costs == again, costs, -1).astype(np.int32)
    except Exception as error:  # the other tasks can still be measured
        entry.cell.absent[OURS] = f"{type(error).__name__}: {error}"
        return
    entry.counts = per_run(before, engine.counts(), len(timing.seconds))
    entry.add(timing, costs)


def peers(
    entries: Entries,
    tasks: Sequence[Task],
    files: Mapping[str, Files],
    tools: Sequence[Tool],
    libraries: Mapping[str, Path],
    rules: Rules,
    scratch: Path,
    say: Say,
) -> None:
    """Run all peers on all cells."""
    for row, found in files.items():
        for task in tasks:
            entry = entries[row, task.name]
            for tool in tools:
                _tool_at(tool, task, entry, found, rules, scratch)
            for name, library in libraries.items():
                if task.metric in _METRICS[name]:
                    _library_at(name, library, task, entry, rules)
        say(f"{row}: peers are done, {rules.deadline - time.monotonic():.0f} s left")


def _tool_at(tool: Tool, task: Task, entry: Entry, files: Files, rules: Rules, scratch: Path) -> None:
    """Run one program on one cell under all of its settings."""
    if task.metric not in tool.metrics or (task.score_only and not tool.scores):
        return
    known = entry.costs.get(OURS)
    greatest = int(known.max(initial=1)) if known is not None else entry.pairs.longest
    patience = rules.longest + rules.patience
    pairs = entry.pairs
    job = Job(files, len(pairs), pairs.longest, greatest, task, rules.repeats, patience, scratch)
    unable = tool.limit(job)
    if unable:
        entry.cell.absent[tool.name] = unable
        return
    for setting in tool.settings:
        timing = Timing(tool.name, setting, rules.threads)
        if time.monotonic() > rules.deadline:
            entry.cell.absent[timing.name] = NO_TIME
            continue
        try:
            answer = tool.run(job, setting)
        except Failed as error:
            entry.cell.absent[timing.name if len(tool.settings) > 1 else tool.name] = str(error)
            continue
        timing.seconds = answer.seconds
        entry.add(timing, answer.costs)


def _library_at(name: str, library: Path, task: Task, entry: Entry, rules: Rules) -> None:
    """Run one CPU peer on one cell, under the first setting for which there is memory."""
    known = entry.costs.get(OURS)
    greatest = int(known.max(initial=0)) if known is not None else 0
    for setting in _SETTINGS.get(name, ("",)):
        timing = Timing(name, setting, rules.threads)
        if time.monotonic() > rules.deadline:
            entry.cell.absent[name] = NO_TIME
            return
        if sum(bytes_needed(name, setting, task, b, greatest) for b in entry.pairs.batches[:1]) * rules.threads > (
            rules.peer_memory
        ):
            entry.cell.absent[timing.name] = "memory"
            continue
        aligners = Threads(library, task.metric, task.score_only, setting, rules.threads)
        try:
            _timed(aligners, timing, entry, rules)
        except MemoryError as error:
            entry.cell.absent[timing.name] = str(error)
        finally:
            aligners.close()
        return


def _timed(aligners: Threads, timing: Timing, entry: Entry, rules: Rules) -> None:
    slices = in_slices(entry.pairs, rules.threads * SLICES)
    first = slices[:: max(1, len(slices) // max(rules.threads, len(slices) // PROBE))]
    seconds, _ = aligners.run(first)
    expected = seconds * entry.pairs.cells / max(Pairs(first).cells, 1)
    if expected > rules.longest:
        entry.cell.absent[timing.aligner] = f"about {expected:.0f} s"
        return
    costs: Costs | None = None
    while rules.more(timing.seconds):
        taken, costs = aligners.run(slices)
        timing.seconds.append(taken)
    entry.add(timing, costs)

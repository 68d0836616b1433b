"""Run of `wfacli local` on one pair: one search per alignment, fallback to the CPU, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ...errors import DeviceError, InternalError, UsageError
from ..base import State
from ..checkpoint import Checkpoint, Saved
from ..facts import listed, number, record, row, whole
from ..saving import Saving, remaining_seconds
from ..watchers import Watchers
from .found import Found
from .searches import GPU, OnCpu, Search, Searches
from .task import Task

_SLICE = 0.25  # seconds per slice
_SOLVER = "strips-by-last"  # name in checkpoints; of equally good beginnings it takes the last


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        score: best score so far of the current search.
        number: 1-based number of the alignment that is searched.
        path: True once its score is known and its traceback is running.
        fraction_done: fraction of the current phase, search or traceback, that is done; None at the beginning.
        remaining_seconds: expected remaining seconds of the search; None if unknown, and during the traceback.
    """

    score: int = 0
    number: int = 1
    path: bool = False
    fraction_done: float | None = None
    remaining_seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """Result of a finished run.

    Attributes:
        found: alignments by descending score; ties in the order in which they were found.
        seconds: time of all searches, over all resumed runs.
        path_seconds: part of it that tracebacks took, in the last run.
        cells: computed cells.
        resumed: number of times that the run was resumed from a checkpoint.
        checkpoints: number of checkpoints that this run wrote.
        engines: engine of each search of the last run, in order: "cpu" or "gpu".
        gpu_failed: message of a GPU failure; None without one.
    """

    found: tuple[Found, ...]
    seconds: float
    path_seconds: float
    cells: int
    resumed: int = 0
    checkpoints: int = 0
    engines: tuple[str, ...] = ()
    gpu_failed: str | None = None


_are_facts = record(
    found=listed(row(whole, listed(whole, 4))), seconds=number, running=number, cells=whole, resumed=whole
)


@dataclass
class _Spent:
    """Time and cells of the finished searches, and the beginning of the current one."""

    seconds: float = 0.0
    cells: int = 0
    path_seconds: float = 0.0
    began: float = 0.0
    fraction_before: float = 0.0
    seconds_before: float = field(default=0.0)


class LocalRun:
    """Searches the best local alignments of a pair, one after the other.

    Attributes:
        progress: current progress; any thread may read it.
    """

    def __init__(
        self,
        task: Task,
        watchers: Watchers,
        checkpoint: Checkpoint | None = None,
        interval: float = 120.0,
        searches: Searches | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            task: sequences, scheme and options.
            watchers: callbacks.
            checkpoint: where the state is saved; None: nowhere.
            interval: seconds between two checkpoints.
            searches: factory of searches; None: on the CPU.
        """
        self._task, self._watchers, self._saving = task, watchers, Saving(checkpoint, interval, watchers)
        self._searches = searches or OnCpu()
        self._engines: list[str] = []
        self._gpu_failed: str | None = None
        self._last: State | None = None  # last saved state of the current search
        self._found: list[Found] = []
        self._spent = _Spent()
        self._resumed = 0
        self.progress = Progress()

    def run(self, saved: Saved | None = None) -> Outcome:
        """Find the alignments, from the beginning or from a saved state.

        Raises:
            Cancelled: the watchers requested a stop; if checkpoints are enabled, one was written first.
            InputError: the saved state does not fit.
            InternalError: the score of an alignment is wrong.
            UsageError: the scores of the pair do not fit 32 bits.
        """
        state = self._load(saved) if saved else None
        while len(self._found) < self._task.top:
            found = self._search(state)
            state = None
            if found.score <= 0:
                break
            self._found.append(found)
            place = "query {:,} to {:,}, target {:,} to {:,}".format(*found.span)
            self._watchers.note(f"alignment {len(self._found)}: score {found.score:,}, {place}")
        spent = self._spent
        return Outcome(
            tuple(self._found[: self._task.top]),
            spent.seconds,
            spent.path_seconds,
            spent.cells,
            self._resumed,
            self._saving.written,
            tuple(self._engines),
            self._gpu_failed,
        )

    def _load(self, saved: Saved) -> State:
        facts = saved.facts
        if saved.algorithm != _SOLVER:
            raise self._saving.unfit("the checkpoint is of another version; start again without it")
        if not _are_facts(facts) or len(facts["found"]) > self._task.top:
            raise self._saving.unfit()
        for place, (score, span) in enumerate(facts["found"]):
            cigar = saved.state.get(f"cigar{place}")
            if cigar is None or cigar.ndim != 1 or cigar.dtype != np.uint32:
                raise self._saving.unfit()
            self._found.append(Found(score, (span[0], span[1], span[2], span[3]), cigar))
            try:
                self._found[-1].check(self._task.query, self._task.target, self._task.scheme)
            except InternalError:
                raise self._saving.unfit() from None
        self._spent = _Spent(float(facts["seconds"]), int(facts["cells"]), seconds_before=float(facts["running"]))
        self._resumed = int(facts["resumed"]) + 1
        return {name: values for name, values in saved.state.items() if not name.startswith("cigar")}

    def _solver(self) -> Search:
        runs = [found.runs() for found in self._found]
        excluded_runs = np.concatenate(runs) if runs else np.zeros((0, 3), np.int64)
        try:
            return self._searches(self._task, excluded_runs, self._watchers.stop)
        except ValueError as error:
            raise UsageError(f"these sequences cannot be aligned: {error}") from None

    def _search(self, state: State | None) -> Found:
        """Find the next alignment (score 0: there is none); if a GPU fails or returns a wrong result, use the CPU."""
        self._last = state
        try:
            return self._search_once(state)
        except (DeviceError, InternalError) as failure:
            if isinstance(failure, InternalError):
                if self._engines[-1] != GPU:
                    raise
                self._last = None
            self._gpu_failed = str(failure)
            self._searches.exclude(DeviceError(str(failure)))
            since = "its last checkpoint" if self._last else "the beginning"
            self._watchers.warn(f"the GPU has failed ({failure}): the CPU continues from {since}")
            return self._search_once(self._last)

    def _search_once(self, state: State | None) -> Found:
        solver = self._solver()
        self._engines.append(solver.engine)
        try:
            if state is not None:
                self._restore(solver, state)
            else:
                self._spent.seconds_before = 0.0
            self._spent.began, self._spent.fraction_before = self._watchers.clock(), solver.position[2]
            path_began = None
            while not solver.advance(_SLICE):
                now = self._watchers.clock()
                if solver.position[1] and path_began is None:
                    path_began = now
                self._update_progress(solver, now)
                self._saving.after_slice(partial(self._saved, solver, now))
            now = self._watchers.clock()
            self._spent.seconds += self._running_seconds(now)
            self._spent.path_seconds += now - path_began if path_began is not None else 0.0
            self._spent.cells += solver.position[3]
            score, span, cigar = solver.alignment()
            found = Found(score, span, None if self._task.score_only else cigar)
            if score > 0:
                found.check(self._task.query, self._task.target, self._task.scheme)
            return found
        finally:
            solver.close()

    def _restore(self, solver: Search, state: State) -> None:
        self._saving.restore(solver, state)
        fraction_done = solver.position[2]
        self._watchers.note(
            f"resuming after {self._running_seconds(self._spent.began):.0f} s with alignment {len(self._found) + 1}, "
            f"{100 * fraction_done:.0f}% of whose search is done"
        )

    def _running_seconds(self, now: float) -> float:
        """Return the seconds of the current search, over all resumed runs."""
        return self._spent.seconds_before + now - self._spent.began

    def _update_progress(self, solver: Search, now: float) -> None:
        score, scored, fraction_done, _ = solver.position
        elapsed, before = now - self._spent.began, self._spent.fraction_before
        remaining = None if scored else remaining_seconds(fraction_done, before, elapsed)
        self.progress = Progress(score, len(self._found) + 1, scored, fraction_done, remaining)

    def _saved(self, solver: Search, now: float) -> Saved:
        """Return the state of the run at a time of the clock."""
        cigars = {f"cigar{place}": found.cigar for place, found in enumerate(self._found)}
        self._last = dict(solver.save())
        state = self._last | {name: cigar for name, cigar in cigars.items() if cigar is not None}
        facts = {
            "found": [(found.score, found.span) for found in self._found],
            "seconds": self._spent.seconds,
            "running": self._running_seconds(now),
            "cells": self._spent.cells,
            "resumed": self._resumed,
        }
        return Saved(_SOLVER, state, facts)

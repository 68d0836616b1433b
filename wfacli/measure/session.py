"""A complete measurement: each engine on each work at each task, and the agreement of their results."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..config import CPU_BATCH, AlignSpec, EngineName, Heuristics
from ..core.batch import PairBatch
from ..engines.choice import serves
from ..errors import DeviceError, InternalError
from .energy import Meter
from .engine import Answers, Engine
from .spread import Spread
from .work import Work, bases, cells, pairs_in_memory

_EXACT = Heuristics()
NO_TIME = "no time left"  # reason for a missing row
_MAX_REPEATED = 20.0  # seconds; longer runs are not repeated
_MIN_TOTAL, _MAX_ROUNDS = 0.2, 10  # minimum total seconds of the repeats; repeated up to this many times as often


@dataclass(frozen=True)
class Setting:
    """Engine and number of threads."""

    engine: EngineName
    threads: int

    @property
    def name(self) -> str:
        """Name in tables."""
        return "gpu" if self.engine is EngineName.GPU else f"cpu × {self.threads}"

    @property
    def batch_bases(self) -> int | None:
        """Bases of a batch of the command; None: it depends on the number of bases."""
        return None if self.engine is EngineName.GPU else CPU_BATCH


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        works: rows of the tables.
        pairs: number of pairs of each row on the CPU and with a GPU; those of the CPU are the first of the GPU's.
        specs: tasks, without heuristics.
        heuristics: measured in addition to the exact engine, if any.
        settings: engines.
        repeats: number of timed runs after one warm-up run; short runs are repeated more often.
        threads: number of threads that simulate pairs.
        gpu_memory: as in --gpu-memory.
        end: value of time.monotonic() after which no further run starts.
    """

    works: Sequence[Work]
    pairs: Callable[[Work, EngineName], int]
    specs: Sequence[AlignSpec]
    heuristics: Heuristics
    settings: Sequence[Setting]
    repeats: int
    threads: int
    gpu_memory: float | None = None
    end: float = math.inf

    @property
    def size(self) -> int:
        """Number of rows of the result."""
        return len(self.works) * len(self.specs) * len(self.settings) * (2 if self.heuristics else 1)


@dataclass
class Row:
    """One row of the result.

    Attributes:
        work, spec, setting: pairs, task and engine.
        pairs, bases, cells: totals of the work; cells of the full matrices.
        spread: seconds of the repeats.
        kernels: pairs of one run, by the kernel that aligned them.
        recall: with heuristics, the share of pairs that have the exact score.
        joules: energy of one run; None if it was not measured.
    """

    work: Work
    spec: AlignSpec
    setting: Setting
    pairs: int
    bases: int
    cells: int
    spread: Spread
    kernels: dict[str, int] = field(default_factory=dict)
    recall: float | None = None
    joules: float | None = None

    @property
    def task(self) -> str:
        """Name in tables, for example affine CIGAR."""
        return task_name(self.spec)

    @property
    def heuristic(self) -> str:
        """Heuristics in words; "" for none."""
        return heuristic_name(self.spec.heuristics)


def task_name(spec: AlignSpec) -> str:
    """Return metric and kind of result, for example affine CIGAR or edit score."""
    return f"{spec.metric} {'score' if spec.score_only else 'CIGAR'}"


def heuristic_name(heuristics: Heuristics) -> str:
    """Return heuristics as they are written as options; "" for none."""
    band = f"{heuristics.band},{heuristics.band_step}" if heuristics.band_step else str(heuristics.band or "")
    parts = {"band": band, "xdrop": str(heuristics.xdrop or ""), "zdrop": str(heuristics.zdrop or "")}
    return " ".join(f"{name} {value}" for name, value in parts.items() if value)


class WorkProgress:
    """Measurement of one work in progress.

    Attributes:
        answers: results of the warm-up run.
        seconds: times of the repeats so far.
        kernels: pairs by the kernel that aligned them.
    """

    def __init__(self, work: Work, batches: list[PairBatch]) -> None:
        self.work, self.batches = work, batches
        self.answers: Answers
        self.seconds: list[float] = []
        self.kernels: dict[str, int] = {}

    def warm_up(self, engine: Engine) -> None:
        """Run once without timing and verify every path. Raises InternalError."""
        before = engine.kernels()
        self.batches = engine.pinned_batches(self.batches)
        self.answers = engine.run(self.batches, check=True)
        counts = {name: count - before.get(name, 0) for name, count in engine.kernels().items()}
        self.kernels = {name: count for name, count in counts.items() if count}

    def repeat(self, engine: Engine) -> bool:
        """Run and time once more; return True if the results are those of the warm-up run."""
        again = engine.run(self.batches)
        self.seconds.append(again.seconds)
        return bool(again.same_as(self.answers).all())


class Session:
    """One measurement.

    Attributes:
        engines: description of each setting's engine, by Setting.name.
        left_out: omitted rows, and the reasons.
    """

    def __init__(self, plan: Plan, meter: Meter | None = None, tell: Callable[[str], None] | None = None) -> None:
        """Take the plan; `meter` measures a GPU's energy, `tell` is called with a line for unusual events."""
        self.plan = plan
        self.engines: dict[str, Any] = {}
        self.left_out: dict[str, str] = {}
        self._meter, self._tell = meter, tell
        self._pairs: dict[tuple[Work, int, int | None], list[PairBatch]] = {}
        self._exact: dict[tuple[Work, AlignSpec], Answers] = {}

    def rows(self) -> Iterator[Row]:
        """Yield rows as they are measured: an engine is opened for one task at a time and runs all works.

        Raises:
            DeviceError: there is no working GPU, or it failed during the measurement.
            InternalError: a path is wrong, or exact engines disagree.
        """
        settings = list(self.plan.settings)
        if self.plan.end < math.inf:
            settings.sort(key=lambda setting: setting.engine is not EngineName.GPU)  # the GPU finishes first
        for spec in self.plan.specs:
            for setting in settings:
                for heuristics in dict.fromkeys((_EXACT, self.plan.heuristics)):
                    task_spec = dataclasses.replace(spec, heuristics=heuristics)
                    what = f"{setting.name}, {task_name(task_spec)} {heuristic_name(heuristics)}".rstrip()
                    if setting.engine is EngineName.GPU and not serves(task_spec):
                        self.left_out[what] = "the GPU's kernels do not compute this"
                        continue
                    if self._time_is_over():
                        self.left_out[what] = NO_TIME
                        continue
                    yield from self._rows_of(task_spec, setting)

    def _rows_of(self, spec: AlignSpec, setting: Setting) -> Iterator[Row]:
        engine = Engine(spec, setting.threads, setting.engine, self.plan.gpu_memory, self._tell)
        try:
            # On the CPU, works are interleaved, so that a temporary disturbance does not affect all repeats of a row.
            # On a GPU, bases are in page-locked memory, which all works together would fill.
            works = list(self.plan.works)
            for some in [[work] for work in works] if setting.engine is EngineName.GPU else [works]:
                if self._time_is_over():
                    self.left_out[f"{setting.name}, {task_name(spec)}, {some[0].name}"] = NO_TIME
                    continue
                yield from self._interleaved(
                    engine, [WorkProgress(w, self._pairs_for(w, setting)) for w in some], spec, setting
                )
            self.engines[setting.name] = engine.describe()
            if failure := self.engines[setting.name].get("failure"):
                raise DeviceError(f"the GPU failed, and the CPU aligned the rest: {failure}")
        finally:
            engine.close()

    def _interleaved(
        self, engine: Engine, rows: list[WorkProgress], spec: AlignSpec, setting: Setting
    ) -> Iterator[Row]:
        """Warm up all works, repeat them in turn, and compare their results."""
        for one in rows:
            one.warm_up(engine)
        while due := [one for one in rows if self._more(one.seconds)]:
            for one in due:
                if not one.repeat(engine):
                    name = f"{one.work.name}, {task_name(spec)}"
                    raise InternalError(f"{name}: scores change from run to run; please report it")
        for one in rows:
            row = Row(one.work, spec, setting, len(one.answers.score), bases(one.batches), cells(one.batches),
                      Spread(one.seconds), one.kernels)  # fmt: skip
            self._judge(row, one.answers)
            if self._meter and setting.engine is EngineName.GPU:
                row.joules = self._meter.of(lambda one=one: engine.run(one.batches).seconds)  # type: ignore[misc]
            yield row

    def _more(self, seconds: Sequence[float]) -> bool:
        """Return True if a row with these times needs another repeat."""
        if max(seconds, default=0.0) > _MAX_REPEATED:
            return False
        if self._time_is_over():
            return not seconds
        wanted = self.plan.repeats
        return len(seconds) < wanted or (len(seconds) < _MAX_ROUNDS * wanted and sum(seconds) < _MIN_TOTAL)

    def _time_is_over(self) -> bool:
        return time.monotonic() > self.plan.end

    def _pairs_for(self, work: Work, setting: Setting) -> list[PairBatch]:
        count = self.plan.pairs(work, setting.engine)
        key = work, count, setting.batch_bases
        if key not in self._pairs:
            self._pairs[key] = pairs_in_memory(work, count, setting.batch_bases, self.plan.threads)
        return self._pairs[key]

    def _judge(self, row: Row, answers: Answers) -> None:
        """Compare with the results of the first exact engine, for the pairs that both have."""
        key = row.work, dataclasses.replace(row.spec, heuristics=_EXACT, score_only=False)
        exact = self._exact.get(key)
        if exact is None or (len(exact.score) < len(answers.score) and not row.spec.heuristics):
            self._exact[key] = answers
        if exact is None:
            return
        some = min(len(exact.score), len(answers.score))
        same = _head(answers, some).same_as(_head(exact, some))
        if row.spec.heuristics:
            row.recall = float(np.count_nonzero(same) / some) if some else None
            return
        if not same.all():
            raise InternalError(
                f"{row.work.name}, {row.task}: {row.setting.name} has other scores for {np.count_nonzero(~same):,} "
                "pairs than the engine before it; please report it"
            )


def _head(answers: Answers, count: int) -> Answers:
    return Answers(answers.seconds, answers.score[:count], answers.aligned[:count])

"""`wfacli distance`: options to a run, and its end to a result."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from .. import __version__
from ..config import Ambiguous, EngineName, Format
from ..cores import usable_cores
from ..distance.card import CardOnDemand, any_card
from ..distance.checkpoint import Checkpoint, Identity, Saved
from ..distance.choose import Choice, Means
from ..distance.deliver import Delivery, Form, form_of
from ..distance.inputs import Inputs, Unit, read_lines, read_sequences, read_texts
from ..distance.path import PathOptions
from ..distance.result import as_history, as_values
from ..distance.run import DistanceRun, Outcome, Watchers
from ..dotplot import format_of
from ..errors import Cancelled, UsageError
from ..io.output import Output
from ..run import same_file
from ..stats import Stats, peak_memory, versions
from .console import note, warning
from .distance_options import (
    AArgument,
    AlgorithmName,
    AlgorithmOption,
    AmbiguousOption,
    BArgument,
    CheckpointEveryOption,
    CheckpointOption,
    EngineOption,
    FormatOption,
    JsonOption,
    LinesOption,
    MaxDistanceOption,
    NameAOption,
    NameBOption,
    OutputOption,
    PathOption,
    PlotOption,
    ProgressOption,
    QuietOption,
    ResumeOption,
    StatsOption,
    TextOption,
    ThreadsOption,
    VerboseOption,
)
from .distance_report import in_words
from .options import DebugOption
from .progress import shown_distance

_EVERY = 120.0  # seconds
_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|min)?")
_UNITS = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def distance(
    a: AArgument,
    b: BArgument,
    name_a: NameAOption = None,
    name_b: NameBOption = None,
    text: TextOption = False,
    lines: LinesOption = False,
    ambiguous: AmbiguousOption = Ambiguous.LITERAL,
    max_distance: MaxDistanceOption = None,
    as_json: JsonOption = False,
    path: PathOption = False,
    output: OutputOption = None,
    format_: FormatOption = None,
    plot: PlotOption = None,
    checkpoint: CheckpointOption = None,
    checkpoint_every: CheckpointEveryOption = None,
    resume: ResumeOption = False,
    engine: EngineOption = EngineName.AUTO,
    algorithm: AlgorithmOption = AlgorithmName.AUTO,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    debug: DebugOption = False,
) -> None:
    """Computes the distance of A and B; the help is distance_options.DISTANCE_HELP."""
    if text and lines:
        raise UsageError("--text and --lines do not go together")
    if (text or lines) and (name_a is not None or name_b is not None or ambiguous is not Ambiguous.LITERAL):
        raise UsageError("--name-a, --name-b and --ambiguous are for sequences, not for --text and --lines")
    if format_ is not None and not path:
        raise UsageError("--format says how --path writes; give --path")
    if path and as_json and output in (None, "-"):
        raise UsageError("--json and the alignment cannot both go to standard output: give -o")
    unit = Unit.BYTES if text else Unit.LINES if lines else Unit.LETTERS
    if plot is not None:
        format_of(plot)
    with _card(engine, quiet) as card:
        order = _Order(
            paths=(a, b),
            names=(name_a, name_b),
            unit=unit,
            rule=ambiguous,
            most=max_distance,
            as_json=as_json,
            form=form_of(output, format_, unit) if path else None,
            plot=plot,
            output=output,
            stats=stats,
            checkpoint=checkpoint,
            every=_seconds_of(checkpoint_every, checkpoint),
            resume=_resumed(resume, checkpoint),
            choice=Choice(
                Means(threads or usable_cores(), card),
                engine,
                None if algorithm is AlgorithmName.AUTO else algorithm.value,
            ),
            quiet=quiet,
            verbose=verbose and not quiet,
            bar=progress,
        )
        order.refuse_overwriting()
        _Command(order).run()


@contextlib.contextmanager
def _card(engine: EngineName, quiet: bool) -> Iterator[CardOnDemand | None]:
    """A card to be opened, unless the engine's name excludes it; it is given back in the end."""
    if engine is EngineName.CPU:
        yield None
        return
    with contextlib.closing(any_card(_nothing if quiet else note)) as card:
        yield card


@dataclass(frozen=True)
class _Order:
    """What the command line asks for."""

    paths: tuple[str, str]
    names: tuple[str | None, str | None]
    unit: Unit
    rule: Ambiguous
    most: int | None
    as_json: bool
    form: Form | None
    plot: str | None
    output: str | None
    stats: str | None
    checkpoint: str | None
    every: float
    resume: bool
    choice: Choice
    quiet: bool
    verbose: bool
    bar: bool | None

    def refuse_overwriting(self) -> None:
        """Raises UsageError where something would be written over something else."""
        written = {
            "--output": self.output,
            "--stats": self.stats,
            "--checkpoint": self.checkpoint,
            "--plot": self.plot,
        }
        named = [(option, file) for option, file in written.items() if file is not None]
        for option, file in named:
            if any(path != "-" and same_file(path, file) for path in self.paths):
                raise UsageError(f"{file} is an input; writing to it would destroy it")
            others = [other for name, other in named if name != option]
            if any(same_file(file, other) for other in others):
                raise UsageError(f"{file} is named twice to be written to")
        if self.stats == "-" and self.output in (None, "-"):
            raise UsageError("--stats and the result cannot both go to standard output")
        if self.checkpoint and not self.resume and Path(self.checkpoint).exists():
            raise UsageError(f"{self.checkpoint} exists: give --resume to go on from it, or remove it")

    def read(self) -> Inputs:
        """Reads what is compared."""
        if self.unit is Unit.BYTES:
            return read_texts(self.paths)
        if self.unit is Unit.LINES:
            return read_lines(self.paths)
        return read_sequences(self.paths, self.names, self.rule, self.form in (Form.SAM, Form.BAM))


class _Command:
    """One run, from reading to writing."""

    def __init__(self, order: _Order) -> None:
        self._order = order
        self._threads = order.choice.means.threads
        self._stats = Stats()
        self._stop = _Stop()
        self._found: dict[str, Any] = {}
        self._checkpoint: Checkpoint | None = None
        self._picture: Output | None = None  # until it is drawn

    def run(self) -> None:
        """Does all of it; what is written gets its name at the end."""
        order = self._order
        report, complete = Output(order.stats) if order.stats else None, False
        opened = [report] if report else []
        try:
            out = Output(order.output)
            opened.append(out)
            self._picture = Output(order.plot) if order.plot else None
        except BaseException:
            for one in opened:
                one.abandon()
            raise
        try:
            self._compute(out)
            out.finish()
            complete = True
        except BaseException:
            out.abandon()
            if self._picture:
                self._picture.abandon()
            raise
        finally:
            if report:
                self._report(report, complete)
        if self._checkpoint:
            self._checkpoint.remove()

    def _compute(self, out: Output) -> None:
        order, tell = self._order, note if self._order.verbose else _nothing
        with self._stats.timed("read"):
            inputs = order.read()
        saved = None
        if order.checkpoint:
            with self._stats.timed("checkpoint"):
                self._checkpoint = Checkpoint(order.checkpoint, Identity.of(inputs.pair, order.most))
                saved = self._saved(self._checkpoint)
        with self._stats.timed("estimate"):
            estimate = None if saved else inputs.estimate()
        watchers = Watchers(tell, _nothing if order.quiet else warning, lambda: self._stop.asked)
        run = DistanceRun(inputs.pair, order.most, order.choice, estimate, watchers, self._checkpoint, order.every)
        path: dict[str, Any] | None = None
        with (
            self._stop.between_slices(self._stopped_words()),
            shown_distance(lambda: run.progress, order.bar, order.quiet),
        ):
            with self._stats.timed("distance"):
                outcome = run.run(saved)
            self._found = as_values(inputs, outcome, order.most, self._threads) | {"history": as_history(outcome)}
            if order.form or self._picture:
                run.keep(outcome)
                path = self._align(inputs, outcome.distance, out)
                self._picture = None
        self._write(inputs, outcome, path, out)

    def _saved(self, checkpoint: Checkpoint) -> Saved | None:
        if not self._order.resume:
            return None
        if not checkpoint.exists():
            if not self._order.quiet:
                note(f"there is no checkpoint {checkpoint.path} yet: starting from the beginning")
            return None
        return checkpoint.read()

    def _stopped_words(self) -> str:
        if self._order.quiet or not self._order.checkpoint:
            return ""
        return f"stopped; the same command with --resume goes on from {self._order.checkpoint}"

    def _align(self, inputs: Inputs, distance: int | None, out: Output) -> dict[str, Any] | None:
        command = shlex.join(["wfacli", *sys.argv[1:]])
        card = self._order.choice.means.card
        options = PathOptions(Format.PAF, self._order.rule, self._threads, __version__, command, card)
        begun = time.perf_counter()
        with self._stats.timed("path"):
            delivery = Delivery(self._order.form, out, self._picture, options, lambda: self._stop.asked)
            sums = delivery.deliver(inputs, distance)
        if sums is None:
            return None
        spent = time.perf_counter() - begun
        if sums["card_failed"] and not self._order.quiet:
            warning(f"the CPU made the alignment, since the GPU failed: {sums['card_failed']}")
        form, named = self._order.form, self._order.output not in (None, "-")
        file = self._order.output if form and named else None
        counts = {name: int(sums[name]) for name in ("matches", "mismatches", "inserted", "deleted", "gaps")}
        how = {"by": sums["by"], "card_failed": sums["card_failed"], "seconds": round(spent, 6)}
        return {"file": file, "format": form and form.value, "plot": self._order.plot, **how, **counts}

    def _write(self, inputs: Inputs, outcome: Outcome, path: dict[str, Any] | None, out: Output) -> None:
        order = self._order
        if path:
            self._found["alignment"] = path
        if order.as_json:
            values = {"wfacli": __version__, **self._found}
            words = json.dumps(values, indent=2) + "\n"
        else:
            words = in_words(inputs, outcome, order.most, self._threads, path)
        # Where the alignment has the standard output, the result goes beside it.
        if order.form and order.output in (None, "-"):
            if not order.quiet:
                sys.stderr.write(words)
        else:
            (Output(None) if order.form else out).write(words.encode(errors="surrogateescape"))

    def _report(self, report: Output, complete: bool) -> None:
        values = {
            "complete": complete,
            "versions": versions(__version__),
            "command_line": shlex.join(["wfacli", *sys.argv[1:]]),
            **self._found,
            "wall_seconds": round(self._stats.wall, 6),
            "stage_seconds": {stage: round(s, 6) for stage, s in sorted(self._stats.seconds.items())},
            "peak_memory_bytes": peak_memory(),
        }
        report.write(json.dumps(values, indent=2).encode() + b"\n")
        report.finish()


class _Stop:
    """Signals that wait until a slice is over, so that nothing is left half done.

    Attributes:
        asked: whether one has come.
    """

    def __init__(self) -> None:
        self._caught: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether a signal has come."""
        return self._caught is not None

    @contextlib.contextmanager
    def between_slices(self, words: str) -> Iterator[None]:
        """Holds SIGINT and SIGTERM back while the block runs: where it is Cancelled for one, that takes effect then.

        A second one does at once; one that comes when all is done already changes nothing.
        """
        self._before = {number: signal.signal(number, self._catch) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except Cancelled:
            self._restore()
            if words:
                note(words)
            if self._caught is not None:
                signal.raise_signal(self._caught)
            raise
        finally:
            self._restore()

    def _catch(self, number: int, _frame: FrameType | None) -> None:
        if self._caught is not None:
            self._restore()
            signal.raise_signal(number)
        self._caught = number

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _nothing(_: str) -> None:
    pass


def _seconds_of(every: str | None, checkpoint: str | None) -> float:
    if every is None:
        return _EVERY
    if checkpoint is None:
        raise UsageError("--checkpoint-every belongs to --checkpoint FILE")
    found = _TIME.fullmatch(every.strip().lower())
    if not found or not float(found[1]):
        raise UsageError(f"--checkpoint-every takes a time like 30s, 5m or 1h, not {every!r}")
    return float(found[1]) * _UNITS[found[2]]


def _resumed(resume: bool, checkpoint: str | None) -> bool:
    if resume and checkpoint is None:
        raise UsageError("--resume goes on from a checkpoint: give --checkpoint FILE too")
    return resume

"""`wfacli distance`: turns options into a run, and writes its result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..config import Ambiguous, EngineName, Format
from ..core.cores import usable_cores
from ..dotplot import format_of
from ..errors import UsageError
from ..io.write.output import Output
from ..solve.checkpoint import Checkpoint, Identity
from ..solve.distance.algorithm import Resources
from ..solve.distance.choose import AlgorithmChoice
from ..solve.distance.deliver import Delivery, Form, form_of
from ..solve.distance.inputs import Inputs, Unit, read_lines, read_sequences, read_texts
from ..solve.distance.path import PathOptions, check_names
from ..solve.distance.result import as_history, as_values
from ..solve.distance.run import DistanceRun
from .console import warning
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
from .distance_report import as_text, progress_line
from .long_run import LongCommand, LongOrder, command_line, gpu_for, resumed, seconds_of
from .options import DebugOption, MaxLineOption
from .progress import shown_long


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
    max_line: MaxLineOption = "16M",
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
        raise UsageError("--format is the format of --path: give --path")
    if path and as_json and output in (None, "-"):
        raise UsageError("--json and the alignment cannot both go to standard output: give -o")
    unit = Unit.BYTES if text else Unit.LINES if lines else Unit.SYMBOLS
    if plot is not None:
        format_of(plot)
    with gpu_for(engine, quiet) as gpu:
        order = _Order(
            paths=(a, b),
            names=(name_a, name_b),
            unit=unit,
            rule=ambiguous,
            max_distance=max_distance,
            as_json=as_json,
            form=form_of(output, format_, unit) if path else None,
            plot=plot,
            output=output,
            stats=stats,
            checkpoint=checkpoint,
            interval=seconds_of(checkpoint_every, checkpoint),
            resume=resumed(resume, checkpoint),
            choice=AlgorithmChoice(
                Resources(threads or usable_cores(), gpu),
                engine,
                None if algorithm is AlgorithmName.AUTO else algorithm.value,
            ),
            quiet=quiet,
            verbose=verbose and not quiet,
            bar=progress,
        )
        order.refuse_overwriting()
        _Command(order).run()


@dataclass(frozen=True)
class _Order(LongOrder):
    """Options of the command line."""

    names: tuple[str | None, str | None]
    unit: Unit
    rule: Ambiguous
    max_distance: int | None
    as_json: bool
    form: Form | None
    choice: AlgorithmChoice

    def read(self) -> Inputs:
        """Read both inputs."""
        if self.unit is Unit.BYTES:
            return read_texts(self.paths)
        if self.unit is Unit.LINES:
            return read_lines(self.paths)
        return read_sequences(self.paths, self.names, self.rule, self.form in (Form.SAM, Form.BAM))


class _Command(LongCommand):
    """Execution of `wfacli distance`."""

    def __init__(self, order: _Order) -> None:
        super().__init__(order)
        self._order = order
        self._threads = order.choice.resources.threads

    def _compute(self, out: Output) -> None:
        order = self._order
        with self._stats.timed("read"):
            inputs = order.read()
        if order.form in (Form.SAM, Form.BAM):
            check_names(inputs)  # fails before the long computation
        saved = None
        if order.checkpoint:
            with self._stats.timed("checkpoint"):
                self._checkpoint = Checkpoint(order.checkpoint, Identity.of(inputs.pair, order.max_distance))
                saved = self._saved(self._checkpoint)
        with self._stats.timed("estimate"):
            estimate = None if saved else inputs.estimate()
        run = DistanceRun(
            inputs.pair, order.max_distance, order.choice, estimate, self._watchers, self._checkpoint, order.interval
        )
        path: dict[str, Any] | None = None
        with (
            self._stop.between_slices(self._stop_message()),
            shown_long(lambda: progress_line(run.progress), order.bar, order.quiet),
        ):
            with self._stats.timed("distance"):
                outcome = run.run(saved)
            self._found = as_values(inputs, outcome, order.max_distance, self._threads) | {
                "history": as_history(outcome)
            }
            if order.form or self._picture:
                run.save_distance(outcome)
                path = self._align(inputs, outcome.distance, out)
                self._picture = None
        if path:
            self._found["alignment"] = path
        words = None if order.as_json else as_text(inputs, outcome, order.max_distance, self._threads, path)
        self._write(words, out, records=order.form is not None)

    def _align(self, inputs: Inputs, distance: int | None, out: Output) -> dict[str, Any] | None:
        gpu = self._order.choice.resources.gpu
        options = PathOptions(Format.PAF, self._order.rule, self._threads, __version__, command_line(), gpu)
        begun = time.perf_counter()
        with self._stats.timed("path"):
            delivery = Delivery(self._order.form, out, self._picture, options, lambda: self._stop.requested)
            alignment = delivery.deliver(inputs, distance)
        if alignment is None:
            return None
        spent = time.perf_counter() - begun
        if alignment["card_failed"] and not self._order.quiet:
            warning(f"the GPU failed, and the CPU computed the alignment: {alignment['card_failed']}")
        form, named = self._order.form, self._order.output not in (None, "-")
        file = self._order.output if form and named else None
        counts = {name: int(alignment[name]) for name in ("matches", "mismatches", "inserted", "deleted", "gaps")}
        how = {"by": alignment["by"], "card_failed": alignment["card_failed"], "seconds": round(spent, 6)}
        return {"file": file, "format": form and form.value, "plot": self._order.plot, **how, **counts}

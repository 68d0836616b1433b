"""`wfacli distance`: turns options into a run, and writes its result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..config import Ambiguous, Format
from ..core.cores import usable_cores
from ..errors import UsageError
from ..io.write.output import Output
from ..solve.checkpoint import Identity
from ..solve.distance.algorithm import Resources
from ..solve.distance.choose import AlgorithmChoice
from ..solve.distance.deliver import Delivery, Form, form_of
from ..solve.distance.inputs import Inputs, Unit, read_lines, read_sequences, read_texts
from ..solve.distance.path import PathOptions, check_names
from ..solve.distance.result import as_history, as_values
from ..solve.distance.run import DistanceRun
from .console import warning
from .distance_options import AlgorithmName, DistanceEngine, DistanceOutput, DistancePair
from .distance_report import as_text, progress_line
from .groups import grouped
from .long_options import Checkpoints, LongReporting
from .long_run import LongCommand, LongOrder, gpu_for
from .options import DebugOption, MaxLineOption, command_line
from .pictures import picture_format
from .progress import shown_long


@grouped
def distance(
    *,
    pair: DistancePair,
    wanted: DistanceOutput,
    checkpoints: Checkpoints,
    engine: DistanceEngine,
    max_line: MaxLineOption = "16M",
    reporting: LongReporting,
    debug: DebugOption = False,
) -> None:
    """Computes the distance of QUERY and TARGET; the help is distance_options.DISTANCE_HELP."""
    if pair.text and pair.lines:
        raise UsageError("--text and --lines cannot be used together")
    named = pair.query_name is not None or pair.target_name is not None
    if (pair.text or pair.lines) and (named or pair.ambiguous is not Ambiguous.LITERAL):
        raise UsageError("--query-name, --target-name and --ambiguous are for sequences, not for --text and --lines")
    if wanted.format_ is not None and not wanted.path:
        raise UsageError("--format is the format of --path: give --path")
    if wanted.path and wanted.as_json and wanted.output in (None, "-"):
        raise UsageError("--json and the alignment cannot both go to standard output: give -o")
    unit = Unit.BYTES if pair.text else Unit.LINES if pair.lines else Unit.SYMBOLS
    if wanted.plot is not None:
        picture_format(wanted.plot)
    with gpu_for(engine.engine, reporting.quiet) as gpu:
        order = _Order(
            pair=pair,
            unit=unit,
            rule=pair.ambiguous,
            max_distance=wanted.max_distance,
            as_json=wanted.as_json,
            form=form_of(wanted.output, wanted.format_, unit) if wanted.path else None,
            plot=wanted.plot,
            output=wanted.output,
            checkpoints=checkpoints,
            interval=checkpoints.interval(),
            choice=AlgorithmChoice(
                Resources(engine.threads or usable_cores(), gpu),
                engine.engine,
                None if engine.algorithm is AlgorithmName.AUTO else engine.algorithm.value,
            ),
            reporting=reporting,
        )
        order.refuse_overwriting()
        _Command(order).run()


@dataclass(frozen=True)
class _Order(LongOrder):
    """Options of the command line."""

    unit: Unit
    rule: Ambiguous
    max_distance: int | None
    as_json: bool
    form: Form | None
    choice: AlgorithmChoice

    def read(self) -> Inputs:
        """Read both inputs."""
        paths, names = (self.pair.a, self.pair.b), (self.pair.query_name, self.pair.target_name)
        if self.unit is Unit.BYTES:
            return read_texts(paths)
        if self.unit is Unit.LINES:
            return read_lines(paths)
        return read_sequences(paths, names, self.rule, self.form in (Form.SAM, Form.BAM))


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
        saved = self._opened_checkpoint(lambda: Identity.of(inputs.pair, order.max_distance))
        with self._stats.timed("estimate"):
            estimate = None if saved else inputs.estimate()
        run = DistanceRun(
            inputs.pair, order.max_distance, order.choice, estimate, self._watchers, self._checkpoint, order.interval
        )
        path: dict[str, Any] | None = None
        with (
            self._stop.between_slices(self._stop_message()),
            shown_long(lambda: progress_line(run.progress), order.reporting.progress, order.reporting.quiet),
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
        if alignment["gpu_failed"] and not self._order.reporting.quiet:
            warning(f"the GPU failed, and the CPU computed the alignment: {alignment['gpu_failed']}")
        form, named = self._order.form, self._order.output not in (None, "-")
        file = self._order.output if form and named else None
        counts = {name: int(alignment[name]) for name in ("matches", "mismatches", "inserted", "deleted", "gaps")}
        how = {"by": alignment["by"], "gpu_failed": alignment["gpu_failed"], "seconds": round(spent, 6)}
        return {"file": file, "format": form and form.value, "plot": self._order.plot, **how, **counts}

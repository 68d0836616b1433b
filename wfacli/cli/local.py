"""`wfacli local`: turns options into a run, and writes its alignments and result."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from .. import __version__
from ..config import Ambiguous, EngineName
from ..core.cores import usable_cores
from ..dotplot.draw import write as write_picture
from ..dotplot.paths import Block
from ..dotplot.picture import default_size, format_of, picture_of
from ..dotplot.sequences import Axis
from ..errors import UsageError
from ..io.write.output import Output, refuse_overwriting
from ..scoring.scheme import Scheme
from ..solve.base import Pair
from ..solve.checkpoint import Checkpoint, Identity
from ..solve.distance.deliver import Form, choose_form
from ..solve.distance.inputs import Inputs
from ..solve.distance.path import check_names
from ..solve.local.inputs import codes_of, read_pair
from ..solve.local.result import as_values
from ..solve.local.run import LocalRun, Outcome
from ..solve.local.searches import OnCpu, OnGpu, Searches
from ..solve.local.task import Task
from ..solve.local.writing import FORMS, write_alignments
from .console import note
from .distance_options import (
    AArgument,
    BArgument,
    CheckpointEveryOption,
    CheckpointOption,
    JsonOption,
    NameAOption,
    NameBOption,
    PlotOption,
    ProgressOption,
    QuietOption,
    ResumeOption,
    StatsOption,
    ThreadsOption,
    VerboseOption,
)
from .extend import scheme_of
from .extend_options import GapsOption, MatrixOption, NScoreOption, ScoresOption
from .local_options import (
    LocalAmbiguousOption,
    LocalEngineOption,
    LocalFormatOption,
    LocalOutputOption,
    LocalScoreOnlyOption,
    RowMemoryOption,
    TopOption,
)
from .local_report import as_text, progress_line
from .long_run import LongCommand, LongOrder, command_line, gpu_for, resumed, seconds_of
from .options import DebugOption, MaxLineOption
from .progress import shown_long
from .scoring import bytes_of

_MIN_MEMORY = 1 << 20


def local(
    a: AArgument,
    b: BArgument,
    name_a: NameAOption = None,
    name_b: NameBOption = None,
    scores: ScoresOption = None,
    matrix: MatrixOption = None,
    gaps: GapsOption = None,
    ambiguous: LocalAmbiguousOption = Ambiguous.MISMATCH,
    n_score: NScoreOption = None,
    top: TopOption = 1,
    score_only: LocalScoreOnlyOption = False,
    output: LocalOutputOption = None,
    format_: LocalFormatOption = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
    checkpoint: CheckpointOption = None,
    checkpoint_every: CheckpointEveryOption = None,
    resume: ResumeOption = False,
    engine: LocalEngineOption = EngineName.AUTO,
    threads: ThreadsOption = None,
    max_memory: RowMemoryOption = "1G",
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    debug: DebugOption = False,
) -> None:
    """Finds the best local alignments of A and B; the help is local_options.LOCAL_HELP."""
    if plot is not None:
        format_of(plot)
    if score_only and (format_ is not None or plot is not None or top > 1):
        raise UsageError("--score-only writes no alignments: --format, --plot and --top do not go with it")
    if as_json and not score_only and output in (None, "-"):
        raise UsageError("--json and the alignments cannot both go to standard output: give -o")
    memory = bytes_of("--max-memory", max_memory)
    if memory < _MIN_MEMORY:
        raise UsageError(f"--max-memory is {max_memory}; it must be 1M at least")
    refuse_overwriting((matrix,), (output, stats, checkpoint, plot))
    scheme = scheme_of(scores, matrix, gaps, ambiguous, n_score)
    scheme.require_positive("local")
    order = _Order(
        paths=(a, b),
        names=(name_a, name_b),
        scheme=scheme,
        protein=matrix is not None,
        top=top,
        as_json=as_json,
        form=None
        if score_only
        else choose_form(FORMS, output, format_, "wfacli local …", "local alignments are written"),
        output=output,
        plot=plot,
        stats=stats,
        checkpoint=checkpoint,
        interval=seconds_of(checkpoint_every, checkpoint),
        resume=resumed(resume, checkpoint),
        threads=threads or usable_cores(),
        memory=memory,
        quiet=quiet,
        verbose=verbose and not quiet,
        bar=progress,
    )
    order.refuse_overwriting()
    with gpu_for(engine, quiet) as gpu:
        searches: Searches = OnCpu()
        if gpu is not None:
            gpu_requested = engine is EngineName.GPU
            if gpu_requested:
                gpu.driver()  # raises DeviceError
            searches = OnGpu(gpu, gpu_requested, _ignore if quiet else note)
        _Command(order, searches).run()


def _ignore(_: str) -> None:
    pass


@dataclass(frozen=True)
class _Order(LongOrder):
    """Options of the command line."""

    names: tuple[str | None, str | None]
    scheme: Scheme
    protein: bool
    top: int
    as_json: bool
    form: Form | None
    threads: int
    memory: int

    def identity(self, pair: Pair) -> Identity:
        """Return the identity of the run for checkpoints."""
        kind = "--score-only" if self.form is None else f"--max-memory {self.memory}"
        options = f"{self.scheme.name} with gaps {self.scheme.open},{self.scheme.extend}, {kind}"
        return dataclasses.replace(Identity.of(pair, None), command="local", options=options)


class _Command(LongCommand):
    """Execution of `wfacli local`."""

    def __init__(self, order: _Order, searches: Searches) -> None:
        super().__init__(order)
        self._order, self._searches = order, searches

    def _compute(self, out: Output) -> None:
        order = self._order
        with self._stats.timed("read"):
            inputs = read_pair(order.paths, order.names)
            query, target = codes_of(inputs, order.scheme)
        if order.form in (Form.SAM, Form.BAM):
            check_names(inputs)  # fails before the long computation
        task = Task(query, target, order.scheme, order.top, order.form is None, order.threads, order.memory)
        saved = None
        if order.checkpoint:
            with self._stats.timed("checkpoint"):
                self._checkpoint = Checkpoint(order.checkpoint, order.identity(Pair(query, target, False)))
                saved = self._saved(self._checkpoint)
        run = LocalRun(task, self._watchers, self._checkpoint, order.interval, self._searches)
        with (
            self._stop.between_slices(self._stop_message()),
            shown_long(lambda: progress_line(run.progress), order.bar, order.quiet),
            self._stats.timed("local"),
        ):
            outcome = run.run(saved)
        history = {"resumed": outcome.resumed, "checkpoints": outcome.checkpoints}
        self._found = as_values(inputs, outcome, task) | {"history": history}
        if order.form:
            with self._stats.timed("format"):
                write_alignments(inputs, outcome.found, order.form, __version__, command_line(), out)
        if self._picture:
            with self._stats.timed("plot"):
                self._draw(inputs, outcome, self._picture)
            self._picture = None
        words = None if order.as_json else as_text(inputs, outcome, task)
        self._write(words, out, records=order.form is not None)

    def _draw(self, inputs: Inputs, outcome: Outcome, into: Output) -> None:
        axes = Axis.of(inputs.pair.query, inputs.a.name), Axis.of(inputs.pair.target, inputs.b.name)
        blocks = [Block(found.span[:2], found.span[2:], cigar=found.cigar) for found in outcome.found]
        format_ = format_of(into.name)
        picture = picture_of(*axes, blocks, size=default_size(format_), literal=self._order.protein, path="local")
        write_picture(into, picture, format_)

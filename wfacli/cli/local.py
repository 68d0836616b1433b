"""`wfacli local`: turns options into a run, and writes its alignments and result."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from .. import __version__
from ..config import EngineName
from ..core.cores import usable_cores
from ..dotplot.draw import write as write_picture
from ..dotplot.paths import Block
from ..dotplot.picture import default_size, picture_of
from ..dotplot.sequences import Axis
from ..errors import UsageError
from ..io.write.output import Output, refuse_overwriting
from ..scoring.scheme import Scheme
from ..solve.base import Pair
from ..solve.checkpoint import Identity
from ..solve.distance.deliver import Form, choose_form
from ..solve.distance.inputs import Inputs
from ..solve.distance.path import check_names
from ..solve.local.inputs import are_nucleotides, codes_of, read_pair
from ..solve.local.result import as_values
from ..solve.local.run import LocalRun, Outcome
from ..solve.local.searches import OnCpu, OnGpu, Searches
from ..solve.local.task import Task
from ..solve.local.writing import FORMS, write_alignments
from .console import note, warning
from .extend import scheme_of
from .groups import grouped
from .local_options import LocalEngine, LocalOutput, LocalScores
from .local_report import as_text, progress_line
from .long_options import Checkpoints, LongPair, LongReporting
from .long_run import LongCommand, LongOrder, gpu_for
from .options import DebugOption, MaxLineOption, command_line
from .pictures import picture_format
from .progress import shown_long
from .scoring import bytes_of

_MIN_MEMORY = 1 << 20


@grouped
def local(
    *,
    pair: LongPair,
    scores: LocalScores,
    wanted: LocalOutput,
    checkpoints: Checkpoints,
    engine: LocalEngine,
    max_line: MaxLineOption = "16M",
    reporting: LongReporting,
    debug: DebugOption = False,
) -> None:
    """Finds the best local alignments of QUERY and TARGET; the help is local_options.LOCAL_HELP."""
    score_only, output, plot = wanted.score_only, wanted.output, wanted.plot
    if plot is not None:
        picture_format(plot)
    if score_only and (wanted.format_ is not None or plot is not None or wanted.top > 1):
        raise UsageError("--score-only writes no alignments: --format, --plot and --top cannot be used with it")
    if wanted.as_json and not score_only and output in (None, "-"):
        raise UsageError("--json and the alignments cannot both go to standard output: give -o")
    memory = bytes_of("--max-memory", engine.max_memory)
    if memory < _MIN_MEMORY:
        raise UsageError(f"--max-memory is {engine.max_memory}; the minimum is 1M")
    refuse_overwriting((scores.matrix,), (output, reporting.stats, checkpoints.checkpoint, plot))
    scheme = scheme_of(scores)
    scheme.require_positive("local")
    form = None
    if not score_only:
        form = choose_form(FORMS, output, wanted.format_, "wfacli local …", "local alignments are written")
    order = _Order(
        pair=pair,
        scheme=scheme,
        protein=scores.matrix is not None,
        top=wanted.top,
        as_json=wanted.as_json,
        form=form,
        output=output,
        plot=plot,
        checkpoints=checkpoints,
        interval=checkpoints.interval(),
        threads=engine.threads or usable_cores(),
        memory=memory,
        reporting=reporting,
    )
    order.refuse_overwriting()
    with gpu_for(engine.engine, reporting.quiet) as gpu:
        searches: Searches = OnCpu()
        if gpu is not None:
            gpu_requested = engine.engine is EngineName.GPU
            if gpu_requested:
                gpu.driver()  # raises DeviceError
            searches = OnGpu(gpu, gpu_requested, _ignore if reporting.quiet else note)
        _Command(order, searches).run()


def _ignore(_: str) -> None:
    pass


@dataclass(frozen=True)
class _Order(LongOrder):
    """Options of the command line."""

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
            inputs = read_pair((order.pair.a, order.pair.b), (order.pair.query_name, order.pair.target_name))
            query, target = codes_of(inputs, order.scheme)
        if order.form in (Form.SAM, Form.BAM):
            check_names(inputs)  # fails before the long computation
        if order.scheme.nucleotides_only and not order.reporting.quiet and not are_nucleotides(inputs):
            warning(
                "a sequence contains characters that are not nucleotide codes and match nothing; for proteins give "
                "--matrix BLOSUM62"
            )
        task = Task(query, target, order.scheme, order.top, order.form is None, order.threads, order.memory)
        saved = self._opened_checkpoint(lambda: order.identity(Pair(query, target, False)))
        run = LocalRun(task, self._watchers, self._checkpoint, order.interval, self._searches)
        with (
            self._stop.between_slices(self._stop_message()),
            shown_long(lambda: progress_line(run.progress), order.reporting.progress, order.reporting.quiet),
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
        format_ = picture_format(into.name)
        picture = picture_of(*axes, blocks, size=default_size(format_), literal=self._order.protein, path="local")
        write_picture(into, picture, format_)

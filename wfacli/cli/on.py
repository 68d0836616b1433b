"""`wfacli align --on dask://…` (and `map`, `extend`): plan, shards and merge of a run on a cluster, in one command."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from ..cluster.folder import WorkFolder, default_folder
from ..cluster.run import ClusterRun, Work, Workers
from ..cluster.scheduler import Scheduler, dask_address
from ..config import EngineName
from ..core.stats import counted
from ..errors import InputError, UsageError, WfacliError
from ..io.read.remote import exists, stored_size
from ..io.read.urls import is_url
from ..io.write.output import refuse_overwriting
from ..shards.make import Command, Planning
from ..shards.manifest import Parts, State
from ..shards.merge import Merge, Merged, PartsMissing
from ..shards.plan import Plan
from ..shards.plan_file import PlanFile, read_plan
from ..shards.shard_count import default_shards
from ..shards.survey import Cutting
from .console import note, warning
from .groups import CLUSTER, OUTPUT, grouped
from .options import DebugOption, ProgressOption, QuietOption
from .plan import check_request, tell_plan
from .planned import command_line_of, is_given, request_of
from .progress import shown, shown_long
from .progress_line import ProgressLine, seconds
from .report import unaligned_message
from .requests import Request
from .shard_options import ON_HELP, RETRIES_HELP, SHARDS_HELP, WORK_HELP

_SEEN_WITHIN, _LOOKS_EVERY = 60.0, 1.0  # seconds until a part is visible here that a worker has written
_ROUNDS = 3  # merges, between which damaged parts are made again

CLUSTER_HELP = """Run on a Dask cluster: plan, shards and merge in one command.

The run is given as on one machine, with all its options. Its inputs are cut into shards, which the workers of the \
cluster align, and the output has the bytes that one machine writes. Workers need wfacli of the same version, and \
must see the inputs and the work folder under the same names. If the command ends early, the same command continues.

[bold]Examples[/bold]

  wfacli align reads.fq.gz targets.fa --on dask://host:8786 -o out.bam

  dask scheduler --port 8786 &   # before that, on host

  dask worker host:8786 --nthreads 1 &   # on each machine; with a GPU: --resources GPU=1

  wfacli map ref.fa reads.fq.gz --on dask://host:8786 --work s3://bucket/run1 --sort -o s3://bucket/out.bam
"""


@dataclass(frozen=True)
class OnOptions:
    """The run, and where it is executed."""

    on: Annotated[str, typer.Option("--on", metavar="URL", help=ON_HELP, rich_help_panel=CLUSTER)]
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGUMENTS", show_default=False, help="Arguments and options as on one machine."),
    ] = None
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default="standard output",
            help="Output file, or URL. It gets its name when it is complete.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    work: Annotated[
        str | None,
        typer.Option("--work", metavar="FOLDER", show_default="OUTPUT.work", help=WORK_HELP, rich_help_panel=CLUSTER),
    ] = None
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards",
            metavar="N",
            min=1,
            max=1 << 20,
            show_default="by the cluster and the inputs",
            help=SHARDS_HELP,
            rich_help_panel=CLUSTER,
        ),
    ] = None
    retries: Annotated[
        int, typer.Option("--retries", metavar="N", min=0, max=1000, help=RETRIES_HELP, rich_help_panel=CLUSTER)
    ] = 2


def on_command(command: str) -> Any:
    """Return the function of `wfacli COMMAND --on`, for Typer."""

    @grouped
    def execute_on(
        *,
        options: OnOptions,
        quiet: QuietOption = False,
        progress: ProgressOption = None,
        debug: DebugOption = False,
    ) -> None:
        _OnCluster(command, options, quiet, progress, debug).run()

    return execute_on


class _OnCluster:
    """A run on a cluster."""

    def __init__(self, command: str, options: OnOptions, quiet: bool, progress: bool | None, debug: bool) -> None:
        """Check the options. Raises UsageError."""
        self._command, self._options, self._debug = command, options, debug
        self._quiet, self._progress = quiet, progress
        self._output = None if options.output == "-" else options.output
        self._words = options.words or []
        self._done: set[int] = set()  # shards
        if not self._words:
            raise UsageError(f"what is aligned is missing: wfacli {command} … --on {options.on} -o FILE")
        if options.work is None and self._output is None:
            raise UsageError("--on needs a work folder that all workers see: give -o FILE, or --work FOLDER")
        dask_address(options.on)
        self._line = command_line_of(command, self._words, self._output)
        asked = [*self._words, *(["-o", self._output] if self._output else [])]
        self._request: Request = request_of(command, asked, self._line)
        self._threads = self._request.config.threads
        check_request(self._request)
        self._inputs = [path for path in dict.fromkeys(self._request.files.paths) if path]
        refuse_overwriting(self._inputs, [self._output])

    def run(self) -> None:
        """Plan, run shards, and merge. Raises WfacliError."""
        options = self._options
        sizes = tuple((path, _size_of(path)) for path in self._inputs)  # of all, before anything is made
        with closing(Scheduler(options.on, self._debug)) as scheduler:
            folder = WorkFolder(options.work or default_folder(self._output or ""))
            engine = getattr(self._request.config, "engine", EngineName.CPU)
            work = Work(
                command=self._shard_words(folder),
                folder=str(Path.cwd()),
                token_file=folder.token_file,
                token=folder.token,
                inputs=sizes,
                version=__version__,
                on_gpus=engine is not EngineName.CPU,
                on_cpus=engine is not EngineName.GPU,
            )
            with closing(Workers(scheduler, work, self._warn)) as workers:
                workers.wait()
                self._tell_cluster(scheduler, workers, work)
                file, new = self._planned(folder, sizes, workers)
                try:
                    merged = self._executed(scheduler, workers, work, file, new)
                except BaseException as end:
                    self._tell_end(file, folder, end)
                    raise
        folder.remove()
        plan = file.plan
        place = self._output or "standard output"
        if not self._quiet:
            note(f"{counted(merged.pairs, 'record')} of {counted(plan.shards, 'shard')}, to {place}")
            if not folder.ours:
                note(f"plan and parts stay in {folder.path}, which was there before")
        if message := unaligned_message(merged.unaligned):
            raise WfacliError(message)

    def _shard_words(self, folder: WorkFolder) -> tuple[str, ...]:
        threads = ["--threads", str(self._threads)] if is_given(self._command, self._words, "threads") else []
        return self._command, "--plan", folder.plan, "--shard", "{shard}", "--no-progress", *threads

    def _warn(self, message: str) -> None:
        if not self._quiet:
            warning(message)

    def _tell_cluster(self, scheduler: Scheduler, workers: Workers, work: Work) -> None:
        if self._quiet:
            return
        slots = counted(workers.slots(), "shard")
        dashboard = f"; dashboard: {scheduler.dashboard}" if scheduler.dashboard else ""
        note(f"{self._options.on}: {counted(len(workers.usable), 'worker')}, {slots} at a time{dashboard}")
        if work.on_gpus and not workers.of_kind(True) and any(w.gpus for w in workers.usable.values()):
            note(
                "GPUs of workers are not used: dask worker … --nthreads 1 --resources GPU=1 starts one that uses them"
            )
        if not scheduler.innocent:
            note(
                "the scheduler blames shards for workers that are lost while they run: set "
                "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=1000 where it starts if many may be lost"
            )

    def _planned(
        self, folder: WorkFolder, sizes: tuple[tuple[str, int], ...], workers: Workers
    ) -> tuple[PlanFile, bool]:
        """Return the plan in the work folder, which is made unless it is there, and whether it is new."""
        if exists(folder.plan):
            file = read_plan(folder.plan, __version__)
            self._check_same(file, folder)
            return file, False
        shards = self._options.shards
        if shards is None:
            reads = self._request.files
            reference = reads.reference if self._command == "map" else None
            stored = sum(size for path, size in sizes if path != reference)
            shards = default_shards(workers.slots(), stored, dict(sizes).get(reference or "", 0))
        made = Command(self._command, tuple(self._words), self._line, self._output, __version__)
        request = self._request
        cutting = Cutting(shards, fast=False)
        planning = Planning(made, request.config, request.files, request.mapping, cutting)
        with closing(planning), shown(planning.watch, bar=self._progress, quiet=self._quiet, words="planning"):
            plan = planning.write(folder.plan)
        if not self._quiet:
            tell_plan(plan, folder.plan, cutting)
        return read_plan(folder.plan, __version__), True

    def _check_same(self, file: PlanFile, folder: WorkFolder) -> None:
        """Raise UsageError if the plan in the work folder is not of this run, InputError if inputs have changed."""
        plan = file.plan
        ours = (self._command, tuple(self._words), self._output)
        if (plan.command, plan.arguments, plan.output) != ours or plan.folder != str(Path.cwd()):
            raise UsageError(
                f"{folder.path} has the plan of another run ({plan.command_line}, in {plan.folder}): remove it, or "
                "give --work another folder"
            )
        if self._options.shards not in (None, plan.shards):
            raise UsageError(
                f"{folder.path} has a plan of {plan.shards:,} shards: leave --shards out to continue it, or remove it"
            )
        for one in plan.inputs:
            one.check(plan.folder)

    def _executed(self, scheduler: Scheduler, workers: Workers, work: Work, file: PlanFile, new: bool) -> Merged:
        """Run the shards that are not done, and merge all; parts that turn out damaged are made again."""
        parts = Parts(file)
        parts.create_folder()
        found = {} if new else parts.states()
        left = [shard for shard in parts.numbers if new or found[shard] is not State.DONE]
        self._done = set(parts.numbers) - set(left)
        if self._done and not self._quiet:
            note(f"{len(self._done):,} of {counted(file.plan.shards, 'shard')} are done already")
        for _ in range(_ROUNDS):
            self._run_shards(scheduler, workers, work, file.plan, left)
            try:
                return self._merged(file, parts, seen=not left)
            except PartsMissing as problem:
                left = problem.shards
                self._done -= set(left)
                self._warn(f"{problem}; they run again")
        raise WfacliError(f"{file.path}: {counted(len(left), 'part')} cannot be merged, although they were made again")

    def _run_shards(self, scheduler: Scheduler, workers: Workers, work: Work, plan: Plan, shards: list[int]) -> None:
        done = plan.work - sum(map(plan.work_of, shards))
        begun, before = time.monotonic(), done

        def completed(shard: int) -> None:
            nonlocal done
            done += plan.work_of(shard)
            self._done.add(shard)

        words = tuple(f"{w}/{plan.shards}" if w == "{shard}" else w for w in work.command)
        work = Work(**{**vars(work), "command": words})
        run = ClusterRun(scheduler, workers, work, shards, self._options.retries, self._warn, completed)

        def progress() -> ProgressLine:
            rate = (done - before) / (time.monotonic() - begun)
            remaining = (plan.work - done) / rate if rate else None
            at_work = min(run.running, workers.slots())
            words = f"{len(self._done):,} of {counted(plan.shards, 'shard')}, {at_work:,} at work"
            return ProgressLine(words, done / plan.work if plan.work else 1.0, remaining)

        with shown_long(progress, bar=self._progress, quiet=self._quiet):
            run.run()
        if shards and not self._quiet:
            note(_busy(run, time.monotonic() - begun))

    def _merged(self, file: PlanFile, parts: Parts, seen: bool) -> Merged:
        merging = Merge(file, parts, file.plan.spec, self._threads, file.plan.reference)
        _check_until_visible(merging, 0 if seen else _SEEN_WITHIN)
        with shown_long(lambda: _merge_progress(merging), bar=self._progress, quiet=self._quiet):
            return merging.write(file.plan.output)

    def _tell_end(self, file: PlanFile, folder: WorkFolder, end: BaseException) -> None:
        """Say what is left of a run that ends early."""
        stopped = not isinstance(end, Exception)
        if not is_url(folder.path):  # a shard may have been completed meanwhile; a store is too slow to ask
            self._done = {shard for shard, state in Parts(file).states().items() if state is State.DONE}
        if self._done and (stopped or not self._quiet):
            note(
                f"incomplete: {len(self._done):,} of {counted(file.plan.shards, 'shard')} are done, in {folder.path}; "
                "the same command continues"
            )


def _check_until_visible(merging: Merge, seconds: float) -> None:
    """Check that all parts are there: a network file system may show them here later than where they were written."""
    until = time.monotonic() + seconds
    while True:
        try:
            return merging.check()
        except PartsMissing as problem:
            if not problem.absent or time.monotonic() > until:
                raise
        time.sleep(_LOOKS_EVERY)


def _merge_progress(merging: Merge) -> ProgressLine:
    done = merging.bytes_read / merging.bytes_total if merging.bytes_total else 1.0
    return ProgressLine("merging", done, None)


def _busy(run: ClusterRun, elapsed: float) -> str:
    return f"shards took {seconds(run.seconds)} on workers, within {seconds(elapsed)}"


def _size_of(path: str) -> int:
    """Return the size of an input. Raises InputError."""
    try:
        return stored_size(path)
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None

"""`wfacli plan`: cuts the inputs of a run into shards."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer

from .. import __version__
from ..core.stats import counted
from ..errors import UsageError
from ..io.write.output import refuse_overwriting
from ..io.write.parts import PartKind
from ..shards.make import Command, Planning
from ..shards.manifest import Parts, State
from ..shards.plan import Plan
from ..shards.plan_file import read_plan
from ..shards.ranges import ranges
from ..shards.survey import Cutting
from .console import note
from .groups import OUTPUT, SHARDS, grouped
from .options import DebugOption, ProgressOption, QuietOption
from .outputs import format_of_suffix
from .planned import COMMANDS, command_line_of, request_of
from .progress import shown
from .report_options import Reports
from .requests import Request
from .shard_options import PARTS_HELP

PLAN_HELP = """Cut the inputs of a run into shards, for many machines.

Shards take about the same work. The run is given as on one machine, with all its options; align is meant unless \
another command comes first. One pass over the inputs writes the plan, and shards then read them from the middle: \
files must be plain or bgzip. Then

  wfacli align --plan run.plan --shard I/N   # on any machine, in any order, for I = 1 to N

  wfacli merge run.plan -o out.bam

write the bytes that the run writes on one machine.

[bold]Examples[/bold]

  wfacli plan reads.fq.gz targets.fa --shards 64 -o run.plan --format bam

  wfacli plan reads.fq ref.fa --mappings m.paf --shards 64 -o run.plan

  wfacli plan extend a.fa b.fa --scores 2,4,4,2 --to out.paf --shards 8 -o run.plan

  wfacli plan --status run.plan
"""


@dataclass(frozen=True)
class PlanOptions:
    """The run, and its plan."""

    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENTS",
            show_default=False,
            help="Command (align, map or extend; align by default), its arguments and options, but for -o: see --to.",
        ),
    ] = None
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards",
            metavar="N",
            min=1,
            max=1 << 20,
            show_default=False,
            help="Number of shards. Some are empty if the inputs are small.",
            rich_help_panel=SHARDS,
        ),
    ] = None
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PLAN",
            show_default=False,
            help="File of the plan. The parts are written to the folder PLAN.parts.",
            rich_help_panel=SHARDS,
        ),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FILE",
            show_default=False,
            help="Output of the run, its -o: its suffix sets the format, and wfacli merge writes it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="Cut BAM that is not sorted, and .gz, anywhere. Shards are then balanced better and choose their own "
            "batches, as GPUs need them; the merged file has the records of one machine in other BGZF blocks.",
            rich_help_panel=SHARDS,
        ),
    ] = False
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="PLAN",
            show_default=False,
            help="Show which shards of a plan are done: a table of shards, states, records and shares of the work.",
            rich_help_panel=SHARDS,
        ),
    ] = None
    parts: Annotated[
        str | None,
        typer.Option("--parts", metavar="FOLDER", show_default="PLAN.parts", help=PARTS_HELP, rich_help_panel=SHARDS),
    ] = None


@grouped
def plan(
    *, options: PlanOptions, quiet: QuietOption = False, progress: ProgressOption = None, debug: DebugOption = False
) -> None:
    """Makes a plan, or shows its status; the help is PLAN_HELP."""
    words = options.words or []
    if options.status is not None:
        if words or options.shards is not None or options.output is not None or options.to is not None or options.fast:
            raise UsageError("--status PLAN shows a plan, and goes with --parts alone")
        return show_status(options.status, options.parts, quiet)
    if options.parts is not None:
        raise UsageError("--parts goes with --status; shards and merge have it, too")
    command, words = (words[0], words[1:]) if words[:1] and words[0] in COMMANDS else ("align", words)
    if not words:
        raise UsageError(f"what is planned is missing: wfacli plan {command} QUERY TARGET --shards N -o PLAN")
    if options.shards is None or options.output is None:
        missing = "--shards N" if options.shards is None else "-o PLAN"
        raise UsageError(f"{missing} is missing: wfacli plan {command} … --shards N -o PLAN")
    if named := format_of_suffix(options.output):
        raise UsageError(
            f"-o names the plan, and {options.output} looks like {named.upper()}: --to {options.output} is the output "
            "of the run, and -o something like run.plan"
        )
    output = None if options.to == "-" else options.to
    if output is None and "--write-index" in words:
        raise UsageError("--write-index needs the name of the output: give --to FILE.bam, or give it to wfacli merge")
    line = command_line_of(command, words, output)
    asked = [*words, *(["-o", output] if output else [])]
    request = request_of(command, asked, line)
    check_request(request)
    refuse_overwriting(request.files.paths, [options.output, output])
    made = Command(command, tuple(words), line, output, __version__)
    cutting = Cutting(options.shards, options.fast)
    planning = Planning(made, request.config, request.files, request.mapping, cutting)
    with closing(planning), shown(planning.watch, bar=progress, quiet=quiet, words="planning"):
        done = planning.write(options.output)
    if not quiet:
        tell_plan(done, options.output, cutting)


def check_request(request: Request) -> None:
    """Raise UsageError if a request cannot be planned."""
    if request.uncut:
        raise UsageError(request.uncut)
    if request.reporting.stats is not None:
        raise UsageError("--stats is given to each shard, not to the plan")
    Reports(request.reports.page, request.reports.prefix).refuse()
    if "-" in request.files.paths:
        raise UsageError("every shard reads the inputs, so they must be files, not standard input")


def tell_plan(plan: Plan, path: str, cutting: Cutting) -> None:
    """Print what a plan is of, and its shards."""
    records, work = plan.cuts.rows[:, 0], plan.cuts.rows[:, 1]
    empty = plan.shards - int((records[1:] > records[:-1]).sum())
    largest = int((work[1:] - work[:-1]).max())
    share = f", the largest with {largest / plan.work:.1%} of the work" if plan.work else ""
    note(f"plan of: {plan.command_line}")
    note(f"{path}: {counted(plan.records, 'record')} in {counted(plan.shards, 'shard')}{share}")
    if cutting.fast:
        fast = "the merged file has the records of one machine in other BGZF blocks (--fast)"
        in_blocks = PartKind.of(plan.spec).in_blocks
        note(fast if in_blocks else "--fast changes nothing: the inputs of this output are cut anywhere already")
    if empty:
        hint = "; BAM that is not sorted, and .gz, are cut between batches: see --batch-bases and --fast"
        hint = hint if plan.batch_bases else ""
        note(f"{counted(empty, 'shard', 'is', 'are')} empty, since the inputs are small{hint}")


def show_status(path: str, folder: str | None, quiet: bool) -> None:
    """Print the state of the shards of a plan as a table, and a summary. Raises InputError."""
    file = read_plan(path, __version__)
    parts, plan = Parts(file, folder), file.plan
    typer.echo("shard\tstate\trecords\twork")
    left: list[int] = []
    done = 0
    for shard, state in parts.states().items():
        share = plan.work_of(shard) / plan.work if plan.work else 0.0
        typer.echo(f"{shard}\t{state}\t{plan.records_of(shard)}\t{share:.4f}")
        if state is State.DONE:
            done += plan.work_of(shard)
        else:
            left.append(shard)
    if quiet:
        return
    if not left:
        note(f"all of {counted(plan.shards, 'shard')} are done: wfacli merge {path}")
        return
    share = done / plan.work if plan.work else 0.0
    so_far = f"{plan.shards - len(left):,} of {counted(plan.shards, 'shard')} are done, {share:.0%} of the work"
    note(f"{so_far}; left: {ranges(left)}")

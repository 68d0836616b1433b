"""`wfacli merge`: puts the parts of a plan together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .. import __version__
from ..config import Format, OutputSpec
from ..core.cores import usable_cores
from ..core.stats import counted
from ..errors import UsageError, WfacliError
from ..io.write.output import refuse_overwriting
from ..io.write.suffixes import compressor_of
from ..shards.manifest import Parts
from ..shards.merge import Merge, PartsMissing
from ..shards.plan_file import PlanFile, read_plan
from ..shards.ranges import ranges
from .console import note
from .groups import OUTPUT, SHARDS, grouped
from .options import DebugOption, ProgressOption, QuietOption, ThreadsOption
from .outputs import format_of_suffix
from .progress import shown_long
from .progress_line import ProgressLine
from .report import unaligned_message
from .shard_options import PARTS_HELP

MERGE_HELP = """Merge the parts of a plan's shards into the output of one run.

The output has the bytes of the run on one machine.

Parts that are missing, damaged or of another plan are named, with the shards to run again, and nothing is written. \
Records are in the order of the input or, if the run sorts them, by position.

[bold]Examples[/bold]

  wfacli merge run.plan -o out.bam

  wfacli merge run.plan --sort --write-index -o out.bam

  wfacli merge run.plan          # to the --to of the plan
"""


@dataclass(frozen=True)
class MergeOptions:
    """The plan, and the output."""

    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan, by wfacli plan.")]
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default="--to of the plan, else standard output",
            help="Output file. It gets its name when it is complete.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    sort: Annotated[
        bool,
        typer.Option(
            "--sort",
            help="Sort BAM or CRAM by position. Where the plan has --sort, that is done already, by the shards.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    write_index: Annotated[
        bool,
        typer.Option("--write-index", help="Write the index of sorted BAM or CRAM beside it.", rich_help_panel=OUTPUT),
    ] = False
    parts: Annotated[
        str | None,
        typer.Option("--parts", metavar="FOLDER", show_default="PLAN.parts", help=PARTS_HELP, rich_help_panel=SHARDS),
    ] = None
    threads: ThreadsOption = None


@grouped
def merge(
    *, options: MergeOptions, quiet: QuietOption = False, progress: ProgressOption = None, debug: DebugOption = False
) -> None:
    """Merges parts; the help is MERGE_HELP."""
    file = read_plan(options.plan, __version__)
    plan = file.plan
    spec = plan.spec
    path = options.output or plan.output
    _check_suffix(options.output, spec, file)
    refuse_overwriting([one.path for one in plan.inputs] + [file.path], [path])
    parts = Parts(file, options.parts)
    merging = Merge(file, parts, spec, options.threads or usable_cores(), plan.reference)
    try:
        merging.check()
        with shown_long(lambda: _progress_of(merging), bar=progress, quiet=quiet):
            merged = merging.write(path, options.sort, options.write_index)
    except PartsMissing as problem:
        raise WfacliError(f"{problem}; run again: {_again(file, problem.shards)}") from None
    if not quiet:
        note(f"{counted(merged.pairs, 'record')} of {counted(plan.shards, 'shard')}, to {path or 'standard output'}")
    if message := unaligned_message(merged.unaligned):
        raise WfacliError(message)


def _progress_of(merging: Merge) -> ProgressLine:
    done = merging.bytes_read / merging.bytes_total if merging.bytes_total else 1.0
    return ProgressLine("merging", done, None)


def _again(file: PlanFile, shards: list[int]) -> str:
    """Return what to run again."""
    plan = file.plan
    if len(shards) == 1:
        return f"wfacli {plan.command} --plan {file.path} --shard {shards[0]}/{plan.shards}"
    return f"wfacli {plan.command} --plan {file.path} --shard I/{plan.shards} for I = {ranges(shards)}"


def _check_suffix(path: str | None, spec: OutputSpec, file: PlanFile) -> None:
    """Raise UsageError if the suffix of an output is that of another format than the plan's."""
    program = compressor_of(path)
    if program and not (spec.bgzip and program == "bgzip"):
        raise UsageError(
            f"{path}: the plan is not of .gz: wfacli merge {file.path} | {program} > {path}, or plan again with --to"
        )
    if not path or (named := format_of_suffix(path)) is None:
        return
    if spec.bgzip and not program:
        raise UsageError(f"{path}: the plan is of .gz: give -o {path}.gz, or wfacli merge {file.path} | zcat > {path}")
    planned = spec.container.value if spec.format is Format.SAM else spec.format.value
    if named != planned:
        raise UsageError(
            f"{path}: the plan is of {planned.upper()}; for {named.upper()} plan again with --format {named}"
        )

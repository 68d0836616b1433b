"""`wfacli align --plan` (and `map`, `extend`): executes one shard of a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from .. import __version__
from ..config import EngineName
from ..core.cores import usable_cores
from ..errors import InputError, UsageError
from ..io.mapper.mapped import MappedFiles
from ..io.mapper.mapper import MapperFiles
from ..io.read.reader import PairFiles
from ..io.write.parts import Part, open_part
from ..run.batch_run import BatchRun
from ..shards.files import ShardMappedFiles, ShardMapperFiles, ShardPairFiles
from ..shards.make import for_shard
from ..shards.manifest import Manifest, Parts
from ..shards.plan import Plan, shard_of
from ..shards.plan_file import PlanFile, read_plan
from .console import note
from .groups import ENGINE, SHARDS, grouped
from .options import CheckOption, DebugOption, GpuMemoryOption, Reporting, ThreadsOption
from .planned import planned_request
from .report import unaligned_of
from .report_options import NoReports
from .requests import Request
from .running import execute
from .scoring import devices_of, gpu_memory_of
from .shard_options import PARTS_HELP

SHARD_HELP = """Execute one shard of a plan: a part of the records of a run over many machines.

The plan has the inputs and all options but those below. A shard may run on any machine that sees the files, in any \
order, and again: its part gets its name when it is complete. When all parts are there, wfacli merge writes the output.

[bold]Examples[/bold]

  wfacli align --plan run.plan --shard 3/64

  wfacli align --plan run.plan --shard $SLURM_ARRAY_TASK_ID/64 --threads 16
"""


@dataclass(frozen=True)
class Shard:
    """A shard of a plan."""

    plan: Annotated[
        str,
        typer.Option("--plan", metavar="FILE", help="The plan, by wfacli plan.", rich_help_panel=SHARDS),
    ]
    shard: Annotated[
        str,
        typer.Option(
            "--shard", metavar="I/N", help="The shard, like 3/64 for the third of 64.", rich_help_panel=SHARDS
        ),
    ]
    parts: Annotated[
        str | None,
        typer.Option("--parts", metavar="FOLDER", show_default="PLAN.parts", help=PARTS_HELP, rich_help_panel=SHARDS),
    ] = None


@dataclass(frozen=True)
class Resources:
    """Where a shard is aligned, and with which resources; none of these changes the output."""

    threads: ThreadsOption = None
    engine: Annotated[
        EngineName | None,
        typer.Option(
            "--engine",
            show_default="that of the plan",
            help="Where to align; auto uses a GPU if there is one.",
            rich_help_panel=ENGINE,
        ),
    ] = None
    gpu_memory: GpuMemoryOption = None
    devices: Annotated[
        str | None,
        typer.Option(
            "--devices",
            metavar="all|N,...",
            show_default="those of the plan",
            help="GPUs to use, counted from 0 among those that CUDA_VISIBLE_DEVICES leaves.",
            rich_help_panel=ENGINE,
        ),
    ] = None

    def replaced(self, config: Any, check: bool) -> Any:
        """Return a configuration with these resources."""
        changed: dict[str, Any] = {"threads": self.threads or usable_cores(), "check": check or config.check}
        if self.engine is not None:
            changed["engine"] = self.engine
        if self.gpu_memory is not None:
            changed["gpu_memory"] = gpu_memory_of(self.gpu_memory)
        if self.devices is not None:
            if not hasattr(config, "devices"):
                raise UsageError("--devices: wfacli extend has no such option")
            changed["devices"] = devices_of(self.devices)
        return replace(config, **changed)


def shard_command(command: str) -> Any:
    """Return the function of `wfacli COMMAND --plan`, for Typer."""

    @grouped
    def execute_shard(
        *,
        shard: Shard,
        resources: Resources,
        check: CheckOption = False,
        reporting: Reporting,
        reports: NoReports,
        debug: DebugOption = False,
    ) -> None:
        reports.refuse()
        run_shard(command, shard, resources, check, reporting)

    return execute_shard


def run_shard(command: str, shard: Shard, resources: Resources, check: bool, reporting: Reporting) -> None:
    """Execute a shard, and write its part and manifest.

    Raises:
        UsageError: the plan is of another command, or the shard is none of it.
        WfacliError: an input is not the plan's, or the run fails.
    """
    file = read_plan(shard.plan, __version__)
    plan = file.plan
    if plan.command != command:
        raise UsageError(f"{file.path} is a plan of wfacli {plan.command}: wfacli {plan.command} --plan {file.path}")
    number = shard_of(shard.shard, plan)
    for one in plan.inputs:
        one.check(plan.folder)
    request = planned_request(plan)
    config = resources.replaced(for_shard(request.config, plan), check)
    parts = Parts(file, shard.parts)
    parts.create_folder()
    path = parts.path(number)
    spec = replace(request.config.output, index=False)

    def part() -> Part:
        return open_part(path, spec, config.threads, file.header)

    files = _files(plan, number, request, config.threads)
    run = execute(
        lambda: request.open(config, files, path, reporting, part),
        progress=reporting.progress,
        quiet=reporting.quiet,
        fail_unaligned=False,
    )
    _check_count(plan, number, run)
    parts.complete(number, _manifest(file, number, run))
    if not reporting.quiet:
        note(f"shard {number}/{plan.shards} is done: {path}")


def _files(plan: Plan, shard: int, request: Request, threads: int) -> PairFiles | MappedFiles:
    files = request.files
    if isinstance(files, PairFiles):
        return ShardPairFiles(plan, shard, files)
    if isinstance(files, MapperFiles):
        return ShardMapperFiles(plan, shard, files, threads)
    assert isinstance(files, MappedFiles)
    return ShardMappedFiles(plan, shard, files, threads)


def _check_count(plan: Plan, shard: int, run: BatchRun) -> None:
    """Raise InputError if the section has other pairs than when it was planned, so that the part is not complete."""
    found, planned = run.stats.counts["pairs"], plan.records_of(shard)
    if plan.layout and found != planned:
        raise InputError(
            run.inputs.files.query, f"has {found:,} pairs in shard {shard}, and {planned:,} when it was planned"
        )


def _manifest(file: PlanFile, shard: int, run: BatchRun) -> Manifest:
    part = run.output
    assert isinstance(part, Part)
    return Manifest(
        plan=file.digest,
        shard=shard,
        pairs=run.stats.counts["pairs"],
        bytes=part.written,
        sha256=part.sha256,
        preamble=part.preamble.decode(),
        unaligned=unaligned_of(run),
    )

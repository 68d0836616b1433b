"""Options of the batch commands that execute one shard of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..errors import UsageError
from .groups import CLUSTER, SHARDS

PLAN = "--plan"
_PLAN_HELP = (
    "Execute a shard of this plan, which has the inputs and all other options; of these only --threads, --engine, "
    "--devices, --gpu-memory, --check and those of messages may be given. wfacli plan makes plans."
)
_SHARD_HELP = "The shard, like 3/64 for the third of 64. Its part is written beside the plan."
PARTS_HELP = "Folder of the parts, if it is not the plan's own."
ON = "--on"
ON_HELP = (
    "Run on a Dask cluster, by the address of its scheduler: dask://HOST:PORT, dask+tls://HOST:PORT, or "
    "dask:///PATH/scheduler.json. Inputs are cut into shards, which workers align; the output does not change."
)
WORK_HELP = (
    "Folder (or URL) of the plan and the parts, which all workers see. The same command continues what is there. "
    "After success it is removed if the command made it."
)
SHARDS_HELP = (
    "Number of shards. By default four for each that the cluster aligns at a time, fewer if they would be small."
)
RETRIES_HELP = "How often a shard that failed runs again. Shards of lost workers do that anyway."


@dataclass(frozen=True)
class ShardChoice:
    """A shard of a plan, or a cluster; cli.shard and cli.on execute them, so that here nothing is given."""

    plan: Annotated[
        str | None,
        typer.Option(PLAN, metavar="FILE", show_default=False, help=_PLAN_HELP, rich_help_panel=SHARDS),
    ] = None
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", show_default=False, help=_SHARD_HELP, rich_help_panel=SHARDS),
    ] = None
    parts: Annotated[
        str | None,
        typer.Option("--parts", metavar="FOLDER", show_default="PLAN.parts", help=PARTS_HELP, rich_help_panel=SHARDS),
    ] = None

    on: Annotated[
        str | None,
        typer.Option(ON, metavar="URL", show_default=False, help=ON_HELP, rich_help_panel=CLUSTER),
    ] = None
    work: Annotated[
        str | None,
        typer.Option("--work", metavar="FOLDER", show_default="OUTPUT.work", help=WORK_HELP, rich_help_panel=CLUSTER),
    ] = None
    shards: Annotated[
        int | None,
        typer.Option("--shards", metavar="N", show_default=False, help=SHARDS_HELP, rich_help_panel=CLUSTER),
    ] = None
    retries: Annotated[
        int | None,
        typer.Option("--retries", metavar="N", show_default="2", help=RETRIES_HELP, rich_help_panel=CLUSTER),
    ] = None

    def refuse(self) -> None:
        """Raise UsageError if an option is given without a plan or cluster, or a shard or cluster is to be planned."""
        if self.on is not None:
            raise UsageError(f"{ON} plans a run itself, and cannot be planned")
        for option, given in (("--work", self.work), ("--shards", self.shards), ("--retries", self.retries)):
            if given is not None:
                raise UsageError(f"{option} belongs to {ON} dask://HOST:PORT")
        if self.plan is not None:
            raise UsageError(f"{PLAN} executes a shard of a plan, and cannot be planned itself")
        for option, value in (("--shard", self.shard), ("--parts", self.parts)):
            if value is not None:
                raise UsageError(f"{option} belongs to --plan FILE")


def has_plan(words: list[str]) -> bool:
    """Return True if the arguments of a command name a plan."""
    return _has(words, PLAN)


def has_cluster(words: list[str]) -> bool:
    """Return True if the arguments of a command name a cluster."""
    return _has(words, ON)


def _has(words: list[str], option: str) -> bool:
    given = words[: words.index("--")] if "--" in words else words
    return any(word == option or word.startswith(f"{option}=") for word in given)

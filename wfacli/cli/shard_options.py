"""Options of the batch commands that execute one shard of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..errors import UsageError
from .groups import SHARDS

PLAN = "--plan"
_PLAN_HELP = (
    "Execute a shard of this plan, which has the inputs and all other options; of these only --threads, --engine, "
    "--devices, --gpu-memory, --check and those of messages may be given. wfacli plan makes plans."
)
_SHARD_HELP = "The shard, like 3/64 for the third of 64. Its part is written beside the plan."
PARTS_HELP = "Folder of the parts, if it is not the plan's own."


@dataclass(frozen=True)
class ShardChoice:
    """A shard of a plan; cli.shard executes it, so that here nothing is given."""

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

    def refuse(self) -> None:
        """Raise UsageError if an option is given without a plan, or a shard is to be planned."""
        if self.plan is not None:
            raise UsageError(f"{PLAN} executes a shard of a plan, and cannot be planned itself")
        for option, value in (("--shard", self.shard), ("--parts", self.parts)):
            if value is not None:
                raise UsageError(f"{option} belongs to --plan FILE")


def has_plan(words: list[str]) -> bool:
    """Return True if the arguments of a command name a plan."""
    given = words[: words.index("--")] if "--" in words else words
    return any(word == PLAN or word.startswith(f"{PLAN}=") for word in given)

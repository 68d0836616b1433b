"""The request of a command line that is not this process's own: the one in a plan."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import typer
from typer.main import get_command

from ..errors import UsageError
from ..shards.plan import Plan
from .requests import Request

COMMANDS = ("align", "extend", "map")


def _function(command: str) -> Callable[..., Request]:
    if command == "align":
        from .align import align

        return align
    if command == "extend":
        from .extend import extend

        return extend
    from .map import map_

    return map_


def request_of(command: str, words: Sequence[str], line: str) -> Request:
    """Return the request that a command makes of its arguments.

    Args:
        command: one of COMMANDS.
        words: its arguments.
        line: the command line for SAM's header.

    Raises:
        UsageError: options are incompatible. Errors of Typer: a word is no option.
    """
    request = _parser(command).main(args=list(words), prog_name=f"wfacli {command}", standalone_mode=False)
    if not isinstance(request, Request):  # --help, which has been shown
        raise UsageError(f"the arguments of wfacli {command} are not of a run")
    return replace(request, config=replace(request.config, command_line=line))


def _parser(command: str) -> Any:
    single = typer.Typer(add_completion=False, rich_markup_mode="rich")
    single.command(command)(_function(command))
    return get_command(single)


def is_given(command: str, words: Sequence[str], option: str) -> bool:
    """Return True if an option of a command, by the name of its parameter, is among valid arguments."""
    context = _parser(command).make_context(f"wfacli {command}", list(words))
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def planned_request(plan: Plan) -> Request:
    """Return the request of a plan."""
    words = [*plan.arguments, *(["-o", plan.output] if plan.output else [])]
    return request_of(plan.command, words, plan.command_line)


def command_line_of(command: str, words: Sequence[str], output: str | None) -> str:
    """Return the command line of a planned run as one machine has it."""
    return shlex.join(["wfacli", command, *words, *(["-o", output] if output else [])])

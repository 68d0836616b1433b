"""The Typer application: one module per command, imported when the command is called.

Startup must not wait for modules that the command does not use, such as numpy, GPU or plotting code. So the
application holds only the name and the help line of each command; the rest, options included, is built for the
command that is called.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from .. import __version__
from ..core.interruption import deferred
from ..errors import OutputClosed, UsageError, shown
from .command import Command, show_help_without_arguments
from .early import Imports
from .shard_options import has_cluster, has_plan

_Body = Callable[..., None]


class _Entry(NamedTuple):
    """A command that is not loaded yet.

    Attributes:
        line: first line of its help, for the list of commands.
        load: imports it; returns the function and its help.
        hidden: True to omit it from the list.
        needs_arguments: True to show its help if it is called without arguments.
        passes_options: True if its arguments may be options of another command.
    """

    line: str
    load: Callable[[], tuple[_Body, str]]
    hidden: bool = False
    needs_arguments: bool = True
    passes_options: bool = False


def _align() -> tuple[_Body, str]:
    from .align import ALIGN_HELP, align
    from .requests import executed

    return executed(align), ALIGN_HELP


def _map() -> tuple[_Body, str]:
    from .map import MAP_HELP, map_
    from .requests import executed

    return executed(map_), MAP_HELP


def _extend() -> tuple[_Body, str]:
    from .extend import extend
    from .extend_options import EXTEND_HELP
    from .requests import executed

    return executed(extend), EXTEND_HELP


def _distance() -> tuple[_Body, str]:
    from .distance import distance
    from .distance_options import DISTANCE_HELP

    return distance, DISTANCE_HELP


def _local() -> tuple[_Body, str]:
    from .local import local
    from .local_options import LOCAL_HELP

    return local, LOCAL_HELP


def _dotplot() -> tuple[_Body, str]:
    from .dotplot import DOTPLOT_HELP, dotplot

    return dotplot, DOTPLOT_HELP


def _simulate() -> tuple[_Body, str]:
    from .simulate import simulate
    from .simulate_options import SIMULATE_HELP

    return simulate, SIMULATE_HELP


def _bench() -> tuple[_Body, str]:
    from .bench import bench
    from .bench_options import BENCH_HELP

    return bench, BENCH_HELP


def _doctor() -> tuple[_Body, str]:
    from .doctor import DOCTOR_HELP, doctor

    return doctor, DOCTOR_HELP


def _plan() -> tuple[_Body, str]:
    from .plan import PLAN_HELP, plan

    return plan, PLAN_HELP


def _merge() -> tuple[_Body, str]:
    from .merge import MERGE_HELP, merge

    return merge, MERGE_HELP


def _shard(command: str) -> tuple[_Body, str]:
    from .shard import SHARD_HELP, shard_command

    return shard_command(command), SHARD_HELP


def _on(command: str) -> tuple[_Body, str]:
    from .on import CLUSTER_HELP, on_command

    return on_command(command), CLUSTER_HELP


def _kernels() -> tuple[_Body, str]:
    from .kernels import KERNELS_HELP, kernels

    return kernels, KERNELS_HELP


COMMANDS = {
    "align": _Entry("Align record i of QUERY to record i of TARGET, exactly and end to end.", _align),
    "map": _Entry("Map READS to REFERENCE with minimap2, and align them exactly.", _map),
    "extend": _Entry("Align many pairs by scores: local, semiglobal, global, or extended from a seed.", _extend),
    "plan": _Entry("Cut the inputs of a run into shards, for many machines.", _plan, passes_options=True),
    "merge": _Entry("Merge the parts of a plan's shards into the output of one run.", _merge),
    "distance": _Entry("Compute the edit distance (Levenshtein) of two sequences of any length.", _distance),
    "local": _Entry("Find the best local alignments (Smith-Waterman) of two sequences of any length.", _local),
    "dotplot": _Entry("Draw a dot plot of two sequences or genomes, with alignments.", _dotplot),
    "simulate": _Entry("Simulate pairs of sequences, or paired-end reads, with sequencing errors.", _simulate),
    "bench": _Entry("Measure how fast wfacli aligns on this machine.", _bench, needs_arguments=False),
    "doctor": _Entry(
        "Check the installation and the GPU, and show how to get what is missing.", _doctor, needs_arguments=False
    ),
    "kernels": _Entry(
        "Compile all GPU kernels and print their resource usage.", _kernels, hidden=True, needs_arguments=False
    ),
}


# Commands with --plan: these execute a shard of a plan, and have other options.
SHARD_COMMANDS = {
    name: _Entry("", functools.partial(_shard, name), needs_arguments=False) for name in ("align", "map", "extend")
}
# Commands with --on: these execute all shards on a cluster.
CLUSTER_COMMANDS = {
    name: _Entry("", functools.partial(_on, name), needs_arguments=False, passes_options=True)
    for name in SHARD_COMMANDS
}


def loaded(name: str, shard: bool = False, cluster: bool = False) -> Any:
    """Import a command, and return it as Typer builds it from its function; with --plan, or --on, if it is so."""
    entry = (SHARD_COMMANDS if shard else CLUSTER_COMMANDS if cluster else COMMANDS)[name]
    # An exception while the native module is imported would abort the process.
    with Imports(), deferred():
        _guard_exit()
        from .old_names import accept_old_names

        body, text = entry.load()
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        settings = {"ignore_unknown_options": True} if entry.passes_options else None
        single.command(
            name,
            cls=Command,
            no_args_is_help=entry.needs_arguments,
            help=text,
            hidden=entry.hidden,
            context_settings=settings,
        )(body)
        command = get_command(single)
        if not (shard or cluster):
            accept_old_names(command, name)
        return command


def _guard_exit() -> None:
    """Report if a library ends the process: where memory is short, OpenBLAS does, even while numpy is imported."""
    from .._native import guard_exit

    guard_exit(b"wfacli: error: out of memory: a library has ended the process\n")
    atexit.register(guard_exit, b"")


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    """Sanitize Typer's usage errors: they repeat arguments, which may be file names with control characters."""
    try:
        yield
    except Exception as problem:
        if hasattr(problem, "format_message"):  # a usage error of Typer, whose class is private
            problem.message = shown(problem.message)  # type: ignore[attr-defined]
        raise


@contextlib.contextmanager
def _broken_pipe_as_output_closed() -> Iterator[None]:
    # Typer turns a broken pipe into status 1, as does rich when it prints; of `doctor`, 1 means that nothing works.
    try:
        with _shown():
            yield
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, BrokenPipeError) or isinstance(end.__context__, BrokenPipeError):
            raise OutputClosed("standard output") from None
        raise


def _help_to_stderr(no_arguments: bool) -> contextlib.AbstractContextManager[object]:
    # A script with an empty variable may call a command without arguments: help must not end up in its output.
    return contextlib.redirect_stdout(sys.stderr) if no_arguments else contextlib.nullcontext()


class _Commands(TyperGroup):
    """Command group that lists commands from COMMANDS, and loads only the one that is called or completed."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        from .help_page import command_list

        shown = [(name, entry.line) for name, entry in COMMANDS.items() if not entry.hidden]
        params = [param for param in self.get_params(ctx) if not getattr(param, "hidden", False)]
        options = [(", ".join(sorted(param.opts, key=len)), getattr(param, "help", "")) for param in params]
        formatter.write(command_list(shown, options))

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the program's own options; `help COMMAND` is `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        show_help_without_arguments(self, ctx, args)
        return super().parse_args(ctx, args)

    def make_context(self, info_name: Any, args: Any, *more: Any, **options: Any) -> Any:
        with _broken_pipe_as_output_closed(), _help_to_stderr(not args):
            return super().make_context(info_name, args, *more, **options)

    def invoke(self, ctx: Any) -> Any:
        with _broken_pipe_as_output_closed():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if not name or not command:
            return name, command, rest
        sharded = name in SHARD_COMMANDS
        command = loaded(name, sharded and has_plan(rest), sharded and has_cluster(rest))
        if not rest and COMMANDS[name].needs_arguments and not ctx.resilient_parsing:
            with _help_to_stderr(True):
                command.make_context(name, [], parent=ctx)  # shows the help, and ends
        return name, command, rest


app = typer.Typer(
    name="wfacli",
    cls=_Commands,
    help="Exact pairwise alignment of sequencing reads.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("-V", "--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Exact pairwise alignment of sequencing reads."""
    if value := os.environ.get("WFACLI_ISA"):
        from .._native import instruction_sets

        if value not in (available := instruction_sets()):
            raise UsageError(f"WFACLI_ISA={value}: this machine runs {' and '.join(available)}")


def _unloaded() -> None:
    """Stands for a command in the list."""


for _name, _entry in COMMANDS.items():
    app.command(_name, short_help=_entry.line, hidden=_entry.hidden)(_unloaded)

"""Groups of options become the parameters of a command, and groups again when it is called."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from wfacli.cli.groups import grouped


@dataclass(frozen=True)
class Files:
    query: Annotated[str, typer.Argument(help="Reads.")]
    sort: Annotated[bool, typer.Option("--sort")] = False


@dataclass(frozen=True)
class MoreFiles(Files):
    sort: Annotated[bool, typer.Option("--sort/--no-sort")] = True
    name: Annotated[str | None, typer.Option("--name")] = None


def run(command: Any, *arguments: str) -> int:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, arguments).exit_code


def test_a_command_receives_its_groups() -> None:
    received = []

    @grouped
    def command(
        *,
        level: Annotated[int, typer.Option("--level")] = 3,
        files: Files,
        quiet: Annotated[bool, typer.Option()] = False,
    ) -> None:
        received.append((level, files, quiet))

    assert list(inspect.signature(command).parameters) == ["level", "query", "sort", "quiet"]
    assert run(command, "a.fa", "--sort", "--level", "5") == 0
    assert run(command, "b.fa", "--quiet") == 0
    assert received == [(5, Files("a.fa", True), False), (3, Files("b.fa"), True)]
    assert run(command) == 2, "a field without a default is required"


def test_a_group_may_replace_an_option_of_another_in_its_place() -> None:
    received = []

    @grouped
    def command(*, files: MoreFiles) -> None:
        received.append(files)

    assert list(inspect.signature(command).parameters) == ["query", "sort", "name"]
    assert run(command, "a.fa", "--no-sort") == run(command, "a.fa") == 0
    assert received == [MoreFiles("a.fa", False), MoreFiles("a.fa", True)]


def test_an_option_of_two_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="query"):

        @grouped
        def command(*, one: Files, other: MoreFiles) -> None:
            pass

"""The class of all commands: their help, and what they accept beside their own options."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from .groups import REPORTING


def show_help_without_arguments(command: Any, ctx: Any, args: list[str]) -> None:
    """Show a command's help on standard error if it needs arguments and has none; this ends the command."""
    if not args and command.no_args_is_help and not ctx.resilient_parsing:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(2)


class Command(TyperCommand):
    """A command whose help fits a screen; `--help-all` shows the rest."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.append(_help_all())

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse; without arguments, show the help on standard error and end with status 2."""
        show_help_without_arguments(self, ctx, args)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of `-h`."""
        from .help_page import page_of, short_help

        formatter.write(short_help(page_of(self)))


def _help_all() -> TyperOption:
    return TyperOption(
        param_decls=["--help-all"],
        type=bool,
        is_flag=True,
        default=False,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        help="Show the help of all options.",
        rich_help_panel=REPORTING,
    )


def _show_all(ctx: Any, _param: Any, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from .help_page import full_help, page_of

        typer.echo(full_help(page_of(ctx.command)), nl=False)
        raise typer.Exit

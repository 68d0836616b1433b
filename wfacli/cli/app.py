"""The Typer application: one module a command."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .align import align
from .distance import distance
from .distance_options import DISTANCE_HELP
from .doctor import DOCTOR_HELP, doctor
from .dotplot import DOTPLOT_HELP, dotplot
from .extend import extend
from .extend_options import EXTEND_HELP
from .kernels import KERNELS_HELP, kernels
from .local import local
from .local_options import LOCAL_HELP
from .map import MAP_HELP, map_
from .options import ALIGN_HELP

app = typer.Typer(
    name="wfacli",
    help="Exact pairwise alignment of sequencing reads.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Exact pairwise alignment of sequencing reads."""


app.command(no_args_is_help=True, help=ALIGN_HELP)(align)
app.command("map", no_args_is_help=True, help=MAP_HELP)(map_)
app.command(no_args_is_help=True, help=EXTEND_HELP)(extend)
app.command(no_args_is_help=True, help=DISTANCE_HELP)(distance)
app.command(no_args_is_help=True, help=LOCAL_HELP)(local)
app.command(no_args_is_help=True, help=DOTPLOT_HELP)(dotplot)
app.command(help=DOCTOR_HELP)(doctor)
app.command(help=KERNELS_HELP, hidden=True)(kernels)

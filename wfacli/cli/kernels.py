"""`wfacli kernels`: compile all GPU kernels, for a package or to fill the cache of nodes without nvcc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.cores import usable_cores

KERNELS_HELP = "Compile all GPU kernels and print their resource usage."


def kernels(
    into: Annotated[Path | None, typer.Option("--into", help="Folder that a package's files go to.")] = None,
    arch: Annotated[list[str] | None, typer.Option("--arch", help="Such as sm_90, or compute_100 for PTX.")] = None,
) -> None:
    """Prints a line for each row and architecture; fails where one leaves its registers that should not."""
    from ..gpu.compile.compiler import ARCHITECTURES, NEWEST_PTX, Compiler
    from ..gpu.compile.package import build_rows, report
    from ..gpu.kernels.catalogue import ROWS

    architectures = arch or (*ARCHITECTURES, NEWEST_PTX)
    built = list(build_rows(Compiler(), ROWS.values(), architectures, usable_cores(), into))
    for line in report(built):
        typer.echo(line)
    if any(one.too_large for one in built):
        raise typer.Exit(1)

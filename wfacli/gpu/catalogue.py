"""The kernels as data: each row is a source with what it is compiled for, and the measurement that chose the sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A kernel.

    Attributes:
        name: of the row, as --stats shows it.
        source: file under cuda/.
        entry: name of the function in it.
        macros: what the source's template is compiled for, (name, value).
        threads: of a block; the source has it as WFACLI_BLOCK.
        hot: whether it must do without stack and spilled registers; a test holds it.
        measured: the card, the commit and the figures that chose the sizes.
    """

    name: str
    source: str
    entry: str
    macros: tuple[tuple[str, int | str], ...]
    threads: int
    hot: bool = True
    measured: str = ""

    @property
    def definitions(self) -> tuple[str, ...]:
        """The macros as compilers take them."""
        return (f"-DWFACLI_BLOCK={self.threads}", *(f"-D{name}={value}" for name, value in self.macros))


def table(rows: Iterable[Row]) -> dict[str, Row]:
    """Rows by their names, which must differ."""
    named: dict[str, Row] = {}
    for row in rows:
        if row.name in named:
            raise ValueError(f"two rows are named {row.name}")
        named[row.name] = row
    return named


ROWS: dict[str, Row] = table(())

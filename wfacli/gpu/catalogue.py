"""The kernels as data: each row is a source with what it is compiled for, and the measurement that chose the sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


def walk_of(name: str) -> str:
    """The row that follows a row's trace."""
    return f"{name}-walk"


# Bands of bits by their diagonals: words of a thread, threads a pair.
BITS = {32: (1, 1), 64: (2, 1), 128: (4, 1), 256: (8, 1), 1024: (1, 32), 2048: (2, 32), 4096: (4, 32), 8192: (8, 32)}


def _bits() -> Iterator[Row]:
    for diagonals, (words, lanes) in BITS.items():
        macros = (("WFACLI_WORDS", words), ("WFACLI_LANES", lanes))
        yield Row(f"bits-{diagonals}", "bits.cu", "bits_align", macros, 128)
        yield Row(walk_of(f"bits-{diagonals}"), "bits.cu", "bits_walk", macros, 128)


# Bands of dynamic programming by their diagonals.
DP_THREAD, DP_WARP = (16, 32, 64), (128, 256, 512, 1024)


def dp_thread(band: int, pieces: int) -> str:
    """The row for a band, and gap costs of so many pieces; 0: one without opening."""
    return f"dp-{band}-pieces-{pieces}"


def dp_warp(band: int, pieces: int, bits: int) -> str:
    """The same where a warp has a pair, with so many bits for a cost."""
    return f"dp-{band}-pieces-{pieces}-bits-{bits}"


def _dp() -> Iterator[Row]:
    for band in DP_THREAD:
        for pieces in (0, 1, 2):
            macros = (("WFACLI_BAND", band), ("WFACLI_PIECES", pieces), ("WFACLI_CODES", 0))
            name = dp_thread(band, pieces)
            yield Row(name, "dp_thread.cu", "dp_align", macros, 64)
            yield Row(walk_of(name), "dp_thread.cu", "dp_walk", macros, 64)
    for band in DP_WARP:
        for pieces in (1, 2):
            for bits in (16, 32):
                costs = (("WFACLI_BAND", band), ("WFACLI_PIECES", pieces), ("WFACLI_BITS", bits), ("WFACLI_CODES", 0))
                yield Row(dp_warp(band, pieces, bits), "dp_warp.cu", "dp_warp_align", costs, 128)


_ARRAYS = (  # kernels that go over letters, counts and operations
    Row("pack", "pack.cu", "pack_letters", (), 256),
    Row("encode", "pack.cu", "encode_letters", (), 256),
    Row("sum-chunks", "cigar.cu", "sum_chunks", (), 256),
    Row("sum-before", "cigar.cu", "sum_before", (), 256),
    Row("sum-slots", "cigar.cu", "sum_slots", (), 256),
    Row("gather-ops", "cigar.cu", "gather_ops", (), 256),
)

ROWS: dict[str, Row] = table((*_ARRAYS, *_bits(), *_dp()))

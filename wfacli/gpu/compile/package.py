"""Compile the whole catalogue for all architectures, for packages that work without nvcc and for usage reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..kernels.catalogue import Row
from .cache import sealed
from .compiler import ARCHITECTURES, NEWEST_PTX, Compiler, Usage


@dataclass(frozen=True)
class Built:
    """A row compiled for an architecture; usage is None for PTX, which is not assembled yet."""

    row: Row
    arch: str
    nbytes: int
    usage: Usage | None

    @property
    def spills(self) -> bool:
        """Whether the kernel uses stack or spills registers."""
        return self.usage is not None and bool(self.usage.stack or self.usage.spills)

    @property
    def too_large(self) -> bool:
        """Whether the kernel spills although its row does not allow it."""
        return self.spills and self.row.hot and self.arch not in self.row.spills_on


def build_rows(
    compiler: Compiler,
    rows: Iterable[Row],
    architectures: Iterable[str] = (*ARCHITECTURES, NEWEST_PTX),
    jobs: int = 1,
    into: Path | None = None,
) -> Iterator[Built]:
    """Compile rows, several at a time, and yield the results in order.

    Args:
        compiler: the compiler with its cache.
        rows: rows of the catalogue.
        architectures: "sm_90" for machine code, "compute_100" for PTX.
        jobs: compilations at a time.
        into: folder to which files are written for a package.
    """
    if into is not None:
        into.mkdir(parents=True, exist_ok=True)

    def build(row: Row, arch: str) -> Built:
        image = compiler.image(row, arch)
        if into is not None:
            (into / compiler.shipped_name(row, arch)).write_bytes(sealed(image))
        return Built(row, arch, len(image), compiler.usage(row, arch) if arch.startswith("sm_") else None)

    wanted = [(row, arch) for row in rows for arch in architectures]
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        yield from pool.map(lambda each: build(*each), wanted)


def prepare(compiler: Compiler, rows: Iterable[Row], arch: str, jobs: int) -> None:
    """Compile rows that are not in the cache yet, `jobs` at a time, so that they are ready when needed."""
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        for _ in pool.map(lambda row: compiler.image(row, arch), rows):
            pass


def report(built: Iterable[Built]) -> Iterator[str]:
    """Yield the lines of a plain table; a star marks rows that spill although they should not."""
    yield f"{'row':32} {'arch':12} {'registers':>9} {'shared':>7} {'stack':>6} {'spills':>6} {'bytes':>8}"
    for one in built:
        figures = (
            (one.usage.registers, one.usage.shared, one.usage.stack, one.usage.spills) if one.usage else ("-",) * 4
        )
        columns = " ".join(f"{value:>{width}}" for value, width in zip(figures, (9, 7, 6, 6), strict=True))
        yield f"{one.row.name:32} {one.arch:12} {columns} {one.nbytes:>8}{' *' if one.too_large else ''}"

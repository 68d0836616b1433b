"""SAM headers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._native import TargetTable
from ..batch import U8, PairBatch
from ..config import Config
from ..errors import InputError, UsageError
from .reader import PairFiles, layout_of, read_batches
from .sources import Source

_SCAN_WEIGHT = 32_000_000


def sam_header(files: PairFiles, sources: tuple[Source, ...], config: Config, version: str) -> Iterator[bytes | U8]:
    """Yields the header's text in pieces; the targets' file is opened once more and scanned for @SQ lines.

    Raises:
        UsageError: the targets come from a pipe, so that they cannot be read twice.
        InputError: a target without a name, or one name with two lengths.
    """
    if not sources[-1].regular:
        raise UsageError(
            f"SAM begins with the names and lengths of all targets, and {sources[-1].path} is a pipe that can be "
            "read only once: write --format paf, or give --no-header"
        )
    yield b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n"
    layout = layout_of(sources)
    yield from _target_lines(files, layout)
    if config.output.read_group:
        yield config.output.read_group.encode() + b"\n"
    command = config.command_line.replace("\t", " ").replace("\n", " ")
    yield f"@PG\tID:wfacli\tPN:wfacli\tVN:{version}\tCL:{command}\n".encode(errors="surrogateescape")


def _target_lines(files: PairFiles, layout: str) -> Iterator[U8]:
    path = files.target or files.query
    table = TargetTable()
    source = Source(path)
    try:
        scan = read_batches((source,), "targets" if layout == "two" else layout, _SCAN_WEIGHT, keep_letters=False)
        for pairs in _until_fault(scan):
            nameless = np.flatnonzero((pairs.records.t_name_len == 0) & (pairs.t_len > 0))
            if len(nameless):
                raise InputError(path, "a target has no name, which SAM cannot express; --format paf can")
            clash, lines = table.add(pairs)
            if clash >= 0:
                name = pairs.records.target_name(clash)
                raise InputError(
                    path,
                    "is the name of targets of two lengths, which SAM cannot express; --format paf can",
                    name,
                )
            yield lines
    finally:
        source.close()


def _until_fault(batches: Iterator[PairBatch]) -> Iterator[PairBatch]:
    # Whatever ends the targets early ends the alignments at the same place, and is reported there.
    try:
        yield from batches
    except InputError:
        return

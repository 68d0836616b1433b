"""SAM headers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...config import RunConfig
from ...core.batch import U8, PairBatch
from ...errors import InputError, UsageError
from ..read.ahead import Ahead
from ..read.reader import Files, layout_of, read_batches
from ..read.sources import Source
from .targets import sq_lines

_SCAN_WEIGHT = 8_000_000
_SCANNED, _WRITTEN = 2, 16  # batches and blocks of text ahead, about a megabyte each
_BLOCK = 1 << 20


def sam_header(files: Files, sources: tuple[Source, ...], config: RunConfig, version: str) -> Ahead[bytes]:
    """The header's text in pieces; the targets' file is opened once more and scanned for @SQ lines.

    Two threads begin with it at once: one reads, the other one keeps the targets apart.

    Raises:
        UsageError: the targets come from a pipe, so that they cannot be read twice.
        InputError: from an iteration: a target without a name, or one name with two lengths.
    """
    if not sources[-1].regular:
        raise UsageError(
            f"SAM begins with the names and lengths of all targets, and {sources[-1].path} is a pipe or the like "
            "and can be read only once: write --format paf, or give --no-header"
        )
    lies = "targets" if layout_of(sources) == "two" else layout_of(sources)
    return Ahead(_scanned(files.reference, lies, config, version), _WRITTEN)


def _scanned(path: str, layout: str, config: RunConfig, version: str) -> Iterator[bytes]:
    source = Source(path)
    scan: Ahead[PairBatch] | None = None
    try:
        batches = read_batches((source,), layout, _SCAN_WEIGHT, keep_letters=False, threads=config.threads)
        scan = Ahead(_until_fault(batches), _SCANNED)
        yield from header_around(sq_lines(path, scan), config, version)
    finally:
        if scan:
            scan.close()
        source.close()


def header_around(
    targets: Iterator[bytes | U8], config: RunConfig, version: str, reads: bytes = b""
) -> Iterator[bytes]:
    """Yields a header's text in blocks: @SQ lines with what stands before and after them.

    Args:
        targets: the lines.
        config: what else is said.
        version: of this program.
        reads: the header of reads whose tags are kept; its programs stay, and its read groups where config has none.
    """
    yield from _in_blocks(_pieces(targets, config, version, reads))


def _in_blocks(pieces: Iterator[bytes | U8]) -> Iterator[bytes]:
    """There may be millions of targets: each piece costs a write, and two threads a turn."""
    waiting: list[bytes | memoryview] = []
    size = 0
    for piece in pieces:
        waiting.append(piece if isinstance(piece, bytes) else piece.data)
        size += len(piece)
        if size >= _BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _pieces(targets: Iterator[bytes | U8], config: RunConfig, version: str, reads: bytes) -> Iterator[bytes | U8]:
    yield b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n"
    yield from targets
    if config.output.read_group:
        yield config.output.read_group.encode() + b"\n"
    else:
        yield from (line + b"\n" for line in _lines(reads, b"@RG"))
    programs = _lines(reads, b"@PG")
    yield from (line + b"\n" for line in programs)
    identity, previous = _place_behind(programs)
    command = config.command_line.replace("\t", " ").replace("\n", " ")
    own = f"\tPN:wfacli\tVN:{version}\tCL:{command}\n".encode(errors="surrogateescape")
    yield b"@PG\tID:" + identity + previous + own


def _lines(header: bytes, kind: bytes) -> list[bytes]:
    return [line for line in header.splitlines() if line.startswith(kind + b"\t")]


def _place_behind(programs: list[bytes]) -> tuple[bytes, bytes]:
    """(an ID that no @PG line has, the field PP that names the last one in their chain)."""
    fields = [{f[:2]: f[3:] for f in line.split(b"\t")[1:]} for line in programs]
    taken = {f.get(b"ID", b"") for f in fields}
    followed = {f.get(b"PP") for f in fields}
    last = [f[b"ID"] for f in fields if b"ID" in f and f[b"ID"] not in followed]
    names = itertools.chain([b"wfacli"], (b"wfacli.%d" % i for i in itertools.count(1)))
    return next(name for name in names if name not in taken), b"\tPP:" + last[-1] if last else b""


def _until_fault(batches: Iterator[PairBatch]) -> Iterator[PairBatch]:
    # Whatever ends the targets early ends the alignments at the same place, and is reported there.
    try:
        yield from batches
    except InputError:
        return

"""SAM headers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ...config import RunConfig
from ...core.batch import U8, LaterBatch
from ...errors import InputError, UsageError, shown
from ..read.ahead import Ahead
from ..read.reader import Files, later_batches, layout_of
from ..read.sam_header import InputHeader, field_of
from ..read.sources import Source
from .in_order import in_order
from .targets import named_targets, sq_lines

_SCAN_WEIGHT, _SCAN_WEIGHT_EACH = 8_000_000, 2_000_000  # minimum bases of a batch, and for each thread that shares it
_COMPLETERS = 4  # threads that complete batches
_SCANNED, _WRITTEN = 2, 64  # batches and blocks of text read ahead
_BLOCK = 1 << 16  # bytes


def sam_header(files: Files, sources: tuple[Source, ...], config: RunConfig, version: str) -> Ahead[bytes | U8]:
    """Return the header's text in pieces; the file of the targets is opened again and scanned for @SQ lines.

    Threads start at once: one reads, some complete batches, and one collects the distinct targets.

    Raises:
        UsageError: the targets come from a pipe, which cannot be read twice.
        InputError: during iteration: a target without a name, or one name with two lengths.
    """
    if not sources[-1].regular:
        raise UsageError(
            f"SAM begins with the names and lengths of all targets, and {sources[-1].path} is a pipe, "
            "which can be read only once: write --format paf, or give --no-header"
        )
    layout = "targets" if layout_of(sources) == "two" else layout_of(sources)
    return Ahead(_scanned(files.reference, layout, config, version), _WRITTEN)


def _scanned(path: str, layout: str, config: RunConfig, version: str) -> Iterator[bytes | U8]:
    source = Source(path)
    scan: Ahead[LaterBatch] | None = None
    completers, weight = min(config.threads, _COMPLETERS), max(_SCAN_WEIGHT, _SCAN_WEIGHT_EACH * config.threads)
    try:
        batches = later_batches((source,), layout, weight, keep_bases=False, threads=config.threads)
        scan = Ahead(_until_fault(batches), _SCANNED)
        with ThreadPoolExecutor(completers, "wfacli-scan") as pool:
            completed = in_order(pool, lambda later: named_targets(path, later()), scan, completers)
            yield from header_around(sq_lines(path, completed, threads=config.threads), config, version)
    finally:
        if scan:
            scan.close()
        source.close()


def header_around(
    targets: Iterator[bytes | U8],
    config: RunConfig,
    version: str,
    before: Sequence[InputHeader] = (),
    mapper: Callable[[bytes], bytes] | None = None,
) -> Iterator[bytes | U8]:
    """Yield the text of a header in blocks: @SQ lines, and the lines before and after them.

    Args:
        targets: @SQ lines.
        config: read group and command line.
        version: version of this program.
        before: headers of the inputs (reads and mappings); their @PG lines are kept, and their read groups unless
            config has one.
        mapper: returns the @PG line of the program that ran after those, given the ID of the last of them.
    """
    yield from _in_blocks(_pieces(targets, config, version, before, mapper))


def _in_blocks(pieces: Iterator[bytes | U8]) -> Iterator[bytes | U8]:
    """Join small pieces to blocks: with millions of targets, each piece would cost a write and a thread switch."""
    waiting: list[bytes | memoryview] = []
    size = 0
    for piece in pieces:
        large = len(piece) >= _BLOCK
        if not large:
            waiting.append(piece if isinstance(piece, bytes) else piece.data)
            size += len(piece)
        if large or size >= _BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
        if large:
            yield piece
    yield b"".join(waiting)


def _pieces(
    targets: Iterator[bytes | U8],
    config: RunConfig,
    version: str,
    before: Sequence[InputHeader],
    mapper: Callable[[bytes], bytes] | None,
) -> Iterator[bytes | U8]:
    yield b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n"
    yield from targets
    if config.output.read_group:
        yield config.output.read_group.encode() + b"\n"
    else:
        yield from (line + b"\n" for line in _groups(before))
    programs = _programs(before)
    if mapper:
        programs += _renamed([mapper(_last_of(programs))], programs)
    yield from (line + b"\n" for line in programs)
    identity, previous = _next_program(programs)
    own = f"\tPN:wfacli\tVN:{version}\tCL:{shown(config.command_line)}\n".encode()
    yield b"@PG\tID:" + identity + previous + own


def _groups(headers: Sequence[InputHeader]) -> Iterator[bytes]:
    """Yield @RG lines; of several with the same ID only the first, since tags refer to all of them by that ID."""
    seen = set()
    for line in itertools.chain.from_iterable(header.groups for header in headers):
        if (identity := field_of(line, b"ID")) not in seen:
            seen.add(identity)
            yield line


def _programs(headers: Sequence[InputHeader]) -> list[bytes]:
    """Return @PG lines without duplicates; a different line with an ID already used gets a new ID."""
    unique: dict[bytes, None] = {}
    for header in headers:
        unique.update(dict.fromkeys(_renamed([line for line in header.programs if line not in unique], unique)))
    return list(unique)


def _renamed(lines: list[bytes], others: Iterable[bytes]) -> list[bytes]:
    """Return the lines, with new IDs in place of those that other lines have."""
    taken, own = ({field_of(line, b"ID") for line in some} for some in (others, lines))
    every = taken | own
    names = {old: _unused_id(old, every) for old in own & taken}

    def renamed(field: bytes) -> bytes:
        return field[:3] + names.get(field[3:], field[3:]) if field[:3] in (b"ID:", b"PP:") else field

    # Only PP fields that refer to renamed lines change; the others refer to lines that keep their IDs.
    return [b"\t".join(map(renamed, line.split(b"\t"))) if names else line for line in lines]


def _unused_id(name: bytes, taken: set[bytes]) -> bytes:
    names = itertools.chain([name], (b"%s.%d" % (name, i) for i in itertools.count(1)))
    return next(name for name in names if name not in taken)


def _last_of(programs: list[bytes]) -> bytes:
    """Return the ID of the last line of the chain, or b""."""
    followed = {field_of(line, b"PP") for line in programs}
    last = [identity for line in programs if (identity := field_of(line, b"ID")) and identity not in followed]
    return last[-1] if last else b""


def _next_program(programs: list[bytes]) -> tuple[bytes, bytes]:
    """Return (an ID that no @PG line has, the PP field for the last line of the chain)."""
    last = _last_of(programs)
    return _unused_id(b"wfacli", {field_of(line, b"ID") for line in programs}), b"\tPP:" + last if last else b""


def _until_fault(batches: Iterator[LaterBatch]) -> Iterator[LaterBatch]:
    # An error that ends the targets also ends the alignments at the same place, and is reported there.
    try:
        yield from batches
    except InputError:
        return

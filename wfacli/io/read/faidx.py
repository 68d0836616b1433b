"""Random access to a reference in its file, by its index (FILE.fai from samtools faidx).

In a BGZF file the blocks that a window covers are inflated on demand, which requires a second index (FILE.gzi).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from isal.igzip_lib import IsalError

from ..._native import Reference
from .bgzf_blocks import BgzfBlocks
from .remote import exists, modified, open_binary
from .remote_blocks import RemoteBlocks
from .sources import Source

_MAX_HEADER = 1 << 16  # maximum bytes of a header
# Bytes on each side of the first base of a sequence in a store, which have its header and first line.
_AROUND = 1 << 10
_MAX_NUMBER = 1 << 62  # bound on lengths and offsets, larger than any file
_MANY = 100_000  # sequences
_SHORT = 4096  # mean bytes of a sequence below which reading the whole file is faster than checking its index
_Read = Callable[[int, int], bytes]  # (bytes, offset) -> data


def indexed(source: Source, threads: int = 1) -> Reference | None:
    """Return the sequences of an indexed file, whose bases are read on demand.

    All headers and first lines are compared with the index. The result is None, and the file has to be read whole, if
    it is not a regular file, is compressed but not BGZF (of a URL: is compressed), or has no index, if the index is
    older than the file or does not match it, or if the file has very many short sequences.

    Args:
        source: the file.
        threads: number of threads that inflate blocks.

    Raises:
        InputError: damaged blocks.
    """
    path = source.path
    try:
        if source.remote:
            return _remote(path) if source.uncompressed else None
        if not (source.stored_as_is or source.in_blocks):
            return None
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno())
            indices = [Path(path + ".fai")] + [Path(path + ".gzi")] * source.in_blocks
            if any(index.stat().st_mtime_ns < mode.st_mtime_ns for index in indices):
                return None
            index = indices[0].read_bytes()
            if _many_short(index, mode.st_size):
                return None
            if source.stored_as_is:
                descriptor = file.fileno()
                return _reference(descriptor, mode.st_size, index, lambda count, at: os.pread(descriptor, count, at))
            blocks = BgzfBlocks(path, threads)
            reference = _reference(blocks.descriptor, blocks.size, index, blocks.read)
            if reference:
                reference.set_loader(np.array(blocks.starts, np.int64), blocks.inflate)
            return reference
    except (OSError, ValueError, ArithmeticError, IsalError):  # type: ignore[misc]
        # Numbers that are malformed or too large, invalid or repeated names, or an invalid block.
        return None


def _remote(url: str) -> Reference | None:
    """Return the sequences of an uncompressed file at a URL; see indexed(). Raises OSError, ValueError, InputError."""
    if not exists(f"{url}.fai") or modified(f"{url}.fai") < modified(url):
        return None
    with open_binary(f"{url}.fai") as file:
        index = file.read()
    blocks = RemoteBlocks(url)
    if _many_short(index, blocks.size):
        return None
    # Headers are looked at one by one, so they are requested before.
    blocks.load_around((int(line.split(b"\t")[2]) for line in index.splitlines()), _AROUND)
    reference = _reference(blocks.descriptor, blocks.size, index, blocks.read)
    if reference:
        reference.set_loader(np.array(blocks.starts, np.int64), blocks.load)
    return reference


def _many_short(index: bytes, size: int) -> bool:
    lines = index.count(b"\n")
    return lines > _MANY and size < _SHORT * lines


def _reference(descriptor: int, size: int, index: bytes, read: _Read) -> Reference | None:
    reference, end = Reference(), 0
    reference.use_file(descriptor)
    for line in index.splitlines():
        name, *numbers = line.split(b"\t")
        length, offset, line_bases, line_width = map(int, numbers[:4])
        if length == 0:
            line_bases, line_width = 1, 2
        if not (0 <= length < _MAX_NUMBER and 0 <= offset < _MAX_NUMBER and 0 < line_bases < line_width < _MAX_NUMBER):
            return None
        between = read(min(max(offset - end, 0), _MAX_HEADER), end)
        if line_width - line_bases not in (1, 2) or len(between) != offset - end or not _is_header(between, name):
            return None
        if length > line_bases and read(line_width - line_bases, offset + line_bases) not in (b"\n", b"\r\n"):
            return None
        reference.add_indexed(name, length, offset, line_bases, line_width)
        lines, rest = divmod(length, line_bases)
        end = min(offset + lines * line_width + rest, size)
    behind = read(_MAX_HEADER, end)
    return None if behind.strip() or len(behind) == _MAX_HEADER or not len(reference) else reference


def _is_header(between: bytes, name: bytes) -> bool:
    """Return True if the bytes before a sequence are one header with this name and nothing else."""
    header = between.lstrip(b"\r\n")
    return (
        header.endswith(b"\n") and header.count(b"\n") == 1 and header[:1] == b">" and header[1:].split()[:1] == [name]
    )

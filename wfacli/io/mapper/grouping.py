"""Groups mappings by read, as the join with the reads requires."""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
from pathlib import Path
from typing import IO

import numpy as np

from ..._native import MappingGroups, scan_grouping
from ...errors import InputError
from ..read.long_lines import read_lines, too_long
from ..read.sources import Source
from ..read.unnamed import temporary_folder, unnamed_file

_BLOCK = 1 << 20
_CRAM = b"CRAM"


class _Grouped(Source):
    """A grouped copy of mappings, which knows the lines of the file itself."""

    def __init__(self, descriptor: int, original: str) -> None:
        super().__init__(f"/dev/fd/{descriptor}", f"{original} in groups")
        self._descriptor, self._original = os.dup(descriptor), original

    def place_of(self, line: int) -> tuple[str, int]:
        """See Source. The line is found by its text; of BAM, which has no lines, there is no number."""
        if not line:
            return self._original, 0
        with open(f"/dev/fd/{self._descriptor}", "rb") as copy:  # noqa: PTH123 - not a file with a name
            text = next(itertools.islice(copy, line - 1, None), b"").removesuffix(b"\n").removesuffix(b"\r")
        with contextlib.closing(Source(self._original)) as source, contextlib.suppress(InputError):
            return self._original, next((n for n, found in enumerate(read_lines(source), 1) if found == text), 0)
        return self._original, 0  # SEQ and QUAL of an earlier line are longer than other lines may be

    def close(self) -> None:
        """See Source."""
        super().close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def grouped_mappings(source: Source, threads: int = 1) -> Source:
    """Return the source itself if it is grouped, or one that reads a grouped copy.

    Only a regular file is scanned first. A file that is not grouped is copied in groups to a temporary file, by the
    offsets of its mappings, which take 12 bytes of memory each.

    Args:
        source: the mappings; nothing was read.
        threads: number of threads that scan an uncompressed file of lines.

    Raises:
        InputError: the file has no mappings, ends within a line, or cannot be copied.
    """
    if source.peek(len(_CRAM)) == _CRAM:
        raise InputError(source.path, "CRAM is not read as mappings: samtools view -u FILE | … --mappings -")
    if not source.regular or _in_groups(source, threads):
        return source
    try:
        with unnamed_file() as plain, unnamed_file() as regrouped:
            _regroup(source.path, plain, regrouped)
            # The file has no name, so that nothing is left of it if the process is killed.
            regrouped.seek(0)
            other = _Grouped(regrouped.fileno(), source.path)
    except OSError as error:
        raise InputError(source.path, f"cannot be put in order, in {temporary_folder()}: {error}") from None
    source.close()
    return other


def _in_groups(mappings: Source, threads: int) -> bool:
    if threads > 1 and mappings.stored_as_is and (mappings.size or 0) > 2 * _BLOCK:
        answer = None
        with contextlib.suppress(OSError), Path(mappings.path).open("rb", buffering=0) as file:
            answer = scan_grouping(file.fileno(), threads - 1, _BLOCK)
        if answer is not None:
            return answer
    groups = MappingGroups(False)
    source = Source(mappings.path)
    try:
        while (got := source.readinto(groups.prepare(_BLOCK))) and groups.grouped and not groups.too_long:
            groups.commit(got)
        if groups.grouped:
            groups.commit(0)
        return groups.grouped or groups.too_long  # the reader reports which line is too long
    finally:
        source.close()


def _regroup(path: str, plain: IO[bytes], regrouped: IO[bytes]) -> None:
    groups = MappingGroups(True)
    source = Source(path)
    try:
        while True:
            block = groups.prepare(_BLOCK)
            got = source.readinto(block)
            plain.write(block[:got].data)
            groups.commit(got)
            if not got or groups.too_long:
                break
    finally:
        source.close()
    if groups.too_long:
        raise too_long(path, "a line or a record")
    if groups.ended_inside:
        raise InputError(path, "the last line has no end: is the file complete?")
    plain.flush()
    with mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ) as text:
        view = np.frombuffer(text, np.uint8)
        groups.write(view, regrouped.fileno())
        del view

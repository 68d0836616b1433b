"""The header of records that refer to its targets by number."""

from __future__ import annotations

import re
from concurrent.futures import Future

import numpy as np

from ..._native import TargetIds
from ...core.batch import U8
from ...errors import OutputError


class HeaderTargets:
    """Collects a SAM header, and gives the numbers of its targets to the threads that encode records."""

    def __init__(self, sort: bool, threads: int = 1) -> None:
        """Start with no header; with `sort`, it will say that records are sorted. `threads` read its targets."""
        self._pieces: list[U8] = []
        self._sort, self._threads = sort, threads
        self._header: TargetIds  # set by begin()
        self._targets: Future[TargetIds] = Future()

    def add(self, text: bytes | U8) -> None:
        """Add the next part of the header, which must not change."""
        self._pieces.append(np.frombuffer(text, np.uint8))

    def begin(self) -> TargetIds:
        """Return the header; its targets have no numbers yet. Raises OutputError if BAM cannot hold it."""
        pieces, self._pieces = self._pieces, []
        if self._sort:
            pieces = [np.frombuffer(_sorted(b"".join(piece.tobytes() for piece in pieces)), np.uint8)]
        try:
            self._header = TargetIds(pieces, self._threads)
        except OverflowError as error:
            raise OutputError(str(error)) from None
        return self._header

    def number(self) -> None:
        """Number the targets, after begin()."""
        self._header.number(self._threads)
        self._targets.set_result(self._header)

    def targets(self) -> TargetIds:
        """Return the targets, once they are numbered. Raises CancelledError after cancel()."""
        return self._targets.result()

    def cancel(self) -> None:
        """Wake the threads that wait for the header if it will not come."""
        self._targets.cancel()


def _sorted(header: bytes) -> bytes:
    """Return a header whose @HD line says that records are sorted by coordinate, and not grouped."""
    line, end, rest = header.partition(b"\n")
    if not line.startswith(b"@HD\t"):
        return b"@HD\tVN:1.6\tSO:coordinate\n" + header
    fields = [field for field in line.split(b"\t") if not re.match(rb"(SO|GO|SS):", field)]
    return b"\t".join([*fields, b"SO:coordinate"]) + end + rest

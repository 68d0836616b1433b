"""The header of records that refer to its targets by number."""

from __future__ import annotations

import re
from concurrent.futures import Future

import numpy as np

from ..._native import TargetIds
from ...errors import OutputError


class HeaderTargets:
    """Collects a SAM header, and gives the numbers of its targets to the threads that encode records."""

    def __init__(self, sort: bool, threads: int = 1) -> None:
        """Start with no header; with `sort`, it will say that records are sorted. `threads` read its targets."""
        self._pieces: list[bytes] = []
        self._sort, self._threads = sort, threads
        self._targets: Future[TargetIds] = Future()

    def add(self, text: bytes) -> None:
        """Add the next part of the header."""
        self._pieces.append(text)

    def finish(self) -> bytes:
        """Return the text of the complete header. Raises OutputError if BAM cannot hold it."""
        text = b"".join(self._pieces)
        self._pieces.clear()
        if self._sort:
            text = _sorted(text)
        try:
            self._targets.set_result(TargetIds(np.frombuffer(text, np.uint8), self._threads))
        except OverflowError as error:
            raise OutputError(str(error)) from None
        return text

    def targets(self) -> TargetIds:
        """Return the targets, once the header is complete. Raises CancelledError after cancel()."""
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

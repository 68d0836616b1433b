"""Pairs that are in memory already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._native import Next, PairReader
from ..batch import PairBatch
from ..errors import InputError


def pairs_of(queries: Sequence[str | bytes], targets: Sequence[str | bytes]) -> PairBatch:
    """A batch of query i with target i, named pair1, pair2, ….

    Raises:
        ValueError: the sequences are not of the same number.
        InputError: a letter that cannot stand in a sequence.
    """
    if len(queries) != len(targets):
        raise ValueError(f"{len(queries)} queries, {len(targets)} targets")
    lines = bytearray()
    for query, target in zip(queries, targets, strict=True):
        for mark, letters in ((b">", query), (b"<", target)):
            encoded = letters.encode() if isinstance(letters, str) else letters
            # Lines would lose what a file may have at their ends, and what stands in memory is meant.
            if b"\n" in encoded or encoded != encoded.rstrip():
                raise InputError("memory", f"a line break or blank in the sequence {encoded[:40]!r}")
            lines += mark + encoded + b"\n"
    reader = PairReader("seq")
    reader.prepare(0, len(lines))[:] = np.frombuffer(lines, np.uint8)
    reader.commit(0, len(lines))
    if lines:
        reader.commit(0, 0)
    wants = reader.fill(1 << 62)
    if wants is Next.FAILED:
        fault = reader.fault()
        assert fault is not None
        raise InputError("memory", fault[1], fault[3].decode(errors="replace"))
    return PairBatch.from_columns(0, reader.take())

"""Pairs that are in memory already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._native import pack_pairs
from ...core.batch import U8, PairBatch

Letters = str | bytes | bytearray | memoryview | U8
Sequences = Iterable[Letters] | npt.NDArray[np.bytes_] | npt.NDArray[np.str_] | U8


def pairs_of(queries: Sequences, targets: Sequences) -> PairBatch:
    """A batch of query i with target i, named pair1, pair2, …; its letters are copies.

    Args:
        queries: n sequences in a list, tuple or anything else that can be iterated, each a str, a bytes or one
            dimension of bytes; or a numpy array, S or U of shape [n], or u8[n, letters].
        targets: as many.

    Raises:
        TypeError: not a list of sequences, or an item that is none.
        ValueError: not as many targets as queries.
        InputError: a byte that cannot stand in a sequence; with the pair's name.
    """
    sides = [_items(queries, "queries"), _items(targets, "targets")]
    try:
        columns = pack_pairs(*sides)
    except (ValueError, BufferError):
        if not all(isinstance(side, (list, tuple)) for side in sides):
            raise
        columns = pack_pairs(*([in_one_piece(one) for one in side] for side in sides))
    return PairBatch.from_columns(0, columns)


def in_one_piece(letters: Any) -> Any:
    """The same letters, copied if they are an array or a view that leaves some memory out; anything else as it is."""
    if isinstance(letters, memoryview) and not letters.c_contiguous:
        return letters.tobytes() if letters.itemsize == letters.ndim == 1 else np.ascontiguousarray(letters)
    return np.ascontiguousarray(letters) if isinstance(letters, np.ndarray) else letters


def _items(sequences: Sequences | None, what: str) -> Iterable[Any]:
    if sequences is None:
        raise TypeError(f"{what} is a list of sequences, not None")
    if not isinstance(sequences, np.ndarray):
        return sequences
    # Of any other shape each letter would be taken for a sequence of its own.
    texts = sequences.dtype.kind in "SUO"
    if sequences.ndim != (1 if texts else 2):
        shape = "[n]" if texts else "[n, letters]"
        raise TypeError(
            f"{what}, an array of {sequences.dtype} of {sequences.ndim} dimensions: sequences have shape {shape}"
        )
    # An array of texts would be iterated a numpy scalar at a time.
    listed: list[Any] = sequences.tolist() if texts else list(in_one_piece(sequences))
    return listed

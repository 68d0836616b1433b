"""Pairs of sequences that are already in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._native import pack_pairs
from ...core.batch import U8, PairBatch

SequenceLike = str | bytes | bytearray | memoryview | U8
Sequences = Iterable[SequenceLike] | npt.NDArray[np.bytes_] | npt.NDArray[np.str_] | U8


def pairs_of(queries: Sequences, targets: Sequences) -> PairBatch:
    """Pack query i with target i, named pair1, pair2 and so on; the bases are copied.

    Args:
        queries: n sequences as any iterable, each a str, bytes or a one-dimensional buffer of bytes; or a numpy
            array, S or U of shape [n], or u8[n, bases].
        targets: n sequences, in any of the same types.

    Raises:
        TypeError: an argument is not a list of sequences, or an item is not a sequence.
        ValueError: the numbers of queries and targets differ.
        InputError: a byte that is not allowed in a sequence; the error names the pair.
    """
    sides = [_items(queries, "queries"), _items(targets, "targets")]
    try:
        columns = pack_pairs(*sides)
    except (ValueError, BufferError):
        if not all(isinstance(side, (list, tuple)) for side in sides):
            raise
        columns = pack_pairs(*([contiguous(one) for one in side] for side in sides))
    return PairBatch.from_columns(0, columns)


def contiguous(sequence: Any) -> Any:
    """Return a contiguous copy of a strided array or view, and anything else unchanged."""
    if isinstance(sequence, memoryview) and not sequence.c_contiguous:
        return sequence.tobytes() if sequence.itemsize == sequence.ndim == 1 else np.ascontiguousarray(sequence)
    return np.ascontiguousarray(sequence) if isinstance(sequence, np.ndarray) else sequence


def _items(sequences: Sequences | None, what: str) -> Iterable[Any]:
    if sequences is None:
        raise TypeError(f"{what} is a list of sequences, not None")
    if not isinstance(sequences, np.ndarray):
        return sequences
    # With any other shape each element would be taken for a sequence.
    texts = sequences.dtype.kind in "SUO"
    if sequences.ndim != (1 if texts else 2):
        shape = "[n]" if texts else "[n, bases]"
        raise TypeError(
            f"{what}, an array of {sequences.dtype} of {sequences.ndim} dimensions: sequences have shape {shape}"
        )
    # Iterating over an array of strings would create a numpy scalar for each.
    listed: list[Any] = sequences.tolist() if texts else list(contiguous(sequences))
    return listed

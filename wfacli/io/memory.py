"""Pairs that are in memory already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import pack_pairs
from ..batch import U8, PairBatch

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
    return PairBatch.from_columns(0, pack_pairs(_items(queries), _items(targets)))


def _items(sequences: Sequences) -> Iterable[Any]:
    # An array of texts would be iterated a numpy scalar at a time.
    if isinstance(sequences, np.ndarray) and sequences.dtype.kind in "SU":
        listed: list[Any] = sequences.ravel().tolist()
        return listed
    return sequences

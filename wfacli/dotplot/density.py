"""Number of shared k-mers of two sequences for each pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._native import dot_counts
from ..core.batch import U8, U32
from ..errors import UsageError
from .sequences import Axis

MAX_K_NUCLEOTIDES, MAX_K_SYMBOLS = 32, 64
MIN_SIZE, MAX_SIZE = 16, 8192
# Bounds memory and time: sequences with more k-mers than this are sampled, at a rate that is halved until they fit.
# The picture hardly changes, since a pixel of such a long sequence has thousands of bases.
_MAX_KMERS = 1 << 24
# Maximum pixel pairs to count if every k-mer occurs at the maximum number of places (half a second of work).
_MAX_WORK = 1 << 29
_MIN_PLACES = 64
_MAX_ASPECT = 4  # maximum ratio of the sides of the picture
_TOP = 0.999  # share of the pixels with matches whose counts are distinguished; all others have the darkest colour


@dataclass(frozen=True)
class Density:
    """Number of matches by pixel.

    Attributes:
        forward: u32[rows, columns], by position in the query (rows) and in the target (columns), both from the start.
        reverse: same for the query's reverse complement; all 0 if the symbols have no complement.
        k: length of a match, in symbols.
        sampling_rate: sampling rate: one of this many different k-mers was counted.
        shared: number of different sampled k-mers that both sequences have.
        places: maximum number of pixels of either sequence that a k-mer is counted at.
        thinned: number of k-mers at more places than that, which are counted at that many of them.
        literal: True if every symbol matches only itself, on one strand.
    """

    forward: U32
    reverse: U32
    k: int
    sampling_rate: int
    shared: int
    places: int
    thinned: int
    literal: bool

    @property
    def top(self) -> int:
        """Minimum count of the darkest colour."""
        counts = np.concatenate([self.forward[self.forward > 0], self.reverse[self.reverse > 0]])
        return max(2, int(np.quantile(counts, _TOP))) if len(counts) else 2

    def levels(self, top: int) -> tuple[U8, U8]:
        """Return both strands on a logarithmic scale: 0 for no match, 1 for one match, 255 for `top` and more."""
        return _levels(self.forward, top), _levels(self.reverse, top)


def _levels(counts: U32, top: int) -> U8:
    scaled = 1.5 + 254 * np.log(np.clip(counts, 1, top)) / math.log(top)
    return np.where(counts > 0, scaled, 0).astype(np.uint8)


def default_k(longest: int, literal: bool) -> int:
    """Return the default k, for which random matches are rare: one in a few thousand random positions has any."""
    if literal:
        return max(3, min(math.ceil(math.log(max(longest, 2), 20)) + 2, MAX_K_SYMBOLS))
    # Odd, so that no k-mer is its own reverse complement.
    return max(7, min(math.ceil(math.log(max(longest, 2), 4)) + 5, 31)) | 1


def shape(query: int, target: int, size: int) -> tuple[int, int]:
    """Return rows and columns: the longer sequence has `size` pixels, and a pixel has at least one symbol."""
    longest = max(query, target, 1)

    def pixels(length: int) -> int:
        return max(1, min(max(round(size * length / longest), size // _MAX_ASPECT), length))

    return pixels(query), pixels(target)


def density(query: Axis, target: Axis, k: int | None, size: int, literal: bool) -> Density:
    """Count the matches. Raises UsageError if k or size is out of range."""
    longest = max(len(query), len(target))
    literal = literal or query.symbols.dtype != np.uint8
    k = default_k(longest, literal) if k is None else k
    max_k = MAX_K_SYMBOLS if literal else MAX_K_NUCLEOTIDES
    if not 1 <= k <= max_k:
        raise UsageError(f"k is {k}; it must be 1 to {max_k}{'' if literal else ' nucleotides'}")
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise UsageError(f"the picture's size is {size}; it must be {MIN_SIZE} to {MAX_SIZE:,}")
    sampled = max(0, ((longest - 1) // _MAX_KMERS).bit_length())
    rows, columns = shape(len(query), len(target), size)
    places = max(_MIN_PLACES, _MAX_WORK // max(longest >> sampled, 1))
    forward, reverse, _, _, shared, thinned = dot_counts(
        query.symbols,
        target.symbols,
        query.starts,
        target.starts,
        k=k,
        literal=literal,
        sampled=sampled,
        columns=columns,
        rows=rows,
        max_pixels=places,
    )
    picture = (rows, columns)
    return Density(
        forward.reshape(picture), reverse.reshape(picture), k, 1 << sampled, shared, places, thinned, literal
    )

"""How often two sequences have k letters in common, pixel by pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._native import dot_counts
from ..core.batch import U8, U32
from ..errors import UsageError
from .sequences import Axis

MOST_NUCLEOTIDES, MOST_LETTERS = 32, 64
LEAST_SIZE, MOST_SIZE = 16, 8192
# Memory and time stay bounded: beyond so many k-mers a sequence's sample is halved, and halved again. Whatever a pixel
# shows it then still shows: pixels of such a picture have thousands of letters each.
_MOST_KMERS = 1 << 24
# Pairs of pixels that k-mers may count in, if all of them lie in as many places as count (half a second of work).
_MOST_WORK = 1 << 29
_LEAST_PLACES = 64
_NARROWEST = 4  # a side of the picture is at least so small a part of the other
_TOP = 0.999  # of the pixels with a match, so many are told apart; the others are as dark as can be


@dataclass(frozen=True)
class Density:
    """Counts of matches.

    Attributes:
        forward: u32[rows, columns], of the query's letters from its beginning, by the target's from its beginning.
        reverse: the same for the query's reverse complement; all 0 where letters have none.
        k: letters of a match.
        one_of: so many different k-mers stand for one that was looked at.
        shared: different k-mers of the sample that both sequences have.
        places: pixels of either sequence that a k-mer counts in.
        thinned: k-mers in more than these, which count in so many of them only.
        literal: whether every letter matches itself, on one strand.
    """

    forward: U32
    reverse: U32
    k: int
    one_of: int
    shared: int
    places: int
    thinned: int
    literal: bool

    @property
    def top(self) -> int:
        """The count from which pixels are as dark as can be."""
        counts = np.concatenate([self.forward[self.forward > 0], self.reverse[self.reverse > 0]])
        return max(2, int(np.quantile(counts, _TOP))) if len(counts) else 2

    def levels(self, top: int) -> tuple[U8, U8]:
        """Both strands on a logarithmic scale: 0 where there is nothing, 1 for one match, 255 for top and more."""
        return _levels(self.forward, top), _levels(self.reverse, top)


def _levels(counts: U32, top: int) -> U8:
    scaled = 1.5 + 254 * np.log(np.clip(counts, 1, top)) / math.log(top)
    return np.where(counts > 0, scaled, 0).astype(np.uint8)


def usual_k(longest: int, literal: bool) -> int:
    """Letters that make matches by chance rare: of random sequences, one in a few thousand letters has any."""
    if literal:
        return max(3, min(math.ceil(math.log(max(longest, 2), 20)) + 2, MOST_LETTERS))
    # An odd number, so that no k-mer is its own reverse complement.
    return max(7, min(math.ceil(math.log(max(longest, 2), 4)) + 5, 31)) | 1


def shape(query: int, target: int, size: int) -> tuple[int, int]:
    """Rows and columns: the longer sequence has `size` pixels, and no pixel is smaller than a letter."""
    longest = max(query, target, 1)

    def pixels(length: int) -> int:
        return max(1, min(max(round(size * length / longest), size // _NARROWEST), length))

    return pixels(query), pixels(target)


def density(query: Axis, target: Axis, k: int | None, size: int, literal: bool) -> Density:
    """Counts matches. Raises UsageError where k or size make no sense."""
    longest = max(len(query), len(target))
    literal = literal or query.letters.dtype != np.uint8
    k = usual_k(longest, literal) if k is None else k
    most_k = MOST_LETTERS if literal else MOST_NUCLEOTIDES
    if not 1 <= k <= most_k:
        raise UsageError(f"k is {k}; it must be 1 to {most_k}{'' if literal else ' nucleotides'}")
    if not LEAST_SIZE <= size <= MOST_SIZE:
        raise UsageError(f"the picture's size is {size}; it must be {LEAST_SIZE} to {MOST_SIZE:,}")
    sampled = max(0, ((longest - 1) // _MOST_KMERS).bit_length())
    rows, columns = shape(len(query), len(target), size)
    places = max(_LEAST_PLACES, _MOST_WORK // max(longest >> sampled, 1))
    forward, reverse, _, _, shared, thinned = dot_counts(
        query.letters,
        target.letters,
        query.starts,
        target.starts,
        k=k,
        literal=literal,
        sampled=sampled,
        columns=columns,
        rows=rows,
        most=places,
    )
    picture = (rows, columns)
    return Density(
        forward.reshape(picture), reverse.reshape(picture), k, 1 << sampled, shared, places, thinned, literal
    )

"""Bins of the native histograms (native/report/figures.hpp), and what is read from them: quantiles, bars of a plot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.batch import I64

EXACT = 1024  # lengths below have bins of their own
_PER_DOUBLING, _DOUBLINGS = 64, 21
_BARS = 40  # about the number of bars of a histogram
_LOGARITHMIC = 20  # ratio of largest to smallest value from which an axis is logarithmic
IDENTITIES = 10_000  # bins of identity below exactly 1
_MIN_IDENTITIES, _IDENTITY_STEPS = 20, (1, 2, 5, 10, 20, 50, 100, 200, 500)  # all divide IDENTITIES


def _lower_edges() -> I64:
    steps = np.arange(_PER_DOUBLING, 2 * _PER_DOUBLING, dtype=np.int64)
    above = [steps << (doubling + 4) for doubling in range(_DOUBLINGS)]
    return np.concatenate([np.arange(EXACT, dtype=np.int64), *above])


# i64[bins + 1]: bin i has lengths from EDGES[i] to below EDGES[i + 1].
EDGES: I64 = np.append(_lower_edges(), 1 << 31)


@dataclass(frozen=True)
class Bars:
    """Bars of a histogram over lengths or scores.

    Attributes:
        edges: i64[n + 1], ascending: bar i has values from edges[i] to below edges[i + 1].
        counts: i64[n].
        logarithmic: True if the axis is; its first edge is then at least 1, and the first bar includes zeros.
        beyond: number of values above the last edge, which the last bar includes.
    """

    edges: I64
    counts: I64
    logarithmic: bool
    beyond: int = 0


def quantile(histogram: I64, share: float, bases: I64 | None = None) -> int:
    """Return the length that a share of all lengths does not exceed; above 1,023 to within 1.6%. 0 if there are none.

    Args:
        histogram: i64[bins], number of sequences by length.
        share: 0 to 1.
        bases: i64[bins], their bases: the result is then the mean length of its bin, else the middle of the bin.
    """
    total = int(histogram.sum())
    if not total:
        return 0
    at = int(np.searchsorted(np.cumsum(histogram), max(math.ceil(share * total), 1)))
    if bases is not None:
        return round(int(bases[at]) / int(histogram[at]))
    return int(EDGES[at] + (EDGES[at + 1] - EDGES[at] - 1) // 2)


def identity_quantile(histogram: I64, share: float) -> float:
    """Return the identity that a share of all identities does not exceed, rounded down to 0.0001; nan without any."""
    total = int(histogram.sum())
    if not total:
        return math.nan
    return float(np.searchsorted(np.cumsum(histogram), max(math.ceil(share * total), 1))) / IDENTITIES


def n50(histogram: I64, bases: I64) -> int:
    """Return N50: half of all bases are in sequences at least as long; above 1,023 to within 1.6%. 0 without bases.

    Args:
        histogram: i64[bins], number of sequences by length.
        bases: i64[bins], their bases.
    """
    total = int(bases.sum())
    if not total:
        return 0
    from_longest = np.cumsum(bases[::-1])
    at = len(bases) - 1 - int(np.searchsorted(from_longest, (total + 1) // 2))
    return round(int(bases[at]) / int(histogram[at]))


def extremes(histogram: I64) -> tuple[int, int]:
    """Return the smallest length, and the largest to within 1.6%; (0, 0) if there are none."""
    found = np.flatnonzero(histogram)
    return (int(EDGES[found[0]]), int(EDGES[found[-1] + 1]) - 1) if len(found) else (0, 0)


def bars(histogram: I64, *, upto: float = 1.0, linear: bool = False) -> Bars:
    """Return the bars of a plot, whose edges are those of bins, so that no count is divided.

    The axis is logarithmic if the largest value is far above the smallest.

    Args:
        histogram: i64[bins], not empty.
        upto: share of the values that the axis covers; the last bar includes those above.
        linear: True for a linear axis, whatever the values.
    """
    found = np.flatnonzero(histogram)
    low, high = int(found[0]), int(found[-1])
    if upto < 1:
        high = int(np.searchsorted(np.cumsum(histogram), math.ceil(upto * int(histogram.sum()))))
    smallest, largest = int(EDGES[low]), int(EDGES[high + 1])
    logarithmic = not linear and largest > _LOGARITHMIC * max(smallest, 1) and largest > 2 * _BARS
    chosen = _logarithmic(smallest, largest) if logarithmic else _linear(smallest, largest)
    sums = np.concatenate([[0], np.cumsum(histogram)])
    at = np.searchsorted(EDGES, chosen)
    if logarithmic:
        at[0] = 0  # sequences without bases are in the first bar
    counts = np.diff(sums[at])
    beyond = int(sums[-1] - sums[at[-1]])
    counts[-1] += beyond
    return Bars(chosen, counts.astype(np.int64), logarithmic, beyond)


def _linear(low: int, high: int) -> I64:
    """Return edges at equal distances, which are multiples of the widest bin's width."""
    width = int(EDGES[np.searchsorted(EDGES, high)] - EDGES[np.searchsorted(EDGES, high) - 1])
    step = max(-(-(high - low) // (_BARS * width)) * width, width)
    begin = low // step * step
    few = 5 * step  # a single length is drawn as one bar among others
    if high - begin < few:
        begin, high = max(begin - few, 0), max(high, begin + step) + few
    edges = np.arange(begin, min(-(-high // step) * step, int(EDGES[-1])) + 1, step, dtype=np.int64)
    kept: I64 = edges[EDGES[np.searchsorted(EDGES, edges)] == edges]
    return kept


def _logarithmic(low: int, high: int) -> I64:
    """Return edges at about equal ratios."""
    wanted = np.geomspace(max(low, 1), high, _BARS + 1)
    wanted[-1] = high
    return EDGES[distinct(np.minimum(np.searchsorted(EDGES, wanted), len(EDGES) - 1))]


def distinct(ascending: I64) -> I64:
    """Return the values of an ascending column, each once. np.unique would import much that nothing else needs."""
    kept: I64 = ascending[np.append(True, ascending[1:] > ascending[:-1])]
    return kept


def identity_bars(histogram: I64) -> tuple[float, I64]:
    """Return the lowest identity of a plot and the counts of its bars (i64[n]), which reach to 1 at equal distances.

    The first bar includes lower identities, and the last one exact matches.

    Args:
        histogram: i64[IDENTITIES + 1], not empty.
    """
    low = min(round(identity_quantile(histogram, 0.005) * IDENTITIES), IDENTITIES - _MIN_IDENTITIES)
    step = next(s for s in _IDENTITY_STEPS if (IDENTITIES - low) <= _BARS * s)
    begin = low // step * step
    counts = histogram[:IDENTITIES].copy()
    counts[-1] += histogram[-1]
    counts[begin] += counts[:begin].sum()
    return begin / IDENTITIES, counts[begin:].reshape(-1, step).sum(axis=1)

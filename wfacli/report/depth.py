"""Depth of alignments along reference sequences, summed over windows of bounded number."""

from __future__ import annotations

import numpy as np

from ..core.batch import I32, I64

MAX_WINDOWS = 500  # of one sequence
_ALL_WINDOWS = 1 << 18  # of all sequences together, beyond one for each


class Depth:
    """Aligned bases by window of each reference sequence.

    An interval adds a ramp that begins at its start, and removes one that begins at its end. A ramp adds the bases
    from its start to the window's end to one window, and whole windows to all later ones; two sums per window are
    enough for that, whatever the length of the intervals.

    Attributes:
        lengths: i64[n], bases of each sequence.
        window: i64[n], bases of the windows of each sequence; the last window may be shorter.
        first: i64[n + 1], index of the first window of each sequence.
        alignments: i64[n], alignments on each sequence.
    """

    def __init__(self, lengths: I64) -> None:
        """Take the lengths of all sequences, i64[n]."""
        most = max(1, min(MAX_WINDOWS, _ALL_WINDOWS // max(len(lengths), 1)))
        self.lengths = lengths
        self.window = np.maximum(-(-lengths // most), 1)
        # An interval may end at the end of the last window: one more takes what follows it, which is always zero.
        self.first = np.concatenate([[0], np.cumsum(-(-lengths // self.window) + 1)]).astype(np.int64)
        self.alignments = np.zeros(len(lengths), np.int64)
        self._parts = np.zeros(int(self.first[-1]), np.int64)
        self._ramps = np.zeros(int(self.first[-1]), np.int64)

    def add(self, targets: I32, begins: I64, ends: I64) -> None:
        """Add alignments.

        Args:
            targets: i32[k], indexes of sequences.
            begins: i64[k], first bases of the aligned parts of these.
            ends: i64[k], their ends, behind the last base.
        """
        np.add.at(self.alignments, targets, 1)
        window, first = self.window[targets], self.first[targets]
        for places, sign in ((begins, 1), (ends, -1)):
            number = places // window
            at = first + number
            np.add.at(self._parts, at, sign * ((number + 1) * window - places))
            np.add.at(self._ramps, at, sign)

    def aligned_bases(self) -> I64:
        """Return the bases of each sequence that alignments cover, times their number: i64[n]."""
        sums = np.concatenate([[0], np.cumsum(self._all())])
        return np.asarray(sums[self.first[1:]] - sums[self.first[:-1]], np.int64)

    def profile(self, target: int) -> tuple[I64, I64]:
        """Return (length of each window, aligned bases in it) of a sequence: i64[w] each, in bases."""
        begin, end = int(self.first[target]), int(self.first[target + 1]) - 1
        ramps = np.cumsum(self._ramps[begin:end]) - self._ramps[begin:end]
        window, length = int(self.window[target]), int(self.lengths[target])
        sizes = np.minimum(np.arange(1, end - begin + 1) * window, length) - np.arange(end - begin) * window
        return sizes.astype(np.int64), self._parts[begin:end] + ramps * window

    def _all(self) -> I64:
        """Return the aligned bases of all windows, i64[w]; ramps of a sequence have ended when the next one begins."""
        windows = np.repeat(self.window, np.diff(self.first))
        return np.asarray(self._parts + (np.cumsum(self._ramps) - self._ramps) * windows, np.int64)
